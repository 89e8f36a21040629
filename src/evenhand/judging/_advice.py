"""Advice for a revision: exactly two suggestions, the more severe one first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from evenhand.judging._ask import Reading
from evenhand.judging._prepared import ADVICE
from evenhand.judging._prompts import Prompts
from evenhand.judging._told import SEVERITIES, Suggestion

Advice = tuple[Suggestion, ...]
T = TypeVar("T")


def with_advice(reading: Reading[T | Advice], prompts: Prompts) -> Reading[T | Advice]:
    """The reading with its two suggestions, or with the fault that there are not two."""
    given = reading.data.get(ADVICE) if isinstance(reading.data, dict) else None
    found = [one for entry in given if (one := _suggestion(entry))] if isinstance(given, list) else []
    if len(found) != 2 or not isinstance(given, list) or len(given) != 2:
        return replace(reading, faults={**reading.faults, ADVICE: prompts.say("suggestions")})
    return replace(reading, items={**reading.items, ADVICE: most_severe(found)})


def most_severe(given: Iterable[Suggestion]) -> Advice:
    """The two most severe of some suggestions, each said once."""
    return tuple(sorted(dict.fromkeys(given), key=lambda one: SEVERITIES.index(one.severity)))[:2]


def _suggestion(entry: object) -> Suggestion | None:
    if not isinstance(entry, dict):
        return None
    problem, suggestion, severity = (entry.get(name) for name in ("problem", "suggestion", "severity"))
    known = next((one for one in SEVERITIES if isinstance(severity, str) and severity.strip().lower() == one), None)
    if not isinstance(problem, str) or not isinstance(suggestion, str) or known is None:
        return None
    if not problem.strip() or not suggestion.strip():
        return None
    return Suggestion(problem=problem.strip(), suggestion=suggestion.strip(), severity=known)
