"""How far two columns agree: α, quadratic κ, Pearson, Spearman, with intervals that know what belongs together.

All four are functions of six sums over the pairs. Leaving out one sample at a time is then a subtraction, and gives the
standard error without drawing anything (jackknife); the interval is taken on Fisher's z, where it is symmetric.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import atanh, sqrt, tanh

import numpy as np
from numpy.typing import NDArray

from evenhand.calibrate._labelled import Floats
from evenhand.calibrate._pairs import Pairs
from evenhand.stats import student_quantile

LEAST = 3  # Pairs for a figure.
LEAST_SAMPLES = 8  # For an interval: fewer tell too little of how much the figure moves.
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


_Statistic = Callable[[Floats], Floats]


def _figure(pairs: Pairs, statistic: _Statistic, method: str) -> Figure:
    _, unit = np.unique(pairs.cluster, return_inverse=True)
    samples = int(unit.max()) + 1 if pairs.n else 0
    if pairs.n < LEAST:
        why = f"{pairs.n} outputs that both answered are too few: it takes {LEAST}"
        return Figure(value=None, method=method, n=pairs.n, samples=samples, why=why)
    sums = _sums(pairs, unit)
    value = float(statistic(sums.sum(axis=0)[None])[0])
    if not np.isfinite(value):
        why = "all answers are the same" if np.ptp(np.concatenate([pairs.x, pairs.y])) == 0 else "one side never varies"
        return Figure(value=None, method=method, n=pairs.n, samples=samples, why=why)
    low, high, why = _interval(value, sums, statistic)
    return Figure(value=value, low=low, high=high, method=method, n=pairs.n, samples=samples, why=why)


def _sums(pairs: Pairs, unit: NDArray[np.intp]) -> Floats:
    """By cluster: how many, and the sums of x, y, x², y², xy, both moved by the same amount so that they stay small."""
    middle = (pairs.x.mean() + pairs.y.mean()) / 2
    x, y = pairs.x - middle, pairs.y - middle
    columns = (np.ones_like(x), x, y, x * x, y * y, x * y)
    return np.stack([np.bincount(unit, weights=column) for column in columns], axis=1)


def _interval(value: float, sums: Floats, statistic: _Statistic) -> tuple[float | None, float | None, str]:
    """From the figure without each sample in turn."""
    samples = len(sums)
    if samples < LEAST_SAMPLES:
        return None, None, f"{samples} samples are too few for an interval: it takes {LEAST_SAMPLES}"
    without = statistic(sums.sum(axis=0) - sums)
    if not np.isfinite(without).all():
        return None, None, "without one of the samples nothing varies: no interval"
    if 1 - abs(value) < _NOTHING:
        return None, None, "they agree throughout: nothing tells how much that may vary"
    error = sqrt((samples - 1) / samples * float(((without - without.mean()) ** 2).sum()))
    reach = _quantile(samples - 1) * error / (1 - value * value)
    return tanh(atanh(value) - reach), tanh(atanh(value) + reach), ""


@cache  # Most figures of a calibration rest on the same number of samples.
def _quantile(df: int) -> float:
    return student_quantile((1 - LEVEL) / 2, df)


def _alpha(sums: Floats) -> Floats:
    n, x, y, xx, yy, xy = sums.T
    observed = (xx + yy - 2 * xy) / n
    count = 2 * n
    expected = 2 * (count * (xx + yy) - (x + y) ** 2) / (count * (count - 1))
    return 1 - _ratio(observed, expected, (xx + yy) / n)


def _kappa(sums: Floats) -> Floats:
    n, x, y, xx, yy, xy = sums.T
    return 1 - _ratio((xx + yy - 2 * xy) / n, (xx + yy) / n - 2 * x * y / n**2, (xx + yy) / n)


def _pearson(sums: Floats) -> Floats:
    n, x, y, xx, yy, xy = sums.T
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
