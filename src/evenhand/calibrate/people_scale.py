"""What people would say of all outputs, from labels on some and judges on all; and where judge and people differ
most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from evenhand.calibrate.jackknife import Floats
from evenhand.calibrate.labelled_outputs import (
    Integers,
    LabelledOutputs,
    average_people_by_sample,
    mean_over_human_raters,
)
from evenhand.calibrate.labels import SCORE_QUESTION, HumanLabelQuestion, list_human_label_questions
from evenhand.calibrate.trust import TrustGate, decide_gate_as_each_rater, find_people_majority
from evenhand.errors import InputError
from evenhand.runs.columns import RunTable
from evenhand.stats.means import MeanInterval, Powered, mean_interval, powered_mean
from evenhand.stats.rates import RateInterval, exact_share_interval

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
    judges: MeanInterval | RateInterval | None = None
    people: Powered | None = None
    outputs: int = 0
    labelled: int = 0
    spread: float | None = None  # The standard deviation of what judges say.
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleSide:
    """A variant of a run, with the labels of the run where it has some, and the gate that decides over an output."""

    name: str
    variant: str
    table: RunTable
    labelled: LabelledOutputs | None
    gate: TrustGate | None

    def list_questions(self) -> list[HumanLabelQuestion]:
        """The score where people gave one or their answers come to one; else every question that they answered."""
        ends = self.table.frame.scale
        if ends is not None and (self.labelled is None or SCORE_QUESTION in self.labelled.people):
            return [HumanLabelQuestion(id=SCORE_QUESTION, low=ends[0], high=ends[1], whole=False)]
        asked = list_human_label_questions(self.table) if self.labelled is None else {}
        questions = self.labelled.questions if self.labelled is not None else asked.values()
        return [one for one in questions if one.id != SCORE_QUESTION]

    def read_scores(self, question: str, samples: Sequence[str]) -> _PeopleSideColumn:
        """What judges and people said on a question."""
        judged = self.table.score if question == SCORE_QUESTION else self.table.criteria.get(question)
        given = None if self.labelled is None else self.labelled.people.get(question)
        return self._read_column(judged, None if given is None else mean_over_human_raters(given), samples)

    def read_passes(self, gate: TrustGate, samples: Sequence[str]) -> _PeopleSideColumn:
        """Whether an output passes a gate, by the judges and by most people: 1 or 0."""
        table, labelled = self.table, self.labelled
        answers = {id: table.score if id == SCORE_QUESTION else table.criteria[id] for id in gate.questions}
        told = labelled is not None and set(gate.questions) <= labelled.people.keys()
        people = (
            find_people_majority(decide_gate_as_each_rater(labelled, gate)) if labelled is not None and told else None
        )
        return self._read_column(gate.decide_at_gate(answers, len(table.sample)), people, samples)

    def _read_column(self, judged: Floats | None, people: Floats | None, samples: Sequence[str]) -> _PeopleSideColumn:
        own = {id: place for place, id in enumerate(self.table.samples)}
        places = [own[id] for id in samples]
        nobody = np.full(len(samples), np.nan)

        def spread(column: Floats | None) -> Floats:
            if self.labelled is None or column is None:
                return nobody
            return self.labelled.spread_over_samples(column, self.variant, self.table.samples)[places]

        number = self.table.variants.index(self.variant)
        weight = None if self.labelled is None else self.labelled.weight
        return _PeopleSideColumn(
            judged=nobody if judged is None else average_people_by_sample(self.table, number, judged)[places],
            felt=spread(people),
            weight=None if weight is None else spread(weight),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _PeopleSideColumn:
    """One place per sample; NaN where judges, or people, did not say. A pair weighs what the rarer of the two does."""

    judged: Floats
    felt: Floats
    weight: Floats | None

    def minus(self, other: _PeopleSideColumn) -> _PeopleSideColumn:
        both = [one for one in (self.weight, other.weight) if one is not None]
        weight = None if not both else np.fmax(both[0], both[-1])
        return _PeopleSideColumn(judged=self.judged - other.judged, felt=self.felt - other.felt, weight=weight)


def list_people_sides(
    table: RunTable, labelled: LabelledOutputs | None, gate: TrustGate | None
) -> tuple[PeopleSide, ...]:
    """The variants of a run, the control first."""
    names = sorted(table.variants, key=lambda name: name != table.frame.control)
    return tuple(PeopleSide(name=name, variant=name, table=table, labelled=labelled, gate=gate) for name in names)


def estimate_on_people_scale(sides: Sequence[PeopleSide]) -> Iterator[PeopleScaleEstimate]:
    """Each side over the samples that all have, then each against the first: by the score, and by what passes.

    By each question instead, if people's answers come to no score. Without labels there is only what the judges say.
    """
    table = sides[0].table
    shared = set.intersection(*(set(side.table.samples) for side in sides))
    samples = [id for id in table.samples if id in shared]
    cluster = np.arange(len(table.samples))
    cluster[table.sample] = table.cluster
    clusters = cluster[[place for place, id in enumerate(table.samples) if id in shared]]
    for question in next((side for side in sides if side.labelled is not None), sides[0]).list_questions():
        columns = {side.name: side.read_scores(question.id, samples) for side in sides}
        plain = PeopleScaleEstimate(kind="mean", question=question.id, variant="")
        yield from _estimate_people_columns(plain, columns, clusters, (question.low, question.high))
    gate = sides[-1].gate
    if gate is not None:
        columns = {side.name: side.read_passes(gate, samples) for side in sides}
        plain = PeopleScaleEstimate(kind="pass rate", question=gate.id, variant="")
        yield from _estimate_people_columns(plain, columns, clusters, (0.0, 1.0))


DIFFERENCE_KINDS: Mapping[PeopleScaleKind, PeopleScaleKind] = {
    "mean": "difference",
    "pass rate": "difference of pass rates",
}


def _estimate_people_columns(
    plain: PeopleScaleEstimate, columns: Mapping[str, _PeopleSideColumn], clusters: Integers, scale: tuple[float, float]
) -> Iterator[PeopleScaleEstimate]:
    for name, column in columns.items():
        yield _estimate_people_column(replace(plain, variant=name), column, clusters, scale)
    (control, base), *others = columns.items()
    span = scale[1] - scale[0]
    for name, column in others:
        pair = replace(plain, kind=DIFFERENCE_KINDS[plain.kind], variant=name, control=control)
        yield _estimate_people_column(pair, column.minus(base), clusters, (-span, span))


def _estimate_people_column(
    plain: PeopleScaleEstimate, column: _PeopleSideColumn, clusters: Integers, scale: tuple[float, float]
) -> PeopleScaleEstimate:
    """The judges' number and people's, over the samples that the judges scored."""
    there = np.flatnonzero(np.isfinite(column.judged))
    judged, groups = column.judged[there], clusters[there].tolist()
    known = [None if np.isnan(one) else float(one) for one in column.felt[there]]
    plain = replace(plain, outputs=len(there), labelled=sum(one is not None for one in known))
    if len(there) < 2:  # Nothing tells how far outputs lie apart.
        return replace(plain, why="the judges scored fewer than 2 outputs")
    try:
        bound = exact_share_interval if plain.kind == "pass rate" else mean_interval
        plain = replace(plain, judges=bound(judged, clusters=groups), spread=float(judged.std(ddof=1)))
        weights = None if column.weight is None else column.weight[there]
        return replace(plain, people=powered_mean(judged, known, clusters=groups, scale=scale, weights=weights))
    except InputError as error:
        return replace(plain, why=error.faults[0].what)


MOST_CURVE_POINTS = 8
MOST_DISAGREEMENTS = 8
SMALLEST_GAP = 0.05  # Of the scale: what differs by less is not worth a look.


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityPoint:
    """People's mean over the outputs to which the judge gave about the same score."""

    judged: float
    people: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityCurve:
    """People's answers to one question by the score of the judge. `least` is what a gate asks for there."""

    question: str
    scale: tuple[float, float]
    points: tuple[ReliabilityPoint, ...]
    least: float | None
    n: int


