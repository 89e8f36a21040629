"""The arithmetic of each step, exact, with the sentence that explains it beside it.

A step's function takes the step, the number so far and the case, and returns the new number with
what its sentence needs to know. The engine keeps those that moved the number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from evenhand.model import (
    Add,
    Answers,
    Cap,
    Ceiling,
    Clamp,
    Criterion,
    Deduct,
    LayerMean,
    Moved,
    PointsShare,
    Round,
    Rubric,
    Scale,
    Shortfall,
    Statement,
    Step,
    WeightedMean,
    WeightedSum,
    rounded,
    written,
)
from evenhand.scoring._fold import Values, sum_of_products

Result = tuple[Fraction, tuple[object, ...]]
ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class Case:
    """What a step may look at: the rubric, the value of each criterion, and the statements found."""

    rubric: Rubric
    values: Values
    answers: Answers


def apply(step: Step, before: Fraction | None, case: Case) -> Moved | None:
    """The step's effect on the number; None where it had none."""
    run, tell = STEP_FUNCTIONS[type(step)]
    after, facts = run(step, before, case)
    if after is before or after == before:
        return None
    return Moved(step.kind(), before, after, tell, facts, case.rubric.method.scale.decimals)


# Steps that combine criterion scores into the first number.


def _weighted_sum(_step: WeightedSum, _before: None, case: Case) -> Result:
    pairs = [(criterion.weight, case.values[criterion.id]) for criterion in case.rubric.criteria]
    return sum_of_products(pairs), (case,)


def _tell_weighted_sum(moved: Moved) -> str:
    (case,) = moved.facts
    assert isinstance(case, Case)
    terms = " + ".join(f"{name} × {written(c.weight)}" for name, c in _named(case))
    return f"weighted sum {_shown(moved, moved.after)}: {terms}"


def _weighted_mean(step: WeightedMean | LayerMean, _before: None, case: Case) -> Result:
    present = [c for c in case.rubric.criteria if c.id in case.values]
    total = sum((c.weight for c in present), ZERO)
    pairs = [(c.weight, _onto(step.onto, c, case.values[c.id])) for c in present]
    return sum_of_products(pairs) / total, (case, step.onto)


def _tell_weighted_mean(moved: Moved) -> str:
    case, onto = moved.facts
    assert isinstance(case, Case)
    assert onto is None or isinstance(onto, Scale)
    parts = []
    for name, criterion in _named(case):
        value = case.values[criterion.id]
        put = _onto(onto, criterion, value)
        as_put = "" if put == value or criterion.scale.yes_no else f" = {written(put)}"
        weight = "" if criterion.weight == 1 else f" (weight {written(criterion.weight)})"
        parts.append(f"{name}{as_put}{weight}")
    return f"weighted mean {_shown(moved, moved.after)}: {', '.join(parts)}"


def _tell_layer_mean(moved: Moved) -> str:
    return _tell_weighted_mean(moved).replace("weighted mean", "mean of layers", 1)


def _points_share(_step: PointsShare, _before: None, case: Case) -> Result:
    met = sum_of_products((c.points or ZERO, c.scale.share(case.values[c.id])) for c in case.rubric.criteria)
    possible = sum((c.points for c in case.rubric.criteria if c.points and c.points > 0), ZERO)
    return met / possible, (case, met, possible)


def _tell_points_share(moved: Moved) -> str:
    case, met, possible = moved.facts
    assert isinstance(case, Case)
    assert isinstance(met, Fraction)
    assert isinstance(possible, Fraction)
    terms = ", ".join(
        f"{c.id} {written((c.points or ZERO) * c.scale.share(case.values[c.id]))} of {written(c.points or ZERO)}"
        for c in case.rubric.criteria
    )
    return f"{written(met)} of {written(possible)} points: {terms}"


# Steps that move the number.


def _ceiling(step: Ceiling, before: Fraction, case: Case) -> Result:
    value = case.values[step.criterion]
    return (min(before, step.at) if value < step.below else before), (step, value)


def _tell_ceiling(moved: Moved) -> str:
    step, value = moved.facts
    assert isinstance(step, Ceiling)
    assert isinstance(value, Fraction)
    return _capped(moved, f"{step.criterion} {written(value)} is under {written(step.below)}")


def _shortfall(step: Shortfall, before: Fraction, case: Case) -> Result:
    after = before
    short = below_expected(step, case)
    for criterion in short:
        after *= case.values[criterion.id] / step.below
    return after, (step, tuple((c.id, case.values[c.id]) for c in short))


def below_expected(step: Shortfall, case: Case) -> list[Criterion]:
    """The fixed criteria under the level that is expected of them."""
    return [c for c in case.rubric.criteria if c.fixed and c.id in case.values and case.values[c.id] < step.below]


def _tell_shortfall(moved: Moved) -> str:
    step, short = moved.facts
    assert isinstance(step, Shortfall)
    assert isinstance(short, tuple)
    factor = Fraction(1)
    for _, value in short:
        factor *= value / step.below
    below = written(step.below)
    parts = ", ".join(f"{id} {written(value)} is under {below} ({written(value)}/{below})" for id, value in short)
    return f"times {written(factor)}: {parts} (was {_shown(moved, moved.before)})"


