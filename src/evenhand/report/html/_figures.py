"""Numbers, times and money as the page writes them; what was not measured stays None, and the page shows a dash."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from evenhand.report._badges import advised, answered
from evenhand.report._figures import chance, dollars, figure
from evenhand.report._figures import duration as milliseconds


def number(value: float | None, ends: Sequence[float] | None = None) -> str:
    """A number with the decimals that its scale calls for."""
    return figure(value, ends)


def signed(value: float | None) -> str:
    """A difference: its sign is always written."""
    return figure(value, signed=True)


def short(value: float | None) -> str | None:
    """A number with the decimals it has, at most four."""
    return None if value is None else f"{value:,.4f}".rstrip("0").rstrip(".").replace("-", "−")


def count(value: float | None) -> str | None:
    """A whole number with thousands apart."""
    return None if value is None else f"{value:,.0f}"


def percent(share: float | None) -> str | None:
    """A share as per cent."""
    return None if share is None else f"{100 * share:.4g} %"


def duration(seconds: float | None) -> str | None:
    """A time in the unit that suits it."""
    if seconds is None:
        return None
    if seconds < 60:
        return milliseconds(1000 * seconds)
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def moment(written: str | None) -> str | None:
    """A day and a minute from ISO 8601, or the text as it is."""
    if written is None:
        return None
    try:
        when = datetime.fromisoformat(written)
    except ValueError:
        return written
    return f"{when.day} {when:%b %Y, %H:%M}" + (f" {when:%Z}" if when.tzinfo else "")


def scale(ends: Any) -> str | None:
    """A scale by its ends, or as it was written."""
    if isinstance(ends, list | tuple) and len(ends) == 2:
        return f"{short(ends[0])} to {short(ends[1])}"
    return None if ends is None else str(ends)


def bounds(estimate: Mapping[str, Any] | None) -> str | None:
    """An interval by its two ends, or None where there is none."""
    if estimate is None or estimate["low"] is None or estimate["high"] is None:
        return None
    ends = estimate.get("scale")
    return f"{number(estimate['low'], ends)} to {number(estimate['high'], ends)}"


def marked(tag: str) -> str:
    """What a fingerprint is of, by its tag: a rubric, or the question that an assertion asks."""
    kind = tag.removeprefix("assertion:")
    return f"rubric for {tag or 'all'}" if kind == tag else f"assertion {kind}"


def place(id: str | None) -> str:
    """A sample's place on the page, for a link; halves of characters, which no address can hold, are replaced."""
    return "#sample=" + quote((id or "").encode("utf-16", "surrogatepass").decode("utf-16", "replace"), safe="")


FORMATS: dict[str, Callable[..., Any]] = {
    one.__name__: one
    for one in (
        number,
        signed,
        short,
        count,
        percent,
        dollars,
        chance,
        duration,
        moment,
        scale,
        bounds,
        marked,
        place,
        advised,
        answered,
    )
}
