"""Judgments: one judge's answer on one criterion, with what it rests on."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.model._scale import CriterionScore


@dataclass(frozen=True, slots=True)
class Evidence:
    """A quotation, and where in the output it stands."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How far the answers behind a mean lie apart."""

    n: int
    sd: float
    how: str  # "replies", or "logprobs" where the server told how likely each answer was.


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """One judge's answer on one criterion of one output."""

    judge: str
    output: str
    criterion: str
    score: CriterionScore
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    feedback: str = ""
    spread: Spread | None = None
