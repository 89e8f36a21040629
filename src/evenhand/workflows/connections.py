"""Access to models as a command describes it: limits, a budget, prices, and a record of replies."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from evenhand.models.budget import Budget
from evenhand.models.connections import Connections
from evenhand.models.limits import Limits
from evenhand.models.prices import Prices
from evenhand.models.shared_limits import SharedLimits


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
