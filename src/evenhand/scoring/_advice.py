"""What a careful colleague would say of a rubric that is valid: things that cannot bite, or cannot be observed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from evenhand.errors import Fault, Path
from evenhand.model import (
    Add,
    Ceiling,
    Clamp,
    Criterion,
    Deduct,
    Panel,
    PointsShare,
    Rubric,
    Shortfall,
    Step,
    WeightedMean,
    WeightedSum,
    written,
)
from evenhand.scoring._decide import verdict_of

VAGUE = (
    "good", "bad", "nice", "great", "appropriate", "appropriately", "adequate", "adequately", "proper", "properly",
    "high quality", "high-quality", "well-written", "well written", "reasonable", "reasonably", "robust",
    "user-friendly", "professional", "professionally", "excellent", "suitable", "satisfactory", "acceptable",
    "sensible", "decent", "optimal", "effective", "effectively", "intuitive",
)  # fmt: skip
_VAGUE = re.compile(r"\b(" + "|".join(VAGUE) + r")\b", re.IGNORECASE)
MOST_SUMS = 4_000
MOST_CRITERIA = 24


@dataclass(frozen=True, slots=True)
class Advice:
    """Something to look at, with the way to it through the file."""

    what: str
    path: Path = ()

    def as_fault(self) -> Fault:
        """In the form in which faults are located and printed."""
        return Fault(self.what, path=self.path)


def advise(rubric: Rubric) -> list[Advice]:
    """Everything worth a second look, in the order of the file."""
    advice = [*_criteria_advice(rubric.criteria, ("criteria",))]
    advice += _gate_advice(rubric)
    advice += _weight_advice(rubric)
    advice += _ignored_advice(rubric)
    advice += _tie_advice(rubric)
    advice += _statement_advice(rubric)
    advice += _count_advice(rubric)
    return advice


def _criteria_advice(criteria: tuple[Criterion, ...], path: Path) -> Iterator[Advice]:
    for position, criterion in enumerate(criteria):
        here = (*path, position)
        if criterion.children:
            yield from _criteria_advice(criterion.children, (*here, "children"))
            continue
        if not criterion.anchors and not criterion.scale.yes_no:
            what = f"criterion {criterion.id!r} has no anchors: what earns its lowest, middle and highest score?"
            yield Advice(what, here)
        vague = _VAGUE.search(criterion.asks)
        if vague and not criterion.anchors:
            what = f"criterion {criterion.id!r} asks for {vague[0]!r}: what would one see in the output?"
            yield Advice(what, (*here, "asks"))


def _gate_advice(rubric: Rubric) -> Iterator[Advice]:
    listed = {gate: ("gates", position) for position, gate in enumerate(rubric.gates)}
    positions = {leaf.id: at for at, c in enumerate(rubric.criteria) for leaf in (c, *c.leaves())}
    for gate in rubric.all_gates():
        criterion = rubric.criterion(gate.criterion)
        if criterion is None:
            continue
        path = listed.get(gate, ("criteria", positions[gate.criterion]))
        least = f"{criterion.id} of at least {written(gate.min)}"
        if gate.min <= criterion.scale.min:
            yield Advice(f"the gate {least} can never fail: {criterion.scale} starts there", path)
        elif gate.min > criterion.scale.max:
            yield Advice(f"the gate {least} must always fail: {criterion.scale} ends before it", path)


def _weight_advice(rubric: Rubric) -> Iterator[Advice]:
    gated = {gate.criterion for gate in rubric.all_gates()}
    gated |= {step.criterion for step in rubric.method.steps if isinstance(step, Ceiling)}
    for position, criterion in enumerate(rubric.criteria):
        if criterion.id in gated or criterion.children:
            continue
        why = _powerless(rubric, criterion)
        if why:
            yield Advice(f"the weight of {criterion.id!r} {why}", ("criteria", position))


def _powerless(rubric: Rubric, criterion: Criterion) -> str | None:
    method = rubric.method
    if isinstance(method.steps[0], WeightedSum) and not (criterion.fixed and _has(method.steps, Shortfall)):
        most = criterion.weight * (criterion.scale.max - criterion.scale.min)
        decimals = method.scale.decimals
        if decimals is not None and most * 10**decimals < Fraction(1, 2):
            return f"hardly matters: from worst to best it moves the score by {written(most)}, less than is shown"
    plain = all(isinstance(step, (Panel, Clamp)) for step in method.steps[1:])
    if plain and method.verdicts and isinstance(method.steps[0], (WeightedMean, PointsShare)):
        sums = _sums_of_others(rubric, criterion)
        if sums and not any(_flips(rubric, criterion, others) for others in sums):
            return "can change no decision: the verdict is the same whatever it is answered"
    return None


def _sums_of_others(rubric: Rubric, criterion: Criterion) -> set[Fraction]:
    """Every total that the others can reach without failing a gate; empty where there are too many to try."""
    least = {gate.criterion: gate.min for gate in rubric.all_gates()}
    sums = {Fraction(0)}
    for other in rubric.criteria if len(rubric.criteria) <= MOST_CRITERIA else ():
        if other is criterion:
            continue
        lowest = max(other.scale.min, least.get(other.id, other.scale.min))
        span = int(other.scale.max - lowest) + 1
        if not other.scale.integers or other.children or len(sums) * span > MOST_SUMS:
            return set()
        worth = _worth(rubric, other)
        levels = range(ceil(lowest), int(other.scale.max) + 1)
        sums = {total + worth * other.scale.share(Fraction(level)) for total in sums for level in levels}
    return sums if len(rubric.criteria) <= MOST_CRITERIA else set()


def _flips(rubric: Rubric, criterion: Criterion, others: Fraction) -> bool:
    if isinstance(rubric.method.steps[0], PointsShare):
        whole = sum((c.points for c in rubric.criteria if c.points and c.points > 0), Fraction(0))
    else:
        whole = sum((c.weight for c in rubric.criteria), Fraction(0))
    worst, best = others / whole, (others + _worth(rubric, criterion)) / whole
    return verdict_of(rubric, worst, ()) != verdict_of(rubric, best, ())


def _worth(rubric: Rubric, criterion: Criterion) -> Fraction:
    by_points = isinstance(rubric.method.steps[0], PointsShare)
    return (criterion.points or Fraction(0)) if by_points else criterion.weight


def _ignored_advice(rubric: Rubric) -> Iterator[Advice]:
    by_points = isinstance(rubric.method.steps[0], PointsShare)
    gated = {gate.criterion for gate in rubric.gates}
    for position, criterion in enumerate(rubric.criteria):
        if criterion.points is not None and not by_points:
            yield Advice(
                f"{rubric.method.name!r} does nothing with the points of {criterion.id!r}", ("criteria", position)
            )
        if criterion.fixed and not _has(rubric.method.steps, Shortfall):
            yield Advice(
                f"{rubric.method.name!r} does nothing with 'fixed' of {criterion.id!r}", ("criteria", position)
            )
        if by_points and criterion.weight != 1:
            yield Advice(
                f"{rubric.method.name!r} does nothing with the weight of {criterion.id!r}", ("criteria", position)
            )
        if (criterion.points or 0) < 0 and criterion.id in gated:
            what = f"the gate on {criterion.id!r} demands a fault: it has negative points"
            yield Advice(what, ("criteria", position))


def _tie_advice(rubric: Rubric) -> Iterator[Advice]:
    """A method without criteria of its own cannot know; here they are."""
    if rubric.method.criteria:
        return
    for tie in rubric.method.ties:
        if tie.by == "criterion" and tie.of not in rubric.leaves:
            yield Advice(f"{rubric.method.name!r} breaks ties by {tie.of!r}, which is no criterion here", ("method",))


def _statement_advice(rubric: Rubric) -> Iterator[Advice]:
    used = {step.for_ for step in rubric.method.steps if isinstance(step, (Deduct, Add))}
    for name, statements in (("red_flags", rubric.red_flags), ("bonuses", rubric.bonuses)):
        if statements and name not in used:
            yield Advice(f"{name} are listed but {rubric.method.name!r} does nothing with them", (name,))


def _count_advice(rubric: Rubric) -> Iterator[Advice]:
    """Contests ask for three fixed criteria and one to three for the task."""
    if not _has(rubric.method.steps, Shortfall):
        return
    fixed = sum(criterion.fixed for criterion in rubric.criteria)
    if fixed != 3 or not 4 <= len(rubric.criteria) <= 6:
        what = f"{fixed} fixed of {len(rubric.criteria)} criteria: a task has 3 fixed ones and 1 to 3 of its own"
        yield Advice(what, ("criteria",))


def _has(steps: tuple[Step, ...], kind: type[Step]) -> bool:
    return any(isinstance(step, kind) for step in steps)
