"""How far ratings rise and fall together: Pearson's r, Spearman's ρ and Kendall's τ-b, and r over all pairs of raters.

The intervals are symmetric on Fisher's z scale. Textbook standard errors (Fisher; Bonett and Wright 2000; Fieller,
Hartley and Pearson 1957) suppose normal values without ties: on simulated 1–5 scores that crowd at the top their 95%
intervals of τ held the truth in 72 to 89%. The standard error from the influence of each unit supposes nothing, and is
too small for few units. The larger of the two is taken: from six units on it held 91 to 100% on normal, tied and
ceiling-heavy ratings alike; only Pearson's on values with heavy tails (lognormal) stays at 86 to 98%.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import Fault, InputError
from evenhand.stats.arrays import Floats, Numbers, Undefined, compute_interval_alpha, require_finite_array
from evenhand.stats.distributions import student_quantile
from evenhand.stats.ratings import (
    RESAMPLES,
    Agreement,
    Correlation,
    IntervalFields,
    Ratings,
    Resampling,
    Statistic,
    bootstrap_interval,
    convert_ratings_to_array,
    group_equal_units_of_matrix,
    widen_interval_to_estimate,
)

_LEAST_UNITS = 6
_CONSTANT = 1e-12  # Spread below this share of the largest rating is rounding, not spread.
_PERFECT = 1 - 1e-12
_FIELLER = 0.437
_PAIRS_AT_ONCE = 64  # Pairs of raters whose sums are taken in one product.

_Codes = NDArray[np.int64]  # Ratings as numbers from 0 in order.
_Measured = tuple[float, Floats]  # A value, and the influence of each unit on it.


def pearson(x: Numbers, y: Numbers, *, level: float = 0.95) -> Correlation | Undefined:
    """Pearson's correlation; undefined for constant ratings and for fewer than three."""
    return _compute_correlation(x, y, "Pearson", level, _measure_pearson_correlation, lambda value, n: 1 / (n - 3))


def spearman(x: Numbers, y: Numbers, *, level: float = 0.95) -> Correlation | Undefined:
    """Spearman's ρ, Pearson's correlation of middle ranks; undefined where Pearson's is."""
    return _compute_correlation(
        x, y, "Spearman", level, _measure_spearman_correlation, lambda value, n: (1 + value**2 / 2) / (n - 3)
    )


def kendall_tau(x: Numbers, y: Numbers, *, level: float = 0.95) -> Correlation | Undefined:
    """Kendall's τ-b, corrected for ties, in n log n steps; undefined where Pearson's is."""
    return _compute_correlation(
        x, y, "Kendall τ-b", level, _measure_kendall_correlation, lambda value, n: _FIELLER / (n - 4)
    )


def mean_pairwise(
    raters: Ratings, *, rng: np.random.Generator | None = None, level: float = 0.95, resamples: int = RESAMPLES
) -> Agreement | Undefined:
    """The mean of Pearson's correlation over all pairs of raters, each pair over what both rated.

    With `rng` also its interval.
    """
    resampling, method = Resampling(rng=rng, level=level, resamples=resamples), "mean pairwise Pearson"
    table = convert_ratings_to_array(raters)
    rated = ~np.isnan(table)
    several = rated.sum(axis=0) > 1
    values, used, skipped = [], [], []
    for one, other in combinations(range(len(table)), 2):
        both = rated[one] & rated[other]
        sides = _check_correlation_arrays(table[one][both], table[other][both], method)
        if isinstance(sides, Undefined):
            which = f"raters {one + 1} and {other + 1}: " if len(table) > 2 else ""
            skipped.append(f"{which}{sides.why}")
        else:
            values.append(
                max(-1.0, math.fsum(standardize_for_correlation(sides[0]) * standardize_for_correlation(sides[1])))
            )
            used.append((one, other))
    n = int(several.sum())
    if not values:
        return Undefined(why=skipped[0] if skipped else "it takes two raters", method=method, n=n)
    value = math.fsum(values) / len(values)
    units, tallies = group_equal_units_of_matrix(np.where(rated, table, -np.inf)[:, several].T)
    ends = bootstrap_interval(_prepare_mean_pairwise(units.T, used), tallies, value, resampling)
    value, left_out = min(1.0, value), tuple(skipped)
    return Agreement(
        value=value, method=method, n=n, pairs=len(values), skipped=left_out, **widen_interval_to_estimate(ends, value)
    )


def standardize_for_correlation(values: Floats) -> Floats:
    """Return the values centred, with squares that add up to 1."""
    centred = values - math.fsum(values) / len(values)
    scaled = centred / np.abs(centred).max()  # First to size 1, so that tiny ratings do not vanish when squared.
    result: Floats = scaled / math.sqrt(math.fsum(scaled**2))
    return result


