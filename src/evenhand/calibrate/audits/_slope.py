"""How a score moves with something else about the output, samples and variants set apart."""

from __future__ import annotations

import numpy as np

from evenhand.calibrate._jackknife import LEAST_SAMPLES, Estimate
from evenhand.calibrate.audits._seen import Floats, Integers
from evenhand.stats import Undefined, coefficients

_NOTHING = 1e-9  # What is left of a column of this size, measured by the column, is rounding.


def slope(
    scores: Floats, of: Floats, *, groups: Integers, variants: Integers, clusters: Integers, level: float
) -> Estimate | Undefined:
    """Points of score per unit of `of`: among outputs of one group, and beyond what each variant has on the average.

    Without groups hard samples would pose as an effect, without variants a better one would.
    """
    _, *others = np.unique(variants)
    dummies = [_within((variants == one).astype(np.float64), groups) for one in others]
    x, y = _within(of, groups), _within(scores, groups)
    method, (names, units) = "regression within samples and variants", np.unique(clusters, return_inverse=True)
    columns = [*(one for one in dummies if one.any()), x]
    absorbed = len(np.unique(groups))
    enough = x.any() and len(names) > 1 and len(y) > len(columns) + absorbed
    found = coefficients(columns, y, units, 1 - level, absorbed=absorbed) if enough else None
    if found is None:
        return Undefined(why="it does not differ enough within samples", method=method, n=len(names))
    last, known = found[-1], len(names) >= LEAST_SAMPLES
    return Estimate(
        value=last.estimate,
        low=last.low if known else None,
        high=last.high if known else None,
        level=level,
        method=f"{method}, jackknife",
        n=len(names),
    )


def set_apart(column: Floats, variants: Integers) -> Floats:
    """The column as if every variant had the mean of the highest one: a better variant is no effect of anything."""
    if not len(column):
        return column
    means = _means(column, variants)
    apart: Floats = column - means + means.max()
    return apart


def spread_within(column: Floats, groups: Integers | None) -> float:
    """The standard deviation around the mean of each group, or of all: how far outputs of one sample lie apart."""
    left = column - (_means(column, groups) if groups is not None else column.mean())
    return float(np.sqrt(np.mean(left**2)))


def _within(column: Floats, groups: Integers) -> Floats:
    left = column - _means(column, groups)
    return np.where(np.abs(left) <= _NOTHING * max(1.0, float(np.abs(column).max(initial=0.0))), 0.0, left)


def _means(column: Floats, places: Integers) -> Floats:
    _, unit, count = np.unique(places, return_inverse=True, return_counts=True)
    means: Floats = (np.bincount(unit, weights=column) / count)[unit]
    return means
