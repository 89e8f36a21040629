"""Jackknife intervals over whole samples for any statistic of sums (Efron & Tibshirani 1993, chapter 11)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.stats.arrays import Undefined
from evenhand.stats.distributions import student_quantile
from evenhand.wording import format_too_few

Floats = NDArray[np.float64]
LEAST_JACKKNIFE_SAMPLES = 8  # Below, the spread of what is left out says too little.
_NO_JACKKNIFE_SPREAD = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalEstimate:
    """A number with its interval; the ends are None where there is none, and `why` tells the reason."""

    value: float
    low: float | None
    high: float | None
    level: float
    method: str
    n: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class IntervalTransform:
    """A scale on which a statistic lies evenly around its mean, how steep it is, and the way back."""

    forward: Callable[[float], float]
    slope: Callable[[float], float]
    inverse: Callable[[float], float]


IDENTITY_TRANSFORM = IntervalTransform(lambda value: value, lambda _: 1.0, lambda value: value)
LOG_TRANSFORM = IntervalTransform(
    lambda value: math.log(value) if value > 0 else -math.inf,
    lambda value: 1 / value,
    math.exp,
)
FISHER_TRANSFORM = IntervalTransform(
    lambda value: math.atanh(value) if abs(value) < 1 else math.copysign(math.inf, value),
    lambda value: 1 / (1 - value * value),
    math.tanh,
)


def jackknife_calibration_interval(
    parts: Floats,
    statistic: Callable[[Floats], Floats],
    *,
    level: float,
    method: str,
    bent: IntervalTransform = IDENTITY_TRANSFORM,
) -> IntervalEstimate | Undefined:
    """A statistic of the sums of `parts` (samples × parts), with its interval.

    `statistic` takes sums (… × parts) and gives one number for each, NaN where there is none. The standard error is
    carried over to the bent scale by its steepness: the statistic without a sample may be at the scale's end.
    """
    n = len(parts)
    total = parts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        value, left = float(statistic(total)), statistic(total - parts)
    if not math.isfinite(value):
        return Undefined(why="the values do not vary, so there is nothing to compute it from", method=method, n=n)
    low, high, why = _calibration_interval_ends(value, left, level, bent)
    way = method if low is None else f"{method}, jackknife over samples"
    return IntervalEstimate(value=value, low=low, high=high, level=level, method=way, n=n, why=why)


def sum_calibration_clusters(columns: Floats, clusters: NDArray[np.int64]) -> Floats:
    """Rows × parts added up: clusters × parts."""
    _, unit = np.unique(clusters, return_inverse=True)
    return np.stack([np.bincount(unit, weights=column) for column in columns.T], axis=1)


def _calibration_interval_ends(
    value: float, left: Floats, level: float, bent: IntervalTransform
) -> tuple[float | None, float | None, str]:
    """The interval, or why there is none."""
    n = len(left)
    if n < LEAST_JACKKNIFE_SAMPLES:
        return None, None, format_too_few(n, "sample", LEAST_JACKKNIFE_SAMPLES, to="for an interval")
    if not np.isfinite(left).all():
        return None, None, "without one of the samples nothing varies"
    error, there = math.sqrt((n - 1) / n * math.fsum((left - left.mean()) ** 2)), bent.forward(value)
    if (
        not math.isfinite(there)
        or error <= _NO_JACKKNIFE_SPREAD * abs(value)
        or error * bent.slope(value) <= _NO_JACKKNIFE_SPREAD
    ):
        # An interval without width would claim to be certain.
        return None, None, "every sample says the same: nothing tells how much that may vary"
    reach = student_quantile((1 - level) / 2, n - 1) * error * bent.slope(value)
    return bent.inverse(there - reach), bent.inverse(there + reach), ""
