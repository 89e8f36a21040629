"""Historical consistency: which criteria stray from what the same subject used to score. It never moves a score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from evenhand.model import written
from evenhand.scoring._moments import mean, root, variance

WINDOW = 10
LEAST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """One earlier evaluation of the same subject."""

    fingerprint: str
    scores: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strayed:
    """A criterion more than two standard deviations from its mean."""

    criterion: str
    score: Fraction
    mean: Fraction
    sd: Fraction
    n: int

    def __str__(self) -> str:
        return (
            f"{self.criterion} {written(self.score)} is more than 2 standard deviations from its mean "
            f"{written(self.mean, 2)} (sd {written(self.sd, 2)}, last {self.n})"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """What history says of one evaluation."""

    n: int
    strayed: tuple[Strayed, ...] = ()

    def __str__(self) -> str:
        if self.n == 0:
            return "no history yet"
        if self.n < LEAST:
            return "one earlier evaluation: too few to flag"
        return "; ".join(map(str, self.strayed)) or f"consistent with the last {self.n}"


def consistency(fingerprint: str, scores: Mapping[str, Fraction], earlier: Sequence[Past]) -> Consistency:
    """Compare with the last ten earlier evaluations, oldest first, that have the same fingerprint."""
    past = [one for one in earlier if one.fingerprint == fingerprint][-WINDOW:]
    strayed = (
        _strayed(id, score, [one.scores[id] for one in past if id in one.scores]) for id, score in scores.items()
    )
    return Consistency(n=len(past), strayed=tuple(entry for entry in strayed if entry))


def _strayed(criterion: str, score: Fraction, past: list[Fraction]) -> Strayed | None:
    if len(past) < LEAST:
        return None
    middle, spread = mean(past), variance(past)
    # Squared, so that no root is taken: |score − mean| > 2·sd.
    if (score - middle) ** 2 <= 4 * spread:
        return None
    return Strayed(criterion=criterion, score=score, mean=middle, sd=root(spread), n=len(past))
