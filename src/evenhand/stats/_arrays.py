"""Arrays that a statistic can rest on: finite numbers, one per independent unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import Fault, InputError

Floats = NDArray[np.float64]
Numbers = Sequence[float] | NDArray[np.floating[Any] | np.integer[Any]]

_GRID = 46  # Bits that are kept: 4.33 − 4 and 3.33 − 3 are one value, whatever their last digits.


def finite(values: Numbers, what: str) -> Floats:
    """One row of finite numbers, or a refusal that names the first that is none."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(Fault(f"{what} must be numbers", "one number per sample")) from None
    if array.ndim != 1:
        raise InputError(Fault(f"{what} must be one row of numbers, got {array.ndim} dimensions"))
    wrong = np.flatnonzero(~np.isfinite(array))
    if len(wrong):
        hint = "leave out samples without a score, and count them"
        raise InputError(Fault(f"{what}[{wrong[0]}] is not a finite number", hint))
    return array


def unit_means(values: Floats, clusters: Sequence[int] | None) -> Floats:
    """One value per independent unit: repeats of one sample are not independent, so each cluster is its mean."""
    if clusters is None:
        return values
    if len(clusters) != len(values):
        raise InputError(Fault(f"{len(clusters)} clusters for {len(values)} values", "one cluster per value"))
    _, unit = np.unique(np.asarray(clusters), return_inverse=True)
    means: Floats = np.bincount(unit, weights=values) / np.bincount(unit)
    return means


def on_grid(values: Floats, scale: float) -> Floats:
    """The values with the noise of binary fractions taken out, so that equal differences are equal."""
    if scale == 0:
        return values
    quantum = math.ldexp(1.0, max(math.frexp(scale)[1] - _GRID, -1000))
    rounded: Floats = np.rint(values / quantum) * quantum + 0.0  # + 0.0: a difference of −0 is one of 0.
    return rounded


def checked_level(level: float) -> float:
    """What is left outside an interval of this level."""
    if not 0 < level < 1:
        raise InputError(Fault(f"level must be between 0 and 1, got {level}", "95 % is 0.95"))
    return round(1 - level, 12)  # 1 − 0.95 is a little more than 0.05, and a p of 0.05 is not below it.
