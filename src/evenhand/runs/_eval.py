"""An eval: samples, variants, what is asked of their outputs, and what must be reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Literal

from evenhand.assertions import AnyAssertion
from evenhand.errors import EvalError, Fault
from evenhand.guards import GUARDS
from evenhand.judging import EMBEDDED, How
from evenhand.judging.models import Budget, Limits
from evenhand.model import Rubric
from evenhand.runs._samples import SampleSource
from evenhand.runs.variants import Variant

Keep = Literal["raw", "masked", "none"]
KEEPS: tuple[Keep, ...] = ("raw", "masked", "none")
DEFAULT_TAG = ""
LAYERS = ("fact", "behavior", "judge")


@dataclass(frozen=True, slots=True, kw_only=True)
class Eval:
    """All that a run is told. `rubrics` go by tag; the one under DEFAULT_TAG is for samples with no such tag."""

    name: str
    samples: SampleSource
    variants: Mapping[str, Variant]
    control: str
    rubrics: Mapping[str, Rubric] = field(default_factory=dict)
    assertions: tuple[AnyAssertion, ...] = ()
    judges: tuple[str, ...] = (EMBEDDED,)
    judge_places: tuple[str, ...] = ()  # Where each stands in the file, for messages.
    how: How = field(default_factory=How)
    guards: tuple[str, ...] = tuple(GUARDS)
    repeats: int = 1
    gates: Mapping[str, Fraction] = field(default_factory=dict)
    smallest_effect: Fraction = Fraction(1, 2)
    budget: Budget | None = None
    limits: Limits = field(default_factory=Limits)
    prices: Path | None = None
    keep: Keep = "raw"
    folder: Path = Path()
    source: str = ""  # The text of the file, as it was.

    def __post_init__(self) -> None:
        faults = []
        if not self.variants:
            faults.append(
                Fault("an eval needs a variant", "as in variants: {new: {outputs: new.jsonl}}", ("variants",))
            )
        elif self.control not in self.variants:
            known = ", ".join(self.variants)
            faults.append(Fault(f"control {self.control!r} is not a variant", f"known: {known}", ("control",)))
        if self.repeats < 1:
            faults.append(Fault(f"repeats must be 1 or more, got {self.repeats}", path=("repeats",)))
        if faults:
            raise EvalError(*faults)

    def rubric_for(self, tags: tuple[str, ...]) -> Rubric | None:
        """The rubric of the first tag that has one, else the one for all."""
        tagged = next((self.rubrics[tag] for tag in tags if tag in self.rubrics and tag != DEFAULT_TAG), None)
        return tagged or self.rubrics.get(DEFAULT_TAG)
