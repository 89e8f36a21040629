"""evenhand models: which models can be asked, what each supports, what it costs, by a small test call."""

from __future__ import annotations

import asyncio
import os
from dataclasses import asdict
from pathlib import Path

import click

from evenhand.cli._text import tell_json, while_read
from evenhand.judging import EMBEDDED
from evenhand.judging.models import Connections, Limits, Price, Prices, Probe, listed, probe

ABOVE_0 = click.FloatRange(0, min_open=True)
PROVIDERS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "ollama": "OLLAMA_HOST"}


@click.command("models")
@click.argument("names", metavar="[NAME...]", nargs=-1)
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
@click.option(
    "--timeout", type=click.FloatRange(0, min_open=True), default=60.0, metavar="SECONDS", help="60 by default."
)
@click.option("--prices", metavar="FILE", help="A price list of your own.")
def command(names: tuple[str, ...], as_data: bool, timeout: float, prices: str | None) -> int:
    """Say which models can be asked.

    Without a NAME: which providers are set up, and what each offers. With one: whether it answers a small test
    question, whether it keeps to a schema, gives logprobs and takes a seed, how long it took, and its price.

    Exit code: 0 all that was named can be reached; 1 not all; 2 bad input.
    """
    price_list = Prices.load(Path(prices)) if prices else Prices.shipped()
    asked = names or tuple(dict.fromkeys((EMBEDDED, *listed(os.environ), "ollama")))
    probes = asyncio.run(_probe(asked, price_list, timeout))
    with while_read():
        if as_data:
            tell_json({"prices_as_of": price_list.as_of.isoformat(), "models": [_json(one) for one in probes]})
        else:
            from evenhand.cli._models_view import show_models  # noqa: PLC0415

            show_models(probes, price_list, alone=not names, unset=[p for p in PROVIDERS if p not in asked])
    return 0 if not names or all(one.reachable for one in probes) else 1


async def _probe(names: tuple[str, ...], prices: Prices, seconds: float) -> list[Probe]:
    limits = Limits(attempt_seconds=seconds, total_seconds=seconds, retries=0)
    async with Connections(os.environ, limits=limits, prices=prices) as connections:
        return list(await asyncio.gather(*(probe(connections, name) for name in names)))


def _json(one: Probe) -> dict[str, object]:
    return {
        "name": one.name,
        "reachable": one.reachable,
        "why_not": one.why or None,
        "model": one.model or None,
        "offers": list(one.offers),
        "structured": one.structured,
        "logprobs": one.logprobs,
        "seed": one.seed,
        "seconds": one.seconds,
        "price": None if one.price is None else _price(one.price),
    }


def _price(price: Price) -> dict[str, float]:
    return {name: float(amount) for name, amount in asdict(price).items()}
