"""What happens in a contest (events) and what it wants done (effects), as values and as the plain data of the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Literal, get_args

from evenhand.contest.task import CONTEST_METHOD, LONGEST_PERIOD, Challenge, Submission, Task, normalize_contest_moment
from evenhand.errors import ContestError, Fault
from evenhand.files.codec import Codec
from evenhand.files.json_shape import (
    DerivedField,
    JsonField,
    JsonFormatError,
    JsonParts,
    JsonShape,
    SplitField,
    StandIn,
    json_fraction_scalar,
    json_number_between,
    json_seconds_scalar,
    json_whole_number_between,
    write_json_fraction,
)
from evenhand.files.methods import load_shipped_method_file
from evenhand.guards.output_guards import list_guard_findings
from evenhand.judging.results import AcceptanceCheck, Suggestion
from evenhand.model.rubric import Rubric
from evenhand.model.sample import GuardFinding
from evenhand.model.scale import Criterion, CriterionScore, Missing, Scored
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


Json = dict[str, Any]


def _write_contest_log_score(one: Judgment) -> Json:
    """Exact, unlike the JSON for readers: a mean of several replies is a fraction."""
    score = one.score
    if not isinstance(score, Scored):
        return {"score": None, "band": None, "why": None, "why_not": score.text}
    why = score.why if score.why != one.reason else None  # Mostly the reason.
    return {"score": write_json_fraction(score.value), "band": score.band, "why": why, "why_not": None}


def _read_logged_contest_score(data: JsonParts) -> CriterionScore:
    """A number, or why there is none; the reason of a number is that of the judgment, unless another is kept."""
    why_not = data.read("why_not", str | None)
    if why_not is not None:
        for name in ("score", "band", "why"):
            data.read(name, type(None))
        return Missing.from_text(why_not)
    why = data.read("why", str | None)
    return Scored(
        data.read("score", Fraction), data.read("band", str | None), data.read("reason", str) if why is None else why
    )


_EVENT_TIME = DerivedField(lambda event: event.at.isoformat())


def _check_submission_time_received(event: SubmissionReceived, data: JsonParts) -> None:
    if event.at != normalize_contest_moment(data.read("at", datetime), "at"):
        raise JsonFormatError(Fault("is not the time of the submission", path=("at",)))


def _read_logged_contest_dimensions(criteria: tuple[Criterion, ...]) -> Rubric:
    """The locked dimensions; a task gives them its own name."""
    method = load_shipped_method_file(CONTEST_METHOD)
    locked = tuple(replace(one, scale=method.criterion_scale) for one in criteria)
    return Rubric(name="", method=method, criteria=locked)


# No count, place or number of seconds in a contest is larger.
LARGEST_LOGGED_NUMBER = 10**15
_NUMBER = json_number_between(0, LARGEST_LOGGED_NUMBER)

CONTEST_LOG = Codec(
    error=ContestError,
    hint="the log is damaged, or of another version",
    tag="event",
    scalars={
        int: json_whole_number_between(0, LARGEST_LOGGED_NUMBER),
        float: _NUMBER,
        timedelta: json_seconds_scalar(LONGEST_PERIOD, _NUMBER),
        Fraction: json_fraction_scalar(LARGEST_LOGGED_NUMBER),
    },
    shapes={
        Task: JsonShape(fields={"masked": JsonField(sparse=True)}),
        ContestCreated: JsonShape(fields={"contest": JsonField(later=True), "rehearsal": JsonField(later=True)}),
        SubmissionReceived: JsonShape(
            derived={"at": replace(_EVENT_TIME, check=_check_submission_time_received)}, derived_first=True
        ),
        RankingChallenged: JsonShape(
            fields={"challenge": JsonField(flat=True)},
            derived={"at": _EVENT_TIME},
            derived_first=True,
        ),
        SubmissionScored: JsonShape(fields={"overall_bands": JsonField(later=True)}),
        AcceptanceCheck: JsonShape(fields={"judgment": JsonField(flat=True)}),
        Judgment: JsonShape(
            fields={
                "score": SplitField(
                    ("score", "band", "why", "why_not"), _write_contest_log_score, _read_logged_contest_score
                ),
                "absent": JsonField(later=True),
                "from_trace": JsonField(later=True),
                "expected": JsonField(sparse=True),
                "raw": JsonField(sparse=True),
            }
        ),
        Rubric: StandIn(tuple[Criterion, ...], lambda rubric: rubric.criteria, _read_logged_contest_dimensions),
        Criterion: JsonShape(
            only=("id", "asks", "weight", "fixed", "shown_as"), fields={"shown_as": JsonField(sparse=True)}
        ),
    },
)

# Events as they are kept, and tasks as plain data, each with its way back.
contest_event_json = CONTEST_LOG.to_json
contest_task_json = CONTEST_LOG.to_json
contest_event_from_json: Callable[[object], ContestEvent] = partial(
    CONTEST_LOG.from_tagged_json, get_args(ContestEvent)
)
contest_task_from_json = partial(CONTEST_LOG.from_json, Task)
