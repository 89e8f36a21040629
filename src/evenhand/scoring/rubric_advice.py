"""Advice on a valid rubric: weights, gates and criteria that have no effect or cannot be observed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from evenhand.errors import Fault, FaultPath
from evenhand.model.method import (
    Add,
    Ceiling,
    Clamp,
    Deduct,
    LayerMean,
    Panel,
    PointsShare,
    Shortfall,
    Step,
    WeightedMean,
    WeightedSum,
)
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Criterion
from evenhand.scoring.engine import apply_score_thresholds
from evenhand.wording import format_fraction

VAGUE_WORDS = (
    "good", "bad", "nice", "great", "appropriate", "appropriately", "adequate", "adequately", "proper", "properly",
    "high quality", "high-quality", "well-written", "well written", "reasonable", "reasonably", "robust",
    "user-friendly", "professional", "professionally", "excellent", "suitable", "satisfactory", "acceptable",
    "sensible", "decent", "optimal", "effective", "effectively", "intuitive",
)  # fmt: skip
_VAGUE_PATTERN = re.compile(r"\b(" + "|".join(VAGUE_WORDS) + r")\b", re.IGNORECASE)
MOST_SUMS = 4_000
MOST_CRITERIA = 24


@dataclass(frozen=True, slots=True)
class ScoringAdvice:
    """Something to look at, with the way to it through the file."""

    what: str
    path: FaultPath = ()

    def as_fault(self) -> Fault:
        """In the form in which faults are located and printed."""
        return Fault(self.what, path=self.path)


def find_doubtful_score_parts(rubric: Rubric) -> list[ScoringAdvice]:
    """Everything worth a second look, in the order of the file."""
    return [
        *_find_unanchored_score_criteria(rubric.criteria, ("criteria",)),
        *_find_score_gates_without_effect(rubric),
        *_find_score_weights_without_effect(rubric),
        *_find_score_fields_without_effect(rubric),
        *_find_score_step_mismatches(rubric),
    ]


def _find_unanchored_score_criteria(criteria: tuple[Criterion, ...], path: FaultPath) -> Iterator[ScoringAdvice]:
    for position, criterion in enumerate(criteria):
        here = (*path, position)
        if criterion.children:
            yield from _find_unanchored_score_criteria(criterion.children, (*here, "children"))
            continue
        if not (criterion.anchors or criterion.scale.bands or criterion.scale.yes_no):  # A band says what earns it.
            what = f"criterion {criterion.id!r} has no anchors: what earns its lowest, middle and highest score?"
            yield ScoringAdvice(what, here)
        vague = _VAGUE_PATTERN.search(criterion.asks)
        if vague and not criterion.anchors:
            what = f"criterion {criterion.id!r} asks for {vague[0]!r}: what would one see in the output?"
            yield ScoringAdvice(what, (*here, "asks"))


def _find_score_gates_without_effect(rubric: Rubric) -> Iterator[ScoringAdvice]:
    listed = {gate: ("gates", position) for position, gate in enumerate(rubric.gates)}
    positions = {leaf.id: at for at, c in enumerate(rubric.criteria) for leaf in (c, *c.leaves())}
    for gate in rubric.all_gates:
        criterion = rubric.criterion(gate.criterion)
        if criterion is None:
            continue
        path = listed.get(gate, ("criteria", positions[gate.criterion]))
        least = f"{criterion.id} of at least {format_fraction(gate.min)}"
        if gate.min <= criterion.scale.min:
            yield ScoringAdvice(f"the gate {least} can never fail: {criterion.scale} starts there", path)
        elif gate.min > criterion.scale.max:
            yield ScoringAdvice(f"the gate {least} must always fail: {criterion.scale} ends before it", path)


def _find_score_weights_without_effect(rubric: Rubric) -> Iterator[ScoringAdvice]:
    different = len({criterion.weight for criterion in rubric.criteria}) > 1
    if isinstance(rubric.method.steps[0], LayerMean) and different and not rubric.why:
        yield ScoringAdvice("layers have different weights and no 'why': evenhand run refuses them", ("criteria",))
    gated = {gate.criterion for gate in rubric.all_gates}
    gated |= {step.criterion for step in rubric.method.steps if isinstance(step, Ceiling)}
    for position, criterion in enumerate(rubric.criteria):
        if criterion.id in gated or criterion.children:
            continue
        why = _explain_score_weight_without_effect(rubric, criterion)
        if why:
            yield ScoringAdvice(f"the weight of {criterion.id!r} {why}", ("criteria", position))


def _explain_score_weight_without_effect(rubric: Rubric, criterion: Criterion) -> str | None:
    method = rubric.method
    if isinstance(method.steps[0], WeightedSum) and not (criterion.fixed and _has_score_step(method.steps, Shortfall)):
        most = criterion.weight * (criterion.scale.max - criterion.scale.min)
        decimals = method.scale.decimals
        if decimals is not None and most * 10**decimals < Fraction(1, 2):
            moves = f"from worst to best it moves the score by {format_fraction(most)}"
            return f"hardly matters: {moves}, less than is shown"
    plain = all(isinstance(step, (Panel, Clamp)) for step in method.steps[1:])
    if plain and method.verdicts and isinstance(method.steps[0], (WeightedMean, PointsShare)):
        sums = _list_score_sums_without_criterion(rubric, criterion)
        if sums and not any(_can_criterion_flip_passing_score(rubric, criterion, others) for others in sums):
            return "can change no decision: the verdict is the same whatever it is answered"
    return None


def _list_score_sums_without_criterion(rubric: Rubric, criterion: Criterion) -> set[Fraction]:
    """Every total that the others can reach without failing a gate; empty where there are too many to try."""
    least = {gate.criterion: gate.min for gate in rubric.all_gates}
    sums = {Fraction(0)}
    for other in rubric.criteria if len(rubric.criteria) <= MOST_CRITERIA else ():
        if other is criterion:
            continue
        lowest = max(other.scale.min, least.get(other.id, other.scale.min))
        span = int(other.scale.max - lowest) + 1
        if not other.scale.integers or other.children or len(sums) * span > MOST_SUMS:
            return set()
        worth = _get_criterion_score_worth(rubric, other)
        levels = range(ceil(lowest), int(other.scale.max) + 1)
        sums = {total + worth * other.scale.share(Fraction(level)) for total in sums for level in levels}
    return sums if len(rubric.criteria) <= MOST_CRITERIA else set()


def _can_criterion_flip_passing_score(rubric: Rubric, criterion: Criterion, others: Fraction) -> bool:
    if isinstance(rubric.method.steps[0], PointsShare):
        whole = sum((c.points for c in rubric.criteria if c.points and c.points > 0), Fraction(0))
    else:
        whole = sum((c.weight for c in rubric.criteria), Fraction(0))
    worst, best = others / whole, (others + _get_criterion_score_worth(rubric, criterion)) / whole
    return apply_score_thresholds(rubric, worst, ()) != apply_score_thresholds(rubric, best, ())


def _get_criterion_score_worth(rubric: Rubric, criterion: Criterion) -> Fraction:
    by_points = isinstance(rubric.method.steps[0], PointsShare)
    return (criterion.points or Fraction(0)) if by_points else criterion.weight


def _find_score_fields_without_effect(rubric: Rubric) -> Iterator[ScoringAdvice]:
    by_points = isinstance(rubric.method.steps[0], PointsShare)
    gated = {gate.criterion for gate in rubric.gates}
    for position, criterion in enumerate(rubric.criteria):
        ignored = {
            "the points": criterion.points is not None and not by_points,
            "'fixed'": criterion.fixed and not _has_score_step(rubric.method.steps, Shortfall),
            "the weight": by_points and criterion.weight != 1,
        }
        for name in (name for name, given in ignored.items() if given):
            what = f"{rubric.method.name!r} does nothing with {name} of {criterion.id!r}"
            yield ScoringAdvice(what, ("criteria", position))
        if (criterion.points or 0) < 0 and criterion.id in gated:
            what = f"the gate on {criterion.id!r} demands a fault: it has negative points"
            yield ScoringAdvice(what, ("criteria", position))


def _find_score_step_mismatches(rubric: Rubric) -> Iterator[ScoringAdvice]:
    """What the method asks for and the rubric does not have, or the other way round."""
    method = rubric.method
    for tie in () if method.criteria else method.ties:
        if tie.by == "criterion" and tie.of not in rubric.leaves:
            yield ScoringAdvice(f"{method.name!r} breaks ties by {tie.of!r}, which is no criterion here", ("method",))
    used = {step.for_ for step in method.steps if isinstance(step, (Deduct, Add))}
    for name, statements in (("red_flags", rubric.red_flags), ("bonuses", rubric.bonuses)):
        if statements and name not in used:
            yield ScoringAdvice(f"{name} are listed but {method.name!r} does nothing with them", (name,))
    fixed = sum(criterion.fixed for criterion in rubric.criteria)
    # Contests ask for three fixed criteria and one to three for the task.
    if _has_score_step(method.steps, Shortfall) and (fixed != 3 or not 4 <= len(rubric.criteria) <= 6):
        what = f"{fixed} fixed of {len(rubric.criteria)} criteria: a task has 3 fixed ones and 1 to 3 of its own"
        yield ScoringAdvice(what, ("criteria",))


def _has_score_step(steps: tuple[Step, ...], kind: type[Step]) -> bool:
    return any(isinstance(step, kind) for step in steps)
