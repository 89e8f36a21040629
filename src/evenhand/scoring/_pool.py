"""Reviewers' scores side by side: harshness taken out, or points turned into ranks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from evenhand.model import Method, Panel, ScoreScale
from evenhand.scoring._moments import Roots, mean, variance

Pool = Mapping[str, Mapping[str, Fraction]]  # reviewer → output → score

LEAST_TO_NORMALISE = 3


@dataclass(frozen=True, slots=True)
class Heard:
    """What the reviewers say of one output: as it counts, as it was before normalising, and who was left as it is."""

    says: Mapping[str, Fraction]
    plain: Mapping[str, Fraction]
    left: tuple[str, ...]


def heard(pool: Pool, method: Method) -> dict[str, Heard]:
    """For each output that somebody scored, what each reviewer's score counts as."""
    panel = method.panel
    normal = _normalised(pool) if panel.normalise == "z" else pool
    left = tuple(judge for judge in pool if panel.normalise == "z" and normal[judge] is pool[judge])
    says, plain = (_borda(one, method.scale) if panel.aggregate == "borda" else one for one in (normal, pool))
    ids = dict.fromkeys(id for scores in pool.values() for id in scores)
    return {id: Heard(_of(id, says), _of(id, plain), left) for id in ids}


def together(panel: Panel, says: Mapping[str, Fraction], weights: Mapping[str, Fraction]) -> Fraction:
    """The reviewers' scores of one output as one, by weight; Borda is the mean of what ranks are worth."""
    if panel.aggregate == "median":
        return _median([(score, weights[judge]) for judge, score in says.items()])
    total = sum(weights[judge] for judge in says)
    return sum((score * weights[judge] for judge, score in says.items()), Fraction(0)) / total


def _median(weighted: list[tuple[Fraction, Fraction]]) -> Fraction:
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


def _normalised(pool: Pool) -> Pool:
    """Each reviewer's scores put on the pooled mean and spread; one without enough scores or spread stays as it is."""
    everything = [score for scores in pool.values() for score in scores.values()]
    if len(everything) < LEAST_TO_NORMALISE:
        return pool
    middle, spread = mean(everything), variance(everything)
    roots = Roots()
    return {judge: _put_on(middle, spread, scores, roots) for judge, scores in pool.items()}


def _put_on(middle: Fraction, spread: Fraction, scores: Mapping[str, Fraction], roots: Roots) -> Mapping[str, Fraction]:
    own = list(scores.values())
    if len(own) < LEAST_TO_NORMALISE or variance(own) == 0:
        return scores
    own_middle, stretch = mean(own), roots.of(spread / variance(own))
    return {id: middle + (score - own_middle) * stretch for id, score in scores.items()}


def _borda(pool: Pool, scale: ScoreScale) -> Pool:
    """Each reviewer's ranks over what it may score, as a share of those beaten, put on the scale of the score.

    Ties share the mean of their places. A reviewer with one output beats nobody and says nothing.
    """
    result = {}
    for judge, scores in pool.items():
        rising = sorted(scores.values())
        others = len(rising) - 1
        result[judge] = {
            id: scale.min + (scale.max - scale.min) * _beaten(rising, score) / others
            for id, score in scores.items()
            if others
        }
    return result


def _beaten(rising: list[Fraction], score: Fraction) -> Fraction:
    """How many lie below a score, each equal one counted as half, without itself."""
    return Fraction(bisect_left(rising, score) + bisect_right(rising, score) - 1, 2)


def _of(id: str, pool: Pool) -> dict[str, Fraction]:
    return {judge: scores[id] for judge, scores in pool.items() if id in scores}
