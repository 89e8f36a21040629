"""What an assertion looks at, what comes from outside for it, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from evenhand.errors import InputError
from evenhand.model.sample import VariantOutput

TextSpan = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionFacts:
    """One output with how it came about, and what its sample says; an empty text is one that the sample lacks."""

    made: VariantOutput
    input: str = ""
    reference: str = ""
    context: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionFinding:
    """What one rule found, where it says something of the output, and whether that passes."""

    passed: bool | None
    found: str = ""
    why_not: str = ""
    span: TextSpan | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionMeasurement:
    """What came from outside for one assertion: a value, or whether it passed, or why neither is known."""

    value: Fraction | None = None
    passed: bool | None = None
    why: str = ""
    found: str = ""
    span: TextSpan | None = None

    def __post_init__(self) -> None:
        if self.value is None and self.passed is None and not self.why:
            raise InputError("a measurement without a value says why there is none")


def leave_assertion_unanswered(why: str) -> AssertionFinding:
    """Neither passed nor failed."""
    return AssertionFinding(passed=None, why_not=why)
