"""One scored output for a test to look at, and what the test asks of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from evenhand.errors import Fault, InputError, suggest_known_word_in_fault

if TYPE_CHECKING:
    import pytest

    from evenhand.model.scale import Number
    from evenhand.workflows.judge import JudgesLike, RubricLike


ScoredData = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredOutput:
    """One output with its scores. `data` is all that is known, in the form of a result in `evenhand report --json`."""

    test: str
    variant: str
    missed: tuple[str, ...]  # Thresholds of the test that it is below.
    problems: tuple[str, ...]  # Why it falls short; empty where it does not.
    scales: Mapping[str, tuple[float, float]]  # The ends of the scale of each criterion; of the score under "".
    data: ScoredData

    @property
    def state(self) -> Literal["scored", "incomplete"]:
        """Whether there is a score: one that lacks an answer has none."""
        return cast('Literal["scored", "incomplete"]', self.data["state"])

    @property
    def score(self) -> float | None:
        """The score under the rubric, on its own scale."""
        return cast("float | None", self.data["score"])

    @property
    def composite(self) -> float | None:
        """The mean of what assertions and judges came to, from 1 to 5."""
        return cast("float | None", self.data["composite"])

    @property
    def layers(self) -> Mapping[str, float | None]:
        """What the composite is the mean of: fact, behavior, judge; each from 1 to 5."""
        return cast("Mapping[str, float | None]", self.data["layers"])

    @property
    def verdict(self) -> str | None:
        """The verdict of the rubric, where it has verdicts: pass, borderline or fail."""
        return self._read_pytest_scorecard("verdict")

    @property
    def grade(self) -> str | None:
        """The grade, where the rubric has grades."""
        return self._read_pytest_scorecard("grade")

    @property
    def criteria(self) -> Mapping[str, Any]:
        """The answer to each criterion; None where there is none."""
        card = self.data["scorecard"]
        return card["criteria"] if card else {}

    @property
    def judgments(self) -> Sequence[ScoredData]:
        """What each judge said on each criterion, with reason and evidence."""
        return cast("Sequence[ScoredData]", self.data["judgments"])

    @property
    def assertions(self) -> Sequence[ScoredData]:
        """Each assertion: whether it passed, what it looked for, what it found and where."""
        return cast("Sequence[ScoredData]", self.data["assertions"])

    @property
    def findings(self) -> Sequence[ScoredData]:
        """What the guards found in the output."""
        return cast("Sequence[ScoredData]", self.data["findings"])

    def explain(self) -> list[str]:
        """Each step that moved the score, in a sentence; then those of the composite, where there are assertions."""
        card = self.data["scorecard"]
        steps = [*(card["steps"] if card else ()), *(self.data["composite_steps"] if self.assertions else ())]
        return [step["why"] for step in steps]

    def _read_pytest_scorecard(self, name: str) -> str | None:
        card = self.data["scorecard"]
        return card[name] if card else None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputRequirements:
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

    def with_defaults(self, further: OutputRequirements) -> OutputRequirements:
        """This demand, and what it leaves open as another has it."""
        said = {name: getattr(self, name) for name in REQUIREMENT_NAMES if getattr(self, name) is not None}
        return replace(further, **said)


REQUIREMENT_NAMES = tuple(field.name for field in fields(OutputRequirements))


def requirements_from_marks(marks: Iterable[pytest.Mark]) -> OutputRequirements:
    """What the marks of a test say together; they come nearest first."""
    demand = OutputRequirements()
    for mark in marks:
        if mark.args:
            raise InputError(Fault("it takes keywords only", "as in min_score=0.8", where="pytest.mark.evenhand"))
        unknown = [name for name in mark.kwargs if name not in REQUIREMENT_NAMES]
        if unknown:
            hint = suggest_known_word_in_fault(unknown[0], REQUIREMENT_NAMES)
            raise InputError(Fault(f"unknown argument {unknown[0]!r}", hint, where="pytest.mark.evenhand"))
        demand = demand.with_defaults(OutputRequirements(**mark.kwargs))
    return demand


def resolve_beside_test(given: object, folder: Path) -> object:
    """A file that is named from the folder of the test, where it is there; anything else as it was given."""
    if isinstance(given, (str, Path)) and Path(given).suffix and (folder / given).is_file():
        return folder / given
    return given