def measure_reliability_curves(
    labelled: LabelledOutputs, least: Mapping[str, float], span: tuple[float, float]
) -> Iterator[ReliabilityCurve]:
    """A curve for each question that judge and people answered, the score first.

    `least` is what gates ask for, by question; `span` the scale of the score. The interval of a mean is that of a
    share of its scale: no spread of answers that have this mean makes it too narrow.
    """
    for question in list_questions_labelled_by_people(labelled, span):
        judged = labelled.answers[labelled.decider, question.id]
        people = mean_over_human_raters(labelled.people[question.id])
        both = np.flatnonzero(np.isfinite(judged) & np.isfinite(people))
        if len(both):
            yield ReliabilityCurve(
                question=question.id,
                scale=(question.low, question.high),
                points=tuple(
                    _measure_reliability_point(judged[rows], people[rows], labelled.cluster[rows], question)
                    for rows in _group_labelled_by_judged_score(both, judged)
                ),
                least=least.get(question.id),
                n=len(both),
            )


def list_questions_labelled_by_people(
    labelled: LabelledOutputs, span: tuple[float, float]
) -> Iterator[HumanLabelQuestion]:
    """What people answered or what their answers come to, where the judge has an answer too; the score first."""
    score = HumanLabelQuestion(id=SCORE_QUESTION, low=span[0], high=span[1], whole=False)
    for question in (score, *(one for one in labelled.questions if one.id != SCORE_QUESTION)):
        if question.id in labelled.people and (labelled.decider, question.id) in labelled.answers:
            yield question


