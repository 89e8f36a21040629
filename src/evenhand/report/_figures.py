"""How numbers are written in every report: few digits, a dash for what was not measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Data = Mapping[str, Any]  # A piece of a report: plain data, as `evenhand report --json` prints it.

DASH = "–"
WIDE = 20  # On scales wider than this one decimal tells enough.


def figure(value: float | None, scale: Sequence[float] | None = None, *, signed: bool = False) -> str:
    """A number with the decimals that its scale calls for, and a proper minus."""
    if value is None:
        return DASH
    places = 1 if scale and scale[1] - scale[0] > WIDE else 2
    rounded = round(value, places) or 0.0  # Not "-0.00".
    return f"{rounded:{'+' if signed and rounded else ''}.{places}f}".replace("-", "−")


def with_interval(summary: Data | None) -> str:
    """A mean with its interval, where there is one: 0.83 [0.79, 0.87]."""
    if summary is None:
        return DASH
    return _around(summary, figure(summary["mean"], summary["scale"]), summary["scale"])


def difference(one: Data | None, scale: Sequence[float] | None = None) -> str:
    """A difference with its sign and its interval: +0.50 [0.22, 0.79]."""
    return DASH if one is None else _around(one, figure(one["estimate"], scale, signed=True), scale)


def _around(one: Data, middle: str, scale: Sequence[float] | None) -> str:
    if one.get("low") is None or one.get("high") is None:
        return middle
    return f"{middle} [{figure(one['low'], scale)}, {figure(one['high'], scale)}]"


def chance(one: Data | None) -> str:
    """The p-value of a difference, never as a bare zero."""
    return DASH if one is None else "under 0.001" if one["p"] < 0.001 else f"{one['p']:.3f}"


def dollars(amount: float | None) -> str:
    """An amount of money: cents from a dollar on, finer below."""
    if amount is None:
        return DASH
    if amount == 0:
        return "$0"
    return "under $0.0001" if 0 < amount < 0.0001 else f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}"


def duration(milliseconds: float | None) -> str:
    """A time as people say it, in three digits at most: 980 ms, 1.2 s, 140 s."""
    if milliseconds is None:
        return DASH
    if 0 < milliseconds < 1:
        return "under 1 ms"
    if round(milliseconds) < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if round(seconds, 1) < 100 else f"{seconds:,.0f} s"


def times(count: int, one: str, many: str | None = None) -> str:
    """A count with its noun: 1 sample, 24 samples."""
    return f"1 {one}" if count == 1 else f"{count:,} {many or one + 's'}"
