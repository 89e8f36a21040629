"""Rubrics: criteria and the method that turns them into a score; and a cache for what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Generic, TypeVar

from evenhand.errors import Fault, FaultPath, RubricError, make_fault_note_of_ignored_id, suggest_known_word_in_error
from evenhand.model.method import Cap, Ceiling, Method, PointsShare, Shortfall, WeightedSum
from evenhand.model.scale import (
    IF_GIVEN,
    Criterion,
    CriterionScore,
    Gate,
    Missing,
    Scale,
    Statement,
    to_exact_fraction,
)
from evenhand.wording import format_fraction

# A sum this near to 1 is accepted as it stands; it is never rescaled.
SUM_TOLERANCE = Fraction(1, 1000)
MOST_CRITERIA = 1_000  # Of a rubric, those with children too; as many red flags, bonuses and gates.


def explain_long_rubric_list(name: str, count: int) -> Fault:
    """That a list of a rubric is longer than any that can be judged."""
    what = f"{count:,} {name.replace('_', ' ')}, and {MOST_CRITERIA:,} are the most for a rubric"
    return Fault(what, "keep those that matter, or split it into several rubrics", (name,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """Criteria and the method that turns them into a score; refuses to exist where it cannot be right."""

    name: str
    method: Method
    criteria: tuple[Criterion, ...]
    red_flags: tuple[Statement, ...] = ()
    bonuses: tuple[Statement, ...] = ()
    gates: tuple[Gate, ...] = ()
    tags: tuple[str, ...] = ()
    about: str = ""
    why: str = field(default="", compare=False)  # The reason for its weights; it changes no score.
    safety_gate: bool = False  # Whether what the safety guard finds makes an output unsafe.
    holistic: bool = False  # Whether judges are asked for a score for the whole too, which decides nothing.
    # How far in probability an answer must be ahead of the next, or it is too close to call; None calls every one.
    too_close: Fraction | None = field(default=None, metadata=IF_GIVEN)
    leaves: Mapping[str, Criterion] = field(init=False, repr=False, compare=False)
    _nodes: Mapping[str, Criterion] = field(init=False, repr=False, compare=False)
    all_gates: tuple[Gate, ...] = field(init=False, repr=False, compare=False)  # Also those of required criteria.
    whole_scale: Scale | None = field(init=False, repr=False, compare=False)  # Of the score for the whole, if asked.

    def __post_init__(self) -> None:
        faults = list(self._find_long_lists()) or list(self._faults())
        if faults:
            raise RubricError(*faults)
        nodes = {criterion.id: criterion for criterion, _ in _walk_rubric_criteria(self.criteria)}
        leaves = {id: criterion for id, criterion in nodes.items() if not criterion.children}
        gates = list(self.gates)
        for leaf in leaves.values():
            if leaf.required_min_score is not None:
                gates.append(Gate(criterion=leaf.id, min=leaf.required_min_score))
            elif leaf.required and leaf.scale.yes_no:
                gates.append(Gate(criterion=leaf.id, min=Fraction(1)))
        whole = None
        if self.holistic:
            whole = self.method.holistic or Scale(min=self.method.scale.min, max=self.method.scale.max)
        parts = {"leaves": leaves, "_nodes": nodes, "all_gates": tuple(gates), "whole_scale": whole}
        for name, value in parts.items():
            object.__setattr__(self, name, value)

    def read(self, answers: Mapping[str, object]) -> tuple[dict[str, CriterionScore], list[str]]:
        """Answers on this rubric's scales, and notes on what it did not ask."""
        scores = {id: leaf.scale.read(answers[id]) for id, leaf in self.leaves.items() if id in answers}
        unknown = [str(id) for id in answers if id not in self.leaves]
        if unknown and not scores:
            return scores, [
                f"no criterion of this rubric is answered, but {', '.join(unknown)}: another rubric's answers?"
            ]
        notes = [
            note
            for id, one in scores.items()
            if isinstance(one, Missing) and (note := _note_answer_off_share_scale(self.leaves[id], answers[id]))
        ]
        return scores, [*notes, *(make_fault_note_of_ignored_id(id, "criterion", self.leaves) for id in unknown)]

    def criterion(self, id: str) -> Criterion | None:
        """The criterion with this id, anywhere in the tree."""
        return self._nodes.get(id)

    def _find_long_lists(self) -> Iterator[Fault]:
        """Lists that no judge could answer, and that would take long to check."""
        counts = {"criteria": sum(1 for _ in _walk_rubric_criteria(self.criteria))}
        counts |= {name: len(getattr(self, name)) for name in ("red_flags", "bonuses", "gates")}
        for name, count in counts.items():
            if count > MOST_CRITERIA:
                yield explain_long_rubric_list(name, count)

    def _faults(self) -> Iterator[Fault]:
        method, criteria = self.method, self.criteria
        if not criteria:
            own = "" if method.criteria else f"the method {method.name!r} has none of its own, and "
            yield Fault(f"no criteria: {own}the rubric lists none", "list them under criteria")
        if self.safety_gate and not any(isinstance(step, Cap) for step in method.steps):
            what = f"safety_gate has no effect: {method.name!r} has no cap for unsafe outputs"
            yield Fault(what, "use a method with a cap step, such as council", ("safety_gate",))
        if self.too_close is not None and not 0 < self.too_close < 1:
            what = f"too_close is a difference of probabilities between 0 and 1, got {format_fraction(self.too_close)}"
            yield Fault(what, "as in too_close: 0.2", ("too_close",))
        listed: list[list[tuple[str, FaultPath]]] = [
            [(criterion.id, (*path, "id")) for criterion, path in _walk_rubric_criteria(criteria)],
            [(flag.id, ("red_flags", at)) for at, flag in enumerate(self.red_flags)],
            [(bonus.id, ("bonuses", at)) for at, bonus in enumerate(self.bonuses)],
        ]
        for entries in listed:
            seen: set[str] = set()
            for id, path in entries:
                if id in seen:
                    yield Fault(f"the id {id!r} is used twice", "ids are unique", path)
                seen.add(id)
        ids = {id for id, _ in listed[0]}
        total = sum((criterion.weight for criterion in criteria), Fraction(0))
        if method.weights_sum_to is not None or isinstance(method.steps[0], PointsShare):
            yield from self._weight_faults(total)
        for position, unknown in [
            (at, gate.criterion) for at, gate in enumerate(self.gates) if gate.criterion not in ids
        ]:
            hint = suggest_known_word_in_error(unknown, ids)
            yield Fault(f"gate names unknown criterion {unknown!r}", hint, ("gates", position))
        for position, step in enumerate(method.steps if criteria else ()):
            if isinstance(step, Ceiling) and step.criterion not in ids:
                what = f"the ceiling of {method.name!r} names unknown criterion {step.criterion!r}"
                yield Fault(what, suggest_known_word_in_error(step.criterion, ids), ("steps", position))
            if isinstance(step, Shortfall) and not any(criterion.fixed for criterion in criteria):
                what = f"{method.name!r} penalises fixed criteria, and none is fixed"
                yield Fault(what, "mark those that every task has with 'fixed: true'", ("criteria",))
        # A sum, and a mean that puts nothing onto a common span, keep the units of their criteria.
        if isinstance(method.steps[0], WeightedSum) or getattr(method.steps[0], "onto", True) is None:
            yield from self._scale_faults(total)

    def _weight_faults(self, total: Fraction) -> Iterator[Fault]:
        must = self.method.weights_sum_to
        if self.criteria and must is not None and not abs(total - must) < SUM_TOLERANCE:
            hint = f"{self.method.name} needs weights that sum to {format_fraction(must)}"
            known = {criterion.id for criterion in self.method.criteria}
            # An id that was written as the text of a criterion.
            stray = next((one for one in self.criteria if one.asks in known - {one.id}), None)
            if stray:
                hint = f"{stray.asks!r} was read as a new criterion of weight {format_fraction(stray.weight)}"
                hint += f"; write {{id: {stray.asks}}} for the one that {self.method.name} has"
            if abs(total - 100 * must) < SUM_TOLERANCE:
                weight, share = (format_fraction(self.criteria[0].weight / by) for by in (1, 100))
                hint += f"; write {weight} as {weight}% or {share}"
            what = f"the weights sum to {format_fraction(total)}, not {format_fraction(must)}"
            yield Fault(what, hint, ("criteria",))
        if not isinstance(self.method.steps[0], PointsShare):
            return
        for position, criterion in enumerate(self.criteria):
            if criterion.points is None:
                yield Fault(f"criterion {criterion.id!r} has no points", "add points", ("criteria", position))
        if self.criteria and not any((criterion.points or 0) > 0 for criterion in self.criteria):
            yield Fault("no criterion has positive points", "at least one must be worth points", ("criteria",))

    def _scale_faults(self, total: Fraction) -> Iterator[Fault]:
        span = self.method.scale
        ends = f"{format_fraction(span.min)}–{format_fraction(span.max)}"
        for position, criterion in enumerate(self.criteria):
            outside = not span.min <= criterion.scale.min < criterion.scale.max <= span.max
            if outside or (criterion.scale.yes_no and span.max != 1):
                what = f"criterion {criterion.id!r} is answered on {criterion.scale}"
                what += f", but {self.method.name!r} adds criteria up on {ends}"
                yield Fault(what, "use that scale, or weighted_mean with onto", ("criteria", position))
        summed = isinstance(self.method.steps[0], WeightedSum) and self.method.weights_sum_to is None
        if summed and total > 1 + SUM_TOLERANCE:
            what = f"the weights sum to {format_fraction(total)}, so the weighted sum leaves {ends}"
            yield Fault(what, "make them sum to 1, or use weighted_mean", ("criteria",))


