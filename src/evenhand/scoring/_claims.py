"""What a judge claims about its own arithmetic, held against ours and noted where it differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from evenhand.model import Number, Ranked, Scorecard, exact, written


def claim_notes(card: Scorecard, claims: Mapping[str, object], top: Fraction) -> Iterator[str]:
    """A note for each claimed score, band or pass that differs from what was computed."""
    if "overall" in claims and card.steps:
        ours = card.steps[0].after
        said = _number(claims["overall"])
        if said is None:
            yield f"claimed score {claims['overall']!r} is not a number"
        elif abs(said - ours) > _tolerance(top):
            computed = written(ours, card.decimals)
            yield f"claimed score {claims['overall']} differs from {computed} computed from the criteria"
    if "overall_band" in claims and card.grade not in (None, claims["overall_band"]):
        yield f"claimed band {claims['overall_band']} differs from {card.grade}"
    if "overall_passed" in claims and card.verdict is not None:
        claimed = claims["overall_passed"] is True
        if claimed != (card.verdict == "pass"):
            yield f"claimed {'a pass' if claimed else 'no pass'}, computed {card.verdict}"


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
