"""Bootstrap intervals of a mean and of a paired difference: percentile, BCa and studentised.

Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapters 12 to 14. Equal values are drawn together: a
resample of many scores with few different values is a handful of counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats._agreement import Undefined
from evenhand.stats._arrays import (
    MOST_RESAMPLES,
    Floats,
    Numbers,
    checked_level,
    finite,
    generator,
    on_grid,
    one_of,
    whole,
)
from evenhand.stats._difference import unit_differences
from evenhand.stats._groups import unit_means

BootstrapMethod = Literal["bca", "percentile", "studentised"]

LEAST_STUDENTISED = 5  # Of four values one resample in 64 has no spread to be measured by.
LEAST_BEYOND = 10  # Resamples beyond each end: fewer, and the end is an accident of the draw.
_DEARER = 16  # Drawing one count takes as long as picking this many values.
_HELD = 1 << 18  # Numbers drawn at a time: they stay in the processor's cache.
_ZERO = 1e-9  # Sums that cancel on paper leave this much at most, measured by the largest deviation.
_NO_SPREAD = 1e-14


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """A mean, or a mean difference, and where it may lie. A studentised end is infinite where resamples have no spread.

    `n` counts independent units: clusters where there are any.
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str
    n: int
    resamples: int

    def __post_init__(self) -> None:
        if not (self.low <= self.estimate <= self.high and self.n >= 2):
            raise InputError(Fault(f"not an interval: {self}", "low ≤ estimate ≤ high, n ≥ 2"))


def bootstrap_mean(
    values: Numbers,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    method: BootstrapMethod = "bca",
    resamples: int = 10_000,
    clusters: Sequence[int] | None = None,
) -> Bootstrap | Undefined:
    """The mean with an interval from resamples; undefined where all values are equal, as then all resamples are."""
    given = finite(values, "values")
    units = on_grid(unit_means(given, clusters), float(np.abs(given).max(initial=0.0)))
    return _resampled(units, level=level, method=method, resamples=resamples, rng=rng)


def bootstrap_difference(
    treatment: Numbers,
    control: Numbers,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    method: BootstrapMethod = "bca",
    resamples: int = 10_000,
    clusters: Sequence[int] | None = None,
) -> Bootstrap | Undefined:
    """How much higher the treatment scored on the same samples, with an interval from resampled pairs."""
    units = unit_differences(treatment, control, clusters)
    return _resampled(units, level=level, method=method, resamples=resamples, rng=rng)


@dataclass(frozen=True, slots=True)
class _Sample:
    """Deviations from the mean, distinct and in order, the largest of size 1; and how often each was seen."""

    deviations: Floats
    counts: Floats
    n: int

    def power_sum(self, power: int) -> float:
        return math.fsum(self.counts * self.deviations**power)

    def order(self) -> tuple[list[float], list[float]]:
        return np.round(self.deviations, 6).tolist(), self.counts.tolist()


def _resampled(
    units: Floats, *, level: float, method: BootstrapMethod, resamples: int, rng: np.random.Generator
) -> Bootstrap | Undefined:
    alpha, n = checked_level(level), len(units)
    generator(rng)
    resamples = whole(resamples, "resamples", MOST_RESAMPLES)
    ends, told = _checked(method, n, alpha, resamples)
    values, counts = np.unique(units, return_counts=True)
    if len(values) == 1:
        why = f"all {n} values are {values[0]:g}: every resample is the same, which says nothing about other samples"
        return Undefined(why=why, method=told, n=n)
    estimate = math.fsum(values * counts) / n
    scale = float(np.abs(values - estimate).max())
    sample = _Sample((values - estimate) / scale, counts.astype(np.float64), n)
    low, high = _either_way(sample, lambda one: ends(one, _drawn(one, resamples, rng), alpha))
    return Bootstrap(
        estimate=estimate,
        low=estimate + scale * min(low, 0.0),  # At a level of a few per cent the ends may miss the estimate.
        high=estimate + scale * max(high, 0.0),
        level=level,
        method=told,
        n=n,
        resamples=resamples,
    )


def _either_way(sample: _Sample, ends: Callable[[_Sample], tuple[float, float]]) -> tuple[float, float]:
    """Of the two ways round always the same one is drawn, so that swapping the sides swaps the interval and no more."""
    mirrored = _Sample(-sample.deviations[::-1], sample.counts[::-1], sample.n)
    low, high = ends(min(sample, mirrored, key=_Sample.order))
    if sample.order() == mirrored.order():
        return (low - high) / 2, (high - low) / 2
    return (low, high) if sample.order() < mirrored.order() else (-high, -low)


