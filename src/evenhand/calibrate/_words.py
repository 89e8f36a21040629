"""Numbers and counts as calibrations and audits write them."""

from __future__ import annotations


def signed(value: float, digits: int = 2) -> str:
    """A difference as it is shown; what rounds to nothing has no sign."""
    return f"{value:+.{digits}f}".replace("-", "−") if round(value, digits) else f"{0:.{digits}f}"


def number(value: float, digits: int = 2) -> str:
    """A number as it is shown."""
    return f"{value:.{digits}f}".replace("-", "−") if round(value, digits) else f"{0:.{digits}f}"


def percent(share: float) -> str:
    """A share as it is shown; never 0 or 100 % while it is neither."""
    if 0 < share < 0.005:
        return "under 1 %"
    return "over 99 %" if 0.995 < share < 1 else f"{share * 100:.0f} %"


def plural(count: int, thing: str) -> str:
    """So many things."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def too_few(count: int, thing: str, needed: int, *, more: str = "", to: str = "") -> str:
    """That so many things are too few; `more` tells which ones, `to` for what."""
    which, what = (f" {one}" if one else "" for one in (more, to))
    return f"{plural(count, thing)}{which} {'is' if count == 1 else 'are'} too few{what}: it takes {needed}"