@dataclass(frozen=True, slots=True)
class Counted:
    """A statement found, and how much of its amount counts before the limit is reached."""

    statement: Statement
    explanation: str
    amount: Fraction
    counted: Fraction

    def __str__(self) -> str:
        text = f"{self.statement.id} {written(self.counted)}"
        if self.counted == 0:
            text = f"{self.statement.id} not counted"
        elif self.counted < self.amount:
            text += f" of {written(self.amount)}"
        return f"{text} ({self.explanation})" if self.explanation else text


def counted(step: Deduct | Add, case: Case) -> tuple[Counted, ...]:
    """The distinct statements found, in the rubric's order, each with what counts of it."""
    statements = getattr(case.rubric, step.for_)
    found = getattr(case.answers, step.for_)
    left = step.most
    entries = []
    for statement in statements:
        if statement.id in found:
            amount = step.each if statement.amount is None else statement.amount
            entries.append(Counted(statement, found[statement.id], amount, min(amount, left)))
            left -= entries[-1].counted
    return tuple(entries)


def _deduct(step: Deduct, before: Fraction, case: Case) -> Result:
    entries = counted(step, case)
    return before - sum((entry.counted for entry in entries), ZERO), (step, entries)


def _add(step: Add, before: Fraction, case: Case) -> Result:
    entries = counted(step, case)
    return before + sum((entry.counted for entry in entries), ZERO), (step, entries)


def _tell_statements(moved: Moved) -> str:
    step, entries = moved.facts
    assert isinstance(step, (Deduct, Add))
    assert isinstance(entries, tuple)
    verb = "took off" if isinstance(step, Deduct) else "added"
    total = sum((entry.counted for entry in entries), ZERO)
    limit = f", the most for {step.for_}" if any(entry.counted < entry.amount for entry in entries) else ""
    listed = "; ".join(map(str, entries))
    return f"{verb} {_shown(moved, total)}{limit}: {listed} (was {_shown(moved, moved.before)})"


def _cap(step: Cap, before: Fraction, case: Case) -> Result:
    return (min(before, step.at) if case.answers.unsafe else before), (case.answers.unsafe,)


def _tell_cap(moved: Moved) -> str:
    return _capped(moved, f"unsafe, {moved.facts[0]}")


def _clamp(step: Clamp, before: Fraction, _case: Case) -> Result:
    after = before
    if step.min is not None:
        after = max(after, step.min)
    if step.max is not None:
        after = min(after, step.max)
    return after, ()


def _tell_clamp(moved: Moved) -> str:
    assert moved.before is not None
    limit = "below" if moved.after > moved.before else "above"
    return f"kept at {_shown(moved, moved.after)}: the score cannot go {limit} it (was {_shown(moved, moved.before)})"


def _round(step: Round, before: Fraction, _case: Case) -> Result:
    return Fraction(rounded(before, step.decimals)), (step,)


def _tell_round(moved: Moved) -> str:
    (step,) = moved.facts
    assert isinstance(step, Round)
    assert moved.before is not None
    return f"rounded to {written(moved.after, step.decimals)} (was {written(moved.before)})"


Run = Callable[[Any, Any, Case], Result]

STEP_FUNCTIONS: dict[type[Step], tuple[Run, Callable[[Moved], str]]] = {
    WeightedSum: (_weighted_sum, _tell_weighted_sum),
    WeightedMean: (_weighted_mean, _tell_weighted_mean),
    LayerMean: (_weighted_mean, _tell_layer_mean),
    PointsShare: (_points_share, _tell_points_share),
    Ceiling: (_ceiling, _tell_ceiling),
    Shortfall: (_shortfall, _tell_shortfall),
    Deduct: (_deduct, _tell_statements),
    Add: (_add, _tell_statements),
    Cap: (_cap, _tell_cap),
    Clamp: (_clamp, _tell_clamp),
    Round: (_round, _tell_round),
}


def _onto(scale: Scale | None, criterion: Criterion, value: Fraction) -> Fraction:
    if scale is None or (scale.min, scale.max) == (criterion.scale.min, criterion.scale.max):
        return value
    return scale.min + (scale.max - scale.min) * criterion.scale.share(value)


def _named(case: Case) -> Iterator[tuple[str, Criterion]]:
    """Each criterion that has a value, as "accuracy 3" or "examples yes"."""
    for criterion in case.rubric.criteria:
        if criterion.id in case.values:
            yield _told(criterion, case.values), criterion


def _told(criterion: Criterion, values: Values) -> str:
    """A criterion with its value; of an inner node also the children it is the mean of."""
    value = values[criterion.id]
    if not criterion.children:
        said = ("yes" if value else "no") if criterion.scale.yes_no else written(value)
        return f"{criterion.id} {said}"
    children = ", ".join(_told_child(criterion, child, values) for child in criterion.children)
    return f"{criterion.id} {written(value)} [{children}]"


def _told_child(parent: Criterion, child: Criterion, values: Values) -> str:
    value = values[child.id]
    put = _onto(parent.scale, child, value)
    as_put = "" if put == value or child.scale.yes_no else f" = {written(put)}"
    return f"{_told(child, values)}{as_put}" + ("" if child.weight == 1 else f" (weight {written(child.weight)})")


def _capped(moved: Moved, because: str) -> str:
    return f"capped at {_shown(moved, moved.after)}: {because} (was {_shown(moved, moved.before)})"


def _shown(moved: Moved, value: Fraction | None) -> str:
    return "–" if value is None else written(value, moved.decimals)
