"""What must be reached for exit code 0, beyond gates and verdicts."""

from __future__ import annotations

from fractions import Fraction

from evenhand.errors import Fault, InputError, nearest
from evenhand.loading import number_from
from evenhand.model import Rubric, Scorecard, Scores, written


class Limits:
    """What must be reached for exit code 0, beyond gates and verdicts."""

    def __init__(self, rubric: Rubric, min_score: str | None, min_grade: str | None, strict: bool) -> None:
        self.strict = strict
        self.least: Fraction | None = None
        self.grades = [grade.grade for grade in rubric.method.grades]
        self.grade = min_grade
        if min_score is not None:
            self.least = number(min_score, "--min-score")
        if min_grade is not None and min_grade not in self.grades:
            hint = nearest(min_grade, self.grades) or f"{rubric.method.name} gives no grades; use --min-score"
            raise InputError(Fault(f"{min_grade!r} is not a grade", hint, where="--min-grade"))

    def shortfalls(self, scores: Scores) -> list[str]:
        """A sentence for each scorecard below a limit that was asked for."""
        return [why for card in scores.scorecards if (why := self._shortfall(card))]

    def exit_code(self, scores: Scores) -> int:
        """1 where anything failed or is incomplete."""
        bad = {"fail", "incomplete"} | ({"borderline"} if self.strict else set())
        failed = any(card.verdict in bad or card.gates_failed for card in scores.scorecards)
        return 1 if failed or not scores.scorecards or self.shortfalls(scores) else 0

    def _shortfall(self, card: Scorecard) -> str | None:
        if card.exact is None:
            return None
        if self.least is not None and card.exact < self.least:
            shown = written(card.exact, card.decimals)
            shown = f"{shown} ({written(card.exact)})" if Fraction(shown) >= self.least else shown
            return f"{card.id}: {shown} is below --min-score {written(self.least)}"
        if self.grade is not None and (
            card.grade is None or self.grades.index(card.grade) > self.grades.index(self.grade)
        ):
            return f"{card.id}: {card.grade or 'no grade'} is below --min-grade {self.grade}"
        return None


def number(text: str, option: str) -> Fraction:
    """The number given to an option."""
    value = number_from(text)
    if isinstance(value, str):
        raise InputError(Fault(value, "as in 7.5 or 2/3", where=option))
    return value
