"""Charts of variants: means with intervals, distributions, assertion rates, length against score."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from evenhand.report.html.chart_layout import (
    ChartAxis,
    ChartLayout,
    IntervalChart,
    IntervalRow,
    Plot,
    draw_plot_dots,
    draw_plot_line,
    make_horizontal_chart_axis,
    make_vertical_chart_axis,
)
from evenhand.report.html.formats import (
    format_page_count,
    format_page_interval,
    format_page_percent,
    format_page_scale,
    format_page_short_number,
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
    return f", with {format_page_percent(levels.pop())} intervals" if len(levels) == 1 else ""


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
        each = (describe_charted_estimate(name, value, format_page_interval(one)) for name, value, one in means)
        said.append(f"{measure}: {', '.join(each)}")
    return layout.chart(f"Means on a scale from {format_page_scale(ends)}{level}", "; ".join(said), axis)


def _draw_score_row(name: str, kind: str, axis: ChartAxis, one: MeanEstimate) -> IntervalRow:
    if one is None:
        return IntervalRow(name=name, kind=kind)
    known = one["low"] is not None and one["high"] is not None
    return IntervalRow(
        name=name, kind=kind, at=axis.at(one["mean"]),
        low=axis.at(one["low"]) if known else None, high=axis.at(one["high"]) if known else None,
        value=format_figure(one["mean"], one["scale"]), bounds=format_page_interval(one),
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
                share=format_page_percent(round(one["passed"] / answered, 3)) if answered else None,
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
        said.append(f"{format_page_short_number(low)} to {format_page_short_number(high)}: {number}")
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
    drawn = f", {format_page_count(len(lengths))} of them drawn" if len(lengths) < one["n"] else ""
    spread = f"{format_page_count(min(lengths))} to {format_page_count(max(lengths))} characters"
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
    interval = f"{format_page_percent(one['level'])} interval {low} to {high}"
    return f"{slope} ({interval}), correlation {format_figure(one['correlation'])}"


def _format_charted_slope(value: float, middle: float) -> str:
    """With two digits of the slope, four decimals at most."""
    places = min(4, max(2, 1 - math.floor(math.log10(abs(middle))))) if middle else 2
    return f"{round(value, places) + 0.0:.{places}f}".replace("-", "−")
