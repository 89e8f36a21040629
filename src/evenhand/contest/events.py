"""What happens in a contest (events) and what it wants done (effects): data only, what follows is decided by the
machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Literal, get_args

from evenhand.contest.task import Challenge, Submission, Task, normalize_contest_moment
from evenhand.files.codec import Codec
from evenhand.guards.output_guards import list_guard_findings
from evenhand.judging.results import AcceptanceCheck, Suggestion
from evenhand.model.sample import GuardFinding
from evenhand.model.scorecard import Judgment

DeadlineKind = Literal["submissions", "challenges"]
EventKind = Literal[
    "created", "submitted", "gate_checked", "scored", "deadline_reached", "ranked", "challenged", "resolved", "released"
]
EVENT_KINDS: tuple[EventKind, ...] = get_args(EventKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TimedEvent:
    """An event with a time of its own; the others take it from the submission or challenge that they carry."""

    at: datetime

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", normalize_contest_moment(self.at, "at"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestCreated(_TimedEvent):
    """A contest begins; its dimensions are locked."""

    kind: ClassVar[EventKind] = "created"
    task: Task
    contest: str = ""  # Its id. Without one, as in older logs, the end of a contest releases the payment by itself.
    rehearsal: bool = False  # Played ahead of the clock: it pays nobody.


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionReceived:
    """A submission came, with what guards found in it: passages that speak to its judge, and unsafe ones."""

    kind: ClassVar[EventKind] = "submitted"
    submission: Submission
    findings: tuple[GuardFinding, ...] = ()

    @property
    def at(self) -> datetime:
        """When it came."""
        return self.submission.at


@dataclass(frozen=True, slots=True, kw_only=True)
class GateChecked(_TimedEvent):
    """What the judges say of the acceptance criteria."""

    kind: ClassVar[EventKind] = "gate_checked"
    submission: str
    checks: tuple[AcceptanceCheck, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionScored(_TimedEvent):
    """What the judges say of a submission on its own, dimension by dimension, and their advice."""

    kind: ClassVar[EventKind] = "scored"
    submission: str
    judgments: tuple[Judgment, ...]
    suggestions: tuple[Suggestion, ...] = ()
    overall_bands: Mapping[str, str] = field(default_factory=dict)  # By judge: the band it gave for the whole.


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadlineReached(_TimedEvent):
    """The time for submissions, or for challenges, is over."""

    kind: ClassVar[EventKind] = "deadline_reached"
    deadline: DeadlineKind


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalistsRanked(_TimedEvent):
    """What the judges say of the best submissions side by side; `shown` has, by judge, who was A, B and C."""

    kind: ClassVar[EventKind] = "ranked"
    judgments: tuple[Judgment, ...]
    shown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingChallenged:
    """An author doubts the ranking."""

    kind: ClassVar[EventKind] = "challenged"
    challenge: Challenge

    @property
    def at(self) -> datetime:
        """When it was said."""
        return self.challenge.at


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeResolved(_TimedEvent):
    """What judges who had not judged before say: of the finalists side by side, or of the only one alone."""

    kind: ClassVar[EventKind] = "resolved"
    judgments: tuple[Judgment, ...]
    shown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentReleased(_TimedEvent):
    """Whoever pays was told to, once."""

    kind: ClassVar[EventKind] = "released"
    payment: str


ContestEvent = (
    ContestCreated
    | SubmissionReceived
    | GateChecked
    | SubmissionScored
    | DeadlineReached
    | FinalistsRanked
    | RankingChallenged
    | ChallengeResolved
    | PaymentReleased
)


def make_submission_received_event(submission: Submission) -> SubmissionReceived:
    """The event that a submission came, looked at by the guards before any judge is asked."""
    findings = list_guard_findings(submission.text, ("injection", "safety"))
    return SubmissionReceived(submission=submission, findings=findings)


PanelKind = Literal["judges", "challenge_judges"]
EffectKind = Literal["ask_gate", "ask_individual", "ask_horizontal", "tell_submitter", "release_payment", "close"]
EFFECT_KINDS: tuple[EffectKind, ...] = get_args(EffectKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskGate:
    """Have the judges check the acceptance criteria."""

    kind: ClassVar[EffectKind] = "ask_gate"
    submission: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AskIndividual:
    """Have a panel score a submission on its own."""

    kind: ClassVar[EffectKind] = "ask_individual"
    submission: str
    panel: PanelKind = "judges"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskHorizontal:
    """Have a panel score the finalists side by side, anonymous, one request per dimension, all at once."""

    kind: ClassVar[EffectKind] = "ask_horizontal"
    submissions: tuple[str, ...]
    panel: PanelKind = "judges"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifySubmitter:
    """Tell an author how a submission stands: what may be seen of it now, and nothing more."""

    kind: ClassVar[EffectKind] = "tell_submitter"
    submission: str
    author: str
    status: str
    feedback: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePayment:
    """Pay the winner. It is wanted once in the life of a contest."""

    kind: ClassVar[EffectKind] = "release_payment"
    submission: str
    author: str
    reward: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseContest:
    """The contest is over."""

    kind: ClassVar[EffectKind] = "close"
    winner: str | None
    why: str


ContestEffect = AskGate | AskIndividual | AskHorizontal | NotifySubmitter | ReleasePayment | CloseContest
EFFECT_JSON = Codec(tag="effect")
contest_effect_json = EFFECT_JSON.to_json
