"""A panel over columns: what its reviewers come to for many outputs at once, in floats, for questions that cannot wait.

Each number is that of the exact path to nine digits, and one that is on a threshold there is on it here. Values may lie
between the steps of a scale, as means of several replies do, and NaN is what nobody answered. Under several weightings
at once, what hangs on weights has a line per weighting, and all else is as it is for one.
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
from evenhand.scoring.panel_pooling import (
    SAME_NUMBER,
    Booleans,
    Floats,
    FoundStatements,
    combine_review_columns,
    join_found_statements,
    multiply_weightings,
    normalise_outputs_beside,
    pool_majority_columns,
    rank_outputs_beside,
    round_half_away,
)

CriterionWeightings = Mapping[str, Floats]  # By criterion, nodes too: weightings × 1, below 0 for points taken off.

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
    bent: bool = False  # Whether anything but weights made a score what it is, of what was asked to be watched.


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelWeightings:
    """Weightings to score under at once, in place of the rubric's weights.

    `beside` is how many outputs are judged side by side: rows are then the first output of each sample, the second of
    each, and so on. A panel that ranks or normalises does so among them; with 0, it leaves scores as they are.
    """

    weights: CriterionWeightings
    beside: int = 0
    rounded: bool = True


@dataclass(frozen=True, slots=True)
class _PanelStepInputs:
    rubric: Rubric
    values: Mapping[str, Floats]
    found: FoundStatements
    unsafe: Booleans | None
    under: PanelWeightings | None
    bends: list[bool]  # One for each step that changed a score by more than weights do.


def score_panel_columns(
    rubric: Rubric,
    reviews: Sequence[ReviewColumns],
    unsafe: Booleans | None = None,
    under: PanelWeightings | None = None,
) -> PanelColumns:
    """Score each output from what all reviewers say, joined as the method's panel joins them.

    Under weightings, scores are weightings × outputs. By ranks or z they are joined only there, where it is known which
    outputs are beside each other.
    """
    rows = len(next(iter(reviews[0].scores.values())))
    every = np.ones(rows, dtype=np.bool_)
    votes = [every if one.votes is None else one.votes for one in reviews]
    values = [_fold_review_values(rubric, one, under) for one in reviews]
    bends: list[bool] = []
    cases = [
        _PanelStepInputs(rubric, own, one.found, unsafe, under, bends) for one, own in zip(reviews, values, strict=True)
    ]
    each = [
        _score_review_columns(one, case, voting, rows) for one, case, voting in zip(reviews, cases, votes, strict=True)
    ]
    if under is not None and under.beside and len(reviews) > 1:
        each = _pool_outputs_beside(rubric, reviews, cases, each, under.beside)
    quorum = rubric.method.panel.quorum
    known = np.stack([np.isfinite(_take_one_weighting(one)) for one in each])
    enough = known.sum(axis=0) * quorum.denominator > quorum.numerator * np.sum(votes, axis=0)
    pooled = pool_majority_columns(_list_criteria_after_panel(rubric), values, votes)
    found = join_found_statements([one.found for one in reviews], votes)
    case = _PanelStepInputs(rubric, pooled, found, unsafe, under, bends)
    score = combine_review_columns(rubric.method.panel.aggregate, each, known, [one.weight for one in reviews])
    score = _blank_where(~enough, score)
    score = _take_panel_steps(rubric.method.after_panel, score, case)
    score = _blank_where(_find_unanswered_limits(rubric, rubric.method.after_panel, pooled, rows), score)
    panel = rubric.method.panel
    bends.append(len(reviews) > 1 and (panel.aggregate, panel.normalise) != ("mean", "none"))
    return PanelColumns(score=score, values=pooled, bent=any(bends))


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


def _score_review_columns(review: ReviewColumns, case: _PanelStepInputs, votes: Booleans, rows: int) -> Floats:
    """The score of one reviewer, by the steps before the panel; NaN where it is not whole, or not to be heard."""
    steps = case.rubric.method.before_panel
    score = _take_panel_steps(steps, None, case)
    unknown = _find_unanswered_limits(case.rubric, steps, case.values, rows)
    if review.unanswered is not None:
        unknown = unknown | review.unanswered
    score = _blank_where(unknown, score)
    whole = _find_holistic_rows(review)
    if review.holistic is not None and whole is not None and whole.any():
        score = np.where(whole, review.holistic, score)
    return _blank_where(~votes, score)


def _take_panel_steps(steps: Sequence[Step], score: Any, case: _PanelStepInputs) -> Floats:
    """The score after some steps, which may change the one that they are given in its place: it is large."""
    for step in steps:
        if case.under is None:
            score = PANEL_STEP_FUNCTIONS[type(step)](step, score, case)
        elif case.under.rounded or not isinstance(step, Round):
            before = None if case.under.rounded or score is None else score.copy()
            score = PANEL_STEP_FUNCTIONS[type(step)](step, score, case)
            if before is not None and isinstance(step, (Ceiling, Shortfall, Cap, Clamp)):
                case.bends.append(_may_bend(step, case) or bool((np.abs(score - before) > SAME_NUMBER).any()))
    return np.asarray(score)


def _may_bend(step: Step, case: _PanelStepInputs) -> bool:
    """Whether a step asks about a node of a tree, whose value hangs on weights itself."""
    asked = [step.criterion] if isinstance(step, Ceiling) else []
    asked += [one.id for one in case.rubric.criteria if one.fixed] if isinstance(step, Shortfall) else []
    return any(id not in case.rubric.leaves for id in asked)


def _find_holistic_rows(review: ReviewColumns) -> Booleans | None:
    """Where a score for the whole stands in: only where no criterion was answered at all."""
    if review.holistic is None:
        return None
    silent = np.all([np.isnan(column) for column in review.scores.values()], axis=0)
    return np.asarray(silent & np.isfinite(review.holistic))


def _blank_where(rows: Booleans, score: Floats) -> Floats:
    return np.where(rows, np.nan, score) if rows.any() else score


def _take_one_weighting(score: Floats) -> Floats:
    """Which outputs have a score is the same under all weightings."""
    return score if score.ndim == 1 else score[0]


def _fold_review_values(
    rubric: Rubric, review: ReviewColumns, under: PanelWeightings | None = None
) -> dict[str, Floats]:
    """The value of each leaf and of each node over leaves."""
    values: dict[str, Floats] = {id: column for id, column in review.scores.items() if id in rubric.leaves}
    if not isinstance(rubric.method.steps[0], LayerMean):
        gone = np.full(len(next(iter(review.scores.values()))), np.nan)
        values |= {id: gone for id in rubric.leaves if id not in values}
    for criterion in rubric.criteria:
        _fold_child_values(criterion, values, under)
    return values


def _fold_child_values(criterion: Criterion, values: dict[str, Floats], under: PanelWeightings | None) -> None:
    for child in criterion.children:
        _fold_child_values(child, values, under)
    if criterion.children and all(child.id in values for child in criterion.children):
        values[criterion.id] = _average_on_scale(criterion.scale, criterion.children, values, under)


def _average_on_scale(
    scale: Scale | None,
    criteria: Sequence[Criterion],
    values: Mapping[str, Floats],
    under: PanelWeightings | None = None,
) -> Floats:
    """The mean by weight, each criterion put onto the scale; without one, as it is."""
    columns = [_put_on_scale(scale, one, values[one.id]) for one in criteria]
    if under is not None:
        own = np.concatenate([under.weights[one.id] for one in criteria], axis=1)
        whole = own.sum(axis=1, keepdims=True)
        # What weighs nothing has a value all the same, which a ceiling may ask about.
        return _weigh_columns(np.divide(own, whole, out=np.full(own.shape, 1 / len(columns)), where=whole > 0), columns)
    total = sum((one.weight for one in criteria), Fraction(0))
    mean: Any = 0.0
    for one, column in zip(criteria, columns, strict=True):
        mean = mean + float(one.weight / total) * column
    return np.asarray(mean)


def _weigh_columns(weights: Floats, columns: Sequence[Floats]) -> Floats:
    """The sum of columns by each line of weights: weightings × rows."""
    if any(column.ndim > 1 for column in columns):
        return np.asarray(sum(weights[:, [at]] * column for at, column in enumerate(columns)))
    return multiply_weightings(weights, np.stack(columns))


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
        unknown |= missing & np.isnan(_take_one_weighting(values.get(id, gone)))
    return unknown


def _pool_outputs_beside(
    rubric: Rubric,
    reviews: Sequence[ReviewColumns],
    cases: Sequence[_PanelStepInputs],
    each: Sequence[Floats],
    beside: int,
) -> list[Floats]:
    """What each reviewer's scores count as among those of the outputs beside each other."""
    panel, scale = rubric.method.panel, rubric.method.scale
    says = [one.reshape(*one.shape[:-1], beside, -1) for one in each]
    if panel.aggregate == "borda":  # Normalising moves nobody past another.
        low, span = float(scale.min), float(scale.max - scale.min)
        return [(low + span * rank_outputs_beside(own)).reshape(one.shape) for own, one in zip(says, each, strict=True)]
    if panel.normalise == "none":
        return list(each)
    normal = [own.reshape(one.shape) for own, one in zip(normalise_outputs_beside(says), each, strict=True)]
    # Normalising comes after the ceilings and may stretch a score beyond them, so they hold once more.
    limits = [step for step in rubric.method.before_panel if isinstance(step, (Ceiling, Cap))]
    for at, (review, case) in enumerate(zip(reviews, cases, strict=True)):
        held, whole = _take_panel_steps(limits, normal[at].copy(), case), _find_holistic_rows(review)
        normal[at] = held if whole is None else np.where(whole, normal[at], held)
    return normal


