"""What people say where a judge gives a score, and the outputs on which judge and people differ most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from evenhand.calibrate.jackknife import Floats
from evenhand.calibrate.labelled_outputs import Integers, LabelledOutputs, mean_over_human_raters
from evenhand.calibrate.labels import SCORE_QUESTION, HumanLabelQuestion
from evenhand.stats.rates import exact_share_interval

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
    for question in list_compared_questions(labelled, span):
        judged = labelled.answers[labelled.decider, question.id]
        people = mean_over_human_raters(labelled.people[question.id])
        both = np.flatnonzero(np.isfinite(judged) & np.isfinite(people))
        if len(both):
            yield ReliabilityCurve(
                question=question.id,
                scale=(question.low, question.high),
                points=tuple(
                    _measure_reliability_point(judged[rows], people[rows], labelled.cluster[rows], question)
                    for rows in _group_by_judged_score(both, judged)
                ),
                least=least.get(question.id),
                n=len(both),
            )


def list_compared_questions(labelled: LabelledOutputs, span: tuple[float, float]) -> Iterator[HumanLabelQuestion]:
    """What people answered or what their answers come to, where the judge has an answer too; the score first."""
    score = HumanLabelQuestion(id=SCORE_QUESTION, low=span[0], high=span[1], whole=False)
    for question in (score, *(one for one in labelled.questions if one.id != SCORE_QUESTION)):
        if question.id in labelled.people and (labelled.decider, question.id) in labelled.answers:
            yield question


def _group_by_judged_score(rows: Integers, judged: Floats) -> Iterator[Integers]:
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


def find_label_disagreements(
    labelled: LabelledOutputs, span: tuple[float, float], most: int = MOST_DISAGREEMENTS
) -> list[LabelDisagreement]:
    """The largest differences between judge and people: by criterion, or by the score where only that was labelled."""
    compared = list(list_compared_questions(labelled, span))
    criteria = [one for one in compared if one.id != SCORE_QUESTION]
    found = [one for question in criteria or compared for one in _list_disagreements(labelled, question)]
    return sorted(found, key=lambda one: (-round(abs(one.gap), 9), one.sample, one.variant, one.question))[:most]


def _list_disagreements(labelled: LabelledOutputs, question: HumanLabelQuestion) -> Iterator[LabelDisagreement]:
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
