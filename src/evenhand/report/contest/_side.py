"""The finalists next to each other, dimension by dimension."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evenhand.report._figures import figure
from evenhand.report.contest._contest import Contest, Json, inside, scores, together
from evenhand.report.contest._scale import Measured, ScaleChart, scale_chart


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """What was said of one finalist on a dimension."""

    id: str
    place: int
    first: bool
    said: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """A dimension with the finalists' scores and what was said of them."""

    id: str
    asks: str
    weight: float
    fixed: bool
    chart: ScaleChart | None
    columns: tuple[Column, ...]


def side_by_side(contest: Contest) -> list[Dimension]:
    """Every dimension, where finalists were compared and it may be seen; the best first."""
    compared = [one for one in contest.submissions if one["id"] in contest.finalists and together(one)]
    compared.sort(key=lambda one: one["rank"])
    return [_dimension(contest, one, compared) for one in contest.record["dimensions"]] if compared else []


def totals(contest: Contest, most: int) -> ScaleChart | None:
    """The scores as a whole, the best first, at most so many; where there are ranks, of those that have one."""
    scored = [one for one in contest.submissions if one["score"] is not None and one["status"] != "superseded"]
    if contest.record["mode"] == "quality_first" and contest.record["winner"]:
        scored = [one for one in scored if one["rank"]]
    scored.sort(key=lambda one: (one["rank"] or math.inf, -one["score"]))
    return scale_chart("Scores as a whole", [_whole(contest, one) for one in scored[:most]], figure)


def _dimension(contest: Contest, dimension: Json, compared: list[Json]) -> Dimension:
    id = dimension["id"]
    measured = [_measured(contest, one, id) for one in compared]
    columns = [
        Column(id=one["id"], place=contest.places[one["id"]], first=one["id"] == contest.record["winner"],
               said=inside(together(one), "dimension_scores", id))
        for one in compared
    ]  # fmt: skip
    chart = scale_chart(f"{id}: the finalists on 0 to 100", measured)
    return Dimension(id=id, asks=dimension["asks"], weight=dimension["weight"], fixed=dimension["fixed"],
                     chart=chart, columns=tuple(columns))  # fmt: skip


def _measured(contest: Contest, one: Json, dimension: str) -> Measured:
    told = (scores(one, "individual_scoring"), together(one), contest.before_challenge(one["id"]))
    alone, now, before = (inside(found, "dimension_scores", dimension, "score") for found in told)
    first = one["id"] == contest.record["winner"]
    return Measured(name=one["id"], alone=alone, together=now, before=before, first=first)


def _whole(contest: Contest, one: Json) -> Measured:
    alone, now, before = scores(one, "individual_scoring"), together(one), contest.before_challenge(one["id"])
    return Measured(
        name=one["id"],
        alone=inside(alone, "penalized_total"),
        together=inside(now, "final_score"),
        before=inside(before, "final_score"),
        first=one["id"] == contest.record["winner"],
    )