def _walk_rubric_criteria(
    criteria: tuple[Criterion, ...], path: FaultPath = ("criteria",)
) -> Iterator[tuple[Criterion, FaultPath]]:
    for position, criterion in enumerate(criteria):
        here = (*path, position)
        yield criterion, here
        yield from _walk_rubric_criteria(criterion.children, (*here, "children"))


CachedValue = TypeVar("CachedValue")
_EQUAL_BY_VALUE = frozenset({str, int})


class RubricIdentityCache(Generic[CachedValue]):
    """Keeps what was made for a key of rubrics, other objects, texts and numbers.

    Objects are told apart by identity: hashing a rubric costs more than most of what is kept. What is kept holds its
    objects alive, so that no identity is used twice.
    """

    def __init__(self, most: int = 256) -> None:
        self._most = most
        self._kept: dict[tuple[object, ...], tuple[tuple[object, ...], CachedValue]] = {}

    def get(self, key: tuple[object, ...], make: Callable[[], CachedValue]) -> CachedValue:
        """What was made for this key, made now where it is the first time."""
        ids = tuple([part if part.__class__ in _EQUAL_BY_VALUE else id(part) for part in key])
        found = self._kept.get(ids)
        if found is None:
            if len(self._kept) >= self._most:
                self._kept.clear()
            found = self._kept[ids] = (key, make())
        return found[1]


def _note_answer_off_share_scale(leaf: Criterion, answer: object) -> str:
    """What a number that rules would have given as a share was probably meant to be; empty where nobody can tell."""
    if leaf.judged or not leaf.scale.is_share or not isinstance(answer, (int, float, Decimal)) or not 1 < answer <= 100:
        return ""
    value = to_exact_fraction(answer)
    on_layer = f"{format_fraction((value - 1) / 4)} for {format_fraction(value)} on 1–5"
    meant = on_layer if value <= 5 else f"{format_fraction(value / 100)} for {format_fraction(value)}%"
    return f"{leaf.id} is a share from 0 to 1: {meant}"
