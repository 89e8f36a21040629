"""Mean, sample variance and square root of exact numbers."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction


def mean(values: Sequence[Fraction]) -> Fraction:
    """The exact mean; an empty list has none and is an error of the caller."""
    return sum(values, Fraction(0)) / len(values)


def variance(values: Sequence[Fraction]) -> Fraction:
    """The sample variance (n − 1); needs two values."""
    middle = mean(values)
    return sum(((value - middle) ** 2 for value in values), Fraction(0)) / (len(values) - 1)


def root(value: Fraction) -> Fraction:
    """The square root to 40 digits, the same on every machine."""
    with localcontext() as context:
        context.prec = 40
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())
