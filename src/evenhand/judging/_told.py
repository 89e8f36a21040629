"""What comes out of dialogues: answers with what they rest on, advice, preferences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from evenhand.judging._prompts import Prompts
from evenhand.judging._request import Settings
from evenhand.model import Answers, Judgment, Rubric

Severity = Literal["high", "medium", "low"]
SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a judge is asked: under which name, in which words, with which settings, from which seed."""

    judge: str
    prompts: Prompts
    settings: Settings = field(default_factory=Settings)
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """Advice for a revision."""

    problem: str
    suggestion: str
    severity: Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What one judge said about one output."""

    answers: Answers
    judgments: tuple[Judgment, ...]
    suggestions: tuple[Suggestion, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """What one judge said about several outputs at once, and in which order it saw them."""

    told: tuple[Told, ...]
    order: tuple[str, ...]
    ranking: tuple[str, ...] | None = None
    abstained: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """Which of two outputs one judge prefers, asked in both orders."""

    judge: str
    first: str
    second: str
    winner: str | None  # None is a tie, or no answer where `why_not` says so.
    votes: tuple[str | None, str | None] = (None, None)  # What it said with `first` shown first, and last.
    position_bias: bool = False
    reasons: tuple[str, ...] = ()
    why_not: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One acceptance criterion, checked."""

    judgment: Judgment
    revision_hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCheck:
    """Whether a submission meets every acceptance criterion; None where it could not be found out."""

    checks: tuple[Check, ...]
    passed: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimensions:
    """The locked dimensions of a task, as a rubric; None where they could not be generated."""

    rubric: Rubric | None
    why_not: str = ""
