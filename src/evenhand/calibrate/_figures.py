"""How far two columns agree: α, quadratic κ, Pearson, Spearman, with intervals that know what belongs together.

All four are functions of six sums over the pairs. Leaving out one sample at a time is then a subtraction; the interval
is taken on Fisher's z, where it is symmetric.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from evenhand.calibrate._jackknife import CORRELATION, by_cluster, jackknife
from evenhand.calibrate._labelled import Floats
from evenhand.calibrate._pairs import Pairs
from evenhand.calibrate._words import too_few
from evenhand.stats import Undefined

LEAST = 3  # Pairs for a figure.
LEVEL = 0.95
_NOTHING = 1e-12  # Spread below this share of the values' size is rounding.


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number with its interval; without them, why there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None
    level: float = LEVEL
    method: str
    n: int  # Pairs.
    samples: int  # Independent ones among them.
    why: str = ""


def alpha(pairs: Pairs) -> Figure:
    """Krippendorff's α between two, on an interval scale."""
    return _figure(pairs, _alpha, "Krippendorff's α, interval")


def kappa(pairs: Pairs) -> Figure:
    """Cohen's κ with quadratic weights."""
    return _figure(pairs, _kappa, "Cohen's κ, quadratic weights")


def pearson(pairs: Pairs) -> Figure:
    """Pearson's correlation."""
    return _figure(pairs, _pearson, "Pearson")


def spearman(pairs: Pairs) -> Figure:
    """Spearman's rank correlation: Pearson's of the ranks, ties sharing theirs."""
    ranks = Pairs(x=_ranks(pairs.x), y=_ranks(pairs.y), place=pairs.place, cluster=pairs.cluster)
    return _figure(ranks, _pearson, "Spearman")


def _figure(pairs: Pairs, statistic: Callable[[Floats], Floats], method: str) -> Figure:
    samples = len(np.unique(pairs.cluster))
    plain = Figure(value=None, method=method, n=pairs.n, samples=samples)
    if pairs.n < LEAST:
        return replace(plain, why=too_few(pairs.n, "output", LEAST, more="that both answered"))
    found = jackknife(_sums(pairs), statistic, level=LEVEL, method=method, bent=CORRELATION)
    if isinstance(found, Undefined):
        same = np.ptp(np.concatenate([pairs.x, pairs.y])) == 0
        return replace(plain, why="all answers are the same" if same else "one side never varies")
    return replace(plain, value=found.value, low=found.low, high=found.high, why=found.why)


def _sums(pairs: Pairs) -> Floats:
    """By cluster: how many, and the sums of x, y, x², y², xy, both moved by the same amount so that they stay small."""
    middle = (pairs.x.mean() + pairs.y.mean()) / 2
    x, y = pairs.x - middle, pairs.y - middle
    return by_cluster(np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1), pairs.cluster)


def _alpha(sums: Floats) -> Floats:
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    observed = (xx + yy - 2 * xy) / n
    count = 2 * n
    expected = 2 * (count * (xx + yy) - (x + y) ** 2) / (count * (count - 1))
    return 1 - _ratio(observed, expected, (xx + yy) / n)


def _kappa(sums: Floats) -> Floats:
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    return 1 - _ratio((xx + yy - 2 * xy) / n, (xx + yy) / n - 2 * x * y / n**2, (xx + yy) / n)


def _pearson(sums: Floats) -> Floats:
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    first, second = xx - x * x / n, yy - y * y / n
    spread = np.where((first > _NOTHING * xx) & (second > _NOTHING * yy), first * second, 0.0)
    return np.clip(_ratio(xy - x * y / n, np.sqrt(spread), 0.0), -1.0, 1.0)


def _ratio(over: Floats, under: Floats, size: Floats | float) -> Floats:
    """NaN where there is nothing to divide by."""
    there = under > _NOTHING * size
    found: Floats = np.where(there, over / np.where(there, under, 1.0), np.nan)
    return found


def _ranks(values: Floats) -> Floats:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks: Floats = (ends - (counts - 1) / 2)[place]
    return ranks
