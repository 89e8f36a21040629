"""Length against score: whether longer outputs score higher, variant by variant, on the same axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report._figures import times
from evenhand.report.html._axis import Axis
from evenhand.report.html._figures import count, number, percent
from evenhand.report.html._plot import Plot, across, cloud, line, up

SCALE = (1.0, 5.0)


def length_plots(lengths: Sequence[Mapping[str, Any]] | None) -> list[Plot]:
    """A plot for each variant that has scored outputs."""
    shown = [one for one in lengths or () if one["points"]]
    everywhere = [length for one in shown for length, _ in one["points"]]
    return [_plot(one, across(0, max(everywhere)), up(*SCALE)) for one in shown] if shown else []


def _plot(one: Mapping[str, Any], x: Axis, y: Axis) -> Plot:
    found, lengths = _found(one), [length for length, _ in one["points"]]
    drawn = f", {count(len(lengths))} of them drawn" if len(lengths) < one["n"] else ""
    spread = f"{count(min(lengths))} to {count(max(lengths))} characters"
    return Plot(
        name=f"{one['variant']}: length against score",
        about=f"{found}; {times(one['n'], 'output')}{drawn}",
        says=f"{found}; {times(one['n'], 'output')} of {spread}",
        across="length of the output, in characters",
        up="composite, in points from 1 to 5",
        across_ticks=x.ticks(whole=True),
        up_ticks=y.ticks(),
        shapes=(cloud("cloud", x, y, one["points"]), *([line("trend", x, y, one["line"])] if one["line"] else [])),
    )


def _found(one: Mapping[str, Any]) -> str:
    """What a hundred characters go with; a slope is a fact of these outputs, and no cause."""
    if one["slope"] is None:
        return f"no line: {one['why_not']}"
    low, high = (_slope(one[end], one["slope"]) for end in ("low", "high"))
    sign = "+" if one["slope"] > 0 else ""
    slope = f"{sign}{_slope(one['slope'], one['slope'])} points per 100 characters"
    return f"{slope} ({percent(one['level'])} interval {low} to {high}), correlation {number(one['correlation'])}"


def _slope(value: float, middle: float) -> str:
    """With two digits of the slope, four decimals at most."""
    places = min(4, max(2, 1 - math.floor(math.log10(abs(middle))))) if middle else 2
    return f"{round(value, places) + 0.0:.{places}f}".replace("-", "−")
