"""What an output must reach, and in what it falls short of that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from evenhand.errors import Fault, InputError, nearest
from evenhand.model import Rubric, exact, written
from evenhand.pytest_plugin._demand import Demand

Json = Mapping[str, Any]
SCORED = "scored"
ASSERTION = "assertion failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A least score and a least grade, each on the rubric's own scale; None where it is not asked for."""

    score: Fraction | None = None
    grade: str | None = None

    @classmethod
    def of(cls, demand: Demand, rubric: Rubric | None) -> Threshold:
        """What a demand asks for, refused where no output could ever reach it or fall short of it."""
        asked = {"min_score": demand.min_score, "min_grade": demand.min_grade}
        name = next((name for name, value in asked.items() if value is not None), None)
        if rubric is None and name is not None:
            raise InputError(Fault(f"{name} needs a rubric", "without one every assertion must hold", where=name))
        score = None if demand.min_score is None or rubric is None else _least_score(demand.min_score, rubric)
        if demand.min_grade is not None and rubric is not None:
            _refuse_unknown(demand.min_grade, rubric)
        return cls(score=score, grade=demand.min_grade)

    def missed(self, row: Json, card: Json, rubric: Rubric | None) -> Iterator[str]:
        """Where a score or a grade is below what is asked for; exact numbers decide."""
        if self.score is not None and row["score"] is not None and Fraction(row["score"]) < self.score:
            yield f"score {written(Fraction(row['score']))} is below {written(self.score)}"
        grade = card.get("grade")
        if self.grade is not None and rubric is not None and grade is not None:
            grades = _grades(rubric)
            if grades.index(grade) > grades.index(self.grade):
                yield f"grade {grade} is below {self.grade}"


def shortcomings(data: Json, missed: Sequence[str]) -> Iterator[str]:
    """Why an output does not pass, in a few words each; an incomplete scorecard never does."""
    card = data["scorecard"] or {}
    if data["state"] != SCORED:
        missing = "; ".join(f"{one['criterion']}: {one['why']}" for one in card.get("missing", ()))
        yield f"no score: {missing or data['why']}"
    yield from missed
    yield from (f"gate failed: {criterion}" for criterion in card.get("gates_failed", ()))
    if card.get("verdict") == "fail":
        yield "the verdict is fail"
    yield from (f"{ASSERTION}: {one['name']}" for one in data["assertions"] if one["passed"] is False)


def _least_score(asked: object, rubric: Rubric) -> Fraction:
    try:
        least = exact(asked)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise InputError(Fault(str(error), "as in min_score=0.8", where="min_score")) from None
    span = rubric.method.scale
    if not span.min <= least <= span.max:
        ends = f"{written(span.min)}–{written(span.max)}"
        what = f"{written(least)} is outside {ends}, the scale of the rubric {rubric.name!r}"
        raise InputError(Fault(what, where="min_score"))
    return least


def _refuse_unknown(grade: str, rubric: Rubric) -> None:
    grades = _grades(rubric)
    if not grades:
        hint = "use min_score"
        raise InputError(Fault(f"the rubric {rubric.name!r} gives no grades", hint, where="min_grade"))
    if grade not in grades:
        raise InputError(Fault(f"{grade!r} is not a grade", nearest(str(grade), grades), where="min_grade"))


def _grades(rubric: Rubric) -> list[str]:
    """The best first."""
    return [grade.grade for grade in rubric.method.grades]
