"""Numbers as they were written: exact fractions in, rounding half away from zero out."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

Number = int | float | Decimal | Fraction

# A score or weight beyond these is a slip or an attack; as a fraction it could fill the memory.
LARGEST = 10**15
MOST_DECIMALS = 30


def exact(value: Number) -> Fraction:
    """The fraction that a number means as it is written: 0.1 is one tenth, also as a float."""
    if isinstance(value, bool):
        raise TypeError(f"{value} is not a number")
    if isinstance(value, int):
        _refuse_huge(abs(value) > LARGEST, "the number")
        return Fraction(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a finite number")
        quarters = value * 4
        # A shortcut for what judges write: quarters are the same number in binary and in decimal.
        if quarters.is_integer() and abs(quarters) < 1e9:
            return Fraction(int(quarters), 4)
        value = Decimal(float.__repr__(value))
    if isinstance(value, Decimal):
        return _from_decimal(value)
    if not isinstance(value, Fraction):
        raise TypeError(f"{value!r} is not a number")
    return value


def rounded(value: Fraction, decimals: int) -> Decimal:
    """The value with so many decimals, halves away from zero."""
    unit = 10**decimals
    doubled = 2 * abs(value.numerator) * unit
    whole = (doubled + value.denominator) // (2 * value.denominator)
    return Decimal(whole if value >= 0 else -whole).scaleb(-decimals)


def written(value: Fraction, decimals: int | None = None) -> str:
    """A number for a sentence: with fixed decimals, or as short as it can be written."""
    if decimals is not None:
        return str(rounded(value, decimals))
    if value.denominator == 1:
        return str(value.numerator)
    text = str(rounded(value, 4))
    return text.rstrip("0").rstrip(".") if Fraction(text) == value else text


def number_for_json(value: Fraction, decimals: int | None = None) -> int | float:
    """A JSON number: with the method's decimals, or the nearest float of the exact value."""
    return float(value if decimals is None else rounded(value, decimals))


def _from_decimal(value: Decimal) -> Fraction:
    if not value.is_finite():
        raise ValueError(f"{value} is not a finite number")
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    _refuse_huge(value != 0 and value.adjusted() > 15, "the number")
    _refuse_huge(exponent < -MOST_DECIMALS, "the number of decimals")
    return Fraction(value) if value else Fraction(0)


def _refuse_huge(huge: bool, what: str) -> None:
    if huge:
        raise ValueError(f"{what} is too large")
