"""Values: numbers with their units, dates, times and days of the week, so that "five percent" is "5 %"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from evenhand.judging.embedded._readers import READERS, Amount
from evenhand.judging.embedded._stems import stem
from evenhand.judging.embedded._words import EMPTY


@dataclass(frozen=True, slots=True)
class Value:
    """A value in the base unit of its kind. A kind of "" is a bare number."""

    kind: str
    amount: Amount
    raw: str
    start: int
    end: int
    noun: str = ""  # What a bare number counts, as far as the next word tells.
    bound: str = ""  # "most" or "least", where the words before it make it a limit.

    @property
    def year(self) -> bool:
        """Whether a bare number reads as a year."""
        return self.kind == "" and isinstance(self.amount, Fraction) and 1000 <= self.amount <= 2100

    def same(self, other: Value) -> bool:
        """Whether both mean the same; a bare number is the same as one with a unit, and a limit takes what keeps it."""
        if self.bound and not other.bound and (self.kind == other.kind or "" in (self.kind, other.kind)):
            return _keeps(self, other)
        if self.kind == other.kind == "time":
            return _about(self.amount, other.amount)  # Three months are twelve weeks, or ninety days.
        if self.kind == other.kind or "" in (self.kind, other.kind):
            return self.amount == other.amount
        if {self.kind, other.kind} == {"date", "full date"}:
            return _day_and_month(self) == _day_and_month(other)
        return False

    def alike(self, other: Value) -> bool:
        """Whether one could have stood in place of the other."""
        if self.kind == other.kind == "":
            return (self.year and other.year) or (self.noun == other.noun and self.noun not in EMPTY | {""})
        if self.kind == other.kind:
            return True
        return {self.kind, other.kind} <= {"date", "full date"}


def values_of(text: str) -> list[Value]:
    """Every value of a text, in order of place; what one reader has read, the ones after it leave alone."""
    taken = bytearray(len(text))
    found: list[Value] = []
    for pattern, read in READERS:
        for match in pattern.finditer(text):
            start, end = match.span()
            value = None if any(taken[start:end]) else read(match)
            if value is not None:
                taken[start:end] = b"\1" * (end - start)
                noun = "" if value[0] else _next_word(text, end)
                found.append(Value(*value, match.group().strip(), start, end, noun, _bound(text, start)))
    return sorted(found, key=lambda value: value.start)


def _bound(text: str, at: int) -> str:
    limit = _LIMIT.search(text, max(0, at - 24), at)
    return "" if limit is None else "most" if limit["most"] else "least"


# The words before a limit, up to where it begins.
_LIMIT = re.compile(
    r"\b(?:(?P<most>below|under|less than|fewer than|at most|(?:not|no) more than|up to|within|maximum of|"
    r"not exceed(?:ing)?|cheaper than|shorter than)|above|over|more than|at least|no (?:fewer|less) than|minimum of|"
    r"exceed(?:s|ing)?|longer than)\s*(?:about |around )?$",
    re.IGNORECASE,
)


def _keeps(limit: Value, value: Value) -> bool:
    if not isinstance(limit.amount, Fraction) or not isinstance(value.amount, Fraction):
        return limit.amount == value.amount
    return value.amount <= limit.amount if limit.bound == "most" else value.amount >= limit.amount


def _next_word(text: str, at: int) -> str:
    word = _NEXT.match(text, at)
    return stem(word[1]) if word else ""


_NEXT = re.compile(r"[\s-]*([^\W\d_]+)")


def _about(first: Amount, second: Amount) -> bool:
    assert isinstance(first, Fraction)
    assert isinstance(second, Fraction)
    return abs(first - second) * 12 <= max(first, second)


def _day_and_month(value: Value) -> tuple[int, ...]:
    return value.amount[:2] if isinstance(value.amount, tuple) else ()
