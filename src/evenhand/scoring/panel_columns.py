"""A panel over columns: what its reviewers come to for many outputs at once, in floats, for questions that cannot wait.

Each number is that of the exact path to nine digits, and one that is on a threshold there is on it here. Values may lie
between the steps of a scale, as means of several replies do, and NaN is what nobody answered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.model.method import (
    Add,
    Cap,
    Ceiling,
    Clamp,
    Deduct,
    LayerMean,
    PointsShare,
    Round,
    Shortfall,
    Step,
    WeightedMean,
    WeightedSum,
)
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Criterion, Scale

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
FoundStatements = Mapping[str, Mapping[str, Booleans]]  # By kind and id.

SAME_NUMBER = 1e-9  # Floats that differ by less are one number: no rubric is written that finely.
DECIDED_VERDICTS = ("fail", "borderline", "pass")
NONE_DECIDED = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewColumns:
    """What one reviewer said of each output. A leaf without a column is one it was not asked about."""

    judge: str
    weight: Fraction = Fraction(1)
    scores: Mapping[str, Floats]
    found: FoundStatements = field(default_factory=dict)
    unanswered: Booleans | None = None  # Where a red flag or bonus has no answer.
    holistic: Floats | None = None
    votes: Booleans | None = None  # Where it may vote; None is everywhere.


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelColumns:
    """The score of each output, and the value of each criterion that a gate looks at: one that a majority reaches."""

    score: Floats
    values: Mapping[str, Floats]


@dataclass(frozen=True, slots=True)
class _PanelStepInputs:
    rubric: Rubric
    values: Mapping[str, Floats]
    found: FoundStatements
    unsafe: Booleans | None


def score_panel_columns(
    rubric: Rubric, reviews: Sequence[ReviewColumns], unsafe: Booleans | None = None
) -> PanelColumns:
    """Score each output from what all reviewers say, joined as the method's panel joins them; not by ranks or z."""
    rows = len(next(iter(reviews[0].scores.values())))
    every = np.ones(rows, dtype=np.bool_)
    votes = [every if one.votes is None else one.votes for one in reviews]
    values = [_fold_review_values(rubric, one) for one in reviews]
    says = np.stack(
        [
            np.where(voting, _score_review_columns(rubric, one, own, unsafe), np.nan)
            for one, own, voting in zip(reviews, values, votes, strict=True)
        ]
    )
    quorum = rubric.method.panel.quorum
    enough = np.isfinite(says).sum(axis=0) * quorum.denominator > quorum.numerator * np.sum(votes, axis=0)
    pooled = _pool_majority_values(_list_criteria_after_panel(rubric), values, votes)
    found = _join_found_statements(reviews, votes)
    case = _PanelStepInputs(rubric, pooled, found, unsafe)
    score = np.where(enough, _combine_review_scores(rubric, says, [one.weight for one in reviews]), np.nan)
    for step in rubric.method.after_panel:
        score = PANEL_STEP_FUNCTIONS[type(step)](step, score, case)
    unknown = _find_unanswered_limits(rubric, rubric.method.after_panel, pooled, rows)
    return PanelColumns(score=np.where(unknown, np.nan, score), values=pooled)


