"""A column of exact numbers: whole numerators over one denominator, with a bound that keeps them exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, lcm

import numpy as np
from numpy.typing import NDArray

from evenhand.model.scale import Scale

IntegerArray = NDArray[np.int64]
BooleanArray = NDArray[np.bool_]

LARGEST_NUMERATOR = 2**62
LARGEST_EXACT_FLOAT = 2**53
MOST_COLUMN_DECIMALS = 4
OFF_SCALE = 2 * 10**15  # Off every scale, and still far from overflowing.
LARGEST_SCALED = 10**12  # Beyond it, as for NaN and infinities, the exact path decides.


class DoesNotFitError(ArithmeticError):
    """The numerators would not fit: the exact path must do these rows."""


@dataclass(frozen=True, slots=True)
class ExactColumn:
    """numerators / denominator, with no numerator beyond the bound."""

    numerators: IntegerArray
    denominator: int
    bound: int

    @staticmethod
    def constant(count: int, value: Fraction) -> ExactColumn:
        """The same number in every row."""
        return ExactColumn(np.full(count, value.numerator, np.int64), value.denominator, abs(value.numerator))

    def with_denominator(self, denominator: int) -> ExactColumn:
        """The same numbers over a multiple of the denominator."""
        factor = denominator // self.denominator
        if factor == 1:
            return self
        bound = _refuse_numerator_overflow(self.bound * factor)
        return ExactColumn(self.numerators * np.int64(factor), _refuse_numerator_overflow(denominator), bound)

    def below(self, level: Fraction) -> BooleanArray:
        """The rows under a level."""
        return self.numerators < _clip_column_level(ceil(level * self.denominator))

    def at_most(self, level: Fraction, where: BooleanArray) -> ExactColumn:
        """No higher than a level in some rows."""
        column = self.with_denominator(lcm(self.denominator, level.denominator))
        limit = np.int64(_refuse_numerator_overflow(int(level * column.denominator)))
        lowered = np.where(where, np.minimum(column.numerators, limit), column.numerators)
        return ExactColumn(lowered, column.denominator, max(column.bound, abs(int(limit))))

    def clamped(self, low: Fraction | None, high: Fraction | None) -> ExactColumn:
        """Between two ends."""
        ends = [end for end in (low, high) if end is not None]
        column = self.with_denominator(lcm(self.denominator, *(end.denominator for end in ends)))
        numerators, bound = column.numerators, column.bound
        for end, limited in ((low, np.maximum), (high, np.minimum)):
            if end is not None:
                limit = _refuse_numerator_overflow(int(end * column.denominator))
                numerators, bound = limited(numerators, np.int64(limit)), max(bound, abs(limit))
        return ExactColumn(numerators, column.denominator, bound)

    def plus(self, other: ExactColumn, sign: int) -> ExactColumn:
        """The sum or the difference."""
        return sum_weighted_columns([(Fraction(1), self), (Fraction(sign), other)])

    def times_where(self, where: BooleanArray, other: ExactColumn, factor: Fraction) -> ExactColumn:
        """Times another column and a factor in some rows, times one in the rest."""
        above, below = factor.numerator, factor.denominator * other.denominator
        bound = _refuse_numerator_overflow(self.bound * max(other.bound * above, below))
        by = np.where(where, other.numerators * np.int64(above), np.int64(_refuse_numerator_overflow(below)))
        return ExactColumn(self.numerators * by, _refuse_numerator_overflow(self.denominator * below), bound)

    def rounded(self, decimals: int) -> ExactColumn:
        """With so many decimals, halves away from zero."""
        unit = 10**decimals
        if unit % self.denominator == 0:
            return self.with_denominator(unit)
        _refuse_numerator_overflow(2 * self.bound * unit + self.denominator)
        doubled = np.abs(self.numerators) * np.int64(2 * unit) + np.int64(self.denominator)
        whole = doubled // np.int64(_refuse_numerator_overflow(2 * self.denominator))
        return ExactColumn(
            np.where(self.numerators < 0, -whole, whole), unit, self.bound * unit // self.denominator + 1
        )

    def to_floats(self, decimals: int | None) -> NDArray[np.float64]:
        """What is shown: with the method's decimals, or the nearest float of the exact value."""
        column = self if decimals is None else self.rounded(decimals)
        if max(column.bound, column.denominator) >= LARGEST_EXACT_FLOAT:
            raise DoesNotFitError
        return column.numerators / np.float64(column.denominator)

    def first_reached(self, levels: Sequence[Fraction]) -> NDArray[np.intp]:
        """The place of the first of several falling levels that a row reaches; their number where none is."""
        rising = [_clip_column_level(ceil(level * self.denominator)) for level in reversed(levels)]
        return len(levels) - np.searchsorted(np.array(rising, np.int64), self.numerators, side="right")


