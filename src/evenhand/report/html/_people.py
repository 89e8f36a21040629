"""Judges against people: where each judge's scores lie beside those of the people who labelled the same outputs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report._figures import times
from evenhand.report.html._axis import Axis
from evenhand.report.html._figures import count, number
from evenhand.report.html._plot import Dot, Plot, Shape, across, line, up

MOST_DOTS, MOST_SAID = 400, 40
LARGEST = 10.0  # Pixels, the radius of the dot that stands for most outputs.


def people_plots(labels: Mapping[str, Any] | None) -> list[Plot]:
    """A plot for each judge whose outputs people have labelled."""
    return [_plot(one, labels["scale"]) for one in labels["judges"] if one["points"]] if labels else []


def _plot(judge: Mapping[str, Any], scale: Sequence[float]) -> Plot:
    room = 0.06 * (scale[1] - scale[0])  # So that no dot lies on the numbers of an axis.
    x, y = across(scale[0] - room, scale[1] + room), up(scale[0] - room, scale[1] + room)
    points = _thinned(judge["points"])
    most = max(many for *_, many in points)
    return Plot(
        name=f"{judge['judge']} against people",
        about=_about(judge),
        says=f"{_about(judge)}. {_said(points)}",
        across="score of the judge (dashed: the same)",
        up="score of people",
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


def _about(judge: Mapping[str, Any]) -> str:
    correlation = "no correlation" if judge["pearson"] is None else f"correlation {number(judge['pearson'])}"
    return f"{correlation}, {_bias(judge['bias'])}, {times(judge['n'], 'output')}"


def _bias(bias: float | None) -> str:
    if bias is None:
        return "bias not known"
    if round(bias, 2) == 0:
        return "as high as people"
    return f"{number(abs(bias))} {'higher' if bias > 0 else 'lower'} than people"
