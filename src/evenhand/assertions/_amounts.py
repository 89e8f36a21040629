"""Rules on amounts: how long an output is, what it cost, how long it took, how many turns."""

from __future__ import annotations

from fractions import Fraction

from evenhand.assertions._facts import Facts, Found, unanswered
from evenhand.assertions._words import counted_words
from evenhand.model import Number, exact, written


def min_length(facts: Facts, *, min: int) -> Found:
    """Not shorter, white space at both ends aside."""
    return _at_least(len(facts.made.text.strip()), min, "characters")


def max_length(facts: Facts, *, max: int) -> Found:
    """Not longer, white space at both ends aside."""
    return _at_most(len(facts.made.text.strip()), max, "characters")


def word_count_min(facts: Facts, *, min: int) -> Found:
    """Not fewer words."""
    return _at_least(counted_words(facts.made.text), min, "words")


def word_count_max(facts: Facts, *, max: int) -> Found:
    """Not more words."""
    return _at_most(counted_words(facts.made.text), max, "words")


def cost_max(facts: Facts, *, max: Fraction) -> Found:
    """Not more dollars."""
    return _at_most(facts.made.cost, max, "dollars")


def latency_max(facts: Facts, *, max: Fraction) -> Found:
    """Not more milliseconds."""
    return _at_most(facts.made.latency_ms, max, "ms")


def turns_min(facts: Facts, *, min: int) -> Found:
    """Not fewer turns."""
    return _at_least(facts.made.turns, min, "turns")


def turns_max(facts: Facts, *, max: int) -> Found:
    """Not more turns."""
    return _at_most(facts.made.turns, max, "turns")


def _at_least(measured: Number | None, least: int, unit: str) -> Found:
    value = _number(measured)
    return value if isinstance(value, Found) else Found(passed=value >= least, found=f"{written(value)} {unit}")


def _at_most(measured: Number | None, most: Number, unit: str) -> Found:
    value = _number(measured)
    return value if isinstance(value, Found) else Found(passed=value <= most, found=f"{written(value)} {unit}")


def _number(measured: Number | None) -> Fraction | Found:
    """What was measured, exactly as it was written down."""
    try:
        return unanswered("it was not measured") if measured is None else exact(measured)
    except (ValueError, TypeError):
        return unanswered(f"what was measured, {measured}, is not a number that can be used")
