"""What came out for one output, for a test to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredOutput:
    """One output with its scores. `data` is all that is known, in the form of a result in `evenhand report --json`."""

    test: str
    variant: str
    missed: tuple[str, ...]  # Thresholds of the test that it is below.
    problems: tuple[str, ...]  # Why it falls short; empty where it does not.
    scales: Mapping[str, tuple[float, float]]  # The ends of the scale of each criterion; of the score under "".
    data: Json

    @property
    def state(self) -> Literal["scored", "incomplete"]:
        """Whether there is a score: one that lacks an answer has none."""
        state: Literal["scored", "incomplete"] = self.data["state"]
        return state

    @property
    def score(self) -> float | None:
        """The score under the rubric, on its own scale."""
        return self._number("score")

    @property
    def composite(self) -> float | None:
        """The mean of what assertions and judges came to, from 1 to 5."""
        return self._number("composite")

    @property
    def layers(self) -> Mapping[str, float | None]:
        """What the composite is the mean of: fact, behavior, judge; each from 1 to 5."""
        layers: Mapping[str, float | None] = self.data["layers"]
        return layers

    @property
    def verdict(self) -> str | None:
        """The verdict of the rubric, where it has verdicts: pass, borderline or fail."""
        return self._of_card("verdict")

    @property
    def grade(self) -> str | None:
        """The grade, where the rubric has grades."""
        return self._of_card("grade")

    @property
    def criteria(self) -> Mapping[str, Any]:
        """The answer to each criterion; None where there is none."""
        card = self.data["scorecard"]
        return card["criteria"] if card else {}

    @property
    def judgments(self) -> Sequence[Json]:
        """What each judge said on each criterion, with reason and evidence."""
        judgments: Sequence[Json] = self.data["judgments"]
        return judgments

    @property
    def assertions(self) -> Sequence[Json]:
        """Each assertion: whether it passed, what it looked for, what it found and where."""
        assertions: Sequence[Json] = self.data["assertions"]
        return assertions

    @property
    def findings(self) -> Sequence[Json]:
        """What the guards found in the output."""
        findings: Sequence[Json] = self.data["findings"]
        return findings

    def explain(self) -> list[str]:
        """Each step that moved the score, in a sentence; then those of the composite, where there are assertions."""
        card = self.data["scorecard"]
        steps = [*(card["steps"] if card else ()), *(self.data["composite_steps"] if self.assertions else ())]
        return [step["why"] for step in steps]

    def _number(self, name: str) -> float | None:
        value: float | None = self.data[name]
        return value

    def _of_card(self, name: str) -> str | None:
        card = self.data["scorecard"]
        return card[name] if card else None
