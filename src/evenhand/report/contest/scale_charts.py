"""Scores on the scale of the method with its bands shaded, and the finalists side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace

from evenhand.files.methods import load_shipped_method_file
from evenhand.report.contest.reported_contest import (
    ContestReportJson,
    ReportedContest,
    find_reported_feedback_scores,
    find_reported_final_scores,
    get_reported_value,
)
from evenhand.report.html.chart_layout import AxisTick, ChartAxis
from evenhand.report.html.formats import format_page_short_number
from evenhand.wording import format_kept_figure


def chart_finalists(contest: ReportedContest) -> list[SimpleNamespace]:
    """Every dimension, where finalists were compared and it may be seen; the best first."""
    finalists = [one for one in contest.submissions if one["id"] in contest.finalists]
    compared = sorted(filter(find_reported_final_scores, finalists), key=lambda one: one["rank"])
    return [_chart_dimension(contest, one, compared) for one in contest.record["dimensions"]] if compared else []


def draw_total_score_chart(contest: ReportedContest, most: int) -> SimpleNamespace | None:
    """The scores as a whole, the best first, at most so many; where there are ranks, of those that have one."""
    scored = [one for one in contest.submissions if one["score"] is not None and one["status"] != "superseded"]
    if contest.record["mode"] == "quality_first" and contest.record["winner"]:
        scored = [one for one in scored if one["rank"]]
    scored.sort(key=lambda one: (one["rank"] or math.inf, -one["score"]))
    charted = [_chart_scores(contest, one, ("penalized_total",), ("final_score",)) for one in scored[:most]]
    return draw_scale_chart("Scores as a whole", charted, format_kept_figure)


def _chart_dimension(
    contest: ReportedContest, dimension: ContestReportJson, compared: list[ContestReportJson]
) -> SimpleNamespace:
    id = dimension["id"]
    keys = ("dimension_scores", id, "score")
    measured = [_chart_scores(contest, one, keys, keys) for one in compared]
    columns = [
        SimpleNamespace(
            id=one["id"],
            place=contest.places[one["id"]],
            first=one["id"] == contest.record["winner"],
            said=get_reported_value(find_reported_final_scores(one), "dimension_scores", id),
        )
        for one in compared
    ]
    chart = draw_scale_chart(f"{id}: the finalists on 0 to 100", measured)
    return SimpleNamespace(**dimension, chart=chart, columns=columns)


def _chart_scores(
    contest: ReportedContest, one: ContestReportJson, alone: Sequence[str], side: Sequence[str]
) -> ChartedScores:
    """The scores of one submission that stand under these keys of its feedback."""
    return ChartedScores(
        name=one["id"],
        alone=get_reported_value(find_reported_feedback_scores(one, "individual_scoring"), *alone),
        together=get_reported_value(find_reported_final_scores(one), *side),
        before=get_reported_value(contest.before_challenge(one["id"]), *side),
        first=one["id"] == contest.record["winner"],
    )


LONGEST_NAME_BESIDE = 10  # Characters of a name that stands beside its row; longer ones stand above.
SCALE_RIGHT = 71.0  # Per cent; after it stand the numbers.
SCORE_KINDS = ("together", "alone", "before")
SCALE_TOP = 22.0  # Pixels; above stand the letters of the bands.


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartedScores:
    """The scores of one thing; what was not measured, or may not be seen, is None."""

    name: str
    alone: float | None = None
    together: float | None = None
    before: float | None = None
    first: bool = False

    @property
    def known(self) -> bool:
        """Whether there is anything to draw."""
        return self.alone is not None or self.together is not None


def draw_scale_chart(
    title: str, measured: Sequence[ChartedScores], written: Callable[[float], str | None] = format_page_short_number
) -> SimpleNamespace | None:
    """The chart of these scores, each number as it is written there; None where nothing is known."""
    if not any(one.known for one in measured):
        return None
    above = any(len(one.name) > LONGEST_NAME_BESIDE for one in measured)
    axis = ChartAxis(low=0, high=100, left=1.0 if above else 20.0, right=SCALE_RIGHT)
    step = 46 if above else 26
    first = SCALE_TOP + (33 if above else 13)
    rows = tuple(_draw_scale_row(one, axis, first + place * step, written) for place, one in enumerate(measured))
    kinds = [kind for kind in SCORE_KINDS if any(getattr(row, kind) is not None for row in rows)]
    grounds = [(row.y - 10, 20.0) for row in rows] if above else [(SCALE_TOP - 4, len(rows) * step + 8.0)]
    # A band reaches from its lowest score up to that of the one above, so that no mean falls between two.
    edges, bands = [100.0], []
    for id, lowest in _list_chart_bands():
        left, right = axis.at(lowest), axis.at(edges[-1])
        middle = round((left + right) / 2, 2)
        bands.append(SimpleNamespace(id=id, x=left, width=round(right - left, 2), middle=middle))
        edges.append(lowest)
    return SimpleNamespace(
        title=title,
        says="; ".join(map(_describe_charted_scores, measured)),
        height=SCALE_TOP + len(rows) * step + 24,
        above=above,
        value_at=SCALE_RIGHT + 2,
        bands=tuple(bands),
        grounds=tuple(grounds),  # From where down, and how high, the bands are shaded.
        ticks=tuple(AxisTick(axis.at(value), format_page_short_number(value) or "") for value in edges),
        rows=rows,
        kinds=tuple(kinds),
    )


def _draw_scale_row(
    one: ChartedScores, axis: ChartAxis, y: float, written: Callable[[float], str | None]
) -> SimpleNamespace:
    value = one.alone if one.together is None else one.together
    aside = f" · {written(one.alone)} alone" if one.together is not None and one.alone is not None else ""
    return SimpleNamespace(
        name=one.name,
        y=y,
        first=one.first,
        **{kind: None if (at := getattr(one, kind)) is None else axis.at(at) for kind in SCORE_KINDS},
        value=(value is not None and written(value)) or "not scored",
        aside=aside,
    )


def _describe_charted_scores(one: ChartedScores) -> str:
    known = (("side by side", one.together), ("alone", one.alone), ("side by side before the challenge", one.before))
    said = ", ".join(f"{format_page_short_number(value)} {how}" for how, value in known if value is not None)
    return f"{one.name}: {said or 'not scored'}"


@cache
def _list_chart_bands() -> tuple[tuple[str, float], ...]:
    """The bands of the method from the best down, each with its lowest score."""
    scale = load_shipped_method_file("oracle").criterion_scale
    bands = scale.bands if scale else ()
    return tuple(sorted(((one.id, float(one.min)) for one in bands), key=lambda one: -one[1]))