def decide_panel_columns(
    rubric: Rubric, score: Floats, values: Mapping[str, Floats]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The grade of each output by its place in the method, and its verdict by `DECIDED_VERDICTS`; −1 is none."""
    known, near = np.isfinite(score), score + SAME_NUMBER
    grade = np.full(len(score), NONE_DECIDED)
    for place, one in reversed(list(enumerate(rubric.method.grades))):
        grade = np.where(known & (near >= float(one.from_)), place, grade)
    verdict = np.full(len(score), NONE_DECIDED)
    if rubric.method.verdicts or rubric.all_gates:
        verdict[known] = 0 if rubric.method.verdicts else 2
    for threshold in sorted(rubric.method.verdicts, key=lambda one: one.from_):
        reached = known & (near >= float(threshold.from_))
        verdict = np.where(reached, DECIDED_VERDICTS.index(threshold.verdict), verdict)
    for gate in rubric.all_gates:
        if gate.criterion in values:
            verdict = np.where(_is_below(values[gate.criterion], gate.min), 0, verdict)
    return grade, verdict


def _score_review_columns(
    rubric: Rubric, review: ReviewColumns, values: Mapping[str, Floats], unsafe: Booleans | None
) -> Floats:
    """The score of one reviewer, by the steps before the panel; NaN where it is not whole."""
    case = _PanelStepInputs(rubric, values, review.found, unsafe)
    score: Any = None
    for step in rubric.method.before_panel:
        score = PANEL_STEP_FUNCTIONS[type(step)](step, score, case)
    unknown = _find_unanswered_limits(rubric, rubric.method.before_panel, values, len(score))
    if review.unanswered is not None:
        unknown = unknown | review.unanswered
    score = np.where(unknown, np.nan, score)
    if review.holistic is None:
        return np.asarray(score)
    # A score for the whole stands in only where no criterion was answered at all.
    silent = np.all([np.isnan(column) for column in review.scores.values()], axis=0)
    return np.where(silent & np.isfinite(review.holistic), review.holistic, score)


def _fold_review_values(rubric: Rubric, review: ReviewColumns) -> dict[str, Floats]:
    """The value of each leaf and of each node over leaves."""
    values: dict[str, Floats] = {id: column for id, column in review.scores.items() if id in rubric.leaves}
    if not isinstance(rubric.method.steps[0], LayerMean):
        gone = np.full(len(next(iter(review.scores.values()))), np.nan)
        values |= {id: gone for id in rubric.leaves if id not in values}
    for criterion in rubric.criteria:
        _fold_child_values(criterion, values)
    return values


def _fold_child_values(criterion: Criterion, values: dict[str, Floats]) -> None:
    for child in criterion.children:
        _fold_child_values(child, values)
    if criterion.children and all(child.id in values for child in criterion.children):
        values[criterion.id] = _average_on_scale(criterion.scale, criterion.children, values)


def _average_on_scale(scale: Scale | None, criteria: Sequence[Criterion], values: Mapping[str, Floats]) -> Floats:
    """The mean by weight, each criterion put onto the scale; without one, as it is."""
    total = sum((one.weight for one in criteria), Fraction(0))
    mean: Any = 0.0
    for one in criteria:
        mean = mean + float(one.weight / total) * _put_on_scale(scale, one, values[one.id])
    return np.asarray(mean)


def _put_on_scale(scale: Scale | None, criterion: Criterion, column: Floats) -> Floats:
    if scale is None:
        return column
    own = criterion.scale
    stretch = (scale.max - scale.min) / (own.max - own.min)
    return column * float(stretch) + float(scale.min - own.min * stretch)


def _find_unanswered_limits(rubric: Rubric, steps: Sequence[Step], values: Mapping[str, Floats], rows: int) -> Booleans:
    """Where a gate or ceiling looks at a criterion that nobody answered, and some leaf has no answer."""
    looked_at = [gate.criterion for gate in rubric.all_gates]
    looked_at += [step.criterion for step in steps if isinstance(step, Ceiling)]
    unknown = np.zeros(rows, dtype=np.bool_)
    if not looked_at:
        return unknown
    gone = np.full(rows, np.nan)
    missing = np.any([np.isnan(values.get(id, gone)) for id in rubric.leaves], axis=0)
    for id in dict.fromkeys(looked_at):
        unknown |= missing & np.isnan(values.get(id, gone))
    return unknown


def _combine_review_scores(rubric: Rubric, says: Floats, weights: Sequence[Fraction]) -> Floats:
    """The mean by weight over those who have a score, or the score with half of the weight on either side."""
    known = np.isfinite(says)
    own = np.array([float(weight) for weight in weights])[:, None] * known
    total = own.sum(axis=0)
    if rubric.method.panel.aggregate == "median":
        return _find_weighted_medians(says, own, total)
    mean = (own * np.where(known, says, 0.0)).sum(axis=0) / np.where(total > 0, total, 1.0)
    return np.where(total > 0, mean, np.nan)


def _find_weighted_medians(says: Floats, weights: Floats, total: Floats) -> Floats:
    order = np.argsort(says, axis=0, kind="stable")  # NaN comes last, and weighs nothing.
    scores = np.take_along_axis(says, order, axis=0)
    below = np.cumsum(np.take_along_axis(weights, order, axis=0), axis=0)
    lower = np.argmax(below > total / 2 - SAME_NUMBER, axis=0)
    upper = np.argmax(below > total / 2 + SAME_NUMBER, axis=0)
    ends = [np.take_along_axis(scores, place[None], axis=0)[0] for place in (lower, upper)]
    return np.where(total > 0, (ends[0] + ends[1]) / 2, np.nan)


def _list_criteria_after_panel(rubric: Rubric) -> list[str]:
    """The criteria that gates and the steps after the panel look at; leaves too, of which none may be unknown then."""
    steps = rubric.method.after_panel
    limiting = [gate.criterion for gate in rubric.all_gates]
    limiting += [step.criterion for step in steps if isinstance(step, Ceiling)]
    if any(isinstance(step, Shortfall) for step in steps):
        limiting += [one.id for one in rubric.criteria if one.fixed]
    return list(dict.fromkeys([*limiting, *rubric.leaves])) if limiting else []


def _pool_majority_values(
    ids: Sequence[str], values: Sequence[Mapping[str, Floats]], votes: Sequence[Booleans]
) -> dict[str, Floats]:
    """The value of each criterion that more than half of those who answered reach; half is not enough."""
    pooled: dict[str, Floats] = {}
    for id in ids:
        given = [(own[id], voting) for own, voting in zip(values, votes, strict=True) if id in own]
        if not given:
            continue
        each = np.sort(np.stack([np.where(voting, column, np.nan) for column, voting in given]), axis=0)
        answered = np.isfinite(each).sum(axis=0)
        place = np.maximum(answered - 1, 0) // 2
        pooled[id] = np.take_along_axis(each, place[None], axis=0)[0]
    return pooled


def _join_found_statements(reviews: Sequence[ReviewColumns], votes: Sequence[Booleans]) -> FoundStatements:
    """Every red flag and bonus that any of those who vote found."""
    joined: dict[str, dict[str, Booleans]] = {}
    for review, voting in zip(reviews, votes, strict=True):
        for kind, found in review.found.items():
            own = joined.setdefault(kind, {})
            for id, column in found.items():
                own[id] = own[id] | (column & voting) if id in own else column & voting
    return joined


def _is_below(column: Floats, level: Fraction) -> Booleans:
    return np.asarray(column < float(level) - SAME_NUMBER)  # NaN is not.


def _list_present_criteria(case: _PanelStepInputs) -> list[Criterion]:
    return [one for one in case.rubric.criteria if one.id in case.values]


def _sum_panel_weights(_step: WeightedSum, _score: None, case: _PanelStepInputs) -> Floats:
    terms = [float(one.weight) * case.values[one.id] for one in case.rubric.criteria]
    return np.asarray(np.sum(terms, axis=0))


def _share_panel_points(_step: PointsShare, _score: None, case: _PanelStepInputs) -> Floats:
    points = [(one, one.points or Fraction(0)) for one in case.rubric.criteria]
    possible = sum((worth for _, worth in points if worth > 0), Fraction(0))
    share = Scale(min=Fraction(0), max=Fraction(1))
    terms = [float(worth / possible) * _put_on_scale(share, one, case.values[one.id]) for one, worth in points]
    return np.asarray(np.sum(terms, axis=0))


def _limit_panel_ceiling(step: Ceiling, score: Floats, case: _PanelStepInputs) -> Floats:
    own = case.values.get(step.criterion)
    return score if own is None else np.where(_is_below(own, step.below), np.minimum(score, float(step.at)), score)


def _shorten_panel_scores(step: Shortfall, score: Floats, case: _PanelStepInputs) -> Floats:
    for one in _list_present_criteria(case):
        if one.fixed:
            own = case.values[one.id]
            score = np.where(_is_below(own, step.below), score * own / float(step.below), score)
    return score


def _sum_panel_statements(step: Deduct | Add, case: _PanelStepInputs) -> Any:
    found: Mapping[str, Booleans] = case.found.get(step.for_, {})
    total: Any = 0.0
    for one in getattr(case.rubric, step.for_):
        if one.id in found:
            total = total + float(step.each if one.amount is None else one.amount) * found[one.id]
    return np.minimum(total, float(step.most))


def _cap_panel_scores(step: Cap, score: Floats, case: _PanelStepInputs) -> Floats:
    return score if case.unsafe is None else np.where(case.unsafe, np.minimum(score, float(step.at)), score)


def _clamp_panel_scores(step: Clamp, score: Floats, _case: _PanelStepInputs) -> Floats:
    ends = (None if end is None else float(end) for end in (step.min, step.max))
    low, high = ends
    return score if low is None and high is None else np.clip(score, low, high)


def _round_panel_scores(step: Round, score: Floats, _case: _PanelStepInputs) -> Floats:
    """Halves away from zero; what is a hair below a half in floats is one."""
    unit = 10.0**step.decimals
    return np.asarray(np.sign(score) * np.floor(np.abs(score) * unit + 0.5 + SAME_NUMBER) / unit)


PANEL_STEP_FUNCTIONS: dict[type[Step], Callable[[Any, Any, _PanelStepInputs], Floats]] = {
    WeightedSum: _sum_panel_weights,
    WeightedMean: lambda step, _, case: _average_on_scale(step.onto, _list_present_criteria(case), case.values),
    LayerMean: lambda step, _, case: _average_on_scale(step.onto, _list_present_criteria(case), case.values),
    PointsShare: _share_panel_points,
    Ceiling: _limit_panel_ceiling,
    Shortfall: _shorten_panel_scores,
    Deduct: lambda step, score, case: score - _sum_panel_statements(step, case),
    Add: lambda step, score, case: score + _sum_panel_statements(step, case),
    Cap: _cap_panel_scores,
    Clamp: _clamp_panel_scores,
    Round: _round_panel_scores,
}
