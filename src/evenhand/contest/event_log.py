"""Events and tasks as plain data and back: the log from which the state of a contest is rebuilt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from functools import partial
from typing import Any, get_args

from evenhand.contest.events import (
    ContestCreated,
    ContestEvent,
    RankingChallenged,
    SubmissionReceived,
    SubmissionScored,
)
from evenhand.contest.task import CONTEST_METHOD, LONGEST_PERIOD, Task, normalize_contest_moment
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
from evenhand.judging.results import AcceptanceCheck
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Criterion, CriterionScore, Missing, Scored
from evenhand.model.scorecard import Judgment

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
