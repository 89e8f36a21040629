"""Other weights: drawn at random, means under each, the smallest change that flips the lead, and a map of two of
them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evenhand.compare.weighted_scores import ComparedWeightedScores, Floats

_SCORES_PER_BLOCK = 1 << 16  # Scores that are held at once: half a megabyte, which stays in the cache.
# Beyond, the product is spread over threads, which on a busy machine wait for each other fifty times as long.
_LARGEST_PRODUCT = 1 << 18
# Scores this near, measured by their scale, are level: sums of binary fractions end beside each other.
_LEVEL_TOLERANCE = 1e-9


def draw_compare_weights_near(weights: Floats, spread: float, draws: int, rng: np.random.Generator) -> Floats:
    """Weightings near these: Dirichlet, each weight w with a standard deviation of spread · √(w(1 − w))."""
    return rng.dirichlet(np.maximum(weights, 1e-9) * (1 / spread**2 - 1), size=draws)


def draw_sensitivity_weights(parts: int, draws: int, rng: np.random.Generator) -> Floats:
    """Weightings of every kind, all equally likely."""
    return rng.dirichlet(np.ones(parts), size=draws)


def compared_means_under_weights(weighed: ComparedWeightedScores, weights: Floats) -> Floats:
    """The mean score of every variant under each weighting: weightings × variants."""
    if weighed.linear:
        every = weighed.shares
        return weights @ np.tensordot(every, weighed.values, axes=1).T + every @ weighed.rest
    shares = _row_shares_in_compared_means(weighed)
    columns = [_ComparedVariantScores(weighed, variant) for variant in range(len(weighed.variants))]
    means = np.empty((len(weights), len(columns)))
    for block in _split_sensitivity_draws(len(weights), len(weighed.values)):
        for variant, column in enumerate(columns):
            means[block, variant] = _compared_mean_under_weights(column.scores_under_weights(weights[block]), shares)
    return means


def compared_means_and_wins_under_weights(weighed: ComparedWeightedScores, weights: Floats) -> tuple[Floats, Floats]:
    """The means, and the share of samples that every variant wins under each weighting; a tie is shared out."""
    if len(weighed.variants) == 2 and weighed.linear:
        return compared_means_under_weights(weighed, weights), _wins_between_variants_by_difference(weighed, weights)
    shares, near = _row_shares_in_compared_means(weighed), _LEVEL_TOLERANCE * weighed.span
    columns = [_ComparedVariantScores(weighed, variant) for variant in range(len(weighed.variants))]
    means, won = np.empty((len(weights), len(columns))), np.empty((len(weights), len(columns)))
    for block in _split_sensitivity_draws(len(weights), len(weighed.values)):
        scores = [column.scores_under_weights(weights[block]) for column in columns]
        for variant, one in enumerate(scores):
            means[block, variant] = _compared_mean_under_weights(one, shares)
        won[block] = _compared_shares_of_sample_wins(scores, shares, near)
    return means, won


def _wins_between_variants_by_difference(weighed: ComparedWeightedScores, weights: Floats) -> Floats:
    """Of two variants that nothing bends: one product of their differences is enough."""
    shares, near = _row_shares_in_compared_means(weighed), _LEVEL_TOLERANCE * weighed.span
    parts = np.ascontiguousarray((weighed.values[:, 0] - weighed.values[:, 1]).T)
    rest = weighed.rest[:, 0] - weighed.rest[:, 1]
    won = np.empty((len(weights), 2))
    for block in _split_sensitivity_draws(len(weights), len(weighed.values)):
        ahead = _multiply_compared_weights(weights[block], parts)
        ahead += rest
        won[block] = _wins_between_compared_variants(ahead, shares, near)
    return won


def _compared_shares_of_sample_wins(scores: list[Floats], shares: Floats | None, near: float) -> Floats:
    if len(scores) == 2:
        return _wins_between_compared_variants(scores[0] - scores[1], shares, near)
    best = np.maximum.reduce(scores) - near
    first = [one >= best for one in scores]
    count = np.sum(first, axis=0)
    return np.stack([_compared_mean_under_weights(one / count, shares) for one in first], axis=1)


def _wins_between_compared_variants(ahead: Floats, shares: Floats | None, near: float) -> Floats:
    lead = _share_of_compared_rows(ahead > near, shares) - _share_of_compared_rows(ahead < -near, shares)
    return np.stack([(1 + lead) / 2, (1 - lead) / 2], axis=1)


def variant_lead_errors_under_weights(
    weighed: ComparedWeightedScores, weights: Floats, lead: tuple[int, int]
) -> Floats:
    """The standard error over clusters of the mean lead of one variant over another; 0 where there is one cluster."""
    unit, shares = np.unique(weighed.cluster, return_inverse=True)[1], weighed.shares
    counts = np.bincount(unit, weights=shares)  # What each cluster counts of the whole.
    n = len(counts)
    if n < 2:
        return np.zeros(len(weights))
    if weighed.linear:
        gaps = np.column_stack([one[:, lead[0]] - one[:, lead[1]] for one in (weighed.values, weighed.rest)])
        sums = np.stack([np.bincount(unit, weights=shares * column) for column in gaps.T], axis=1)
        apart = sums - counts[:, None] * sums.sum(axis=0)
        whole = np.column_stack([weights, np.ones(len(weights))])
        squares = np.einsum("ij,jk,ik->i", whole, apart.T @ apart, whole)
        straight: Floats = np.sqrt(np.maximum(squares, 0.0) * n / (n - 1))
        return straight
    first, second = (_ComparedVariantScores(weighed, variant) for variant in lead)
    errors = np.empty(len(weights))
    for block in _split_sensitivity_draws(len(weights), len(weighed.values)):
        ahead = first.scores_under_weights(weights[block]) - second.scores_under_weights(weights[block])
        each = np.stack([np.bincount(unit, weights=shares * row) for row in ahead])
        each -= counts * each.sum(axis=1, keepdims=True)
        errors[block] = np.sqrt((each**2).sum(axis=1) * n / (n - 1))
    return errors


def compared_order_signs_under_weights(means: Floats, span: float) -> Floats:
    """Of each two variants, in order, which is ahead: 1, 0 or −1 per weighting."""
    pairs = list(combinations(range(means.shape[1]), 2))
    gaps = np.stack([means[:, one] - means[:, other] for one, other in pairs], axis=1)
    return np.where(np.abs(gaps) <= _LEVEL_TOLERANCE * span, 0.0, np.sign(gaps))


def compared_first_places_under_weights(means: Floats, span: float) -> Floats:
    """Each variant's share of the first place under each weighting: 1, or less where it is shared."""
    first = means >= means.max(axis=1, keepdims=True) - _LEVEL_TOLERANCE * span
    shared: Floats = first / first.sum(axis=1, keepdims=True)
    return shared


