"""Decisions read off a score: the grade, the verdict, and the gates that decide without moving the number."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from evenhand.model import Grade, Method, Rubric, Verdict


def grade_of(method: Method, value: Fraction) -> Grade | None:
    """The best grade whose least score is reached."""
    return next((grade for grade in method.grades if value >= grade.from_), None)


def gates_failed(rubric: Rubric, values: Mapping[str, Fraction]) -> tuple[str, ...]:
    """The criteria of the gates that are known to have failed; what nobody answered is not known."""
    failed = (gate.criterion for gate in rubric.all_gates() if values.get(gate.criterion, gate.min) < gate.min)
    return tuple(dict.fromkeys(failed))


def verdict_of(rubric: Rubric, value: Fraction | None, failed: tuple[str, ...]) -> Verdict | None:
    """A failed gate fails whatever the score; a missing score is incomplete; then the thresholds speak."""
    if failed:
        return "fail"
    if value is None:
        return "incomplete"
    for threshold in rubric.method.verdicts:
        if value >= threshold.from_:
            return threshold.verdict
    if rubric.method.verdicts:
        return "fail"
    return "pass" if rubric.all_gates() else None
