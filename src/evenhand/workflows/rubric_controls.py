"""Numbers of a rubric that can be moved: weights, ceilings, gates, verdicts and grades; and a rubric with others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from evenhand.errors import Fault, InputError
from evenhand.model.method import Ceiling
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Gate, Scale

MOST_CHANGED = 10**6  # No number of a rubric is larger.
LEAST_WEIGHT = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricControl:
    """One number of a rubric that can be moved."""

    name: str  # Of its field in a form.
    kind: str
    label: str
    value: float
    low: float
    high: float
    step: float  # How finely it is moved, from the low end on.


def list_rubric_controls(rubric: Rubric) -> Iterator[RubricControl]:
    """Every number that can be moved, by kind."""
    span = (float(rubric.method.scale.min), float(rubric.method.scale.max))
    most = max(1.0, 2 * max(float(one.weight) for one in rubric.criteria))
    # A weight of 0 is none. From one step on, whole numbers can be reached; from 0.01 on in steps of 0.1, they cannot.
    finest = LEAST_WEIGHT if min(one.weight for one in rubric.criteria) < 1 else _choose_step(most)
    for at, one in enumerate(rubric.criteria):
        if one.points is None:
            yield _make_control(f"weight-{at}", "Weights", one.id, one.weight, (finest, most), finest)
    for at, step in enumerate(rubric.method.steps):
        criterion = rubric.criterion(step.criterion) if isinstance(step, Ceiling) else None
        if isinstance(step, Ceiling) and criterion is not None:
            while_ = f"while {step.criterion} is below"
            yield _make_control(f"below-{at}", "Ceilings", while_, step.below, _find_ends(criterion.scale))
            yield _make_control(f"at-{at}", "Ceilings", "the score is at most", step.at, span)
    gates = {gate.criterion: gate.min for gate in rubric.gates}
    for at, leaf in enumerate(rubric.leaves.values()):
        if not leaf.scale.yes_no:
            least = gates.get(leaf.id, leaf.scale.min)
            yield _make_control(f"gate-{at}", "Gates", f"{leaf.id} at least", least, _find_ends(leaf.scale))
    for at, threshold in enumerate(rubric.method.verdicts):
        yield _make_control(f"verdict-{at}", "Verdicts", f"{threshold.verdict} from", threshold.from_, span)
    for at, grade in enumerate(rubric.method.grades):
        yield _make_control(f"grade-{at}", "Grades", f"{grade.grade} from", grade.from_, span)


def _make_control(
    name: str, kind: str, label: str, value: Fraction, ends: tuple[float, float], step: float | None = None
) -> RubricControl:
    low, high = ends
    fine = step or _choose_step(high - low)
    return RubricControl(name=name, kind=kind, label=label, value=float(value), low=low, high=high, step=fine)


def _choose_step(length: float) -> float:
    return 0.01 if length <= 2 else 0.1 if length <= 20 else 1.0


def _find_ends(scale: Scale) -> tuple[float, float]:
    return float(scale.min), float(scale.max)


def change_rubric(rubric: Rubric, changed: Mapping[str, str]) -> Rubric:
    """A rubric with some of its numbers changed; what it refuses is told as it tells it."""
    given = {one.name: one for one in list_rubric_controls(rubric)}
    new = {name: _read_number(text) for name, text in changed.items() if name in given}
    # A third stands on a slider beside where it is: that is no change.
    new = {name: value for name, value in new.items() if abs(value - given[name].value) >= given[name].step / 2}
    if not new:
        return rubric
    criteria = list(rubric.criteria)
    weights = [new.get(f"weight-{at}", one.weight) for at, one in enumerate(criteria)]
    if (must := rubric.method.weights_sum_to) is not None and sum(weights) > 0:
        weights = [weight * must / sum(weights, Fraction(0)) for weight in weights]
    method = rubric.method
    for at, step in enumerate(method.steps):
        if isinstance(step, Ceiling):
            moved = replace(step, below=new.get(f"below-{at}", step.below), at=new.get(f"at-{at}", step.at))
            method = method.with_step(step, moved)
    method = replace(
        method,
        verdicts=tuple(
            replace(one, from_=new.get(f"verdict-{at}", one.from_)) for at, one in enumerate(method.verdicts)
        ),
        grades=tuple(replace(one, from_=new.get(f"grade-{at}", one.from_)) for at, one in enumerate(method.grades)),
    )
    return replace(
        rubric,
        method=method,
        criteria=tuple(replace(one, weight=weight) for one, weight in zip(criteria, weights, strict=True)),
        gates=tuple(_change_gates(rubric, new)),
    )


def _change_gates(rubric: Rubric, new: Mapping[str, Fraction]) -> Iterator[Gate]:
    """A gate at the lowest level gates nothing: it goes, and one that is raised from there comes."""
    own = {gate.criterion: gate for gate in rubric.gates}
    for at, leaf in enumerate(rubric.leaves.values()):
        least = new.get(f"gate-{at}")
        if least is None:
            yield from [own[leaf.id]] if leaf.id in own else []
        elif least > leaf.scale.min:
            yield Gate(criterion=leaf.id, min=least)
    yield from (gate for gate in rubric.gates if gate.criterion not in rubric.leaves)


def _read_number(text: str) -> Fraction:
    try:
        value = Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        raise InputError(Fault(f"{text[:40]!r} is no number", "as in 0.35")) from None
    if abs(value) > MOST_CHANGED or len(text) > 40:
        raise InputError(Fault(f"{text[:40]} is too large a number", "as in 0.35"))
    return value