def _list_criteria_after_panel(rubric: Rubric) -> list[str]:
    """The criteria that gates and the steps after the panel look at; leaves too, of which none may be unknown then."""
    steps = rubric.method.after_panel
    limiting = [gate.criterion for gate in rubric.all_gates]
    limiting += [step.criterion for step in steps if isinstance(step, Ceiling)]
    if any(isinstance(step, Shortfall) for step in steps):
        limiting += [one.id for one in rubric.criteria if one.fixed]
    return list(dict.fromkeys([*limiting, *rubric.leaves])) if limiting else []


def _is_below(column: Floats, level: Fraction) -> Booleans:
    return np.asarray(column < float(level) - SAME_NUMBER)  # NaN is not.


def _list_present_criteria(case: _PanelStepInputs) -> list[Criterion]:
    return [one for one in case.rubric.criteria if one.id in case.values]


def _average_panel_criteria(step: WeightedMean | LayerMean, case: _PanelStepInputs) -> Floats:
    return _average_on_scale(step.onto, _list_present_criteria(case), case.values, case.under)


def _sum_panel_weights(_step: WeightedSum, _score: None, case: _PanelStepInputs) -> Floats:
    if case.under is not None:
        own = np.concatenate([case.under.weights[one.id] for one in case.rubric.criteria], axis=1)
        return _weigh_columns(own, [case.values[one.id] for one in case.rubric.criteria])
    terms = [float(one.weight) * case.values[one.id] for one in case.rubric.criteria]
    return np.asarray(np.sum(terms, axis=0))


