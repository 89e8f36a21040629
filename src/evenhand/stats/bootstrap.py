"""Bootstrap intervals of measures of agreement: a resample is how often each unit is taken.

Whatever a measure counts is a sum over units, so that a thousand resamples are one matrix product and no ratings are
read twice. The ends are those of the BCa bootstrap (Efron 1987), taken further out for few units by as much as
Student's t is wider than the normal distribution (Hesterberg 2015, "What teachers should know about the bootstrap",
5.3), and never inside Student's interval by the jackknife. In simulations neither alone held its level on ten to fifty
units, and plain percentiles of α held the truth on ten units in 80 to 90 of 100 cases; docs/statistics-agreement.md has
the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import Fault, InputError
from evenhand.stats.arrays import (
    MOST_RESAMPLES,
    Floats,
    compute_interval_alpha,
    require_random_generator,
    require_statistic_count,
)
from evenhand.stats.distributions import student_quantile
from evenhand.stats.ratings import Agreement, IntervalFields, widen_interval_to_estimate

RESAMPLES = 2_000
_LEAST_UNITS = 8
_LEAST_BEYOND = 10  # Resamples beyond each end: fewer, and the end is an accident of the draw.
_MOST_UNDEFINED = 0.05  # Share of resamples that might all lie beyond one end.
_MOST_JACKKNIFED = 1_000  # Among more distinct units no single one matters: the bootstrap is enough.
_MOST_WEIGHTS = 1 << 21  # Held in memory at a time.
_COUNT_COST = 16  # Drawing one count takes as long as picking this many units.
_SAME = 1e-12

Statistic = Callable[[Floats], Floats]  # From rows of weights over distinct units; NaN where it is undefined.
Tallies = NDArray[np.int64]  # How often each distinct unit occurs.


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """How resamples are drawn, and the level of the interval; without a generator no interval is computed."""

    rng: np.random.Generator | None
    level: float
    resamples: int

    def __post_init__(self) -> None:
        if self.rng is not None:
            require_random_generator(self.rng)
        object.__setattr__(self, "resamples", require_statistic_count(self.resamples, "resamples", MOST_RESAMPLES))
        alpha = compute_interval_alpha(self.level)
        if self.resamples * alpha / 2 < _LEAST_BEYOND:
            what = f"{self.resamples} resamples are too few for a level of {self.level}"
            raise InputError(Fault(what, f"it takes {math.ceil(2 * _LEAST_BEYOND / alpha):,}"))


def bootstrap_agreement_interval(
    statistic: Statistic,
    tallies: Tallies,
    resampling: Resampling,
    *,
    method: str,
    raters: int,
    skipped: tuple[str, ...] = (),
) -> Agreement:
    """Return the statistic of all units with its interval, as the agreement of all pairs of raters."""
    value = float(statistic(tallies[None, :].astype(np.float64))[0])
    ends = bootstrap_interval(statistic, tallies, value, resampling)
    value, n, pairs = min(1.0, value), int(tallies.sum()), raters * (raters - 1) // 2
    return Agreement(
        value=value, method=method, n=n, pairs=pairs, skipped=skipped, **widen_interval_to_estimate(ends, value)
    )


def bootstrap_interval(
    statistic: Statistic, tallies: Tallies, estimate: float, resampling: Resampling
) -> IntervalFields:
    """Return the interval of a statistic between -1 and 1; the order of `tallies` must not depend on the samples'."""
    n, alpha = int(tallies.sum()), compute_interval_alpha(resampling.level)
    if resampling.rng is None:
        return {"no_interval": "not asked for: give rng"}
    if n < _LEAST_UNITS:
        return {"no_interval": f"{n} units are too few to draw from: it takes {_LEAST_UNITS}"}
    rows = _draw_bootstrap_weights(tallies, resampling.rng, resampling.resamples)
    drawn = np.concatenate([statistic(weights) for weights in rows])
    values = np.sort(drawn[~np.isnan(drawn)])
    undefined = 1 - len(values) / len(drawn)
    if undefined > min(alpha, _MOST_UNDEFINED):
        return {"no_interval": f"in {undefined:.0%} of the resamples it is undefined: the units are too much alike"}
    if values[-1] - values[0] <= _SAME:
        return {"no_interval": f"every resample of the {n} units gives the same value, which tells nothing of others"}
    error, acceleration = _jackknife_units(statistic, tallies)
    low, high = np.quantile(values, _locate_bca_ends(values, estimate, acceleration, n, alpha))
    reach = student_quantile(alpha / 2, n - 1) * error
    return {
        "low": max(-1.0, min(float(low), estimate - reach)),
        "high": min(1.0, max(float(high), estimate + reach)),
        "level": resampling.level,
        "interval": f"BCa bootstrap and jackknife, {resampling.resamples:,} resamples",
    }


def _draw_bootstrap_weights(tallies: Tallies, rng: np.random.Generator, resamples: int) -> Iterator[Floats]:
    """Yield rows of how often each distinct unit is taken, as many at a time as memory allows."""
    n, kinds = int(tallies.sum()), len(tallies)
    by_unit = n < _COUNT_COST * kinds
    kind = np.repeat(np.arange(kinds), tallies)
    rows = max(1, _MOST_WEIGHTS // max(kinds, n if by_unit else 1))
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        if by_unit:
            cells = kind[rng.integers(0, n, size=(size, n))] + np.arange(size)[:, None] * kinds
            counts = np.bincount(cells.ravel(), minlength=size * kinds).reshape(size, kinds)
        else:
            counts = rng.multinomial(n, tallies / n, size=size)
        yield counts.astype(np.float64)


def _jackknife_units(statistic: Statistic, tallies: Tallies) -> tuple[float, float]:
    """Return the standard error from leaving out one unit at a time, and the acceleration of BCa."""
    if len(tallies) > _MOST_JACKKNIFED:
        return 0.0, 0.0
    left = statistic(tallies - np.eye(len(tallies)))
    defined = ~np.isnan(left)
    times = tallies[defined]
    n = times.sum()
    pulls = (times @ left[defined]) / n - left[defined]
    spread = float(times @ pulls**2)
    skew = float(times @ pulls**3) / (6 * spread**1.5) if spread > _SAME**2 else 0.0
    return math.sqrt((n - 1) / n * spread), skew


def _locate_bca_ends(values: Floats, estimate: float, acceleration: float, n: int, alpha: float) -> list[float]:
    """Return the shares of the resamples that the two ends cut off."""
    below = np.searchsorted(values, estimate - _SAME, side="left")
    not_above = np.searchsorted(values, estimate + _SAME, side="right")
    share = (below + not_above) / 2 / len(values)
    normal = NormalDist()
    bias = normal.inv_cdf(min(max(share, 1 / len(values)), 1 - 1 / len(values)))
    reach = math.sqrt(n / (n - 1)) * student_quantile(alpha / 2, n - 1)
    levels = []
    for z in (bias - reach, bias + reach):
        straight = 1 - acceleration * z
        levels.append(normal.cdf((z / straight if straight > 0 else math.copysign(math.inf, z)) + bias))
    return levels
