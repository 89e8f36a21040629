"""The mean of Pearson's correlation over all pairs of raters, each pair over what both rated."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evenhand.stats._agreement import Agreement, Undefined, agreement
from evenhand.stats._arrays import Floats
from evenhand.stats._correlation import comparable, standard
from evenhand.stats._ratings import Ratings, distinct, table_of
from evenhand.stats._resamples import RESAMPLES, Draws, Statistic, resampled

_AT_A_TIME = 64  # Pairs of raters whose sums are taken in one product.
_CONSTANT = 1e-12


def mean_pairwise(
    raters: Ratings,
    *,
    rng: np.random.Generator | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Agreement | Undefined:
    """The mean of Pearson's correlation over all pairs of raters; with `rng` also its interval."""
    draws, method = Draws(rng=rng, level=level, resamples=resamples), "mean pairwise Pearson"
    table = table_of(raters)
    rated = ~np.isnan(table)
    several = rated.sum(axis=0) > 1
    values, used, skipped = [], [], []
    for one, other in combinations(range(len(table)), 2):
        both = rated[one] & rated[other]
        sides = comparable(table[one][both], table[other][both], method)
        if isinstance(sides, Undefined):
            skipped.append(f"raters {one + 1} and {other + 1}: {sides.why}")
        else:
            values.append(max(-1.0, math.fsum(standard(sides[0]) * standard(sides[1]))))
            used.append((one, other))
    n = int(several.sum())
    if not values:
        return Undefined(why=skipped[0] if skipped else "it takes two raters", method=method, n=n)
    value = math.fsum(values) / len(values)
    units, tallies = distinct(np.where(rated, table, -np.inf)[:, several].T)
    ends = resampled(_mean_of(units.T, used), tallies, value, draws)
    return agreement(value, ends, method=method, n=n, raters=len(table), pairs=len(values), skipped=tuple(skipped))


def _mean_of(table: Floats, pairs: list[tuple[int, int]]) -> Statistic:
    """A pair that is constant in a resample is left out of its mean, as it would be of any other."""
    batches = [pairs[start : start + _AT_A_TIME] for start in range(0, len(pairs), _AT_A_TIME)]

    def mean(weights: Floats) -> Floats:
        total, defined = np.zeros(len(weights)), np.zeros(len(weights))
        for batch in batches:
            found, sound = _correlations([weights @ sums for sums in _moments(table, batch)])
            total += found.sum(axis=1)
            defined += sound.sum(axis=1)
        value: Floats = np.divide(total, defined, out=np.full(len(weights), np.nan), where=defined > 0)
        return value

    return mean


def _moments(table: Floats, pairs: list[tuple[int, int]]) -> list[Floats]:
    """Units by pairs: whether both raters rated it, and the five products that make a correlation."""
    both = np.stack([np.isfinite(table[one]) & np.isfinite(table[other]) for one, other in pairs], axis=1)
    x = np.stack([_scaled(table[one], both[:, place]) for place, (one, _) in enumerate(pairs)], axis=1)
    y = np.stack([_scaled(table[other], both[:, place]) for place, (_, other) in enumerate(pairs)], axis=1)
    return [both.astype(np.float64), x, y, x * x, y * y, x * y]


def _scaled(values: Floats, both: NDArray[np.bool_]) -> Floats:
    shared = values[both]
    centred = np.where(both, values, shared.mean()) - shared.mean()
    result: Floats = centred / np.abs(centred).max()
    return result


def _correlations(sums: list[Floats]) -> tuple[Floats, NDArray[np.bool_]]:
    """One per resample and pair; unsound, and 0, where fewer than three are left or one of the two is constant."""
    n, x, y, xx, yy, xy = sums
    spread_x, spread_y = n * xx - x**2, n * yy - y**2
    sound = (n >= 3) & (spread_x > _CONSTANT * n * xx) & (spread_y > _CONSTANT * n * yy)
    sizes = np.sqrt(np.where(sound, spread_x * spread_y, np.inf))
    return (n * xy - x * y) / sizes, sound
