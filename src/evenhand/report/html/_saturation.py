"""What more samples did to the interval: its half-width, and the estimate that it stands about."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.html._axis import Axis
from evenhand.report.html._figures import count, number, signed
from evenhand.report.html._plot import Dot, Note, Plot, Rule, across, ground, line, up

ENDS = 86.0  # Per cent: after the last point stands its number.

Places = Sequence[Mapping[str, Any]]


def saturation_plots(comparison: Mapping[str, Any]) -> list[Plot]:
    """The half-width, and the estimate with its band, over the number of samples; none where there is no curve."""
    found = comparison.get("saturation")
    bounded = [one for one in found["curve"] if one["half_width"] is not None] if found else []
    drawn = {one["n"]: one for one in bounded}  # Few samples: several tenths of them are as many.
    if len(drawn) < 2:
        return []
    curve, known = list(drawn.values()), [one for one in drawn.values() if one.get("estimate") is not None]
    return [_width(curve), *([_estimate(known)] if len(known) > 1 else [])]


def _width(curve: Places) -> Plot:
    last, most = curve[-1], max(one["half_width"] for one in curve)
    first = _by_root(last, curve[0]["n"])
    x, y = across(0, last["n"], right=ENDS), up(0, 1.1 * max(most, first) or 1.0)
    root = [(n, _by_root(last, n)) for n in _steps(curve[0]["n"], last["n"])]
    measured = [(one["n"], one["half_width"]) for one in curve]
    return Plot(
        name="How far the interval reaches with more samples",
        about="half its width; dashed: what the square root of their number alone gives",
        says=", ".join(f"{count(one['n'])} samples: {number(one['half_width'])}" for one in curve),
        across="samples, in random order",
        up="half-width, in points",
        across_ticks=x.ticks(whole=True),
        up_ticks=y.ticks(4),
        shapes=(line("reference", x, y, root), line("measured", x, y, measured)),
        dots=_dots(x, y, measured),
        notes=(_at_end(x, y, last["n"], last["half_width"], number(last["half_width"])),),
    )


def _estimate(curve: Places) -> Plot:
    upper = [(one["n"], one["estimate"] + one["half_width"]) for one in curve]
    lower = [(one["n"], one["estimate"] - one["half_width"]) for one in curve]
    middle, last = [(one["n"], one["estimate"]) for one in curve], curve[-1]
    x, y = across(0, last["n"], right=ENDS), _with_room(0, *(value for _, value in (*upper, *lower)))
    return Plot(
        name="Where the difference settles with more samples",
        about="estimate, and its half-width to both sides",
        says=", ".join(f"{count(one['n'])} samples: {_plus_minus(one)}" for one in curve),
        across="samples, in random order",
        up="difference of the composite, in points",
        across_ticks=x.ticks(whole=True),
        up_ticks=y.ticks(4),
        shapes=(ground("band", x, y, [*upper, *reversed(lower)]), line("measured", x, y, middle)),
        rules=(Rule(kind="zero", y=y.at(0)),),
        dots=_dots(x, y, middle),
        notes=(_at_end(x, y, last["n"], last["estimate"], signed(last["estimate"])),),
    )


def _by_root(last: Mapping[str, Any], n: float) -> float:
    """What the last half-width would have been with other samples, had only their number counted."""
    return float(last["half_width"] * math.sqrt(last["n"] / n))


def _steps(first: int, last: int) -> list[float]:
    return [first + (last - first) * step / 16 for step in range(17)]


def _with_room(*values: float) -> Axis:
    low, high = min(values), max(values)
    return up(low - 0.06 * (high - low), high + 0.06 * (high - low))


def _dots(x: Axis, y: Axis, points: Sequence[tuple[float, float]]) -> tuple[Dot, ...]:
    return tuple(Dot(x=x.at(one), y=y.at(other), r=3) for one, other in points)


def _at_end(x: Axis, y: Axis, n: float, value: float, text: str) -> Note:
    return Note(x=x.at(n), y=round(y.at(value) + 4, 2), dx=8, text=text, kind="strong")


def _plus_minus(one: Mapping[str, Any]) -> str:
    return f"{signed(one['estimate'])} ± {number(one['half_width'])}"
