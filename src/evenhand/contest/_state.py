"""How a contest stands: its phase, its submissions, its winner. Numbers are not in it: they follow from judgments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, get_args

from evenhand.contest._challenge import Challenge
from evenhand.contest._submission import Submission
from evenhand.contest._task import Task
from evenhand.judging import Check, Suggestion
from evenhand.model import Finding, Judgment, Rubric

Phase = Literal["new", "open", "judging", "ranking", "challenge_period", "challenged", "closed"]
PHASES: tuple[Phase, ...] = get_args(Phase)
Status = Literal[
    "submitted", "policy_violation", "gate_failed", "gate_passed", "scored", "below_threshold", "superseded",
    "unjudged", "won",
]  # fmt: skip
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A submission with what has been said of it so far."""

    submission: Submission
    status: Status = "submitted"
    why: str = ""  # What the status alone does not tell.
    findings: tuple[Finding, ...] = ()
    checks: tuple[Check, ...] = ()
    judgments: tuple[Judgment, ...] = ()  # Of the submission alone.
    suggestions: tuple[Suggestion, ...] = ()
    rank: int | None = None

    @property
    def id(self) -> str:
        """That of the submission."""
        return self.submission.id

    @property
    def scored(self) -> bool:
        """Whether judges have spoken of it on its own."""
        return bool(self.judgments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Final:
    """What a panel said of the finalists, and what the machine had to do without."""

    judgments: tuple[Judgment, ...] = ()
    shown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A contest at one moment. The first one, before anything happened, is `State()`."""

    phase: Phase = "new"
    task: Task | None = None
    entries: Mapping[str, Entry] = field(default_factory=dict)  # By id, in order of arrival.
    finalists: tuple[str, ...] = ()  # Those who were, or are to be, compared side by side; the best first.
    final: Final | None = None  # By the judges of the contest.
    review: Final | None = None  # By those who looked at a challenge.
    winner: str | None = None
    challenge: Challenge | None = None
    period_ends: datetime | None = None  # Of the challenge period.
    paid: bool = False
    why: str = ""  # Why it is closed, where it is.
    at: datetime | None = None  # Of the last event.

    @property
    def terms(self) -> Task:
        """The task; there is none before the contest was created."""
        assert self.task is not None
        return self.task

    @property
    def dimensions(self) -> Rubric:
        """The locked dimensions."""
        assert self.terms.dimensions is not None
        return self.terms.dimensions

    @property
    def revealed(self) -> bool:
        """Whether scores may be shown: at once where the first to pass wins, else when ranking is done."""
        fastest = self.task is not None and self.task.mode == "fastest_first"
        return fastest or self.phase in ("challenge_period", "challenged", "closed")

    def of_author(self, author: str) -> list[Entry]:
        """What an author has handed in, in order."""
        return [entry for entry in self.entries.values() if entry.submission.author == author]

    def with_entries(self, *entries: Entry) -> State:
        """The same state with some entries added or replaced."""
        return replace(self, entries={**self.entries, **{entry.id: entry for entry in entries}})

    def waiting(self) -> Iterator[Entry]:
        """Submissions on which judges still have to speak, in order of arrival."""
        for entry in self.entries.values():
            if entry.status == "submitted" or (entry.status == "gate_passed" and not entry.scored):
                yield entry

    def judges(self) -> set[str]:
        """Everybody who has judged in this contest."""
        said = [one.judgment for entry in self.entries.values() for one in entry.checks]
        said += [one for entry in self.entries.values() for one in entry.judgments]
        said += [one for part in (self.final, self.review) if part for one in part.judgments]
        return {one.judge for one in said}
