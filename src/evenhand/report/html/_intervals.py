"""Charts of intervals: means per variant on their scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand.report.html._axis import Axis
from evenhand.report.html._chart import Chart, Layout, Row
from evenhand.report.html._figures import bounds, number, percent, scale

Estimate = Mapping[str, Any] | None
Measures = Mapping[str, Mapping[str, Estimate]]


def score_charts(variants: Sequence[Mapping[str, Any]]) -> list[Chart]:
    """A chart for each scale on which something was measured: composite and layers, and the score."""
    measures = dict(_measures(variants))
    scales = list(dict.fromkeys(tuple(one["scale"]) for by in measures.values() for one in by.values() if one))
    roles = {one["name"]: one["role"] if len(variants) > 1 else "only" for one in variants}
    return [_score_chart(dict(_on(measures, ends)), ends, roles) for ends in scales]


def level_of(estimates: Iterable[Estimate]) -> str:
    """The level of intervals, in the words of a title, where all have the same."""
    levels = {one["level"] for one in estimates if one and (one["low"] is not None or one["high"] is not None)}
    return f", with {percent(levels.pop())} intervals" if len(levels) == 1 else ""


def told(name: str, value: str | None, interval: str | None) -> str:
    """One estimate in words."""
    return f"{name} {value or 'not measured'}" + (f" ({interval})" if interval else "")


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
            layout.row(_row(name if len(roles) > 1 else measure, roles[name], axis, one))
    title = f"Means on a scale from {scale(ends)}{level_of(one for by in measures.values() for one in by.values())}"
    said = (f"{measure}: {_said(by)}" for measure, by in measures.items())
    return layout.chart(title, "; ".join(said), axis)


def _row(name: str, kind: str, axis: Axis, one: Estimate) -> Row:
    if one is None:
        return Row(name=name, kind=kind)
    known = one["low"] is not None and one["high"] is not None
    return Row(
        name=name, kind=kind, at=axis.at(one["mean"]),
        low=axis.at(one["low"]) if known else None, high=axis.at(one["high"]) if known else None,
        value=number(one["mean"], one["scale"]), bounds=bounds(one),
    )  # fmt: skip


def _said(means: Mapping[str, Estimate]) -> str:
    """The same in words."""
    return ", ".join(
        told(name, number(one["mean"], one["scale"]) if one else None, bounds(one)) for name, one in means.items()
    )
