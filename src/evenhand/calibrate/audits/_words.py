"""Numbers and colours of an audit: all of them are written here."""

from __future__ import annotations

from evenhand.calibrate.audits._found import Colour
from evenhand.calibrate.audits._jackknife import Estimate

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


def signed(value: float, digits: int = 2) -> str:
    """A difference as it is shown; what rounds to nothing has no sign."""
    return f"{value:+.{digits}f}".replace("-", "−") if round(value, digits) else f"{0:.{digits}f}"


def number(value: float, digits: int = 2) -> str:
    """A number as it is shown."""
    return f"{value + 0.0:.{digits}f}".replace("-", "−") if round(value, digits) else f"{0:.{digits}f}"


def percent(share: float) -> str:
    """A share as it is shown; never 0 or 100 % while it is neither."""
    if 0 < share < 0.005:
        return "under 1 %"
    return "over 99 %" if 0.995 < share < 1 else f"{share * 100:.0f} %"


def bounds(found: Estimate, digits: int = 2) -> str:
    """The interval in square brackets, or that there is none."""
    if found.low is None or found.high is None:
        return f"(no interval from {plural(found.n, 'sample')})"
    return f"[{number(found.low, digits)}, {number(found.high, digits)}]"


def plural(count: int, thing: str) -> str:
    """So many things."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