def _group_labelled_by_judged_score(rows: Integers, judged: Floats) -> Iterator[Integers]:
    """Rows of one score each, or, of many different scores, groups of about the same size; equal ones stay together."""
    scores = np.round(judged[rows], 9)
    distinct = np.unique(scores)
    if len(distinct) > MOST_CURVE_POINTS:
        cuts = np.unique(np.quantile(scores, np.linspace(0, 1, MOST_CURVE_POINTS + 1)[1:-1], method="higher"))
        group = np.searchsorted(cuts, scores, "right")
    else:
        group = np.searchsorted(distinct, scores)
    for number in np.unique(group):
        yield rows[group == number]


def _measure_reliability_point(
    judged: Floats, people: Floats, cluster: Integers, question: HumanLabelQuestion
) -> ReliabilityPoint:
    shares = np.clip((people - question.low) / question.span, 0, 1)
    found = exact_share_interval(shares, clusters=cluster.tolist())
    mean, low, high = (question.low + question.span * one for one in (found.estimate, found.low, found.high))
    return ReliabilityPoint(judged=float(judged.mean()), people=mean, low=low, high=high, n=len(people))


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelDisagreement:
    """An output on which judge and people differ, on one question; `gap` is a share of its scale."""

    sample: str
    variant: str
    question: str
    scale: tuple[float, float]
    judged: float
    people: float
    raters: int
    gap: float


def find_label_disagreements(labelled: LabelledOutputs, span: tuple[float, float]) -> list[LabelDisagreement]:
    """The largest differences between judge and people: by criterion, or by the score where only that was labelled."""
    compared = list(list_questions_labelled_by_people(labelled, span))
    criteria = [one for one in compared if one.id != SCORE_QUESTION]
    found = [one for question in criteria or compared for one in _list_label_disagreements(labelled, question)]
    found.sort(key=lambda one: (-round(abs(one.gap), 9), one.sample, one.variant, one.question))
    return found[:MOST_DISAGREEMENTS]


def _list_label_disagreements(labelled: LabelledOutputs, question: HumanLabelQuestion) -> Iterator[LabelDisagreement]:
    rows = labelled.people[question.id]
    judged, people = labelled.answers[labelled.decider, question.id], mean_over_human_raters(rows)
    gaps = (judged - people) / question.span
    for place in np.flatnonzero(np.abs(gaps) >= SMALLEST_GAP):  # NaN is not: nobody said anything.
        yield LabelDisagreement(
            sample=labelled.ids[place],
            variant=labelled.variants[labelled.variant[place]],
            question=question.id,
            scale=(question.low, question.high),
            judged=float(judged[place]),
            people=float(people[place]),
            raters=int(np.isfinite(rows[:, place]).sum()),
            gap=float(gaps[place]),
        )
