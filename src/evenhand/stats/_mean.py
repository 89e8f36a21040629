"""The mean of one variant, with an interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats._arrays import Numbers, checked_level, finite, size_of
from evenhand.stats._groups import unit_means
from evenhand.stats._student import student_quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanInterval:
    """A mean and where it may lie."""

    estimate: float
    low: float
    high: float
    level: float
    method: str
    n: int


def mean_interval(values: Numbers, *, level: float = 0.95, clusters: Sequence[int] | None = None) -> MeanInterval:
    """The mean over independent units with Student's interval; `n` counts clusters."""
    alpha = checked_level(level)
    given = np.sort(unit_means(finite(values, "values"), clusters))
    size = size_of(given)
    units, n = given / size, len(given)
    if n < 2:
        raise InputError(Fault(f"the interval of a mean needs at least 2 samples, got {n}", "score more samples"))
    mean = math.fsum(units) / n
    error = math.sqrt(math.fsum((units - mean) ** 2) / (n - 1) / n)
    reach = student_quantile(alpha / 2, n - 1) * error
    estimate, low, high = (size * one for one in (mean, mean - reach, mean + reach))
    return MeanInterval(estimate=estimate, low=low, high=high, level=level, method="t", n=n)
