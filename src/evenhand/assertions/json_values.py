"""JSON values for schema checks: numbers exactly as they are written, and when two values are equal."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction

LONGEST_WHOLE = 400  # Digits; beyond them Python's int is slow to read, or refuses to be.


class JsonNumber(Decimal):
    """A decimal that a message shows as JSON does."""

    def __repr__(self) -> str:
        return str(self)


def read_asserted_json_number(text: str) -> JsonNumber:
    """The number a JSON text means; infinite where its exponent is beyond counting."""
    try:
        return JsonNumber(text)
    except InvalidOperation:
        return JsonNumber("-Infinity" if text.startswith("-") else "Infinity")


def read_asserted_json_integer(text: str) -> int | JsonNumber:
    """The whole number a JSON text means."""
    return int(text) if len(text) <= LONGEST_WHOLE else read_asserted_json_number(text)


def is_asserted_json_integer(value: object) -> bool:
    """Whether a value is a whole number; 1.0 is one, true is not."""
    if isinstance(value, Decimal):
        return value.is_finite() and value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool)


def is_json_multiple(value: int | Decimal, of: int | Decimal) -> bool | None:
    """Whether one number is a multiple of another; None where they are too large to tell."""
    if not all(abs(Decimal(one).adjusted()) <= LONGEST_WHOLE for one in (value, of) if one):
        return None
    return (Fraction(value) / Fraction(of)).denominator == 1


def build_asserted_json_identity(value: object) -> object:
    """Something hashable that two JSON values share when they are equal: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, dict):
        return "object", frozenset((key, build_asserted_json_identity(entry)) for key, entry in value.items())
    if isinstance(value, list):
        return "list", tuple(map(build_asserted_json_identity, value))
    return type(value) if isinstance(value, bool) else "plain", value
