"""Least squares over independent units, with standard errors that leave one unit out at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats._arrays import Floats, finite, real, sequence, size_of, whole
from evenhand.stats._groups import Units
from evenhand.stats._student import student_quantile

_SINGULAR = 1e-10
_SMALLEST = 1e-150  # Something divided by it is still a number.


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient:
    """One coefficient and where it may lie."""

    estimate: float
    low: float
    high: float

    def times(self, factor: float) -> Coefficient:
        """The same in another unit."""
        return Coefficient(estimate=self.estimate * factor, low=self.low * factor, high=self.high * factor)


def coefficients(
    columns: Sequence[Floats], y: Floats, units: Units, alpha: float, absorbed: int = 0
) -> tuple[Coefficient, ...] | None:
    """Every column's coefficient with Student's interval by the jackknife; None where they cannot be told apart.

    The jackknife over whole units asks neither for equal spread nor for independent rows within a unit. Where a few
    rows lie far out it tells too little, so that of the jackknife's and the usual error the larger decides. `absorbed`
    counts means that were taken off before.
    """
    given, y, units = _checked(columns, y, units)
    size, scales = size_of(y), [float(np.abs(column).max()) or 1.0 for column in given]
    table, y = np.stack([column / scale for column, scale in zip(given, scales, strict=True)], axis=1), y / size
    spare = len(y) - len(scales) - whole(absorbed, "absorbed")
    if spare < 1:
        raise InputError(Fault(f"{len(y)} rows are too few for {len(y) - spare} coefficients", "score more samples"))
    squares, products = _per_unit(table, y, units)
    left = squares.sum(axis=0) - squares
    spectrum = np.linalg.eigvalsh(left)
    if (spectrum[:, 0] <= _SINGULAR * spectrum[:, -1]).any():
        return None
    fit = np.linalg.solve(squares.sum(axis=0), products.sum(axis=0))
    without = np.linalg.solve(left, (products.sum(axis=0) - products)[..., None])[..., 0]
    n = len(squares)
    jackknife = (n - 1) / n * ((without - fit) ** 2).sum(axis=0)
    residuals = y - table @ fit
    usual = np.diag(np.linalg.inv(squares.sum(axis=0))) * (residuals @ residuals) / spare
    reach = student_quantile(real(alpha, "alpha") / 2, n - 1) * np.sqrt(np.maximum(jackknife, usual))
    return tuple(
        Coefficient(estimate=float(one), low=float(one - away), high=float(one + away)).times(size / scale)
        for one, away, scale in zip(fit, reach, scales, strict=True)
    )


def _checked(columns: Sequence[Floats], y: Floats, units: Units) -> tuple[list[Floats], Floats, Units]:
    given, rows = [finite(column, "a column") for column in sequence(columns, "columns")], finite(y, "y")
    codes = finite(units, "units")
    if not given or not len(rows) or {len(rows)} != {len(codes), *map(len, given)}:
        raise InputError(Fault("the columns, y and units differ in length, or are empty", "one entry per row in each"))
    if (codes % 1).any() or codes.min() < 0 or codes.max() >= len(rows):
        raise InputError(Fault("units must be whole numbers from 0", "one per row, equal where rows belong together"))
    if any(0 < np.abs(column).max() < _SMALLEST for column in given):
        hint = f"give it in a unit that makes it {_SMALLEST:g} or more"
        raise InputError(Fault("a column is too small to reckon with", hint))
    return given, rows, codes.astype(np.int64)


def _per_unit(table: Floats, y: Floats, units: Units) -> tuple[Floats, Floats]:
    n, size = int(units.max()) + 1, table.shape[1]
    squares, products = np.empty((n, size, size)), np.empty((n, size))
    for i in range(size):
        products[:, i] = np.bincount(units, weights=table[:, i] * y, minlength=n)
        for j in range(size):
            squares[:, i, j] = np.bincount(units, weights=table[:, i] * table[:, j], minlength=n)
    return squares, products