def sum_weighted_columns(terms: Sequence[tuple[Fraction, ExactColumn]], shift: Fraction = Fraction(0)) -> ExactColumn:
    """A sum of columns times numbers, plus a number."""
    common = lcm(shift.denominator, *(factor.denominator * column.denominator for factor, column in terms))
    factors = [factor.numerator * (common // (factor.denominator * c.denominator)) for factor, c in terms]
    start = int(shift * common)
    bound = abs(start) + sum(abs(factor) * column.bound for factor, (_, column) in zip(factors, terms, strict=True))
    _refuse_numerator_overflow(max(bound, common))
    total = terms[0][1].numerators * np.int64(factors[0])
    for factor, (_, column) in zip(factors[1:], terms[1:], strict=True):
        total += column.numerators * np.int64(factor)
    return ExactColumn(total + np.int64(start) if start else total, common, bound)


def read_exact_score_column(
    numbers: NDArray[np.generic], scale: Scale
) -> tuple[ExactColumn, BooleanArray | None, BooleanArray | None]:
    """A criterion's column, the rows that are no answer on its scale, and the rows with too many decimals."""
    if numbers.dtype.kind == "b" and not scale.is_share:  # Yes is no number on 1–10.
        nothing = np.ones(len(numbers), bool)
        return ExactColumn.constant(len(numbers), scale.min), nothing, None
    if numbers.dtype.kind in "bui":
        integers, decimals, odd = np.clip(numbers, -OFF_SCALE, OFF_SCALE).astype(np.int64), 0, None
    else:
        integers, decimals, odd = scale_exact_column_to_integers(numbers.astype(np.float64, copy=False))
    unit = 10**decimals
    low, high = scale.min * unit, scale.max * unit
    unreadable = None
    if len(integers) and not (low <= int(integers.min()) and int(integers.max()) <= high):
        unreadable = (integers < ceil(low)) | (integers > int(high // 1))
    if scale.integers and decimals:
        broken = integers % unit != 0
        unreadable = broken if unreadable is None else unreadable | broken
    bound = int(max(abs(low), abs(high)))
    if unreadable is not None or odd is not None:
        # A number that is no answer must not spoil the arithmetic of its neighbours.
        spoilt = np.zeros(len(integers), bool)
        for rows in (unreadable, odd):
            spoilt |= False if rows is None else rows
        integers = np.where(spoilt, np.int64(ceil(low)), integers)
    if odd is not None and unreadable is not None:
        unreadable &= ~odd
    return ExactColumn(integers, unit, bound), unreadable, odd


def scale_exact_column_to_integers(numbers: NDArray[np.float64]) -> tuple[IntegerArray, int, BooleanArray | None]:
    """Numbers as they are written, times a power of ten; the rows for which four decimals are not enough."""
    far = ~(np.abs(numbers) <= LARGEST_SCALED)
    if far.any():
        integers, decimals, odd = scale_exact_column_to_integers(np.where(far, 0.0, numbers))
        return integers, decimals, far if odd is None else far | odd
    for decimals in range(MOST_COLUMN_DECIMALS + 1):
        unit = 10.0**decimals
        whole = np.rint(numbers * unit) if decimals else np.rint(numbers)
        # Dividing two whole numbers gives the float nearest to the decimal: equal means "written so".
        exact = whole / unit == numbers if decimals else whole == numbers
        if exact.all():
            return whole.astype(np.int64), decimals, None
    fits = exact & (np.abs(whole) < 1e15)
    return np.where(fits, whole, 0).astype(np.int64), MOST_COLUMN_DECIMALS, ~fits


def _refuse_numerator_overflow(size: int) -> int:
    if abs(size) > LARGEST_NUMERATOR:
        raise DoesNotFitError
    return size


def _clip_column_level(level: int) -> int:
    """A level beyond every numerator compares the same as the largest."""
    return max(-LARGEST_NUMERATOR, min(LARGEST_NUMERATOR, level))
