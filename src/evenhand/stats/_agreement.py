"""How far several raters agree: Pearson's correlation, its mean over pairs, Krippendorff's α."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats._arrays import Floats, Numbers, finite

Ratings = Sequence[Sequence[float | None]]

_CONSTANT = 1e-12  # Spread below this share of the largest rating is rounding, not spread.


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """How far two rise and fall together: -1 to 1."""

    value: float
    method: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far several raters agree; `n` counts what at least two of them rated, `pairs` the pairs that were used."""

    value: float
    method: str
    n: int
    pairs: int
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Undefined:
    """There is no such number for these data, and why."""

    why: str
    method: str
    n: int


def pearson(x: Numbers, y: Numbers) -> Correlation | Undefined:
    """Pearson's correlation; undefined for constant ratings and for fewer than three."""
    first, second = finite(x, "x"), finite(y, "y")
    if len(first) != len(second):
        raise InputError(Fault(f"{len(first)} ratings beside {len(second)}", "rate the same outputs"))
    n = len(first)
    if n < 3:
        return Undefined(why=f"{n} ratings in common are too few: it takes 3", method="Pearson", n=n)
    for name, values in (("first", first), ("second", second)):
        if np.ptp(values) <= _CONSTANT * np.abs(values).max():
            return Undefined(why=f"the {name} gave the same rating throughout", method="Pearson", n=n)
    first, second = _standard(first), _standard(second)
    return Correlation(value=min(1.0, max(-1.0, math.fsum(first * second))), method="Pearson", n=n)


def mean_pairwise(raters: Ratings) -> Agreement | Undefined:
    """The mean of Pearson's correlation over all pairs of raters, each over what both rated."""
    table = _table(raters)
    rated = ~np.isnan(table)
    n = int((rated.sum(axis=0) > 1).sum())
    values, skipped = [], []
    for one, other in combinations(range(len(table)), 2):
        both = rated[one] & rated[other]
        found = pearson(table[one][both], table[other][both])
        if isinstance(found, Correlation):
            values.append(found.value)
        else:
            skipped.append(f"raters {one + 1} and {other + 1}: {found.why}")
    method = "mean pairwise Pearson"
    if not values:
        return Undefined(why=skipped[0] if skipped else "it takes two raters", method=method, n=n)
    return Agreement(
        value=math.fsum(values) / len(values), method=method, n=n, pairs=len(values), skipped=tuple(skipped)
    )


def krippendorff(raters: Ratings) -> Agreement | Undefined:
    """Krippendorff's α for ratings on an interval scale, with missing ratings (Krippendorff 2011)."""
    table, method = _table(raters), "Krippendorff's α, interval"
    rated = ~np.isnan(table)
    often = rated.sum(axis=0)
    table, rated, often = table[:, often > 1], rated[:, often > 1], often[often > 1]
    units, ratings = len(often), int(often.sum())
    if not units:
        return Undefined(why="nothing was rated by two raters", method=method, n=0)
    centred = np.where(rated, table - table[rated].mean(), 0.0)
    squares, sums = (centred**2).sum(axis=0), centred.sum(axis=0)
    within = math.fsum((2 * often * squares - 2 * sums**2) / (often - 1)) / ratings
    between = (2 * ratings * squares.sum() - 2 * sums.sum() ** 2) / (ratings * (ratings - 1))
    if between <= _CONSTANT * np.abs(table[rated]).max() ** 2:
        return Undefined(why="all ratings are the same", method=method, n=units)
    pairs = len(table) * (len(table) - 1) // 2
    return Agreement(value=float(1 - within / between), method=method, n=units, pairs=pairs)


def _standard(values: Floats) -> Floats:
    centred = values - math.fsum(values) / len(values)
    scaled = centred / np.abs(centred).max()  # First to size 1, so that tiny ratings do not vanish when squared.
    standard: Floats = scaled / math.sqrt(math.fsum(scaled**2))
    return standard


def _table(raters: Ratings) -> Floats:
    """Raters by rated, NaN where a rater said nothing; it does not leave this module."""
    if len({len(row) for row in raters}) > 1:
        raise InputError(Fault("the raters have rows of different length", "one entry per output, None where missing"))
    rows = [np.array(row, dtype=np.float64) for row in raters]
    for number, (row, given) in enumerate(zip(rows, raters, strict=True), 1):
        if int(np.isnan(row).sum()) != sum(value is None for value in given) or np.isinf(row).any():
            raise InputError(Fault(f"rater {number} has a rating that is no finite number", "None where missing"))
    return np.array(rows) if rows else np.empty((0, 0))
