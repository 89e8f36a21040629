"""Steps: the operations a method is made of, as values; their arithmetic is in `evenhand.scoring`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from evenhand.errors import Fault, RubricError
from evenhand.model.scale import Scale
from evenhand.wording import format_fraction

StatementKind = Literal["red_flags", "bonuses"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One operation of a method. A step that combines makes the first number out of criterion scores."""

    combines: ClassVar[bool] = False

    @classmethod
    def kind(cls) -> str:
        """The word for this step in a method file."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    def __post_init__(self) -> None:
        faults = list(self._faults())
        if faults:
            raise RubricError(*faults)

    def _faults(self) -> Iterator[Fault]:
        yield from ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedSum(Step):
    """Each criterion times its weight, added up."""

    combines: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedMean(Step):
    """The mean by weight over all criteria, each put `onto` a common span where one is named."""

    combines: ClassVar[bool] = True
    onto: Scale | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerMean(Step):
    """The mean by weight over the criteria that are present, each put `onto` a common span where one is named."""

    combines: ClassVar[bool] = True
    onto: Scale | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PointsShare(Step):
    """Points met over the sum of the positive points."""

    combines: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling(Step):
    """The score cannot exceed `at` while a criterion is below a level."""

    criterion: str
    below: Fraction
    at: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall(Step):
    """Multiplies by score / `below` for each fixed criterion under that level."""

    below: Fraction

    def _faults(self) -> Iterator[Fault]:
        if not self.below > 0:
            yield Fault(f"below must be above 0, got {format_fraction(self.below)}", path=("below",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Deduct(Step):
    """Takes off an amount for each distinct statement found, up to a limit."""

    each: Fraction
    most: Fraction
    for_: StatementKind = "red_flags"

    def _faults(self) -> Iterator[Fault]:
        yield from _find_method_amount_faults(self.each, self.most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Add(Step):
    """Adds an amount for each distinct statement found, up to a limit."""

    each: Fraction
    most: Fraction
    for_: StatementKind = "bonuses"

    def _faults(self) -> Iterator[Fault]:
        yield from _find_method_amount_faults(self.each, self.most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap(Step):
    """The score cannot exceed `at` when the output was found unsafe."""

    at: Fraction
    when: Literal["unsafe"] = "unsafe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clamp(Step):
    """Keeps the score between two ends; one of them may be left out."""

    min: Fraction | None = None
    max: Fraction | None = None

    def _faults(self) -> Iterator[Fault]:
        if self.min is None and self.max is None:
            yield Fault("clamp needs min, max or both")
        elif self.min is not None and self.max is not None and self.min > self.max:
            what = f"clamp: min {format_fraction(self.min)} is above max {format_fraction(self.max)}"
            yield Fault(what, path=("min",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Round(Step):
    """Rounds half away from zero, so that what follows decides by the rounded score."""

    decimals: int

    def _faults(self) -> Iterator[Fault]:
        if not 0 <= self.decimals <= 12:
            yield Fault(f"decimals must be 0 to 12, got {self.decimals}", path=("decimals",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel(Step):
    """Joins the reviewers' scores into one; steps before it run per reviewer, steps after it once."""

    aggregate: Literal["mean", "median", "borda"] = "mean"
    normalise: Literal["none", "z"] = "none"
    self_votes: bool = False
    quorum: Fraction = Fraction(1, 2)

    def _faults(self) -> Iterator[Fault]:
        if not 0 <= self.quorum < 1:
            what = f"quorum must be 0 or more and under 1, got {format_fraction(self.quorum)}"
            yield Fault(what, "0.5 asks for more than half of the reviewers", ("quorum",))


def _find_method_amount_faults(each: Fraction, most: Fraction) -> Iterator[Fault]:
    for name, amount in (("each", each), ("most", most)):
        if not amount > 0:
            yield Fault(f"{name} must be above 0, got {format_fraction(amount)}", path=(name,))


STEPS: dict[str, type[Step]] = {
    step.kind(): step
    for step in (
        WeightedSum, WeightedMean, LayerMean, PointsShare, Ceiling, Shortfall,
        Deduct, Add, Cap, Clamp, Round, Panel,
    )
}  # fmt: skip