def _share_panel_points(_step: PointsShare, _score: None, case: _PanelStepInputs) -> Floats:
    points = [(one, one.points or Fraction(0)) for one in case.rubric.criteria]
    possible = sum((worth for _, worth in points if worth > 0), Fraction(0))
    share = Scale(min=Fraction(0), max=Fraction(1))
    if case.under is not None:
        own = np.concatenate([case.under.weights[one.id] for one, _ in points], axis=1)
        whole = np.maximum(own, 0.0).sum(axis=1, keepdims=True)
        columns = [_put_on_scale(share, one, case.values[one.id]) for one, _ in points]
        return _weigh_columns(np.divide(own, whole, out=np.zeros(own.shape), where=whole > 0), columns)
    terms = [float(worth / possible) * _put_on_scale(share, one, case.values[one.id]) for one, worth in points]
    return np.asarray(np.sum(terms, axis=0))


def _limit_panel_ceiling(step: Ceiling, score: Floats, case: _PanelStepInputs) -> Floats:
    own = case.values.get(step.criterion)
    low = np.zeros(1, dtype=np.bool_) if own is None else _is_below(own, step.below)
    return np.minimum(score, np.where(low, float(step.at), np.inf), out=score) if low.any() else score


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
    if case.unsafe is None or not case.unsafe.any():
        return score
    return np.minimum(score, np.where(case.unsafe, float(step.at), np.inf), out=score)


def _clamp_panel_scores(step: Clamp, score: Floats, _case: _PanelStepInputs) -> Floats:
    low, high = (None if end is None else float(end) for end in (step.min, step.max))
    return score if low is None and high is None else np.clip(score, low, high, out=score)


def _round_panel_scores(step: Round, score: Floats, _case: _PanelStepInputs) -> Floats:
    return round_half_away(score, step.decimals)


PANEL_STEP_FUNCTIONS: dict[type[Step], Callable[[Any, Any, _PanelStepInputs], Floats]] = {
    WeightedSum: _sum_panel_weights,
    WeightedMean: lambda step, _, case: _average_panel_criteria(step, case),
    LayerMean: lambda step, _, case: _average_panel_criteria(step, case),
    PointsShare: _share_panel_points,
    Ceiling: _limit_panel_ceiling,
    Shortfall: _shorten_panel_scores,
    Deduct: lambda step, score, case: score - _sum_panel_statements(step, case),
    Add: lambda step, score, case: score + _sum_panel_statements(step, case),
    Cap: _cap_panel_scores,
    Clamp: _clamp_panel_scores,
    Round: _round_panel_scores,
}
