"""One scored output for a test to look at, and what the test asks of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evenhand.errors import Fault, InputError, suggest_known_word_in_error

if TYPE_CHECKING:
    import pytest

    from evenhand.model.scale import Number
    from evenhand.workflows.judge import JudgesLike, RubricLike


ScoredData = Mapping[str, Any]
CARD_FIELDS = ("verdict", "grade", "criteria")  # What a scored output takes from its scorecard.


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredOutput:
    """One output with its scores. `data` is all that is known, in the form of a result in `evenhand report --json`."""

    test: str
    variant: str
    missed: tuple[str, ...]  # Thresholds of the test that it is below.
    problems: tuple[str, ...]  # Why it falls short; empty where it does not.
    scales: Mapping[str, tuple[float, float]]  # The ends of the scale of each criterion; of the score under "".
    data: ScoredData
    state: Literal["scored", "incomplete"] = field(init=False, repr=False)  # One that lacks an answer has no score.
    score: float | None = field(init=False, repr=False)  # Under the rubric, on its own scale.
    composite: float | None = field(init=False, repr=False)  # The mean of its layers, from 1 to 5.
    layers: Mapping[str, float | None] = field(init=False, repr=False)  # Fact, behavior, judge; each from 1 to 5.
    verdict: str | None = field(init=False, repr=False)  # Pass, borderline or fail, where the rubric has verdicts.
    grade: str | None = field(init=False, repr=False)  # Where the rubric has grades.
    criteria: Mapping[str, Any] = field(init=False, repr=False)  # The answer to each; None where there is none.
    judgments: Sequence[ScoredData] = field(init=False, repr=False)  # Of each judge, with reason and evidence.
    assertions: Sequence[ScoredData] = field(init=False, repr=False)  # What each looked for, what it found and where.
    findings: Sequence[ScoredData] = field(init=False, repr=False)  # What the guards found in the output.

    def __post_init__(self) -> None:
        card = self.data["scorecard"] or {"verdict": None, "grade": None, "criteria": {}}
        of_result = ("state", "score", "composite", "layers", "judgments", "assertions", "findings")
        parts = {name: self.data[name] for name in of_result} | {name: card[name] for name in CARD_FIELDS}
        for name, value in parts.items():
            object.__setattr__(self, name, value)

    def explain(self) -> list[str]:
        """Each step that moved the score, in a sentence; then those of the composite, where there are assertions."""
        card = self.data["scorecard"]
        steps = [*(card["steps"] if card else ()), *(self.data["composite_steps"] if self.assertions else ())]
        return [step["why"] for step in steps]


@dataclass(frozen=True, slots=True, kw_only=True)
class PytestRequirements:
    """What to score an output by, and what it must reach. What is None was not said."""

    rubric: RubricLike | None = None
    input: str | None = None
    reference: str | None = None
    context: str | None = None
    assertions: Sequence[Mapping[str, object]] | None = None
    judges: JudgesLike | None = None
    min_score: Number | None = None
    min_grade: str | None = None
    variant: str | None = None

    def with_defaults(self, further: PytestRequirements) -> PytestRequirements:
        """This demand, and what it leaves open as another has it."""
        said = {name: getattr(self, name) for name in REQUIREMENT_NAMES if getattr(self, name) is not None}
        return replace(further, **said)


REQUIREMENT_NAMES = tuple(one.name for one in fields(PytestRequirements))


def requirements_from_pytest_marks(marks: Iterable[pytest.Mark]) -> PytestRequirements:
    """What the marks of a test say together; they come nearest first."""
    demand = PytestRequirements()
    for mark in marks:
        if mark.args:
            raise InputError(Fault("it takes keywords only", "as in min_score=0.8", where="pytest.mark.evenhand"))
        unknown = [name for name in mark.kwargs if name not in REQUIREMENT_NAMES]
        if unknown:
            hint = suggest_known_word_in_error(unknown[0], REQUIREMENT_NAMES)
            raise InputError(Fault(f"unknown argument {unknown[0]!r}", hint, where="pytest.mark.evenhand"))
        demand = demand.with_defaults(PytestRequirements(**mark.kwargs))
    return demand


def resolve_beside_test(given: object, folder: Path) -> object:
    """A file that is named from the folder of the test, where it is there; anything else as it was given."""
    if isinstance(given, (str, Path)) and Path(given).suffix and (folder / given).is_file():
        return folder / given
    return given
