"""Mean, sample variance and square root of exact numbers."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from math import isqrt


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


class Roots:
    """Square roots that cancel: two whose ratio is rational are exact multiples of one approximation.

    So a sum of them that is mathematically on a threshold, or equal to another, is so here too.
    """

    def __init__(self) -> None:
        self._bases = {Fraction(1): Fraction(1)}

    def of(self, value: Fraction) -> Fraction:
        """The square root of a positive number."""
        for base, approximation in self._bases.items():
            ratio = _exact_root(value / base)
            if ratio is not None:
                return ratio * approximation
        self._bases[value] = root(value)
        return self._bases[value]


def _exact_root(value: Fraction) -> Fraction | None:
    found = Fraction(isqrt(value.numerator), isqrt(value.denominator))
    return found if found * found == value else None