def _compute_correlation(
    x: Numbers,
    y: Numbers,
    method: str,
    level: float,
    measure: Callable[[Floats, Floats], _Measured],
    textbook: Callable[[float, int], float],
) -> Correlation | Undefined:
    sides = _check_correlation_arrays(x, y, method)
    alpha = compute_interval_alpha(level)
    if isinstance(sides, Undefined):
        return sides
    value, influences = measure(*sides)
    n = len(influences)
    ends: IntervalFields
    if n < _LEAST_UNITS:
        ends = {"no_interval": f"{n} ratings in common are too few for an interval: it takes {_LEAST_UNITS}"}
    elif abs(value) >= _PERFECT:
        ends = {"no_interval": "without any exception there is no spread to measure an interval by"}
    else:
        low, high = _compute_fisher_ends(value, influences, textbook(value, n), alpha)
        ends = {"low": low, "high": high, "level": level, "interval": "Fisher z"}
    value = min(1.0, max(-1.0, value))
    return Correlation(value=value, method=method, n=n, **widen_interval_to_estimate(ends, value))


def _check_correlation_arrays(x: Numbers, y: Numbers, method: str) -> tuple[Floats, Floats] | Undefined:
    first, second = require_finite_array(x, "x"), require_finite_array(y, "y")
    if len(first) != len(second):
        raise InputError(Fault(f"{len(first)} ratings beside {len(second)}", "rate the same outputs"))
    n = len(first)
    if n < 3:
        return Undefined(why=f"{n} ratings in common are too few: it takes 3", method=method, n=n)
    constant = [
        name
        for name, values in (("the first", first), ("the second", second))
        if np.ptp(values) <= _CONSTANT * np.abs(values).max()
    ]
    if constant:
        who = "both" if len(constant) == 2 else constant[0]
        return Undefined(why=f"{who} gave the same rating throughout", method=method, n=n)
    return first, second


def _compute_fisher_ends(value: float, influences: Floats, textbook: float, alpha: float) -> tuple[float, float]:
    n = len(influences)
    observed = math.sqrt(math.fsum(influences**2) / (n * (n - 1))) / (1 - value**2)
    reach = max(
        NormalDist().inv_cdf(1 - alpha / 2) * math.sqrt(textbook), student_quantile(alpha / 2, n - 2) * observed
    )
    z = math.atanh(value)
    return math.tanh(z - reach), math.tanh(z + reach)


def _measure_pearson_correlation(x: Floats, y: Floats) -> _Measured:
    first, second = standardize_for_correlation(x), standardize_for_correlation(y)
    value = math.fsum(first * second)
    return value, len(x) * (first * second - value * (first**2 + second**2) / 2)


def _measure_spearman_correlation(x: Floats, y: Floats) -> _Measured:
    """A unit's influence on ρ is its own, as on Pearson's, and the one through the ranks of all others."""
    n = len(x)
    codes = [np.unique(side, return_inverse=True)[1] for side in (x, y)]
    times = [np.bincount(code) for code in codes]
    # From 1, equal ones sharing the middle.
    ranks = [(np.cumsum(often) - (often - 1) / 2)[code] for often, code in zip(times, codes, strict=True)]
    value, influences = _measure_pearson_correlation(ranks[0], ranks[1])
    first, second = (standardize_for_correlation(rank) for rank in ranks)
    pulls = (second - value * first, first - value * second)
    for code, rank, pull in zip(codes, ranks, pulls, strict=True):
        spread = math.sqrt(math.fsum((rank - (n + 1) / 2) ** 2))
        sums = np.bincount(code, weights=pull)  # For each unit the pulls of all above it, and half of those beside it.
        through = (sums[::-1].cumsum()[::-1] - sums / 2)[code] * n / spread
        influences = influences + through - through.mean()
    return value, influences


def _measure_kendall_correlation(x: Floats, y: Floats) -> _Measured:
    n = len(x)
    first, second = (np.unique(side, return_inverse=True)[1].astype(np.int64) for side in (x, y))
    scores = _count_concordance(first, second) / n
    untied = [1 - np.bincount(side)[side] / n for side in (first, second)]
    score, (one, other) = math.fsum(scores) / n, (math.fsum(share) / n for share in untied)
    size = math.sqrt(one * other)
    value = score / size
    ties = (untied[0] - one) / one + (untied[1] - other) / other
    return value, 2 * (scores - score) / size - value * ties


