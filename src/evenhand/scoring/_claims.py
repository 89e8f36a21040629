"""What a judge claims about its own arithmetic, held against ours and noted where it differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from evenhand.model import Answers, Moved, Number, Ranked, Rubric, exact, written
from evenhand.scoring._decide import grade_of, verdict_of


def claim_notes(rubric: Rubric, answers: Answers, trail: Sequence[Moved], value: Fraction) -> Iterator[str]:
    """A note for each claimed score, band or pass that differs from what was computed."""
    claims = answers.claims
    decimals = rubric.method.scale.decimals
    if "overall" in claims:
        ours = trail[0].after
        said = _number(claims["overall"])
        if said is None:
            yield f"claimed score {claims['overall']!r} is not a number"
        elif abs(said - ours) > _tolerance(rubric.method.scale.max):
            yield f"claimed score {written(said)} differs from {written(ours, decimals)} computed from the criteria"
    if "overall_band" in claims:
        grade = grade_of(rubric.method, value)
        if grade and grade.grade != claims["overall_band"]:
            yield f"claimed band {claims['overall_band']} differs from {grade.grade}"
    if "overall_passed" in claims:
        verdict = verdict_of(rubric, value, ())
        if verdict and (verdict == "pass") != (claims["overall_passed"] is True):
            yield f"claimed {'a pass' if claims['overall_passed'] is True else 'no pass'}, computed {verdict}"


def ranking_note(judge: str, claimed: Sequence[str], ours: Sequence[Ranked]) -> str | None:
    """A note where a reviewer's own ranking contradicts the one derived from its scores."""
    ranks = {place.id: place.rank for place in ours if place.rank is not None}
    claimed = [id for id in claimed if id in ranks]
    order = [ranks[id] for id in claimed]
    if order == sorted(order):
        return None
    derived = ", ".join(sorted(claimed, key=lambda id: ranks[id]))
    return f"{judge} claims the ranking {', '.join(claimed)}; its scores give {derived}"


def _number(claim: object) -> Fraction | None:
    try:
        return exact(claim) if isinstance(claim, Number) else None
    except (TypeError, ValueError):
        return None


def _tolerance(top: Fraction) -> Fraction:
    """0.05 points; on 0–100 ten times that, on 0–1 a tenth."""
    return Fraction(5, 1000) if top <= 1 else Fraction(1, 2) if top >= 100 else Fraction(5, 100)
