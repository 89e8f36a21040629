"""The exact arithmetic of each step, with the sentence that explains it beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

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
from evenhand.model.scale import Criterion, Scale, Statement
from evenhand.model.scorecard import Answers, AppliedStep
from evenhand.wording import format_fraction, round_number_half_away, word_layer

CriterionValues = dict[str, Fraction]
StepResult = tuple[Fraction, tuple[Any, ...]]
ZERO_SCORE = Fraction(0)


@dataclass(frozen=True, slots=True)
class StepInputs:
    """What a step may look at: the rubric, the value of each criterion, and the statements found."""

    rubric: Rubric
    values: CriterionValues
    answers: Answers


# Steps that combine criterion scores into the first number.


def _apply_weighted_sum(_step: WeightedSum, _before: None, case: StepInputs) -> StepResult:
    pairs = [(criterion.weight, case.values[criterion.id]) for criterion in case.rubric.criteria]
    return sum_weighted_values(pairs), (case,)


def _explain_weighted_sum_step(moved: AppliedStep) -> str:
    (case,) = moved.facts
    scored = [criterion for criterion in case.rubric.criteria if criterion.id in case.values]
    terms = " + ".join(
        f"{_explain_value_scored_in_step(c, case.values, weighted=False)} × {format_fraction(c.weight)}" for c in scored
    )
    shown, exact = format_fraction(moved.after, moved.decimals), format_fraction(moved.after)
    rounded = f", rounded from {exact}" if Fraction(shown) != Fraction(exact) else ""
    return f"weighted sum {shown}{rounded}: {terms}"


def _apply_weighted_mean(step: WeightedMean | LayerMean, _before: None, case: StepInputs) -> StepResult:
    present = [c for c in case.rubric.criteria if c.id in case.values]
    total = sum((c.weight for c in present), ZERO_SCORE)
    pairs = [(c.weight, _rescale_criterion_score(step.onto, c, case.values[c.id])) for c in present]
    return sum_weighted_values(pairs) / total, (case, step.onto)


def _explain_weighted_mean_step(moved: AppliedStep) -> str:
    case, onto = moved.facts
    layered = moved.step == LayerMean.word
    what, name = ("mean of layers", word_layer) if layered else ("weighted mean", str)
    scored = [criterion for criterion in case.rubric.criteria if criterion.id in case.values]
    parts = ", ".join(_explain_value_scored_in_step(one, case.values, onto, name=name(one.id)) for one in scored)
    return f"{what} {format_fraction(moved.after, moved.decimals)}: {parts}"


def _explain_value_scored_in_step(
    criterion: Criterion,
    values: CriterionValues,
    onto: Scale | None = None,
    *,
    weighted: bool = True,
    name: str | None = None,
) -> str:
    """A criterion with its value, as "accuracy 3" or "examples yes", an inner node with its children.

    Then what the value is on a common scale, and its weight where it is `weighted`. It goes by `name`, else its id.
    """
    value, name = values[criterion.id], name or criterion.id
    said = f"{name} {format_fraction(value)}"
    if criterion.children:
        children = (_explain_value_scored_in_step(child, values, criterion.scale) for child in criterion.children)
        said += f" [{', '.join(children)}]"
    elif criterion.scale.yes_no:
        said = f"{name} {'yes' if value else 'no'}"
    put = _rescale_criterion_score(onto, criterion, value)
    as_put = "" if put == value or criterion.scale.yes_no else f" = {format_fraction(put)}"
    weight = f" (weight {format_fraction(criterion.weight)})" if weighted and criterion.weight != 1 else ""
    return f"{said}{as_put}{weight}"


def _apply_points_share_step(_step: PointsShare, _before: None, case: StepInputs) -> StepResult:
    met = sum_weighted_values((c.points or ZERO_SCORE, c.scale.share(case.values[c.id])) for c in case.rubric.criteria)
    possible = sum((c.points for c in case.rubric.criteria if c.points and c.points > 0), ZERO_SCORE)
    return met / possible, (case, met, possible)


def _explain_score_by_points_share(moved: AppliedStep) -> str:
    case, met, possible = moved.facts
    terms = ", ".join(
        (
            f"{c.id} {format_fraction((c.points or ZERO_SCORE) * c.scale.share(case.values[c.id]))} of "
            f"{format_fraction(c.points or ZERO_SCORE)}"
        )
        for c in case.rubric.criteria
    )
    return f"{format_fraction(met)} of {format_fraction(possible)} points: {terms}"


# Steps that move the number.


def _apply_ceiling(step: Ceiling, before: Fraction, case: StepInputs) -> StepResult:
    value = case.values[step.criterion]
    return (min(before, step.at) if value < step.below else before), (step, value)


def _apply_shortfall_step(step: Shortfall, before: Fraction, case: StepInputs) -> StepResult:
    after = before
    short = find_shortfall_step_criteria(step, case)
    for criterion in short:
        after *= case.values[criterion.id] / step.below
    return after, (step, tuple((c.id, case.values[c.id]) for c in short))


def find_shortfall_step_criteria(step: Shortfall, case: StepInputs) -> list[Criterion]:
    """The fixed criteria under the level that is expected of them."""
    return [c for c in case.rubric.criteria if c.fixed and c.id in case.values and case.values[c.id] < step.below]


def _explain_shortfall_step(moved: AppliedStep) -> str:
    step, short = moved.facts
    factor = Fraction(1)
    for _, value in short:
        factor *= value / step.below
    below = format_fraction(step.below)
    parts = ", ".join(
        f"{id} {format_fraction(value)} is under {below} ({format_fraction(value)}/{below})" for id, value in short
    )
    return f"times {format_fraction(factor)}: {parts} (was {_show_step_score(moved, moved.before)})"


@dataclass(frozen=True, slots=True)
class CountedStatement:
    """A statement found, and how much of its amount counts before the limit is reached."""

    statement: Statement
    explanation: str
    amount: Fraction
    counted: Fraction

    def __str__(self) -> str:
        text = f"{self.statement.id} {format_fraction(self.counted)}"
        if self.counted == 0:
            text = f"{self.statement.id} not counted"
        elif self.counted < self.amount:
            text += f" of {format_fraction(self.amount)}"
        why = self.explanation or ("" if self.statement.asks == self.statement.id else self.statement.asks)
        return f"{text} ({why})" if why else text


def count_statements_scored_in_step(step: Deduct | Add, case: StepInputs) -> tuple[CountedStatement, ...]:
    """The distinct statements found, in the rubric's order, each with what counts of it."""
    statements = getattr(case.rubric, step.for_)
    found = getattr(case.answers, step.for_)
    left = step.most
    entries = []
    for statement in statements:
        if statement.id in found:
            amount = step.each if statement.amount is None else statement.amount
            entries.append(CountedStatement(statement, found[statement.id], amount, min(amount, left)))
            left -= entries[-1].counted
    return tuple(entries)


