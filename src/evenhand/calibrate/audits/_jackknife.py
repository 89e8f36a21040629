"""An interval for whatever is worked out from sums over samples: leave out one sample after the other.

Outputs of one sample are not independent, so whole samples are left out (Efron & Tibshirani 1993, chapter 11). For a
mean this is Student's interval; for a slope it is as careful as HC3. Nothing is drawn, so that the order of samples
and a seed decide nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from evenhand.stats import Undefined, student_quantile

Floats = NDArray[np.float64]
LEAST = 8  # Samples below which the spread of what is left out says too little.
_FLAT = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number with its interval; the ends are None where there are too few samples for one."""

    value: float
    low: float | None
    high: float | None
    level: float
    method: str
    n: int


@dataclass(frozen=True, slots=True)
class Bent:
    """A scale on which a statistic lies evenly around its mean, and the way back."""

    there: Callable[[Floats], Floats]
    back: Callable[[float], float]


PLAIN = Bent(lambda values: values, lambda value: value)
RATIO = Bent(np.log, math.exp)
CORRELATION = Bent(np.arctanh, math.tanh)


def jackknife(
    parts: Floats,
    statistic: Callable[[Floats], Floats],
    *,
    level: float,
    method: str,
    bent: Bent = PLAIN,
    fitted: int = 1,
) -> Estimate | Undefined:
    """A statistic of the sums of `parts` (samples × parts), with its interval.

    `statistic` takes sums (… × parts) and gives one number for each, NaN where there is none; `fitted` counts what was
    estimated from the samples.
    """
    n = len(parts)
    total = parts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(statistic(total))
        left = statistic(total - parts)
        if not math.isfinite(value):
            return Undefined(why="there is no spread to work it out from", method=method, n=n)
        there, each = float(bent.there(np.float64(value))), bent.there(left)  # type: ignore[arg-type]
    plain = Estimate(value=value, low=None, high=None, level=level, method=method, n=n)
    if n < max(LEAST, fitted + 2) or not math.isfinite(there) or not np.isfinite(each).all():
        return plain
    error = math.sqrt((n - 1) / n * math.fsum((each - each.mean()) ** 2))
    if error <= _FLAT * max(1.0, abs(there)):
        return plain  # Every sample says the same: an interval without width would claim to be certain.
    reach = _quantile((1 - level) / 2, n - fitted) * error
    low, high = bent.back(there - reach), bent.back(there + reach)
    return Estimate(value=value, low=low, high=high, level=level, method=f"{method}, jackknife over samples", n=n)


def by_cluster(columns: Floats, clusters: NDArray[np.int64]) -> Floats:
    """Rows × parts added up: clusters × parts."""
    _, unit = np.unique(clusters, return_inverse=True)
    return np.stack([np.bincount(unit, weights=column) for column in columns.T], axis=1)


_quantile = lru_cache(256)(student_quantile)  # Most findings of an audit have the same level and the same samples.
