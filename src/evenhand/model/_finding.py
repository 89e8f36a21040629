"""Findings: what a rule found in a text, and where."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A passage that a rule of a guard matched. Personal data is masked in `text`; the places are those of the text."""

    guard: str
    rule: str
    says: str  # What the rule looks for, in a few words.
    text: str
    start: int
    end: int
