"""Rubrics: criteria and the method that turns them into a score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from evenhand.errors import Fault, RubricError, ignored_id_fault_text, suggest_known_word_in_fault
from evenhand.model.criterion import Criterion, Gate, Statement
from evenhand.model.method import Method
from evenhand.model.scale import CriterionScore, Scale
from evenhand.model.steps import Cap, Ceiling, PointsShare, Shortfall, WeightedSum
from evenhand.wording import format_fraction

# A sum this near to 1 is accepted as it stands; it is never rescaled.
SUM_TOLERANCE = Fraction(1, 1000)


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
    safety_gate: bool = False  # Whether what the safety guard finds makes an output unsafe.
    holistic: bool = False  # Whether judges are asked for a score for the whole too, which decides nothing.
    leaves: Mapping[str, Criterion] = field(init=False, repr=False, compare=False)
    _nodes: Mapping[str, Criterion] = field(init=False, repr=False, compare=False)
    _gates: tuple[Gate, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        faults = list(self._faults())
        if faults:
            raise RubricError(*faults)
        leaves = {leaf.id: leaf for criterion in self.criteria for leaf in criterion.leaves()}
        object.__setattr__(self, "leaves", leaves)
        object.__setattr__(self, "_nodes", {criterion.id: criterion for criterion, _ in _walk_criteria(self.criteria)})
        gates = list(self.gates)
        for leaf in leaves.values():
            if leaf.required_min_score is not None:
                gates.append(Gate(criterion=leaf.id, min=leaf.required_min_score))
            elif leaf.required and leaf.scale.yes_no:
                gates.append(Gate(criterion=leaf.id, min=Fraction(1)))
        object.__setattr__(self, "_gates", tuple(gates))

    def read(self, answers: Mapping[str, object]) -> tuple[dict[str, CriterionScore], list[str]]:
        """Answers on this rubric's scales, and notes on what it did not ask."""
        scores = {id: leaf.scale.read(answers[id]) for id, leaf in self.leaves.items() if id in answers}
        unknown = [str(id) for id in answers if id not in self.leaves]
        if unknown and not scores:
            return scores, [
                f"no criterion of this rubric is answered, but {', '.join(unknown)}: another rubric's answers?"
            ]
        return scores, [ignored_id_fault_text(id, "criterion", self.leaves) for id in unknown]

    @property
    def whole_scale(self) -> Scale | None:
        """The scale of the score for the whole, where one is asked for."""
        if not self.holistic:
            return None
        return self.method.holistic or Scale(min=self.method.scale.min, max=self.method.scale.max)

    def criterion(self, id: str) -> Criterion | None:
        """The criterion with this id, anywhere in the tree."""
        return self._nodes.get(id)

    def all_gates(self) -> tuple[Gate, ...]:
        """Every gate: those listed, required yes/no criteria, and least scores."""
        return self._gates

    def _faults(self) -> Iterator[Fault]:
        if not self.criteria:
            own = "" if self.method.criteria else f"the method {self.method.name!r} has none of its own, and "
            yield Fault(f"no criteria: {own}the rubric lists none", "list them under criteria")
        if self.safety_gate and not any(isinstance(step, Cap) for step in self.method.steps):
            what = f"safety_gate has no effect: {self.method.name!r} has no cap for unsafe outputs"
            yield Fault(what, "use a method with a cap step, such as council", ("safety_gate",))
        yield from self._duplicate_faults()
        yield from self._weight_faults()
        yield from self._reference_faults()
        yield from self._scale_faults()

    def _duplicate_faults(self) -> Iterator[Fault]:
        seen: set[str] = set()
        for criterion, path in _walk_criteria(self.criteria):
            if criterion.id in seen:
                yield Fault(f"the id {criterion.id!r} is used twice", "ids are unique", (*path, "id"))
            seen.add(criterion.id)
        for name, statements in (("red_flags", self.red_flags), ("bonuses", self.bonuses)):
            ids: set[str] = set()
            for position, statement in enumerate(statements):
                if statement.id in ids:
                    yield Fault(f"the id {statement.id!r} is used twice", "ids are unique", (name, position))
                ids.add(statement.id)

    def _weight_faults(self) -> Iterator[Fault]:
        must = self.method.weights_sum_to
        total = sum((criterion.weight for criterion in self.criteria), Fraction(0))
        if self.criteria and must is not None and not abs(total - must) < SUM_TOLERANCE:
            hint = f"{self.method.name} needs weights that sum to {format_fraction(must)}"
            what = f"the weights sum to {format_fraction(total)}, not {format_fraction(must)}"
            yield Fault(what, hint, ("criteria",))
        if not isinstance(self.method.steps[0], PointsShare):
            return
        for position, criterion in enumerate(self.criteria):
            if criterion.points is None:
                yield Fault(f"criterion {criterion.id!r} has no points", "add points", ("criteria", position))
        if self.criteria and not any((criterion.points or 0) > 0 for criterion in self.criteria):
            yield Fault("no criterion has positive points", "at least one must be worth points", ("criteria",))

    def _reference_faults(self) -> Iterator[Fault]:
        ids = {criterion.id for criterion, _ in _walk_criteria(self.criteria)}
        for position, gate in enumerate(self.gates):
            if gate.criterion not in ids:
                what = f"gate names unknown criterion {gate.criterion!r}"
                yield Fault(what, suggest_known_word_in_fault(gate.criterion, ids), ("gates", position))
        for position, step in enumerate(self.method.steps):
            if isinstance(step, Ceiling) and self.criteria and step.criterion not in ids:
                what = f"the ceiling of {self.method.name!r} names unknown criterion {step.criterion!r}"
                yield Fault(what, suggest_known_word_in_fault(step.criterion, ids), ("steps", position))
            if isinstance(step, Shortfall) and self.criteria and not any(c.fixed for c in self.criteria):
                what = f"{self.method.name!r} penalises fixed criteria, and none is fixed"
                yield Fault(what, "mark those that every task has with 'fixed: true'", ("criteria",))

    def _scale_faults(self) -> Iterator[Fault]:
        """A sum, and a mean that puts nothing onto a common span, keep the units of their criteria."""
        combine, span = self.method.steps[0], self.method.scale
        if not isinstance(combine, WeightedSum) and getattr(combine, "onto", True) is not None:
            return
        ends = f"{format_fraction(span.min)}–{format_fraction(span.max)}"
        for position, criterion in enumerate(self.criteria):
            outside = not span.min <= criterion.scale.min < criterion.scale.max <= span.max
            if outside or (criterion.scale.yes_no and span.max != 1):
                what = f"criterion {criterion.id!r} is answered on {criterion.scale}"
                what += f", but {self.method.name!r} adds criteria up on {ends}"
                yield Fault(what, "use that scale, or weighted_mean with onto", ("criteria", position))
        total = sum((criterion.weight for criterion in self.criteria), Fraction(0))
        if isinstance(combine, WeightedSum) and self.method.weights_sum_to is None and total > 1 + SUM_TOLERANCE:
            what = f"the weights sum to {format_fraction(total)}, so the weighted sum leaves {ends}"
            yield Fault(what, "make them sum to 1, or use weighted_mean", ("criteria",))


def _walk_criteria(
    criteria: tuple[Criterion, ...], path: tuple[str | int, ...] = ("criteria",)
) -> Iterator[tuple[Criterion, tuple[str | int, ...]]]:
    for position, criterion in enumerate(criteria):
        here = (*path, position)
        yield criterion, here
        yield from _walk_criteria(criterion.children, (*here, "children"))
