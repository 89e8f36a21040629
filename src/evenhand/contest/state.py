"""How a contest stands, and which event is allowed in which phase: the whole machine on a page, with its diagram."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, get_args

from evenhand.contest.events import EventKind
from evenhand.contest.task import Challenge, ContestMode, Submission, Task
from evenhand.errors import Fault
from evenhand.judging.results import AcceptanceCheck, Suggestion
from evenhand.model.rubric import Rubric
from evenhand.model.sample import GuardFinding
from evenhand.model.scorecard import Judgment
from evenhand.wording import join_names

ContestPhase = Literal["new", "open", "judging", "ranking", "challenge_period", "challenged", "closed"]
CONTEST_PHASES: tuple[ContestPhase, ...] = get_args(ContestPhase)
SubmissionStatus = Literal[
    "submitted", "policy_violation", "gate_failed", "gate_passed", "scored", "below_threshold", "superseded",
    "unjudged", "won",
]  # fmt: skip
PAYMENT_ID_START = "pay-"  # What follows is the id of the contest.
SUBMISSION_STATUSES: tuple[SubmissionStatus, ...] = get_args(SubmissionStatus)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestEntry:
    """A submission with what has been said of it so far."""

    submission: Submission
    status: SubmissionStatus = "submitted"
    why: str = ""  # What the status alone does not tell.
    findings: tuple[GuardFinding, ...] = ()
    checks: tuple[AcceptanceCheck, ...] = ()
    judgments: tuple[Judgment, ...] = ()  # Of the submission alone.
    suggestions: tuple[Suggestion, ...] = ()
    overall_bands: Mapping[str, str] = field(default_factory=dict)  # By judge: the band it gave for the whole.
    rank: int | None = None

    @property
    def id(self) -> str:
        """That of the submission."""
        return self.submission.id

    @property
    def violations(self) -> tuple[GuardFinding, ...]:
        """The findings for which it is shown to no judge: where it speaks to them. Others are only told."""
        return tuple(one for one in self.findings if one.guard == "injection")

    @property
    def scored(self) -> bool:
        """Whether judges have spoken of it on its own."""
        return bool(self.judgments)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalJudgments:
    """What a panel said of the finalists, and what the machine had to do without."""

    judgments: tuple[Judgment, ...] = ()
    shown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestState:
    """A contest at one moment. The first one, before anything happened, is `ContestState()`."""

    phase: ContestPhase = "new"
    task: Task | None = None
    entries: Mapping[str, ContestEntry] = field(default_factory=dict)  # By id, in order of arrival.
    finalists: tuple[str, ...] = ()  # Those who were, or are to be, compared side by side; the best first.
    final: FinalJudgments | None = None  # By the judges of the contest.
    review: FinalJudgments | None = None  # By those who looked at a challenge.
    winner: str | None = None
    challenge: Challenge | None = None
    period_ends: datetime | None = None  # Of the challenge period.
    contest: str = ""  # Its id, where its log has one.
    rehearsal: bool = False
    paid: bool = False  # Whether the winner is to be paid.
    released: datetime | None = None  # When whoever pays was told to.
    why: str = ""  # Why it is closed, where it is.
    at: datetime | None = None  # Of the last event.
    _authors: Mapping[str, tuple[str, ...]] | None = field(default=None, repr=False, compare=False)  # Ids by author.

    @property
    def required_task(self) -> Task:
        """The task; there is none before the contest was created."""
        assert self.task is not None
        return self.task

    @property
    def dimensions(self) -> Rubric:
        """The locked dimensions."""
        assert self.required_task.dimensions is not None
        return self.required_task.dimensions

    @property
    def payment(self) -> str | None:
        """The id of the payment: a contest has one at most."""
        known = self.paid and self.contest and not self.rehearsal
        return f"{PAYMENT_ID_START}{self.contest}" if known else None

    @property
    def revealed(self) -> bool:
        """Whether scores may be shown: at once where the first to pass wins, else when ranking is done."""
        fastest = self.task is not None and self.task.mode == "fastest_first"
        return fastest or self.phase in ("challenge_period", "challenged", "closed")

    def entries_by_author(self, author: str) -> list[ContestEntry]:
        """What an author has handed in, in order."""
        return [self.entries[id] for id in self._list_ids_by_author().get(author, ())]

    def with_entries(self, *entries: ContestEntry) -> ContestState:
        """The same state with some entries added or replaced."""
        added = {entry.id: entry for entry in entries}
        authors = dict(self._list_ids_by_author())
        for id, entry in added.items():
            if id not in self.entries:
                author = entry.submission.author
                authors[author] = (*authors.get(author, ()), id)
        return replace(self, entries={**self.entries, **added}, _authors=authors)

    def _list_ids_by_author(self) -> Mapping[str, tuple[str, ...]]:
        """Carried from state to state: to look through all entries for each that comes takes ever longer."""
        if self._authors is not None:
            return self._authors
        authors: dict[str, tuple[str, ...]] = {}
        for id, entry in self.entries.items():
            authors[entry.submission.author] = (*authors.get(entry.submission.author, ()), id)
        return authors

    def entries_awaiting_judges(self) -> Iterator[ContestEntry]:
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


PhaseMoves = Mapping[ContestPhase, Mapping[EventKind, tuple[ContestPhase, ...]]]

BEGIN_MOVES: PhaseMoves = {"new": {"created": ("open",)}}
FASTEST_FIRST_MOVES: PhaseMoves = {
    **BEGIN_MOVES,
    "open": {
        "submitted": ("open",),
        "gate_checked": ("open",),
        "scored": ("open", "closed"),
        "deadline_reached": ("judging", "closed"),
    },
    "judging": {"gate_checked": ("judging", "closed"), "scored": ("judging", "closed")},
    "closed": {"released": ("closed",)},
}
_AFTER_JUDGING: tuple[ContestPhase, ...] = ("judging", "ranking", "challenge_period", "closed")
QUALITY_FIRST_MOVES: PhaseMoves = {
    **BEGIN_MOVES,
    "open": {
        "submitted": ("open",),
        "gate_checked": ("open",),
        "scored": ("open",),
        "deadline_reached": _AFTER_JUDGING,
    },
    "judging": {"gate_checked": _AFTER_JUDGING, "scored": _AFTER_JUDGING},
    "ranking": {"ranked": ("challenge_period",)},
    "challenge_period": {"challenged": ("challenged",), "deadline_reached": ("closed",)},
    "challenged": {"resolved": ("challenge_period", "closed")},
    "closed": {"released": ("closed",)},
}
MOVES_BY_MODE: Mapping[ContestMode, PhaseMoves] = {
    "fastest_first": FASTEST_FIRST_MOVES,
    "quality_first": QUALITY_FIRST_MOVES,
}


def list_allowed_contest_events(mode: ContestMode | None, phase: ContestPhase) -> tuple[EventKind, ...]:
    """The kinds of event that can happen now; before a contest is created, that it is."""
    moves = BEGIN_MOVES if mode is None else MOVES_BY_MODE[mode]
    return tuple(moves.get(phase, {}))


PHASE_SENTENCES: Mapping[ContestPhase, str] = {
    "new": "the contest has not begun",
    "open": "the contest is open for submissions",
    "judging": "the submissions are being judged",
    "ranking": "the finalists are being compared",
    "challenge_period": "the ranking is out",
    "challenged": "a challenge of the ranking is being decided",
    "closed": "the contest is closed",
}
EVENT_WORDS: Mapping[EventKind, str] = {
    "created": "the beginning",
    "submitted": "a submission",
    "gate_checked": "an answer on the acceptance criteria",
    "scored": "a score",
    "deadline_reached": "a deadline",
    "ranked": "a ranking",
    "challenged": "a challenge",
    "resolved": "the decision on a challenge",
    "released": "a payment",
}


def explain_refused_contest_event(state: ContestState, kind: EventKind, allowed: Sequence[EventKind]) -> Fault:
    """Why something cannot happen now, in the words of those who take part, and what can."""
    what = f"{EVENT_WORDS[kind]} is not possible now: {PHASE_SENTENCES[state.phase]}"
    if not allowed:
        return Fault(what, f"nothing can happen any more: {state.why}")
    return Fault(what, f"what can come now: {join_names([EVENT_WORDS[one] for one in allowed])}")


def contest_machine_to_mermaid(mode: ContestMode) -> str:
    """The machine of a mode as a Mermaid state diagram, an arrow for each pair of phases."""
    lines = ["stateDiagram-v2"]
    for phase in CONTEST_PHASES:
        kinds = MOVES_BY_MODE[mode].get(phase)
        if phase == "closed":
            lines.append(f"    {phase} --> [*]")
        for target in dict.fromkeys(target for found in (kinds or {}).values() for target in found):
            names = ", ".join(kind for kind, found in (kinds or {}).items() if target in found)
            lines.append(f"    {'[*]' if phase == 'new' else phase} --> {target}: {names}")
    return "\n".join(lines) + "\n"
