"""Answers: what one judge, or a file, says about outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from evenhand.model._scale import CriterionScore


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Everything said about one output: criterion scores, statements found, and what was claimed."""

    id: str
    scores: Mapping[str, CriterionScore] = field(default_factory=dict)
    red_flags: Mapping[str, str] = field(default_factory=dict)
    bonuses: Mapping[str, str] = field(default_factory=dict)
    unanswered: Mapping[str, str] = field(default_factory=dict)  # Red flags and bonuses asked for in vain, and why.
    unsafe: str | None = None  # The pattern of the safety guard that matched.
    passage: str | None = None  # The passage that it matched.
    author: str | None = None
    holistic: CriterionScore | None = None
    claims: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One reviewer's answers on several outputs, or its statement that it gives none."""

    judge: str
    outputs: tuple[Answers, ...] = ()
    abstained: str | None = None
    ranking: tuple[str, ...] | None = None
    weight: Fraction = Fraction(1)
