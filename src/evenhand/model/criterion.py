"""Criteria, statements and gates: what is asked about an output."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from evenhand.errors import Fault, RubricError
from evenhand.model.scale import YES_NO, Scale
from evenhand.wording import format_fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The text that pins a level, or a stretch of levels, of a scale."""

    min: Fraction
    max: Fraction
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One question about an output, answered on one scale; or a node over such questions."""

    id: str
    asks: str
    weight: Fraction = Fraction(1)
    points: Fraction | None = None
    scale: Scale = YES_NO
    anchors: tuple[Anchor, ...] = ()
    required: bool = False
    required_min_score: Fraction | None = None
    fixed: bool = False
    # False where rules measure it and no judge is asked; the same answers give the same score either way.
    judged: bool = field(default=True, compare=False)
    children: tuple[Criterion, ...] = ()

    def __post_init__(self) -> None:
        faults = []
        if not self.id.strip():
            faults.append(Fault("an id cannot be empty", path=("id",)))
        if not self.weight > 0:
            hint = "to subtract for a fault, list it under red_flags or give it negative points"
            faults.append(Fault(f"weight must be above 0, got {format_fraction(self.weight)}", hint, ("weight",)))
        if self.points == 0:
            faults.append(Fault("points must not be 0", "a criterion worth nothing cannot be asked", ("points",)))
        if self.required and self.points is not None and self.points < 0:
            what = "a criterion with negative points cannot be required: that would demand the fault"
            faults.append(Fault(what, "turn the question round, or remove required", ("required",)))
        least, path = self.required_min_score, ("required_min_score",)
        if least is not None and self.scale.yes_no:
            what = "required_min_score needs a scale of numbers"
            faults.append(Fault(what, "use 'required: true' for a yes/no criterion", path))
        elif least is not None and (wrong := self.scale.find_fault(least)):
            faults.append(Fault(f"required_min_score {wrong}", path=path))
        for anchor in self.anchors:
            if not self.scale.min <= anchor.min <= anchor.max <= self.scale.max:
                span = f"{format_fraction(anchor.min)}–{format_fraction(anchor.max)}"
                faults.append(Fault(f"anchor {span} is outside the scale {self.scale}", path=("anchors",)))
        if faults:
            raise RubricError(*faults)

    def leaves(self) -> Iterator[Criterion]:
        """The questions a judge answers: this one, or those below it."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A red flag or a bonus: a sentence that is true of an output or not."""

    id: str
    asks: str
    amount: Fraction | None = None

    def __post_init__(self) -> None:
        if not self.id.strip():
            raise RubricError(Fault("an id cannot be empty", path=("id",)))
        if self.amount is not None and not self.amount > 0:
            raise RubricError(Fault(f"amount must be above 0, got {format_fraction(self.amount)}", path=("amount",)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A least score on a criterion: it decides without moving the number."""

    criterion: str
    min: Fraction
