"""What people would say of all outputs, from labels on some and judges on all: means, pass rates and differences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from evenhand.calibrate.jackknife import Floats
from evenhand.calibrate.labelled_outputs import (
    LabelledOutputs,
    average_by_sample,
    mean_over_human_raters,
)
from evenhand.calibrate.labels import SCORE_QUESTION, HumanLabelQuestion, list_human_label_questions
from evenhand.calibrate.trust import TrustGate, decide_as_each_rater, find_majority
from evenhand.errors import InputError
from evenhand.runs.columns import RunTable
from evenhand.stats.means import MeanInterval, Powered, mean_interval, powered_mean

PeopleScaleKind = Literal["mean", "pass rate", "difference", "difference of pass rates"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleScaleEstimate:
    """One number by the judges, with the interval that it has from their scores alone, and by people.

    `people` holds the prediction-powered interval and that of the labels alone; without it, `why` says what is wanting.
    `outputs` counts those that judges scored, or pairs of them for a difference; `labelled` those with a label.
    """

    kind: PeopleScaleKind
    question: str
    variant: str
    control: str | None = None
    judges: MeanInterval | None = None
    people: Powered | None = None
    outputs: int = 0
    labelled: int = 0
    spread: float | None = None  # The standard deviation of what judges say.
    why: str = ""


def estimate_on_people_scale(
    table: RunTable, labelled: LabelledOutputs | None, gate: TrustGate | None
) -> Iterator[PeopleScaleEstimate]:
    """Each variant, then each treatment against the control: by the score, or by each question if it has no label.

    Without labels there is only what the judges say.
    """
    control = table.frame.control
    others = [name for name in table.variants if name != control and control in table.variants]
    for column in _list_people_columns(table, labelled, gate):
        kinds: tuple[PeopleScaleKind, PeopleScaleKind] = (
            ("pass rate", "difference of pass rates") if column.passes else ("mean", "difference")
        )
        for variant in table.variants:
            plain = PeopleScaleEstimate(kind=kinds[0], question=column.question, variant=variant)
            yield column.estimate(plain, column.judged[variant], column.felt[variant], (column.low, column.high))
        span = column.high - column.low
        for variant in others:
            plain = PeopleScaleEstimate(kind=kinds[1], question=column.question, variant=variant, control=control)
            judged, felt = (side[variant] - side[control] for side in (column.judged, column.felt))
            yield column.estimate(plain, judged, felt, (-span, span))


@dataclass(frozen=True, slots=True, kw_only=True)
class _PeopleColumn:
    """Judges and people on one question, one place per sample, by variant."""

    question: str
    passes: bool
    low: float
    high: float
    judged: dict[str, Floats]
    felt: dict[str, Floats]
    weight: dict[str, Floats] | None
    cluster: np.ndarray[tuple[int], np.dtype[np.int64]]

    def estimate(
        self, plain: PeopleScaleEstimate, judged: Floats, felt: Floats, scale: tuple[float, float]
    ) -> PeopleScaleEstimate:
        """The judges' number and people's, over the samples that the judges scored."""
        there = np.flatnonzero(np.isfinite(judged))
        known = [None if np.isnan(one) else float(one) for one in felt[there]]
        clusters = self.cluster[there].tolist()
        plain = replace(plain, outputs=len(there), labelled=sum(one is not None for one in known))
        try:
            judges = mean_interval(judged[there], clusters=clusters)
            plain = replace(plain, judges=judges, spread=float(judged[there].std(ddof=1)))
            weights = None if self.weight is None else self.weight[plain.variant][there]
            people = powered_mean(judged[there], known, clusters=clusters, scale=scale, weights=weights)
            return replace(plain, people=people)
        except InputError as error:
            return replace(plain, why=error.faults[0].what)


def _list_people_columns(
    table: RunTable, labelled: LabelledOutputs | None, gate: TrustGate | None
) -> Iterator[_PeopleColumn]:
    given = {} if labelled is None else labelled.people
    for one in _list_people_questions(table, labelled):
        judged = table.score if one.id == SCORE_QUESTION else table.criteria[one.id]
        people = mean_over_human_raters(given[one.id]) if one.id in given else None
        yield _spread_people_column(table, labelled, one, judged, people, passes=False)
    if gate is not None and (labelled is None or gate.least.keys() <= given.keys()):
        answers = {id: table.score if id == SCORE_QUESTION else table.criteria[id] for id in gate.least}
        judged = gate.decide_at_gate(answers, len(table.sample))
        share = HumanLabelQuestion(id=gate.id, low=0.0, high=1.0, whole=False)
        people = None if labelled is None else find_majority(decide_as_each_rater(labelled, gate))
        yield _spread_people_column(table, labelled, share, judged, people, passes=True)


def _list_people_questions(table: RunTable, labelled: LabelledOutputs | None) -> list[HumanLabelQuestion]:
    """The score where people gave one or their answers come to one; else every question that they answered."""
    ends = table.frame.scale
    if ends is not None and (labelled is None or SCORE_QUESTION in labelled.people):
        return [HumanLabelQuestion(id=SCORE_QUESTION, low=ends[0], high=ends[1], whole=False)]
    asked = [*list_human_label_questions(table).values()] if labelled is None else labelled.questions
    return [one for one in asked if one.id != SCORE_QUESTION]


def _spread_people_column(
    table: RunTable,
    labelled: LabelledOutputs | None,
    question: HumanLabelQuestion,
    judged: Floats,
    people: Floats | None,
    *,
    passes: bool,
) -> _PeopleColumn:
    cluster = np.arange(len(table.samples))
    cluster[table.sample] = table.cluster
    weight = None if labelled is None else labelled.weight

    def spread(column: Floats | None) -> dict[str, Floats]:
        if labelled is None or column is None:
            return {name: np.full(len(table.samples), np.nan) for name in table.variants}
        return {name: labelled.spread_over_samples(column, name, table.samples) for name in table.variants}

    return _PeopleColumn(
        question=question.id,
        passes=passes,
        low=question.low,
        high=question.high,
        judged={name: average_by_sample(table, number, judged) for number, name in enumerate(table.variants)},
        felt=spread(people),
        weight=None if weight is None else spread(weight),
        cluster=cluster,
    )
