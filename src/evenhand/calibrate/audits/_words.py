"""Levels, colours and intervals of an audit."""

from __future__ import annotations

from evenhand.calibrate._jackknife import Estimate
from evenhand.calibrate._words import number, plural
from evenhand.calibrate.audits._found import Colour

LEVEL = 0.95


def level_of(tests: int) -> float:
    """The level of each of several intervals that hold together in 95 of 100 audits (Bonferroni)."""
    return 1 - (1 - LEVEL) / max(1, tests)


def effect_colour(low: float | None, high: float | None, value: float, matters: float) -> Colour:
    """Of an effect that should be 0.

    Green: shown to be below half of what matters. Red: there, and as large as what matters. Amber: there, and smaller.
    Grey: it may be 0, and may be large.
    """
    if low is None or high is None:
        return "grey"
    if max(abs(low), abs(high)) <= matters / 2:
        return "green"
    if low <= 0 <= high:
        return "grey"
    return "red" if abs(value) >= matters else "amber"


def bounds(found: Estimate, digits: int = 2) -> str:
    """The interval in square brackets, or that there is none."""
    if found.low is None or found.high is None:
        return f"(no interval from {plural(found.n, 'sample')})"
    return f"[{number(found.low, digits)}, {number(found.high, digits)}]"