_Ends = Callable[[_Sample, Floats, float], tuple[float, float]]


def _checked(method: str, n: int, alpha: float, resamples: int) -> tuple[_Ends, str]:
    ends, told, least = _METHODS[one_of(method, _METHODS, "method")]
    if n < least:
        raise InputError(Fault(f"{told} needs at least {least} samples, got {n}", "score more samples"))
    enough = math.ceil(2 * LEAST_BEYOND / alpha)
    if resamples < enough:
        what = f"{resamples} resamples are too few for an interval of this level"
        raise InputError(Fault(what, f"{enough:,} or more, so that {LEAST_BEYOND} lie beyond each end"))
    return ends, told


def _drawn(sample: _Sample, resamples: int, rng: np.random.Generator) -> Floats:
    """Of every resample the mean and the mean square of its deviations, as two columns."""
    few = _DEARER * len(sample.counts) <= sample.n
    draw = _by_counts if few else _by_values
    rows = max(1, _HELD // (len(sample.counts) if few else sample.n))
    sizes = [min(rows, resamples - start) for start in range(0, resamples, rows)]
    return np.concatenate([draw(sample, size, rng) for size in sizes])


def _by_counts(sample: _Sample, size: int, rng: np.random.Generator) -> Floats:
    counts = rng.multinomial(sample.n, sample.counts / sample.n, size=size).astype(np.float64)
    moments: Floats = counts @ np.column_stack([sample.deviations, sample.deviations**2]) / sample.n
    return moments


def _by_values(sample: _Sample, size: int, rng: np.random.Generator) -> Floats:
    every = np.repeat(sample.deviations, sample.counts.astype(np.int64))
    picked = every[rng.integers(0, sample.n, size=(size, sample.n))]
    return np.column_stack([picked.mean(axis=1), np.einsum("ij,ij->i", picked, picked) / sample.n])


def _percentile(sample: _Sample, drawn: Floats, alpha: float) -> tuple[float, float]:
    return _between(drawn[:, 0], alpha / 2, 1 - alpha / 2)


def _bca(sample: _Sample, drawn: Floats, alpha: float) -> tuple[float, float]:
    """Percentiles moved by how far the resamples lie to one side, and by how their spread changes with the mean."""
    means = np.where(np.abs(drawn[:, 0]) <= _ZERO, 0.0, drawn[:, 0])
    normal = NormalDist()
    bias = normal.inv_cdf(float((means < 0).mean() + (means == 0).mean() / 2))
    # The jackknife of a mean leaves out one value at a time and moves by its deviation.
    acceleration = sample.power_sum(3) / (6 * sample.power_sum(2) ** 1.5)

    def moved(z: float) -> float:
        return normal.cdf(bias + (bias + z) / (1 - acceleration * (bias + z)))

    z = normal.inv_cdf(1 - alpha / 2)
    return _between(means, moved(-z), moved(z))


def _studentised(sample: _Sample, drawn: Floats, alpha: float) -> tuple[float, float]:
    """The distribution of t is that of the resamples, each measured by its own spread."""
    means = np.where(np.abs(drawn[:, 0]) <= _ZERO, 0.0, drawn[:, 0])
    variances = drawn[:, 1] - drawn[:, 0] ** 2
    spread = variances > _NO_SPREAD
    ts = np.where(means == 0, 0.0, np.copysign(math.inf, means))
    ts[spread] = means[spread] / np.sqrt(variances[spread] / (sample.n - 1))
    low, high = _between(ts, alpha / 2, 1 - alpha / 2)
    error = math.sqrt(sample.power_sum(2) / (sample.n - 1) / sample.n)
    return -high * error, -low * error


def _between(drawn: Floats, low: float, high: float) -> tuple[float, float]:
    """The two that cut off these shares; never a point between two of them, as one may be infinite."""
    ordered, last = np.sort(drawn), len(drawn) - 1
    return float(ordered[math.floor(low * last)]), float(ordered[math.ceil(high * last)])


_METHODS: dict[str, tuple[_Ends, str, int]] = {
    "bca": (_bca, "bootstrap, BCa", 2),
    "percentile": (_percentile, "bootstrap, percentile", 2),
    "studentised": (_studentised, "bootstrap, studentised", LEAST_STUDENTISED),
}
