"""Charts of judges: how far each two agree, and how each agrees with people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.report.html.chart_layout import (
    ChartAxis,
    Plot,
    PlotDot,
    PlotShape,
    draw_plot_line,
    make_horizontal_axis,
    make_vertical_axis,
)
from evenhand.report.html.formats import format_count, format_scale_ends, format_scaled_number
from evenhand.wording import pluralize_count

LEAST_AGREEMENT = 0.4  # Below it judges do not agree enough for a verdict to rest on them.
MOST_HEAT_JUDGES = 10  # Judges: with more the numbers no longer fit into the cells of a telephone.
LONGEST_JUDGE_NAME, MOST_JUDGES_BESIDE = (
    11,
    6,
)  # Letters of a name, and judges, with which names stand beside their rows.
WIDEST_CELL, CELL_HEIGHT = 16.0, 30.0  # Per cent, pixels.


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatCell:
    """A pair of judges; `weight` is how strongly it is coloured, and None where there is no number."""

    x: float
    y: float
    text: str
    says: str
    kind: str
    weight: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatJudge:
    """A judge: its name before or above its row, its number at the head of its column."""

    number: int
    name: str
    name_y: float
    head_x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap:
    """All that is drawn, and the same in words."""

    says: str
    height: float
    width: float
    cell: float
    judges: tuple[HeatJudge, ...]
    cells: tuple[HeatCell, ...]
    whys: tuple[str, ...]


def draw_agreement_heat_map(agreement: Sequence[Mapping[str, Any]]) -> HeatMap | None:
    """All pairs of two to ten judges; the table beside it holds them in any case."""
    names = list(dict.fromkeys(name for one in agreement for name in one["judges"]))
    if not 2 <= len(names) <= MOST_HEAT_JUDGES:
        return None
    above = len(names) > MOST_JUDGES_BESIDE or any(len(name) > LONGEST_JUDGE_NAME for name in names)
    left, pitch = (0.0, CELL_HEIGHT + 22) if above else (27.0, CELL_HEIGHT + 2)
    width = round(min((100 - left) / len(names), WIDEST_CELL), 2)
    judges = [
        HeatJudge(
            number=place + 1,
            name=name,
            y=pitch * place + (20 if above else 0),
            name_y=pitch * place + (14 if above else 20),
            head_x=round(left + width * (place + 0.5), 2),
        )
        for place, name in enumerate(names)
    ]
    pairs = {frozenset(one["judges"]): one for one in agreement}
    cells = [
        _draw_heat_cell(row, column, pairs.get(frozenset((row.name, column.name))), width)
        for row in judges
        for column in judges[: row.number - 1]
    ]
    return HeatMap(
        says="; ".join(cell.says for cell in cells),
        height=pitch * len(names),
        width=round(width - 0.4, 2),
        cell=CELL_HEIGHT,
        judges=tuple(judges),
        cells=tuple(cells),
        whys=_explain_empty_cells(judges, pairs),
    )


def _draw_heat_cell(row: HeatJudge, column: HeatJudge, pair: Mapping[str, Any] | None, width: float) -> HeatCell:
    x, about = round(column.head_x - width / 2, 2), f"{column.name} and {row.name}"
    if pair is None or pair["pearson"] is None:
        return HeatCell(
            x=x, y=row.y, text="–", says=f"{about}: {_explain_missing_pair(pair)}", kind="unknown", weight=None
        )
    value = pair["pearson"]
    agree = value >= LEAST_AGREEMENT
    share = (
        (value - LEAST_AGREEMENT) / (1 - LEAST_AGREEMENT)
        if agree
        else (LEAST_AGREEMENT - value) / (1 + LEAST_AGREEMENT)
    )
    return HeatCell(
        x=x,
        y=row.y,
        text=format_scaled_number(value),
        kind="agree" if agree else "differ",
        weight=round(0.1 + 0.35 * share, 2),
        says=(
            f"{about}: {format_scaled_number(value)}, mean gap {format_scaled_number(pair['mean_gap'])}, "
            f"{format_count(pair['n'])} judgments"
        ),
    )


def _explain_empty_cells(
    judges: Sequence[HeatJudge], pairs: Mapping[frozenset[str], Mapping[str, Any]]
) -> tuple[str, ...]:
    """Why cells are empty: each reason once, with the numbers of the judges."""
    reasons: dict[str, list[str]] = {}
    for row in judges:
        for column in judges[: row.number - 1]:
            pair = pairs.get(frozenset((row.name, column.name)))
            if pair is None or pair["pearson"] is None:
                reasons.setdefault(_explain_missing_pair(pair), []).append(f"{column.number} and {row.number}")
    return tuple(f"{', '.join(who)}: {why}" for why, who in reasons.items())


def _explain_missing_pair(pair: Mapping[str, Any] | None) -> str:
    return (pair["why_not"] if pair else "") or "nothing that both judged"


MOST_DOTS, MOST_SAID = 400, 40
LARGEST_DOT = 10.0  # Pixels, the radius of the dot that stands for most outputs.
SHARE_UNIT = "share of the scale"


def draw_people_plots(labels: Mapping[str, Any] | None, scales: Iterable[Sequence[float]]) -> list[Plot]:
    """A plot for each judge whose outputs people have labelled, in a run with criteria on these scales."""
    if not labels:
        return []
    judges = [one for one in labels["judges"] if one["points"]]
    most = max((int(many) for one in judges for *_, many in one["points"]), default=1)
    unit = _name_label_unit(labels["scale"], scales)
    return [_draw_people_plot(one, labels["scale"], unit, most) for one in judges]


def _name_label_unit(scale: Sequence[float], scales: Iterable[Sequence[float]]) -> str:
    """What the axes count: criteria on other scales than 0 to 1 are put together as shares of their own."""
    shared = list(scale) == [0, 1] and any(list(one) != [0, 1] for one in scales)
    return SHARE_UNIT if shared else f"on {format_scale_ends(scale)}"


def _draw_people_plot(judge: Mapping[str, Any], scale: Sequence[float], unit: str, most: int) -> Plot:
    """`most` is how many outputs the largest dot of all plots stands for: sizes can be compared across them."""
    room = 0.06 * (scale[1] - scale[0])  # So that no dot lies on the numbers of an axis.
    x, y = make_horizontal_axis(scale[0] - room, scale[1] + room), make_vertical_axis(scale[0] - room, scale[1] + room)
    points = _thin_out_points(judge["points"])
    about = _describe_judge_agreement(judge, unit)
    return Plot(
        name=f"{judge['judge']} against people",
        about=about,
        says=f"{about}. {_describe_score_pairs(points)}",
        across=f"score of the judge, {unit}",
        up=f"score of people, {unit}",
        across_ticks=x.ticks(),
        up_ticks=y.ticks(),
        shapes=(
            draw_plot_line("reference", x, y, [(scale[0], scale[0]), (scale[1], scale[1])]),
            *_draw_calibration_map(judge, x, y),
        ),
        dots=tuple(
            PlotDot(
                x=x.at(own), y=y.at(people), r=round(max(2.0, LARGEST_DOT * math.sqrt(many / most)), 1), kind="wash"
            )
            for own, people, many in points
        ),
    )


def _draw_calibration_map(judge: Mapping[str, Any], x: ChartAxis, y: ChartAxis) -> list[PlotShape]:
    places = judge.get("map") or []
    return [draw_plot_line("measured", x, y, places)] if len(places) > 1 else []


def _thin_out_points(points: Sequence[Sequence[float]]) -> list[tuple[float, float, int]]:
    """Those that stand for most outputs, the same ones whatever order they come in; large ones lie below small ones."""
    ordered = sorted(((own, people, int(many)) for own, people, many in points), key=lambda one: (-one[2], one))
    return ordered[:MOST_DOTS]


def _describe_score_pairs(points: Sequence[tuple[float, float, int]]) -> str:
    shown = points[:MOST_SAID]
    pairs = ", ".join(
        f"{format_scaled_number(own)} and {format_scaled_number(people)} {pluralize_count(many, 'time')}"
        for own, people, many in shown
    )
    more = f", and {format_count(len(points) - MOST_SAID)} pairs more" if len(points) > MOST_SAID else ""
    return f"Judge and people gave {pairs}{more}"


def _describe_judge_agreement(judge: Mapping[str, Any], unit: str) -> str:
    correlation = (
        "no correlation" if judge["pearson"] is None else f"correlation {format_scaled_number(judge['pearson'])}"
    )
    return f"{correlation}, {_describe_judge_bias(judge['bias'], unit)}, {pluralize_count(judge['n'], 'output')}"


def _describe_judge_bias(bias: float | None, unit: str) -> str:
    if bias is None:
        return "bias not known"
    if round(bias, 2) == 0:
        return "as high as people"
    by = f"{format_scaled_number(abs(bias))} of the scale" if unit == SHARE_UNIT else format_scaled_number(abs(bias))
    return f"{by} {'higher' if bias > 0 else 'lower'} than people"