def _count_concordance(first: _Codes, second: _Codes) -> Floats:
    """Return for each unit how many others lie in the same order by both, less how many lie in opposite orders."""
    n = len(first)
    same_first, same_second = np.bincount(first)[first], np.bincount(second)[second]
    not_above_first, not_above_second = (np.bincount(side).cumsum()[side] for side in (first, second))
    cells, cell, in_cell = np.unique(np.stack([first, second]), axis=1, return_inverse=True, return_counts=True)
    below = _count_concordant_below(cells, in_cell)[cell]
    beside_first = _count_rank_before_in_group(cells[0], in_cell)[cell]
    turned = np.lexsort((cells[0], cells[1]))
    beside_second = np.empty_like(in_cell)
    beside_second[turned] = _count_rank_before_in_group(cells[1][turned], in_cell[turned])
    not_above_both = below + beside_first + beside_second[cell] + in_cell[cell]
    concordant = below + n - not_above_first - not_above_second + not_above_both
    discordant = n - concordant - same_first - same_second + in_cell[cell]
    scores: Floats = (concordant - discordant).astype(np.float64)
    return scores


def _count_rank_before_in_group(groups: _Codes, times: _Codes) -> _Codes:
    """Return how many units of the same group come before each cell; the groups are sorted."""
    before = np.cumsum(times) - times
    starts = np.searchsorted(groups, groups, side="left")
    result: _Codes = before - before[starts]
    return result


def _count_concordant_below(cells: _Codes, times: _Codes) -> _Codes:
    """Return how many units lie strictly below each cell on both sides, by merging sorted halves from pairs upwards."""
    order = np.lexsort((-cells[1], cells[0]))  # Within one first rating downwards: none of its own counts as below.
    second, units = cells[1][order], times[order]
    size, span = len(second), int(second.max()) + 1
    found = np.zeros(size, dtype=np.int64)
    places = np.arange(size)
    width = 1
    while width < size:
        block = places // (2 * width)
        right = (places // width) % 2 == 1
        keys = block * span + second
        left_keys = keys[~right]
        sorting = np.argsort(left_keys, kind="stable")
        upto = np.concatenate([[0], np.cumsum(units[~right][sorting])])
        starts = np.searchsorted(left_keys[sorting], block[right] * span)
        ends = np.searchsorted(left_keys[sorting], keys[right])
        found[right] += upto[ends] - upto[starts]
        width *= 2
    below = np.empty_like(found)
    below[order] = found
    return below


def _prepare_mean_pairwise(table: Floats, pairs: list[tuple[int, int]]) -> Statistic:
    """Return the mean as a function of the weights of units; pairs that are constant in a resample are left out."""
    batches = [pairs[start : start + _PAIRS_AT_ONCE] for start in range(0, len(pairs), _PAIRS_AT_ONCE)]

    def mean(weights: Floats) -> Floats:
        total, defined = np.zeros(len(weights)), np.zeros(len(weights))
        for batch in batches:
            found, sound = _correlate_resamples([weights @ sums for sums in _compute_correlation_moments(table, batch)])
            total += found.sum(axis=1)
            defined += sound.sum(axis=1)
        value: Floats = np.divide(total, defined, out=np.full(len(weights), np.nan), where=defined > 0)
        return value

    return mean


def _compute_correlation_moments(table: Floats, pairs: list[tuple[int, int]]) -> list[Floats]:
    """Return, units by pairs, whether both raters rated it, and the five products that make a correlation."""
    both = np.stack([np.isfinite(table[one]) & np.isfinite(table[other]) for one, other in pairs], axis=1)
    x = np.stack(
        [_center_correlated_values(table[one], both[:, place]) for place, (one, _) in enumerate(pairs)], axis=1
    )
    y = np.stack(
        [_center_correlated_values(table[other], both[:, place]) for place, (_, other) in enumerate(pairs)], axis=1
    )
    return [both.astype(np.float64), x, y, x * x, y * y, x * y]


def _center_correlated_values(values: Floats, both: NDArray[np.bool_]) -> Floats:
    shared = values[both]
    centred = np.where(both, values, shared.mean()) - shared.mean()
    result: Floats = centred / np.abs(centred).max()
    return result


def _correlate_resamples(sums: list[Floats]) -> tuple[Floats, NDArray[np.bool_]]:
    """Return r per resample and pair; 0 and unsound where fewer than three are left or one side is constant."""
    n, x, y, xx, yy, xy = sums
    spread_x, spread_y = n * xx - x**2, n * yy - y**2
    sound = (n >= 3) & (spread_x > _CONSTANT * n * xx) & (spread_y > _CONSTANT * n * yy)
    sizes = np.sqrt(np.where(sound, spread_x * spread_y, np.inf))
    return (n * xy - x * y) / sizes, sound
