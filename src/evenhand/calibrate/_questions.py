"""What was answered by judges and by people: each criterion, and the score as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from evenhand.runs import Table

SCORE = "score"
OVERALL = "overall"
_WHOLE = ("whole numbers", "yes/no", "bands")  # How the scales that take no decimals are written.


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A criterion with its scale, or the score with that of the method."""

    id: str
    low: float
    high: float
    whole: bool
    weight: float = 1.0

    @property
    def scale(self) -> str:
        """The scale as people write it."""
        ends = f"{self.low:g} to {self.high:g}"
        return f"whole numbers from {ends}" if self.whole else f"numbers from {ends}"

    def fault_of(self, score: Fraction) -> str:
        """Why a score is not on the scale; empty where it is."""
        if not self.low <= score <= self.high:
            return f"{float(score):g} is outside the scale of {self.id!r}"
        return f"{float(score):g} is between the levels of {self.id!r}" if self.whole and score.denominator > 1 else ""

    @property
    def span(self) -> float:
        """From one end of the scale to the other."""
        return self.high - self.low


def questions_of(table: Table) -> dict[str, Question]:
    """The questions of a run by id; the score too, where its rubrics share one scale."""
    asked = {
        one["id"]: _question(one)
        for rubric in table.frame.rubrics
        for one in rubric["criteria"]
        if one["id"] in table.criteria
    }
    ends = table.frame.scale
    if ends is not None and SCORE not in asked:
        asked[SCORE] = Question(id=SCORE, low=ends[0], high=ends[1], whole=False)
    return asked


def several_scales(table: Table) -> set[str]:
    """The criteria that two rubrics of the run ask on different scales."""
    seen: dict[str, set[str]] = {}
    for rubric in table.frame.rubrics:
        for one in rubric["criteria"]:
            seen.setdefault(one["id"], set()).add(one["scale"])
    return {id for id, scales in seen.items() if len(scales) > 1}


def _question(one: Mapping[str, Any]) -> Question:
    low, high = one["ends"]
    return Question(
        id=one["id"], low=low, high=high, whole=one["scale"].startswith(_WHOLE), weight=float(one["weight"])
    )
