"""Charts of a comparison: differences against zero, their spread over samples, and what more samples did."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from evenhand.report.html.chart_layout import (
    PLOT_LEFT,
    PLOT_RIGHT,
    ChartAxis,
    ChartLayout,
    IntervalChart,
    IntervalRow,
    Plot,
    PlotBlock,
    PlotDot,
    PlotNote,
    PlotRule,
    draw_plot_line,
    make_horizontal_chart_axis,
    make_vertical_chart_axis,
)
from evenhand.report.html.formats import (
    format_report_count,
    format_report_scale,
    format_report_short_number,
    format_report_signed_number,
)
from evenhand.report.html.score_charts import MeanEstimate, describe_charted_estimate, describe_charted_interval_level
from evenhand.wording import format_figure, pluralize_count, word_criterion, word_layer

EstimateGroups = Mapping[str, Mapping[str, MeanEstimate]]
ScaleEnds = tuple[float, ...] | None
COMPOSITE_SCALE = (1, 5)  # The scale of the composite and of every layer.


def draw_overview_chart(comparisons: Sequence[Mapping[str, Any]]) -> IntervalChart | None:
    """The composite of every comparison, or composite and layers of the only one, where anything was measured."""
    if not comparisons:
        return None
    if len(comparisons) == 1:
        return _draw_difference_chart(
            {"": _list_charted_layer_estimates(comparisons[0])}, _label_charted_pair(comparisons[0])
        )
    composites = {one["treatment"]: one["composite"] for one in comparisons}
    return _draw_difference_chart({"": composites}, f"Composite, minus {comparisons[0]['control']}")


def draw_difference_charts(
    comparison: Mapping[str, Any], scales: Mapping[str, Sequence[float] | None]
) -> list[IntervalChart]:
    """Composite, layers and criteria of one comparison against zero: a chart for each of the scales they are on."""
    by_scale: dict[ScaleEnds, dict[str, Mapping[str, MeanEstimate]]] = {
        COMPOSITE_SCALE: {"composite and layers": _list_charted_layer_estimates(comparison)}
    }
    criteria: dict[ScaleEnds, dict[str, MeanEstimate]] = {}
    for id, one in comparison.get("criteria", {}).items():
        ends = scales.get(id)
        criteria.setdefault(tuple(ends) if ends else None, {})[word_criterion(id)] = one
    for known, several in criteria.items():
        by_scale.setdefault(known, {})["criteria"] = several
    drawn = []
    for known, groups in by_scale.items():
        scale = f"in points on the scale {format_report_scale(known)}" if known else "on the criterion's own scale"
        names = next(iter(groups)) + (f" on {format_report_scale(known)}" if known else "")
        names = "composite, layers and criteria" if len(groups) > 1 else names
        title = f"{names.capitalize()}: {_label_charted_pair(comparison)}"
        drawn.append(_draw_difference_chart(groups, title, known, f"difference, {scale}"))
    return [chart for chart in drawn if chart]


def _list_charted_layer_estimates(comparison: Mapping[str, Any]) -> Mapping[str, MeanEstimate]:
    return {
        "composite": comparison["composite"],
        **{word_layer(name): found for name, found in comparison["layers"].items()},
    }


def _label_charted_pair(comparison: Mapping[str, Any]) -> str:
    return f"{comparison['treatment']} minus {comparison['control']}"


def _draw_difference_chart(
    groups: EstimateGroups, title: str, ends: ScaleEnds = None, across: str = ""
) -> IntervalChart | None:
    each = [(name, one) for estimates in groups.values() for name, one in estimates.items()]
    layout = ChartLayout.for_names((name for name, _ in each), sides=True)
    known = [one for _, one in each if one and one["estimate"] is not None]
    values = [one[key] for one in known for key in ("low", "high", "estimate") if one[key] is not None]
    if not values:
        return None
    axis = ChartAxis.around_zero(*values, left=layout.left, right=layout.right)
    for group, estimates in groups.items():
        if len(groups) > 1:
            layout.group(group)
        for name, one in estimates.items():
            layout.row(_draw_difference_row(name, axis, one, ends))
    said = ", ".join(describe_charted_estimate(row.name, row.value, row.bounds) for row in layout.rows)
    grey = "; grey where 0 is inside" if across and any(row.kind == "open" for row in layout.rows) else ""
    title = f"{title}{describe_charted_interval_level(known)}{grey}"
    return layout.chart(title, said, axis, zero=axis.at(0), across=across)


def _draw_difference_row(name: str, axis: ChartAxis, one: MeanEstimate, ends: ScaleEnds) -> IntervalRow:
    """A row of its estimate; an interval without a bound runs to the edge of the chart."""
    if one is None or one["estimate"] is None:
        return IntervalRow(name=name, kind="open")
    low, high = one["low"], one["high"]
    side = "up" if low is not None and low > 0 else "down" if high is not None and high < 0 else "open"
    return IntervalRow(
        name=name, kind=side, at=axis.at(one["estimate"]),
        low=axis.left if low is None else axis.at(low), high=axis.right if high is None else axis.at(high),
        open_low=low is None, open_high=high is None,
        value=format_figure(one["estimate"], ends, signed=True), bounds=_describe_chart_interval_reach(low, high, ends),
    )  # fmt: skip


def _describe_chart_interval_reach(low: float | None, high: float | None, ends: ScaleEnds) -> str:
    """An interval in words; where there are too few samples, an end has no bound."""
    if low is None and high is None:
        return "no bounds"
    if low is None or high is None:
        known = f"below {format_figure(high, ends)}"
        return known if low is None else f"above {format_figure(low, ends)}"
    return f"{format_figure(low, ends)} to {format_figure(high, ends)}"


SpreadBar = tuple[float, float, int]  # From, to, and how many samples.
SPREAD_TOP = 62.0  # Pixels: below the words about the two sides and the mean.


def draw_spread_plot(comparison: Mapping[str, Any]) -> Plot | None:
    """The differences of one comparison, sample by sample, as bars with zero and the mean marked."""
    found = comparison.get("distribution")
    if not found or not sum(found["counts"]):
        return None
    edges, counts, mean = found["edges"], found["counts"], found["mean"]
    x = ChartAxis.around_zero(*edges, mean, left=PLOT_LEFT, right=PLOT_RIGHT)
    y = make_vertical_chart_axis(0, max(counts), top=SPREAD_TOP)
    bars = [(low, high, number) for (low, high), number in zip(pairwise(edges), counts, strict=True) if number]
    said = ", ".join(
        f"{format_report_short_number(low)} to {format_report_short_number(high)}: {format_report_count(number)}"
        for low, high, number in bars
    )
    parts = (("losses", "worse"), ("ties", "equal"), ("wins", "better"))
    sides = ", ".join(f"{format_report_count(comparison[key])} {word}" for key, word in parts)
    return Plot(
        name=f"How the difference is spread over {pluralize_count(sum(counts), 'sample')}",
        about=f"{comparison['treatment']} minus {comparison['control']}",
        says=f"{sides}; mean {format_report_signed_number(mean)}; {said}",
        across="difference of the composite, in points",
        up="samples",
        across_ticks=x.ticks(),
        up_ticks=y.ticks(3, whole=True),
        blocks=tuple(
            block
            for bar in bars
            for block in _draw_spread_blocks(x, y, bar, _split_chart_spread_bar(bar, bars, comparison))
        ),
        rules=(PlotRule(kind="zero", x=x.at(0), top=20), PlotRule(kind="mean", x=x.at(mean), top=40)),
        notes=_draw_spread_notes(x.at(0), x.at(mean), mean, comparison),
    )


def _split_chart_spread_bar(bar: SpreadBar, bars: Sequence[SpreadBar], comparison: Mapping[str, Any]) -> dict[str, int]:
    """How many of a bar are worse, equal and better; where it meets zero, what the other bars leave over."""
    side = _find_side_of_chart_bar(bar, bars)
    if side:
        return {side: bar[2]}
    if bar[0] < 0 < bar[1]:  # It lies on both sides: any colour but grey would be wrong on one of them.
        return {"open": bar[2]}
    found = {"down": comparison["losses"], "open": comparison["ties"], "up": comparison["wins"]}
    for one in bars:
        if side := _find_side_of_chart_bar(one, bars):
            found[side] -= one[2]
    return found if min(found.values()) >= 0 and sum(found.values()) == bar[2] else {"open": bar[2]}


def _find_side_of_chart_bar(bar: SpreadBar, bars: Sequence[SpreadBar]) -> str:
    """The side of zero on which a bar lies, or none: it reaches from its lower edge to just below the upper one."""
    low, high, _ = bar
    return "up" if low > 0 else "down" if high < 0 or (high == 0 and bar != bars[-1]) else ""


def _draw_spread_blocks(x: ChartAxis, y: ChartAxis, bar: SpreadBar, parts: Mapping[str, int]) -> Iterator[PlotBlock]:
    """A bar in the colour of its side; what is equal is a part of its own."""
    left, below = x.at(bar[0]), 0
    width = round(max(x.at(bar[1]) - left, 0.8), 2)
    for kind, many in parts.items():
        floor, roof = y.at(below), min(y.at(below + many), y.at(below) - 2)  # One of a thousand is still seen.
        below += many
        if many:
            yield PlotBlock(x=left, y=roof, width=width, height=round(floor - roof, 2), kind=kind)


def _draw_spread_notes(zero: float, at: float, mean: float, comparison: Mapping[str, Any]) -> tuple[PlotNote, ...]:
    """How many lie on each side, and the mean beside its line, on the side where there is room."""
    ties = f", {format_report_count(comparison['ties'])} equal" if comparison["ties"] else ""
    dx, anchor = (-6, "end") if at > 72 or (mean < 0 and at > 35) else (6, "start")
    return (
        PlotNote(x=zero, y=30, dx=-8, text=f"{format_report_count(comparison['losses'])} worse", anchor="end"),
        PlotNote(x=zero, y=30, dx=8, text=f"{format_report_count(comparison['wins'])} better{ties}"),
        PlotNote(x=at, y=50, dx=dx, text=f"mean {format_report_signed_number(mean)}", anchor=anchor, kind="strong"),
    )


CURVE_RIGHT = 86.0  # Per cent: after the last point stands its number.

SaturationCurve = Sequence[Mapping[str, Any]]


def draw_saturation_plots(comparison: Mapping[str, Any]) -> list[Plot]:
    """The half-width, and the estimate with its band, over the number of samples; none where there is no curve."""
    found = comparison.get("saturation")
    bounded = [one for one in found["curve"] if one["half_width"] is not None] if found else []
    drawn = {one["n"]: one for one in bounded}  # Few samples: several tenths of them are as many.
    if len(drawn) < 2:
        return []
    curve, known = list(drawn.values()), [one for one in drawn.values() if one.get("estimate") is not None]
    return [_draw_half_width_plot(curve), *([_draw_settling_plot(known)] if len(known) > 1 else [])]


def _draw_half_width_plot(curve: SaturationCurve) -> Plot:
    last, most = curve[-1], max(one["half_width"] for one in curve)
    first = _scale_charted_half_width(last, curve[0]["n"])
    x, y = (
        make_horizontal_chart_axis(0, last["n"], right=CURVE_RIGHT),
        make_vertical_chart_axis(0, 1.1 * max(most, first) or 1.0),
    )
    counts = [curve[0]["n"] + (last["n"] - curve[0]["n"]) * step / 16 for step in range(17)]
    root = [(n, _scale_charted_half_width(last, n)) for n in counts]
    measured = [(one["n"], one["half_width"]) for one in curve]
    return Plot(
        name="How the interval narrows with more samples",
        about="half its width; dashed: expected from 1/√n",
        says=", ".join(f"{format_report_count(one['n'])} samples: {format_figure(one['half_width'])}" for one in curve),
        across="samples, in random order",
        up="half-width, in points",
        across_ticks=x.ticks(whole=True),
        up_ticks=y.ticks(4),
        shapes=(draw_plot_line("reference", x, y, root), draw_plot_line("measured", x, y, measured)),
        dots=_draw_curve_dots(x, y, measured),
        notes=(_draw_chart_end_note(x, y, last["n"], last["half_width"], format_figure(last["half_width"])),),
    )


def _draw_settling_plot(curve: SaturationCurve) -> Plot:
    upper = [(one["n"], one["estimate"] + one["half_width"]) for one in curve]
    lower = [(one["n"], one["estimate"] - one["half_width"]) for one in curve]
    middle, last = [(one["n"], one["estimate"]) for one in curve], curve[-1]
    low, high = (end(0, *(value for _, value in (*upper, *lower))) for end in (min, max))
    room = 0.06 * (high - low)
    x, y = (
        make_horizontal_chart_axis(0, last["n"], right=CURVE_RIGHT),
        make_vertical_chart_axis(low - room, high + room),
    )
    return Plot(
        name="Where the difference settles with more samples",
        about="estimate, and its half-width to both sides",
        says=", ".join(
            f"{format_report_count(one['n'])} samples: {format_report_signed_number(one['estimate'])} "
            f"± {format_figure(one['half_width'])}"
            for one in curve
        ),
        across="samples, in random order",
        up="difference of the composite, in points",
        across_ticks=x.ticks(whole=True),
        up_ticks=y.ticks(4),
        shapes=(
            draw_plot_line("band", x, y, [*upper, *reversed(lower)], closed=True),
            draw_plot_line("measured", x, y, middle),
        ),
        rules=(PlotRule(kind="zero", y=y.at(0)),),
        dots=_draw_curve_dots(x, y, middle),
        notes=(_draw_chart_end_note(x, y, last["n"], last["estimate"], format_report_signed_number(last["estimate"])),),
    )


def _scale_charted_half_width(last: Mapping[str, Any], n: float) -> float:
    """What the last half-width would have been with other samples, had only their number counted."""
    return float(last["half_width"] * math.sqrt(last["n"] / n))


def _draw_curve_dots(x: ChartAxis, y: ChartAxis, points: Sequence[tuple[float, float]]) -> tuple[PlotDot, ...]:
    return tuple(PlotDot(x=x.at(one), y=y.at(other), r=3) for one, other in points)


def _draw_chart_end_note(x: ChartAxis, y: ChartAxis, n: float, value: float, text: str) -> PlotNote:
    return PlotNote(x=x.at(n), y=round(y.at(value) + 4, 2), dx=8, text=text, kind="strong")
