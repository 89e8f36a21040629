"""Charts of variants: means with intervals, distributions, rates, length against score; and of an eval over its
runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from evenhand.report.html.chart_layout import (
    PLOT_TOP,
    AxisTick,
    ChartAxis,
    ChartLayout,
    IntervalChart,
    IntervalRow,
    Plot,
    PlotDot,
    PlotNote,
    PlotRule,
    PlotShape,
    draw_plot_dots,
    draw_plot_line,
    make_horizontal_chart_axis,
    make_vertical_chart_axis,
)
from evenhand.report.html.formats import (
    format_report_count,
    format_report_interval,
    format_report_percent,
    format_report_scale,
    format_report_short_number,
)
from evenhand.report.phrases import VERDICT_WORDS
from evenhand.wording import format_figure, pluralize_count, word_layer

MeanEstimate = Mapping[str, Any] | None
MeasureEstimates = Mapping[str, Mapping[str, MeanEstimate]]


def draw_score_charts(variants: Sequence[Mapping[str, Any]]) -> list[IntervalChart]:
    """A chart for each scale on which something was measured: composite and layers, and the score."""
    layers = dict.fromkeys(layer for one in variants for layer in one["layers"])
    measures: MeasureEstimates = {
        "composite": {one["name"]: one["composite"] for one in variants},
        **{word_layer(layer): {one["name"]: one["layers"].get(layer) for one in variants} for layer in layers},
        "score": {one["name"]: one["score"] for one in variants},
    }
    scales = list(dict.fromkeys(tuple(one["scale"]) for by in measures.values() for one in by.values() if one))
    roles = {one["name"]: one["role"] if len(variants) > 1 else "only" for one in variants}
    return [_draw_score_chart(measures, ends, roles) for ends in scales]


def describe_charted_interval_level(estimates: Iterable[MeanEstimate]) -> str:
    """The level of intervals, in the words of a title, where all have the same."""
    levels = {one["level"] for one in estimates if one and (one["low"] is not None or one["high"] is not None)}
    return f", with {format_report_percent(levels.pop())} intervals" if len(levels) == 1 else ""


def describe_charted_estimate(name: str, value: str | None, interval: str | None) -> str:
    """One estimate in words."""
    return f"{name} {value or 'not measured'}" + (f" ({interval})" if interval else "")


def _draw_score_chart(known: MeasureEstimates, ends: tuple[float, ...], roles: Mapping[str, str]) -> IntervalChart:
    """The measures of one scale."""
    measures = {
        name: by for name, by in known.items() if any(one and tuple(one["scale"]) == ends for one in by.values())
    }
    layout = ChartLayout.for_names(roles if len(roles) > 1 else measures)
    axis = ChartAxis(low=ends[0], high=ends[1], left=layout.left, right=layout.right)
    for measure, by in measures.items():
        if len(roles) > 1:
            layout.group(measure)
        for name, one in by.items():
            layout.row(_draw_score_row(name if len(roles) > 1 else measure, roles[name], axis, one))
    level = describe_charted_interval_level(one for by in measures.values() for one in by.values())
    said = []
    for measure, by in measures.items():
        means = [(name, format_figure(one["mean"], one["scale"]) if one else None, one) for name, one in by.items()]
        each = (describe_charted_estimate(name, value, format_report_interval(one)) for name, value, one in means)
        said.append(f"{measure}: {', '.join(each)}")
    return layout.chart(f"Means on a scale from {format_report_scale(ends)}{level}", "; ".join(said), axis)


def _draw_score_row(name: str, kind: str, axis: ChartAxis, one: MeanEstimate) -> IntervalRow:
    if one is None:
        return IntervalRow(name=name, kind=kind)
    known = one["low"] is not None and one["high"] is not None
    return IntervalRow(
        name=name, kind=kind, at=axis.at(one["mean"]),
        low=axis.at(one["low"]) if known else None, high=axis.at(one["high"]) if known else None,
        value=format_figure(one["mean"], one["scale"]), bounds=format_report_interval(one),
    )  # fmt: skip


HISTOGRAM_HEIGHT = 96.0  # Pixels that the highest bar of a distribution takes.


def draw_histograms(variants: Sequence[Mapping[str, Any]]) -> list[SimpleNamespace]:
    """The distributions of all variants that have one."""
    shown = [one for one in variants if one["distribution"] and sum(one["distribution"]["counts"])]
    most = max((max(one["distribution"]["counts"]) for one in shown), default=0)
    return [_draw_histogram(one, most, several=len(variants) > 1) for one in shown]


def draw_assertion_rates(variants: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, list[SimpleNamespace]]]:
    """Every assertion with its layer and its rate for each variant."""
    named: dict[tuple[str, str], list[SimpleNamespace]] = {}
    for variant in variants:
        for one in variant["assertion_rates"]:
            answered = one["passed"] + one["failed"]
            rate = SimpleNamespace(
                variant=variant["name"], answered=answered, passed=one["passed"], unanswered=one["unanswered"],
                parts=split_chart_bar({"pass": one["passed"], "fail": one["failed"], "none": one["unanswered"]}),
                share=format_report_percent(round(one["passed"] / answered, 3)) if answered else None,
            )  # fmt: skip
            named.setdefault((one["name"], one["layer"]), []).append(rate)
    return [(name, layer, rates) for (name, layer), rates in named.items()]


def chart_verdict_counts(counts: Mapping[str, int]) -> dict[str, int]:
    """The verdicts from the best to the worst, then what has none: bars can be compared only in one order."""
    return {word: counts[word] for word in dict.fromkeys((*VERDICT_WORDS, *sorted(counts))) if word in counts}


def split_chart_bar(counts: Mapping[str, int]) -> list[SimpleNamespace]:
    """Counts as stretches of a bar that is as long as all of them; what is 0 takes no room."""
    whole, before, parts = sum(counts.values()), 0, []
    for kind, number in counts.items():
        if number:
            x, width = round(100 * before / whole, 2), round(100 * number / whole, 2)
            parts.append(SimpleNamespace(kind=kind, count=number, x=x, width=width))
        before += number
    return parts


def _draw_histogram(variant: Mapping[str, Any], most: int, *, several: bool) -> SimpleNamespace:
    spread = variant["distribution"]
    edges, counts = spread["edges"], spread["counts"]
    axis = ChartAxis(low=edges[0], high=edges[-1], left=2, right=98)
    said, bars = [], []
    for (low, high), number in zip(pairwise(edges), counts, strict=True):
        said.append(f"{format_report_short_number(low)} to {format_report_short_number(high)}: {number}")
        left, right = axis.at(low), axis.at(high)
        height = max(HISTOGRAM_HEIGHT * number / most, 2.0) if number else 0.0
        bars.append(SimpleNamespace(
            x=left, y=round(18 + HISTOGRAM_HEIGHT - height, 1), width=round(right - left, 2), height=round(height, 1),
            middle=round((left + right) / 2, 2), count=number,
        ))  # fmt: skip
    return SimpleNamespace(
        name=variant["name"], role=variant["role"] if several else "only", of=spread["of"], says=", ".join(said),
        total=sum(counts), bars=tuple(bars), ticks=axis.ticks(),
    )  # fmt: skip


LENGTH_SCORE_SCALE = (1.0, 5.0)


def draw_length_plots(lengths: Sequence[Mapping[str, Any]] | None) -> list[Plot]:
    """A plot for each variant that has scored outputs."""
    shown = [one for one in lengths or () if one["points"]]
    everywhere = [length for one in shown for length, _ in one["points"]]
    x, y = make_horizontal_chart_axis(0, max(everywhere, default=1)), make_vertical_chart_axis(*LENGTH_SCORE_SCALE)
    return [_draw_length_plot(one, x, y) for one in shown]


def _draw_length_plot(one: Mapping[str, Any], x: ChartAxis, y: ChartAxis) -> Plot:
    found, lengths = _describe_charted_length_slope(one), [length for length, _ in one["points"]]
    drawn = f", {format_report_count(len(lengths))} of them drawn" if len(lengths) < one["n"] else ""
    spread = f"{format_report_count(min(lengths))} to {format_report_count(max(lengths))} characters"
    return Plot(
        name=f"{one['variant']}: length against score",
        about=f"{found}; {pluralize_count(one['n'], 'output')}{drawn}",
        says=f"{found}; {pluralize_count(one['n'], 'output')} of {spread}",
        across="length of the output, in characters",
        up="composite, in points from 1 to 5",
        across_ticks=x.ticks(whole=True),
        up_ticks=y.ticks(),
        shapes=(
            draw_plot_dots("cloud", x, y, one["points"]),
            *([draw_plot_line("trend", x, y, one["line"])] if one["line"] else []),
        ),
    )


def _describe_charted_length_slope(one: Mapping[str, Any]) -> str:
    """What a hundred characters go with; a slope is a fact of these outputs, and no cause."""
    if one["slope"] is None:
        return f"no line: {one['why_not']}"
    low, high = (_format_charted_slope(one[end], one["slope"]) for end in ("low", "high"))
    sign = "+" if one["slope"] > 0 else ""
    slope = f"{sign}{_format_charted_slope(one['slope'], one['slope'])} points per 100 characters"
    interval = f"{format_report_percent(one['level'])} interval {low} to {high}"
    return f"{slope} ({interval}), correlation {format_figure(one['correlation'])}"


def _format_charted_slope(value: float, middle: float) -> str:
    """With two digits of the slope, four decimals at most."""
    places = min(4, max(2, 1 - math.floor(math.log10(abs(middle))))) if middle else 2
    return f"{round(value, places) + 0.0:.{places}f}".replace("-", "−")


MOST_TREND_SERIES = 6  # Lines of one chart that can still be told apart.
Points = Sequence[Mapping[str, Any]]  # One for each variant of a run, the oldest run first.


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendSeries:
    """A line of a chart: its look, its name, and a value for some of the runs."""

    kind: str
    name: str
    values: Mapping[str, float]  # By run.


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendPlot:
    """A chart and what its lines are called."""

    plot: Plot
    series: tuple[TrendSeries, ...]


def draw_trend_plots(points: Points, best: str | None) -> list[TrendPlot]:
    """The charts for which at least two runs have something to show; layers are those of the best variant."""
    runs = list(dict.fromkeys(one["run"] for one in points))
    variants = list(dict.fromkeys(one["variant"] for one in reversed(points)))[::-1]
    roles = {one["variant"]: one["role"] for one in points}
    lead = best if best in variants else next((one for one in variants if roles[one] != "control"), None)
    lead = lead or (variants[-1] if variants else "")
    looks = _choose_chart_series_looks(variants, roles)
    layers = list(dict.fromkeys(name for one in points if one["variant"] == lead for name in one["layers"]))
    composites = [_collect_chart_series(points, one, looks[one], "composite") for one in variants]
    rates = [_collect_chart_series(points, one, looks[one], "pass_rate") for one in variants]
    layered = [
        TrendSeries(
            kind=f"s{number}",
            name=word_layer(layer),
            values={
                one["run"]: one["layers"][layer]
                for one in points
                if one["variant"] == lead and one["layers"].get(layer) is not None
            },
        )
        for number, layer in enumerate(layers, start=1)
    ]
    drawn = [
        _draw_trend("Composite", "on 1 to 5", composites, runs, points),
        _draw_trend("Layers", f"of {lead}, on 1 to 5", layered, runs, points),
        _draw_trend("Pass rate", "of outputs with a verdict", rates, runs, points, share=True),
    ]
    return [one for one in drawn if one is not None]


def _choose_chart_series_looks(variants: Sequence[str], roles: Mapping[str, str]) -> dict[str, str]:
    """Grey for the control, a colour for each other one."""
    others = [one for one in variants if roles[one] != "control"]
    numbers = {name: number for number, name in enumerate(others, start=1)}
    return {name: f"s{min(numbers.get(name, 0), MOST_TREND_SERIES)}" for name in variants}


def _collect_chart_series(points: Points, variant: str, kind: str, measure: str) -> TrendSeries:
    own = [one for one in points if one["variant"] == variant and one[measure] is not None]
    return TrendSeries(kind=kind, name=variant, values={one["run"]: one[measure] for one in own})


def _draw_trend(
    name: str, about: str, series: Sequence[TrendSeries], runs: Sequence[str], points: Points, *, share: bool = False
) -> TrendPlot | None:
    told = [one for one in series if one.values][:MOST_TREND_SERIES]
    if len({run for one in told for run in one.values}) < 2:
        return None
    values = [value for one in told for value in one.values.values()]
    x = make_horizontal_chart_axis(0, len(runs) - 1)
    y = make_vertical_chart_axis(*((0.0, 1.0) if share else (min(values) - 0.15, max(values) + 0.15)))
    places = {run: float(number) for number, run in enumerate(runs)}
    shapes, dots = [], []
    for one in told:
        line = [(places[run], value) for run, value in one.values.items()]
        shapes.append(draw_plot_line(f"series {one.kind}", x, y, line))
        dots += [PlotDot(x=x.at(at), y=y.at(value), r=3.5, kind=one.kind) for at, value in line]
    changes = sorted({places[one["run"]] for one in points if one["changed"]})
    plot = Plot(
        name=name,
        about=about,
        says=_describe_charted_trend(told, share=share, changes=len(changes)),
        across="runs, the newest last",
        up="",
        across_ticks=_list_chart_run_ticks(x, runs, points),
        up_ticks=_list_chart_share_ticks(y) if share else y.ticks(4),
        shapes=tuple[PlotShape, ...](shapes),
        dots=tuple(dots),
        rules=tuple(PlotRule(kind="reference", x=x.at(at - 0.5)) for at in changes),
        notes=tuple(
            PlotNote(x=x.at(at - 0.5), y=PLOT_TOP - 8, text="new fingerprint", anchor="middle") for at in changes[-1:]
        ),
    )
    return TrendPlot(plot=plot, series=tuple(told))


def _list_chart_run_ticks(x: ChartAxis, runs: Sequence[str], points: Points) -> tuple[AxisTick, ...]:
    """The days of the first and the last run; their times, where both are of one day."""
    ended = {one["run"]: datetime.fromisoformat(one["ended"]) for one in points}
    ends = {at: ended[runs[at]] for at in (0, len(runs) - 1)}
    form = "%H:%M" if len({when.date() for when in ends.values()}) == 1 else "%-d %b"
    return tuple(AxisTick(x.at(at), f"{when:{form}}") for at, when in ends.items())


def _list_chart_share_ticks(y: ChartAxis) -> tuple[AxisTick, ...]:
    return tuple(AxisTick(y.at(share), format_report_percent(share) or "") for share in (0.0, 0.5, 1.0))


def _describe_charted_trend(series: Sequence[TrendSeries], *, share: bool, changes: int) -> str:
    def tell(value: float) -> str:
        return (format_report_percent(round(value, 3)) or "") if share else format_figure(value)

    lines = []
    for one in series:
        first, *_, last = [*one.values.values()] * (2 if len(one.values) == 1 else 1)
        lines.append(f"{one.name}: from {tell(first)} to {tell(last)} over {len(one.values)} runs")
    return "; ".join([*lines, *([f"fingerprint changed {changes} times"] if changes else [])])
