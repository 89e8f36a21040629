"""What an assertion looks at, and what looking came to."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from evenhand.errors import InputError
from evenhand.model import Made

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """One output with how it came about, and what its sample says; an empty text is one that the sample lacks."""

    made: Made
    input: str = ""
    reference: str = ""
    context: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one rule found, where it says something of the output, and whether that passes."""

    passed: bool | None
    found: str = ""
    why_not: str = ""
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What came from outside for one assertion: a value, or whether it passed, or why neither is known."""

    value: Fraction | None = None
    passed: bool | None = None
    why: str = ""
    found: str = ""
    span: Span | None = None

    def __post_init__(self) -> None:
        if self.value is None and self.passed is None and not self.why:
            raise InputError("a measurement without a value says why there is none")


def unanswered(why: str) -> Found:
    """Neither passed nor failed."""
    return Found(passed=None, why_not=why)