def _apply_statement_step(step: Deduct | Add, before: Fraction, case: StepInputs) -> StepResult:
    entries = count_statements_scored_in_step(step, case)
    if not entries:
        return before, ()
    total = sum((entry.counted for entry in entries), ZERO_SCORE)
    return before - total if isinstance(step, Deduct) else before + total, (step, entries, total)


def _explain_statement_step(moved: AppliedStep) -> str:
    step, entries, total = moved.facts
    verb = "took off" if isinstance(step, Deduct) else "added"
    limit = (
        f", the most for {step.for_.replace('_', ' ')}"
        if any(entry.counted < entry.amount for entry in entries)
        else ""
    )
    listed = "; ".join(map(str, entries))
    before = _show_step_score(moved, moved.before)
    return f"{verb} {_show_step_score(moved, total)}{limit}: {listed} (was {before})"


def _apply_cap_step(step: Cap, before: Fraction, case: StepInputs) -> StepResult:
    return (min(before, step.at) if case.answers.unsafe else before), (None, case.answers.unsafe)


def _explain_score_cap_step(moved: AppliedStep) -> str:
    """Why a ceiling or a cap lowered the score."""
    ceiling, found = moved.facts
    because = f"unsafe, {found}"
    if ceiling:
        because = f"{ceiling.criterion} {format_fraction(found)} is under {format_fraction(ceiling.below)}"
    after, before = (_show_step_score(moved, value) for value in (moved.after, moved.before))
    return f"capped at {after}: {because} (was {before})"


def _apply_clamp_step(step: Clamp, before: Fraction, _case: StepInputs) -> StepResult:
    after = before
    if step.min is not None:
        after = max(after, step.min)
    if step.max is not None:
        after = min(after, step.max)
    return after, ()


def _describe_clamp_step(moved: AppliedStep) -> str:
    assert moved.before is not None
    limit = "below" if moved.after > moved.before else "above"
    after, before = (_show_step_score(moved, value) for value in (moved.after, moved.before))
    return f"kept at {after}: the score cannot go {limit} it (was {before})"


def _apply_round_step(step: Round, before: Fraction, _case: StepInputs) -> StepResult:
    return Fraction(round_number_half_away(before, step.decimals)), (step.decimals,)


def _explain_round_step(moved: AppliedStep) -> str:
    (decimals,) = moved.facts
    assert moved.before is not None
    after, before = (format_fraction(moved.after, decimals), format_fraction(moved.before))
    return f"rounded to {after} (was {before})".replace("-", "−")


def _rescale_criterion_score(scale: Scale | None, criterion: Criterion, value: Fraction) -> Fraction:
    if scale is None or (scale.min, scale.max) == (criterion.scale.min, criterion.scale.max):
        return value
    return scale.min + (scale.max - scale.min) * criterion.scale.share(value)


def _show_step_score(moved: AppliedStep, value: Fraction | None) -> str:
    return "–" if value is None else format_fraction(value, moved.decimals).replace("-", "−")


def sum_weighted_values(pairs: Iterable[tuple[Fraction, Fraction]]) -> Fraction:
    """Exact, with one common denominator in place of a reduction per term."""
    terms = [(a.numerator * b.numerator, a.denominator * b.denominator) for a, b in pairs]
    common = lcm(*(below for _, below in terms))
    return Fraction(sum(above * (common // below) for above, below in terms), common)


STEP_FUNCTIONS: dict[type[Step], tuple[Callable[..., StepResult], Callable[[AppliedStep], str]]] = {
    WeightedSum: (_apply_weighted_sum, _explain_weighted_sum_step),
    WeightedMean: (_apply_weighted_mean, _explain_weighted_mean_step),
    LayerMean: (_apply_weighted_mean, _explain_weighted_mean_step),
    PointsShare: (_apply_points_share_step, _explain_score_by_points_share),
    Ceiling: (_apply_ceiling, _explain_score_cap_step),
    Shortfall: (_apply_shortfall_step, _explain_shortfall_step),
    Deduct: (_apply_statement_step, _explain_statement_step),
    Add: (_apply_statement_step, _explain_statement_step),
    Cap: (_apply_cap_step, _explain_score_cap_step),
    Clamp: (_apply_clamp_step, _describe_clamp_step),
    Round: (_apply_round_step, _explain_round_step),
}
