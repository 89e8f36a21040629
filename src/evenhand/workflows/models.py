"""Which models can be asked, what each supports and costs, by a small test call."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.judging.open_judge import probe_judge_by_prompt
from evenhand.models.connections import Connections, ModelProbe
from evenhand.models.limits import Limits
from evenhand.models.model_names import list_configured_providers
from evenhand.models.prices import Price, Prices
from evenhand.models.requests import EMBEDDED
from evenhand.workflows.connections import open_user_price_list

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeModelsResult:
    """What was found out, and the price list that it was held against."""

    asked: tuple[str, ...]
    probes: tuple[ModelProbe, ...]
    prices: Prices

    def to_json(self) -> Json:
        """As plain data."""
        models = [
            {
                "name": one.name,
                "reachable": one.reachable,
                "why_not": one.why or None,
                "model": one.model or None,
                "offers": list(one.offers),
                **{name: getattr(one, name) for name in ("structured", "logprobs", "seed", "seconds")},
                "price": one.price and _price_to_json(one.price),
            }
            for one in self.probes
        ]
        return {"prices_as_of": self.prices.as_of.isoformat(), "models": models}


def _price_to_json(price: Price) -> Json:
    amounts = {name: getattr(price, name) for name in ("input", "output", "cached", "stored", "batch")}
    told: Json = {name: None if amount is None else float(amount) for name, amount in amounts.items()}
    return told | {"as_of": price.as_of and price.as_of.isoformat(), "source": price.source or None}


async def probe_models(
    names: tuple[str, ...], *, seconds: float = 60.0, prices: Path | None = None
) -> ProbeModelsResult:
    """Ask models a small test question; without a name, providers that are set up what they offer."""
    price_list = open_user_price_list(prices)
    asked = names or tuple(dict.fromkeys((EMBEDDED, *list_configured_providers(os.environ), "ollama")))
    limits = Limits(attempt_seconds=seconds, total_seconds=seconds, retries=0)
    async with Connections(os.environ, limits=limits, prices=price_list) as connections:
        probes = await asyncio.gather(*(probe_judge_by_prompt(connections, name) for name in asked))
    return ProbeModelsResult(asked=asked, probes=tuple(probes), prices=price_list)
