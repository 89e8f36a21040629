"""Charts of an eval over its runs: composite, layers and pass rate, with a mark where the fingerprint changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evenhand.report.html.chart_layout import (
    PLOT_TOP,
    AxisTick,
    ChartAxis,
    Plot,
    PlotDot,
    PlotNote,
    PlotRule,
    PlotShape,
    draw_plot_line,
    make_horizontal_chart_axis,
    make_vertical_chart_axis,
)
from evenhand.report.html.formats import format_page_percent
from evenhand.wording import format_figure, word_layer

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
    looks = _choose_series_looks(variants, roles)
    layers = list(dict.fromkeys(name for one in points if one["variant"] == lead for name in one["layers"]))
    composites = [_collect_series(points, one, looks[one], "composite") for one in variants]
    rates = [_collect_series(points, one, looks[one], "pass_rate") for one in variants]
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


def _choose_series_looks(variants: Sequence[str], roles: Mapping[str, str]) -> dict[str, str]:
    """Grey for the control, a colour for each other one."""
    others = [one for one in variants if roles[one] != "control"]
    numbers = {name: number for number, name in enumerate(others, start=1)}
    return {name: f"s{min(numbers.get(name, 0), MOST_TREND_SERIES)}" for name in variants}


def _collect_series(points: Points, variant: str, kind: str, measure: str) -> TrendSeries:
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
        says=_describe_trend(told, share=share, changes=len(changes)),
        across="runs, the newest last",
        up="",
        across_ticks=_list_run_ticks(x, runs, points),
        up_ticks=_list_share_ticks(y) if share else y.ticks(4),
        shapes=tuple[PlotShape, ...](shapes),
        dots=tuple(dots),
        rules=tuple(PlotRule(kind="reference", x=x.at(at - 0.5)) for at in changes),
        notes=tuple(
            PlotNote(x=x.at(at - 0.5), y=PLOT_TOP - 8, text="new fingerprint", anchor="middle") for at in changes[-1:]
        ),
    )
    return TrendPlot(plot=plot, series=tuple(told))


def _list_run_ticks(x: ChartAxis, runs: Sequence[str], points: Points) -> tuple[AxisTick, ...]:
    """The days of the first and the last run; their times, where both are of one day."""
    ended = {one["run"]: datetime.fromisoformat(one["ended"]) for one in points}
    ends = {at: ended[runs[at]] for at in (0, len(runs) - 1)}
    form = "%H:%M" if len({when.date() for when in ends.values()}) == 1 else "%-d %b"
    return tuple(AxisTick(x.at(at), f"{when:{form}}") for at, when in ends.items())


def _list_share_ticks(y: ChartAxis) -> tuple[AxisTick, ...]:
    return tuple(AxisTick(y.at(share), format_page_percent(share) or "") for share in (0.0, 0.5, 1.0))


def _describe_trend(series: Sequence[TrendSeries], *, share: bool, changes: int) -> str:
    def tell(value: float) -> str:
        return (format_page_percent(round(value, 3)) or "") if share else format_figure(value)

    lines = []
    for one in series:
        first, *_, last = [*one.values.values()] * (2 if len(one.values) == 1 else 1)
        lines.append(f"{one.name}: from {tell(first)} to {tell(last)} over {len(one.values)} runs")
    return "; ".join([*lines, *([f"fingerprint changed {changes} times"] if changes else [])])
