"""Numbers and sentences of a decision: all of them are written here."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.stats import Difference


def number(value: float | None) -> str:
    """A score as it is shown."""
    return "no score" if value is None else f"{value + 0.0:.2f}"


def signed(value: float, digits: int = 2) -> str:
    """A difference as it is shown; what rounds to nothing has no sign."""
    return f"{value:+.{digits}f}".replace("-", "−") if round(value, digits) else f"{0:.{digits}f}"


def points(found: Difference | None) -> str:
    """An estimated difference in a headline."""
    return "no difference measured" if found is None else f"{signed(found.estimate)} points"


def plural(count: int, thing: str) -> str:
    """So many things."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def listed(names: Iterable[str]) -> str:
    """Names in a sentence."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def probability(p: float) -> str:
    """A p-value as it is shown."""
    if p < 0.0001:
        return "p < 0.0001"
    return f"p = {p:.4f}" if p < 0.001 else f"p = {p:.3f}" if p < 0.0995 else f"p = {p:.2f}"


def difference(found: Difference | None) -> str:
    """An estimate with its interval and p."""
    if found is None:
        return "too few pairs to test"
    return f"{signed(found.estimate)}, {interval(found)}, {probability(found.p)}"


def interval(found: Difference) -> str:
    """Where the difference lies."""
    if not found.bounded:
        return f"no {found.level:.0%} interval from {plural(found.n, 'pair')}".replace("%", " %")
    if found.high == found.low:
        return f"the same in all {plural(found.n, 'pair')}"
    digits = 2 if found.high - found.low >= 0.02 or found.high == found.low else 4
    low, high = signed(found.low, digits), signed(found.high, digits)
    return f"{found.level:.0%} interval".replace("%", " %") + f" {low} to {high}"


def chance(found: Difference | None, equal: str, also: str = "") -> str:
    """How sure, in plain words with the number behind them."""
    if found is None:
        return "There are too few pairs to say how sure."
    if found.looks and found.p >= 0.05:  # What is left of the level by now says nothing about how often.
        return f"Allowing for every look at the run, {probability(found.p)}{also}; {interval(found)}{_unit(found)}."
    often = f"a difference this large would come up in {how_often(found.p)} ({probability(found.p)}{also})"
    return f"If {equal}, {often}; {interval(found)}{_unit(found)}."


def _unit(found: Difference) -> str:
    return " points" if found.bounded and found.low < found.high else ""


def how_often(p: float) -> str:
    """A p-value as a count that people can picture."""
    if p < 0.0001:
        return "fewer than 1 of 10,000 comparisons"
    if p < 0.095:
        return f"1 of {_round(1 / p):,} comparisons"
    return "nearly every comparison" if p > 0.95 else f"{round(p * 100)} of 100 comparisons"


def _round(value: float) -> int:
    """Two digits: more would claim a precision that no one needs."""
    step = math.pow(10, max(0, math.floor(math.log10(value)) - 1))
    return round(round(value / step) * step)
