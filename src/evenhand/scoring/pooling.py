"""Reviewers' scores pooled exactly: normalised for harshness, turned into Borda ranks, combined by weight."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from math import isqrt

from evenhand.model.method import LEAST_TO_NORMALISE, Method, Panel, ScoreScale

ReviewerPool = Mapping[str, Mapping[str, Fraction]]  # reviewer → output → score


@dataclass(frozen=True, slots=True)
class PooledScores:
    """What the reviewers say of one output: as it counts and as it was before normalising, with who was left as it is
    and whose normalised score a ceiling holds down.
    """

    says: Mapping[str, Fraction]
    plain: Mapping[str, Fraction]
    not_normalised: tuple[str, ...]
    held: tuple[str, ...] = ()

    @property
    def normalised(self) -> bool:
        """Whether the score of any reviewer here was normalised."""
        return any(judge not in self.not_normalised for judge in self.says)


def pool_scores_exactly(pool: ReviewerPool, method: Method) -> dict[str, PooledScores]:
    """For each output that somebody scored, what each reviewer's score counts as."""
    panel = method.panel
    normal = _normalise_reviewer_scores(pool) if panel.normalise == "z" else pool
    left = tuple(judge for judge in pool if normal[judge] is pool[judge])
    says, plain = (
        _score_borda_ranks(one, method.scale) if panel.aggregate == "borda" else one for one in (normal, pool)
    )
    ids = dict.fromkeys(id for scores in pool.values() for id in scores)
    return {
        id: PooledScores(_pick_pooled_scores_of_output(id, says), _pick_pooled_scores_of_output(id, plain), left)
        for id in ids
    }


def combine_reviewer_scores(panel: Panel, says: Mapping[str, Fraction], weights: Mapping[str, Fraction]) -> Fraction:
    """The reviewers' scores of one output as one, by weight; Borda is the mean of what ranks are worth."""
    if panel.aggregate == "median":
        return _find_weighted_median_score([(score, weights[judge]) for judge, score in says.items()])
    total = sum(weights[judge] for judge in says)
    return sum((score * weights[judge] for judge, score in says.items()), Fraction(0)) / total


def _find_weighted_median_score(weighted: list[tuple[Fraction, Fraction]]) -> Fraction:
    """The score with half the weight on either side; between two of them, their mean."""
    weighted.sort()
    half = sum((weight for _, weight in weighted), Fraction(0)) / 2
    below = Fraction(0)
    for place, (score, weight) in enumerate(weighted):
        below += weight
        if below > half:
            return score
        if below == half:
            return (score + weighted[place + 1][0]) / 2
    raise AssertionError("half of the weight lies somewhere")


def _normalise_reviewer_scores(pool: ReviewerPool) -> ReviewerPool:
    """Each reviewer's scores put on the pooled mean and spread; one without enough scores or spread stays as it is."""
    everything = [score for scores in pool.values() for score in scores.values()]
    if len(everything) < LEAST_TO_NORMALISE:
        return pool
    middle, spread = exact_mean_score(everything), exact_score_variance(everything)
    roots = CancellingScoreRoots()
    normal = dict(pool)
    for judge, scores in pool.items():
        own = list(scores.values())
        if len(own) >= LEAST_TO_NORMALISE and (own_spread := exact_score_variance(own)):
            own_middle, stretch = exact_mean_score(own), roots.square_root(spread / own_spread)
            normal[judge] = {id: middle + (score - own_middle) * stretch for id, score in scores.items()}
    return normal


def _score_borda_ranks(pool: ReviewerPool, scale: ScoreScale) -> ReviewerPool:
    """Each reviewer's ranks over what it may score, as a share of those beaten, put on the scale of the score.

    Ties share the mean of their places. A reviewer with one output beats nobody and says nothing.
    """
    result: dict[str, dict[str, Fraction]] = {}
    for judge, scores in pool.items():
        result[judge] = {}
        rising = sorted(scores.values())
        others = len(rising) - 1
        for id, score in scores.items() if others else ():
            # Those below the score, and each equal one as half, without itself.
            beaten = Fraction(bisect_left(rising, score) + bisect_right(rising, score) - 1, 2)
            result[judge][id] = scale.min + (scale.max - scale.min) * beaten / others
    return result


def _pick_pooled_scores_of_output(id: str, pool: ReviewerPool) -> dict[str, Fraction]:
    return {judge: scores[id] for judge, scores in pool.items() if id in scores}


def exact_mean_score(values: Sequence[Fraction]) -> Fraction:
    """The exact mean; an empty list has none and is an error of the caller."""
    return sum(values, Fraction(0)) / len(values)


def exact_score_variance(values: Sequence[Fraction]) -> Fraction:
    """The sample variance (n − 1); needs two values."""
    middle = exact_mean_score(values)
    return sum(((value - middle) ** 2 for value in values), Fraction(0)) / (len(values) - 1)


def approximate_score_root(value: Fraction) -> Fraction:
    """The square root to 40 digits, the same on every machine."""
    with localcontext() as context:
        context.prec = 40
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())


class CancellingScoreRoots:
    """Square roots that cancel: two whose ratio is rational are exact multiples of one approximation.

    So a sum of them that is mathematically on a threshold, or equal to another, is so here too.
    """

    def __init__(self) -> None:
        self._bases = {Fraction(1): Fraction(1)}

    def square_root(self, value: Fraction) -> Fraction:
        """The square root of a positive number."""
        for base, approximation in self._bases.items():
            ratio = value / base
            root = Fraction(isqrt(ratio.numerator), isqrt(ratio.denominator))
            if root * root == ratio:
                return root * approximation
        self._bases[value] = approximate_score_root(value)
        return self._bases[value]
