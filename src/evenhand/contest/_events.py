"""What happens in a contest. An event says what was seen, never what follows from it: that is the machine's part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Literal, get_args

from evenhand.contest._challenge import Challenge
from evenhand.contest._submission import Submission
from evenhand.contest._task import Task
from evenhand.contest._times import kept_moment
from evenhand.guards import look
from evenhand.judging import Check, Suggestion
from evenhand.model import Finding, Judgment

Deadline = Literal["submissions", "challenges"]
Kind = Literal["created", "submitted", "gate_checked", "scored", "deadline_reached", "ranked", "challenged", "resolved"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    """A contest begins; its dimensions are locked."""

    kind: ClassVar[Kind] = "created"
    at: datetime
    task: Task

    def __post_init__(self) -> None:
        _keep_moment(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """A submission came, with what a guard found in it: passages that speak to its judge."""

    kind: ClassVar[Kind] = "submitted"
    submission: Submission
    findings: tuple[Finding, ...] = ()

    @property
    def at(self) -> datetime:
        """When it came."""
        return self.submission.at


@dataclass(frozen=True, slots=True, kw_only=True)
class GateChecked:
    """What the judges say of the acceptance criteria."""

    kind: ClassVar[Kind] = "gate_checked"
    at: datetime
    submission: str
    checks: tuple[Check, ...]

    def __post_init__(self) -> None:
        _keep_moment(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredAlone:
    """What the judges say of a submission on its own, dimension by dimension, and their advice."""

    kind: ClassVar[Kind] = "scored"
    at: datetime
    submission: str
    judgments: tuple[Judgment, ...]
    suggestions: tuple[Suggestion, ...] = ()

    def __post_init__(self) -> None:
        _keep_moment(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlineReached:
    """The time for submissions, or for challenges, is over."""

    kind: ClassVar[Kind] = "deadline_reached"
    at: datetime
    deadline: Deadline

    def __post_init__(self) -> None:
        _keep_moment(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedTogether:
    """What the judges say of the best submissions side by side; `shown` has, by judge, who was A, B and C."""

    kind: ClassVar[Kind] = "ranked"
    at: datetime
    judgments: tuple[Judgment, ...]
    shown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _keep_moment(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenged:
    """An author doubts the ranking."""

    kind: ClassVar[Kind] = "challenged"
    challenge: Challenge

    @property
    def at(self) -> datetime:
        """When it was said."""
        return self.challenge.at


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What judges who had not judged before say: of the finalists side by side, or of the only one alone."""

    kind: ClassVar[Kind] = "resolved"
    at: datetime
    judgments: tuple[Judgment, ...]
    shown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _keep_moment(self)


Event = Created | Submitted | GateChecked | ScoredAlone | DeadlineReached | RankedTogether | Challenged | Resolved


def hand_in(submission: Submission) -> Submitted:
    """The event that a submission came, looked at by the guard before any judge is."""
    return Submitted(submission=submission, findings=look(submission.text, ("injection",)))


def _keep_moment(event: Created | GateChecked | ScoredAlone | DeadlineReached | RankedTogether | Resolved) -> None:
    object.__setattr__(event, "at", kept_moment(event.at, "at"))
