"""Judges against people: where each judge's scores lie beside those of the people who labelled the same outputs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand.report._figures import times
from evenhand.report.html._axis import Axis
from evenhand.report.html._figures import count, number
from evenhand.report.html._figures import scale as written
from evenhand.report.html._plot import Dot, Plot, Shape, across, line, up

MOST_DOTS, MOST_SAID = 400, 40
LARGEST = 10.0  # Pixels, the radius of the dot that stands for most outputs.
SHARE = "share of the scale"


def people_plots(labels: Mapping[str, Any] | None, scales: Iterable[Sequence[float]]) -> list[Plot]:
    """A plot for each judge whose outputs people have labelled, in a run with criteria on these scales."""
    if not labels:
        return []
    judges = [one for one in labels["judges"] if one["points"]]
    most = max((int(many) for one in judges for *_, many in one["points"]), default=1)
    unit = _unit(labels["scale"], scales)
    return [_plot(one, labels["scale"], unit, most) for one in judges]


def _unit(scale: Sequence[float], scales: Iterable[Sequence[float]]) -> str:
    """What the axes count: criteria on other scales than 0 to 1 are put together as shares of their own."""
    shared = list(scale) == [0, 1] and any(list(one) != [0, 1] for one in scales)
    return SHARE if shared else f"on {written(scale)}"


def _plot(judge: Mapping[str, Any], scale: Sequence[float], unit: str, most: int) -> Plot:
    """`most` is how many outputs the largest dot of all plots stands for: sizes can be compared across them."""
    room = 0.06 * (scale[1] - scale[0])  # So that no dot lies on the numbers of an axis.
    x, y = across(scale[0] - room, scale[1] + room), up(scale[0] - room, scale[1] + room)
    points = _thinned(judge["points"])
    about = _about(judge, unit)
    return Plot(
        name=f"{judge['judge']} against people",
        about=about,
        says=f"{about}. {_said(points)}",
        across=f"score of the judge, {unit}",
        up=f"score of people, {unit}",
        across_ticks=x.ticks(),
        up_ticks=y.ticks(),
        shapes=(line("reference", x, y, [(scale[0], scale[0]), (scale[1], scale[1])]), *_map(judge, x, y)),
        dots=tuple(
            Dot(x=x.at(own), y=y.at(people), r=round(max(2.0, LARGEST * math.sqrt(many / most)), 1), kind="wash")
            for own, people, many in points
        ),
    )


def _map(judge: Mapping[str, Any], x: Axis, y: Axis) -> list[Shape]:
    places = judge.get("map") or []
    return [line("measured", x, y, places)] if len(places) > 1 else []


def _thinned(points: Sequence[Sequence[float]]) -> list[tuple[float, float, int]]:
    """Those that stand for most outputs, the same ones whatever order they come in; large ones lie below small ones."""
    ordered = sorted(((own, people, int(many)) for own, people, many in points), key=lambda one: (-one[2], one))
    return ordered[:MOST_DOTS]


def _said(points: Sequence[tuple[float, float, int]]) -> str:
    shown = points[:MOST_SAID]
    pairs = ", ".join(f"{number(own)} and {number(people)} {times(many, 'time')}" for own, people, many in shown)
    more = f", and {count(len(points) - MOST_SAID)} pairs more" if len(points) > MOST_SAID else ""
    return f"Judge and people gave {pairs}{more}"


def _about(judge: Mapping[str, Any], unit: str) -> str:
    correlation = "no correlation" if judge["pearson"] is None else f"correlation {number(judge['pearson'])}"
    return f"{correlation}, {_bias(judge['bias'], unit)}, {times(judge['n'], 'output')}"


def _bias(bias: float | None, unit: str) -> str:
    if bias is None:
        return "bias not known"
    if round(bias, 2) == 0:
        return "as high as people"
    by = f"{number(abs(bias))} of the scale" if unit == SHARE else number(abs(bias))
    return f"{by} {'higher' if bias > 0 else 'lower'} than people"