class _ComparedVariantScores:
    """The rows of one variant, laid out for products; what changes nothing is not done."""

    def __init__(self, weighed: ComparedWeightedScores, variant: int) -> None:
        self._parts = np.ascontiguousarray(weighed.values[:, variant].T)
        ceiling, factor, rest = (one[:, variant] for one in (weighed.ceiling, weighed.factor, weighed.rest))
        self._ceiling = None if np.isinf(ceiling).all() else ceiling
        self._factor = None if (factor == 1).all() else factor
        self._rest = rest if rest.any() else None

    def scores_under_weights(self, weights: Floats) -> Floats:
        """Weightings × rows."""
        scores = _multiply_compared_weights(weights, self._parts)
        if self._ceiling is not None:
            np.minimum(scores, self._ceiling, out=scores)
        if self._factor is not None:
            scores *= self._factor
        if self._rest is not None:
            scores += self._rest
        return scores


def _split_sensitivity_draws(draws: int, rows: int) -> Iterator[slice]:
    step = max(1, _SCORES_PER_BLOCK // max(1, rows))
    return (slice(start, start + step) for start in range(0, draws, step))


def _multiply_compared_weights(weights: Floats, parts: Floats) -> Floats:
    made = np.empty((len(weights), parts.shape[1]))
    step = max(1, _LARGEST_PRODUCT // (len(weights) * len(parts)))
    for start in range(0, parts.shape[1], step):
        np.matmul(weights, parts[:, start : start + step], out=made[:, start : start + step])
    return made


def _row_shares_in_compared_means(weighed: ComparedWeightedScores) -> Floats | None:
    """What each row counts; None where all count the same, as where each sample is scored once."""
    shares = weighed.shares
    return None if shares.min() == shares.max() else shares


def _compared_mean_under_weights(scores: Floats, shares: Floats | None) -> Floats:
    mean: Floats = scores.mean(axis=1) if shares is None else np.einsum("ij,j->i", scores, shares)
    return mean


def _share_of_compared_rows(held: NDArray[np.bool_], shares: Floats | None) -> Floats:
    if shares is None:  # Counting is ten times as fast as adding up.
        counted: Floats = np.count_nonzero(held, axis=1) / held.shape[1]
        return counted
    return _compared_mean_under_weights(held.astype(np.float64), shares)


_TIE_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightFlip:
    """Weights under which the first two are level, and how far they lie from the rubric's: Σ|new − old|, at most 2.

    `exact` says that no nearer ones exist; otherwise they are the nearest of those that were drawn.
    """

    distance: float
    weights: tuple[float, ...]
    exact: bool


def find_smallest_weights_levelling_comparison(weights: Floats, gaps: Floats, rest: float = 0.0) -> WeightFlip | None:
    """The nearest weights at which `weights · gaps + rest` is 0; None where no weights bring it there.

    Weight that is moved from one part to another costs twice itself, and gains the difference of their gaps. So all of
    it goes to the part with the lowest gap, and comes from those with the highest first.
    """
    left = float(weights @ gaps) + rest
    lowest = int(np.argmin(gaps))
    moved = weights.astype(np.float64).copy()
    if gaps[lowest] + rest > _TIE_TOLERANCE * max(1.0, float(np.abs(gaps).max())):
        return None
    for part in np.argsort(-gaps, kind="stable"):
        gain = float(gaps[part] - gaps[lowest])
        if left <= 0 or gain <= 0:
            break
        taken = min(float(moved[part]), left / gain)
        moved[part] -= taken
        moved[lowest] += taken
        left -= taken * gain
    distance = math.fsum(np.abs(moved - weights))
    return WeightFlip(distance=distance, weights=tuple(map(float, moved)), exact=True)


def find_weight_levelling_comparison(weights: Floats, gaps: Floats, part: int, rest: float = 0.0) -> float | None:
    """The weight of one part at which the first two are level, the others keeping their proportions."""
    others = 1 - float(weights[part])
    if others <= 0:
        return None
    elsewhere = (float(weights @ gaps) - float(weights[part] * gaps[part])) / others
    slope = elsewhere - float(gaps[part])
    if abs(slope) <= _TIE_TOLERANCE:
        return None
    found = (elsewhere + rest) / slope
    # Where the others are level, binary fractions leave a hair on either side of 0.
    return min(max(found, 0.0), 1.0) if -_TIE_TOLERANCE <= found <= 1 + _TIE_TOLERANCE else None


MAP_CELLS = 24  # Along a side.


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightMap:
    """Who wins under which weights of two criteria; the others share the rest as they do now.

    `cells` are places (column, row) with the winner's number.
    """

    across: str
    up: str
    variants: tuple[str, ...]
    side: int
    cells: tuple[tuple[int, int, int], ...]
    shares: Mapping[str, float]  # Of the map, by winner.
    others: tuple[str, ...]


def map_variant_wins_over_weights(weighed: ComparedWeightedScores, across: str = "", up: str = "") -> WeightMap:
    """Over which weights of two criteria, the heaviest unless they are named, each variant wins."""
    heaviest = sorted(range(len(weighed.parts)), key=lambda at: -weighed.weights[at])
    x = weighed.parts.index(across) if across in weighed.parts else heaviest[0]
    y = weighed.parts.index(up) if up in weighed.parts and weighed.parts.index(up) != x else -1
    y = y if y >= 0 else next(at for at in heaviest if at != x)
    rest = [at for at in range(len(weighed.parts)) if at not in (x, y)]
    places = [(i, j) for i in range(MAP_CELLS) for j in range(MAP_CELLS) if i + j < MAP_CELLS]
    weights = np.zeros((len(places), len(weighed.parts)))
    middle = (np.array(places) + 0.5) / MAP_CELLS
    weights[:, x], weights[:, y] = middle[:, 0], middle[:, 1]
    left = np.maximum(0.0, 1 - middle.sum(axis=1))
    if rest:
        own = weighed.weights[rest]
        weights[:, rest] = left[:, None] * own / own.sum()
    weights /= weights.sum(axis=1, keepdims=True)
    winners = compared_means_under_weights(weighed, weights).argmax(axis=1)
    counts = np.bincount(winners, minlength=len(weighed.variants)) / len(winners)
    return WeightMap(
        across=weighed.parts[x],
        up=weighed.parts[y],
        variants=weighed.variants,
        side=MAP_CELLS,
        cells=tuple((i, j, int(winner)) for (i, j), winner in zip(places, winners, strict=True)),
        shares={name: float(counts[at]) for at, name in enumerate(weighed.variants)},
        others=tuple(weighed.parts[at] for at in rest),
    )
