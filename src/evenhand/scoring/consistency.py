"""Historical consistency: which criteria stray from what the same subject used to score. It never moves a score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from evenhand.scoring.pooling import approximate_root, exact_mean_score, exact_score_variance
from evenhand.wording import format_fraction, round_half_away

HISTORY_WINDOW = 10
LEAST_HISTORY = 2
MOST_DECIMALS = 12  # Of a printed number: two that differ only after them nobody tells apart.


@dataclass(frozen=True, slots=True, kw_only=True)
class PastScores:
    """One earlier evaluation of the same subject."""

    fingerprint: str
    scores: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class StrayedCriterion:
    """A criterion more than two standard deviations from its mean."""

    criterion: str
    score: Fraction
    mean: Fraction
    sd: Fraction
    n: int

    def __str__(self) -> str:
        decimals = self._find_telling_decimals()
        mean = format_fraction(self.mean, decimals)
        exact = Fraction(round_half_away(self.score, decimals)) == self.score
        score = format_fraction(self.score) if exact else format_fraction(self.score, decimals)
        if self.sd == 0:
            return f"{self.criterion} {score} differs from the {mean} that each of the last {self.n} evaluations scored"
        return (
            f"{self.criterion} {score} is more than 2 standard deviations from its mean {mean} "
            f"(sd {format_fraction(self.sd, decimals)}, last {self.n})"
        )

    def _find_telling_decimals(self) -> int:
        """The fewest decimals, two or more, with which the printed numbers still show what is claimed of them."""
        for decimals in range(2, MOST_DECIMALS):
            score, mean, sd = (Fraction(round_half_away(one, decimals)) for one in (self.score, self.mean, self.sd))
            if abs(score - mean) > 2 * sd and (sd > 0) == (self.sd > 0):
                return decimals
        return MOST_DECIMALS


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """What history says of one evaluation."""

    n: int
    strayed: tuple[StrayedCriterion, ...] = ()

    def __str__(self) -> str:
        if self.n == 0:
            return "no history yet"
        if self.n < LEAST_HISTORY:
            return "one earlier evaluation: too few to flag"
        return "; ".join(map(str, self.strayed)) or f"consistent with the last {self.n}"


def check_score_consistency(
    fingerprint: str, scores: Mapping[str, Fraction], earlier: Sequence[PastScores]
) -> Consistency:
    """Compare with the last ten earlier evaluations, oldest first, that have the same fingerprint."""
    past = [one for one in earlier if one.fingerprint == fingerprint][-HISTORY_WINDOW:]
    strayed = []
    for id, score in scores.items():
        own = [one.scores[id] for one in past if id in one.scores]
        if len(own) < LEAST_HISTORY:
            continue
        middle, spread = exact_mean_score(own), exact_score_variance(own)
        # Squared, so that no root is taken: |score − mean| > 2·sd.
        if (score - middle) ** 2 > 4 * spread:
            sd = approximate_root(spread)
            strayed.append(StrayedCriterion(criterion=id, score=score, mean=middle, sd=sd, n=len(own)))
    return Consistency(n=len(past), strayed=tuple(strayed))
