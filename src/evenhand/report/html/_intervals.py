"""Charts of intervals: means per variant on their scale, and differences against zero."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand.report.html._axis import Axis
from evenhand.report.html._chart import Chart, Layout, Row
from evenhand.report.html._figures import bounds, number, percent, scale, signed

Estimate = Mapping[str, Any] | None
Measures = Mapping[str, Mapping[str, Estimate]]


def score_charts(variants: Sequence[Mapping[str, Any]]) -> list[Chart]:
    """A chart for each scale on which something was measured: composite and layers, and the score."""
    measures = dict(_measures(variants))
    scales = list(dict.fromkeys(tuple(one["scale"]) for by in measures.values() for one in by.values() if one))
    roles = {one["name"]: one["role"] if len(variants) > 1 else "only" for one in variants}
    return [_score_chart(dict(_on(measures, ends)), ends, roles) for ends in scales]


def difference_chart(comparison: Mapping[str, Any]) -> Chart | None:
    """Composite and layers of one comparison against zero, where anything was measured."""
    estimates = {"composite": comparison["composite"], **comparison["layers"]}
    return _differences(estimates, f"{comparison['treatment']} minus {comparison['control']}")


def overview_chart(comparisons: Sequence[Mapping[str, Any]]) -> Chart | None:
    """The composite of every comparison, or one comparison in full."""
    if len(comparisons) < 2:
        return difference_chart(comparisons[0]) if comparisons else None
    control = comparisons[0]["control"]
    return _differences({one["treatment"]: one["composite"] for one in comparisons}, f"Composite, minus {control}")


def _measures(variants: Sequence[Mapping[str, Any]]) -> Iterable[tuple[str, Mapping[str, Estimate]]]:
    yield "composite", {one["name"]: one["composite"] for one in variants}
    for layer in dict.fromkeys(layer for one in variants for layer in one["layers"]):
        yield layer, {one["name"]: one["layers"].get(layer) for one in variants}
    yield "score", {one["name"]: one["score"] for one in variants}


def _on(measures: Measures, ends: tuple[float, ...]) -> Iterable[tuple[str, Mapping[str, Estimate]]]:
    """The measures of one scale."""
    return (
        (name, by) for name, by in measures.items() if any(one and tuple(one["scale"]) == ends for one in by.values())
    )


def _score_chart(measures: Measures, ends: tuple[float, ...], roles: Mapping[str, str]) -> Chart:
    layout = Layout.of(roles if len(roles) > 1 else measures)
    axis = Axis(low=ends[0], high=ends[1], left=layout.left, right=layout.right)
    for measure, by in measures.items():
        if len(roles) > 1:
            layout.group(measure)
        for name, one in by.items():
            layout.row(_row(name if len(roles) > 1 else measure, roles[name], axis, _estimate(one)))
    title = f"Means on a scale from {scale(ends)}{_level(one for by in measures.values() for one in by.values())}"
    said = (f"{measure}: {_said(by)}" for measure, by in measures.items())
    return layout.chart(title, "; ".join(said), axis)


def _differences(estimates: Mapping[str, Estimate], title: str) -> Chart | None:
    values = [one[key] for one in estimates.values() if one for key in ("low", "high", "estimate")]
    if not any(value is not None for value in values):
        return None
    layout = Layout.of(estimates, sides=True)
    axis = Axis.around_zero(*(value for value in values if value is not None), left=layout.left, right=layout.right)
    for name, one in estimates.items():
        layout.row(_row(name, _kind(one), axis, one, sign=True))
    return layout.chart(title + _level(estimates.values()), _said(estimates, sign=True), axis, zero=axis.at(0))


def _row(name: str, kind: str, axis: Axis, one: Estimate, *, sign: bool = False) -> Row:
    if one is None or one["estimate"] is None:
        return Row(name=name, kind=kind)
    known = one["low"] is not None and one["high"] is not None
    return Row(
        name=name, kind=kind, at=axis.at(one["estimate"]),
        low=axis.at(one["low"]) if known else None, high=axis.at(one["high"]) if known else None,
        value=signed(one["estimate"]) if sign else number(one["estimate"], one["scale"]), bounds=bounds(one),
    )  # fmt: skip


def _estimate(summary: Estimate) -> Estimate:
    return None if summary is None else {**summary, "estimate": summary["mean"]}


def _level(estimates: Iterable[Estimate]) -> str:
    levels = {one["level"] for one in estimates if one and one["low"] is not None}
    return f", with {percent(levels.pop())} intervals" if len(levels) == 1 else ""


def _kind(one: Estimate) -> str:
    """Which side of zero the whole interval lies on, if on one."""
    if one is None or one["low"] is None or one["high"] is None:
        return "open"
    return "up" if one["low"] > 0 else "down" if one["high"] < 0 else "open"


def _said(estimates: Mapping[str, Estimate], *, sign: bool = False) -> str:
    """The same in words."""
    said = []
    for name, one in estimates.items():
        value = None if one is None else signed(one["estimate"]) if sign else number(one["mean"], one["scale"])
        interval = bounds(one)
        said.append(f"{name} {value or 'not measured'}" + (f" ({interval})" if interval else ""))
    return ", ".join(said)
