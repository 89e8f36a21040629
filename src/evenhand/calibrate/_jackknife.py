"""An interval for whatever is worked out from sums over samples: leave out one sample after the other.

Outputs of one sample are not independent, so whole samples are left out (Efron & Tibshirani 1993, chapter 11). For a
mean this is Student's interval; for a slope it is as careful as HC3. Nothing is drawn, so that the order of samples
and a seed decide nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.calibrate._words import too_few
from evenhand.stats import Undefined, student_quantile

Floats = NDArray[np.float64]
LEAST_SAMPLES = 8  # Below, the spread of what is left out says too little.
_FLAT = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number with its interval; the ends are None where there is none, and `why` tells the reason."""

    value: float
    low: float | None
    high: float | None
    level: float
    method: str
    n: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class Bent:
    """A scale on which a statistic lies evenly around its mean, how steep it is, and the way back."""

    there: Callable[[float], float]
    steep: Callable[[float], float]
    back: Callable[[float], float]


PLAIN = Bent(lambda value: value, lambda _: 1.0, lambda value: value)
RATIO = Bent(
    lambda value: math.log(value) if value > 0 else -math.inf,
    lambda value: 1 / value,
    math.exp,
)
CORRELATION = Bent(
    lambda value: math.atanh(value) if abs(value) < 1 else math.copysign(math.inf, value),
    lambda value: 1 / (1 - value * value),
    math.tanh,
)


def jackknife(
    parts: Floats,
    statistic: Callable[[Floats], Floats],
    *,
    level: float,
    method: str,
    bent: Bent = PLAIN,
) -> Estimate | Undefined:
    """A statistic of the sums of `parts` (samples × parts), with its interval.

    `statistic` takes sums (… × parts) and gives one number for each, NaN where there is none. The standard error is
    carried over to the bent scale by its steepness: the statistic without a sample may be at the scale's end.
    """
    n = len(parts)
    total = parts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        value, left = float(statistic(total)), statistic(total - parts)
    if not math.isfinite(value):
        return Undefined(why="there is no spread to work it out from", method=method, n=n)
    low, high, why = _ends(value, left, level, bent)
    way = method if low is None else f"{method}, jackknife over samples"
    return Estimate(value=value, low=low, high=high, level=level, method=way, n=n, why=why)


def by_cluster(columns: Floats, clusters: NDArray[np.int64]) -> Floats:
    """Rows × parts added up: clusters × parts."""
    _, unit = np.unique(clusters, return_inverse=True)
    return np.stack([np.bincount(unit, weights=column) for column in columns.T], axis=1)


def _ends(value: float, left: Floats, level: float, bent: Bent) -> tuple[float | None, float | None, str]:
    """The interval, or why there is none."""
    n = len(left)
    if n < LEAST_SAMPLES:
        return None, None, too_few(n, "sample", LEAST_SAMPLES, to="for an interval")
    if not np.isfinite(left).all():
        return None, None, "without one of the samples nothing varies"
    error, there = math.sqrt((n - 1) / n * math.fsum((left - left.mean()) ** 2)), bent.there(value)
    if not math.isfinite(there) or error <= _FLAT * abs(value) or error * bent.steep(value) <= _FLAT:
        # An interval without width would claim to be certain.
        return None, None, "every sample says the same: nothing tells how much that may vary"
    reach = student_quantile((1 - level) / 2, n - 1) * error * bent.steep(value)
    return bent.back(there - reach), bent.back(there + reach), ""
