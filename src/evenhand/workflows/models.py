"""Access to models as a command describes it: limits, a budget, prices, a record of replies; and a small test call
to each.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from evenhand.errors import Fault, InputError, StoreError
from evenhand.files.python_functions import add_python_import_folder
from evenhand.judging.open_judge import find_judge_by_name, probe_judge_by_prompt
from evenhand.models.budget import Budget
from evenhand.models.connections import Connections, ModelProbe
from evenhand.models.limits import Limits
from evenhand.models.model_names import list_configured_providers
from evenhand.models.prices import Price, Prices
from evenhand.models.requests import EMBEDDED, ChainedModel
from evenhand.models.shared_limits import ModelLimitSlices, SharedLimits
from evenhand.store.rows import Row, to_stored_json
from evenhand.store.run_holds import name_lock_holder_of_contest
from evenhand.store.store import Store

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
                "price": one.price and _probed_price_to_json(one.price),
            }
            for one in self.probes
        ]
        return {"prices_as_of": self.prices.as_of.isoformat(), "models": models}


def _probed_price_to_json(price: Price) -> Json:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionOptions:
    """How models may be asked: how long, how many at once, for how much, recorded or replayed."""

    seconds: float = 120.0  # For one attempt of one request.
    concurrency: int = 50
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    dollars: Fraction | None = None
    tokens: int | None = None
    prices: Path | None = None
    record: Path | None = None
    replay: Path | None = None


def open_user_connections(options: ConnectionOptions, shared: SharedLimits | None = None) -> Connections:
    """The access to models that these options describe, with the keys of the environment.

    Where limits are `shared` with other processes, those per minute are kept with them, and not here once more.
    """
    limits = replace(
        Limits(),
        attempt_seconds=options.seconds,
        total_seconds=max(options.seconds, Limits().total_seconds),
        concurrency=options.concurrency,
        requests_per_minute=None if shared else options.requests_per_minute,
        tokens_per_minute=None if shared else options.tokens_per_minute,
    )
    dollars = options.dollars
    money = None if dollars is None else Decimal(dollars.numerator) / Decimal(dollars.denominator)
    limited = money is not None or options.tokens is not None
    return Connections(
        os.environ,
        limits=limits,
        budget=Budget(money=money, tokens=options.tokens) if limited else None,
        prices=open_user_price_list(options.prices),
        record=options.record,
        replay=options.replay,
    ).share_limits(shared)


def open_user_price_list(file: Path | None) -> Prices:
    """The price list in a file, or the one that ships."""
    return Prices.load(file) if file else Prices.shipped()


T = TypeVar("T")
RETRY_SECONDS = 1.0  # While the store does not answer.


def share_limits_over_store(store: Store, options: ConnectionOptions) -> SharedLimits:
    """The limits that these options name, over all workers of a store."""
    limits = Limits(
        concurrency=options.concurrency,
        requests_per_minute=options.requests_per_minute,
        tokens_per_minute=options.tokens_per_minute,
    )
    return SharedLimits(limits, WorkflowLimits(store), name_lock_holder_of_contest)


@dataclass(frozen=True, slots=True)
class WorkflowLimits:
    """Hands out slices from the rows of a store."""

    store: Store

    async def change_slices(
        self, model: str, change: Callable[[ModelLimitSlices, float], tuple[ModelLimitSlices, T]]
    ) -> T:
        """Change what has been handed out of a model's limits; a store that does not answer is asked again."""

        while True:
            try:
                return await asyncio.to_thread(change_limits_in_store, self.store, model, change)
            except StoreError:
                await asyncio.sleep(RETRY_SECONDS)


def change_limits_in_store(
    store: Store, model: str, change: Callable[[ModelLimitSlices, float], tuple[ModelLimitSlices, T]]
) -> T:
    """Change what a store keeps of a model's limits, given that and its time.

    What cannot be read was changed by something else and is forgotten: all who ask the model would wait for good.
    """

    def change_row(content: str, now: float) -> tuple[str, T]:
        try:
            before = ModelLimitSlices.from_json(json.loads(content)) if content else ModelLimitSlices()
            after, result = change(before, now)
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError):
            after, result = change(ModelLimitSlices(), now)
        return to_stored_json(after.to_json()), result

    return store.limits.change_row(model, change_row)


def open_run_judges(
    connections: Connections, run: Row, judges: Sequence[str], *, named: Sequence[str] = (), option: str = "--model"
) -> list[ChainedModel]:
    """The judges that a stored run names, or those that were named instead, to be asked now.

    Of a run that was imported only the latter: its judges may be code, files, and servers that wait for a key.
    """
    if not named and run["imported"] is not None:
        what = f"run {run['id']} was imported, and judges that it names are never opened"
        raise InputError(Fault(what, f"name who is asked: {option} NAME"))
    asked = named or judges
    if any(name.startswith("python:") for name in asked):
        add_python_import_folder(Path())
    return [find_judge_by_name(connections, name) for name in asked]
