"""Events and tasks as plain data and back: the log from which the state of a contest is rebuilt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from fractions import Fraction
from typing import Any, get_args

from evenhand.contest.events import (
    EVENT_KINDS,
    ChallengeResolved,
    ContestCreated,
    ContestEvent,
    DeadlineKind,
    DeadlineReached,
    FinalistsRanked,
    GateChecked,
    RankingChallenged,
    SubmissionReceived,
    SubmissionScored,
)
from evenhand.contest.log_fields import DAMAGED_LOG_HINT, LogObject, read_log_list
from evenhand.contest.task import CONTEST_METHOD, CONTEST_MODES, Challenge, Submission, Task, normalize_contest_moment
from evenhand.errors import ContestError, Fault, InputError
from evenhand.files.methods import load_method
from evenhand.judging.results import SEVERITIES, AcceptanceCheck, Suggestion, guard_finding_to_json, suggestion_to_json
from evenhand.model.criterion import Criterion
from evenhand.model.rubric import Rubric
from evenhand.model.sample import GuardFinding
from evenhand.model.scale import CriterionScore, Missing, Scored
from evenhand.model.scorecard import AnswerSpread, Evidence, Judgment

Json = dict[str, Any]


def contest_event_json(event: ContestEvent) -> Json:
    """An event as it is kept."""
    return {"event": event.kind, "at": event.at.isoformat(), **_EVENT_WRITERS[type(event)](event)}


def contest_dimensions_json(rubric: Rubric) -> list[Json]:
    """The locked dimensions, their weights exact."""
    return [
        {"id": one.id, "asks": one.asks, "weight": _exact_number_json(one.weight), "fixed": one.fixed}
        for one in rubric.criteria
    ]


def contest_task_json(task: Task) -> Json:
    """A task as plain data."""
    return {
        "name": task.name,
        "description": task.description,
        "acceptance": list(task.acceptance),
        "mode": task.mode,
        "deadline": None if task.deadline is None else task.deadline.isoformat(),
        "revisions": task.revisions,
        "challenge_period": task.challenge_period.total_seconds(),
        "reward": task.reward,
        "dimensions": None if task.dimensions is None else contest_dimensions_json(task.dimensions),
        "judges": list(task.judges),
        "weights": {name: _exact_number_json(weight) for name, weight in task.weights.items()},
        "challenge_judges": list(task.challenge_judges),
    }


def submission_json(one: Submission) -> Json:
    """A submission as it came."""
    return {"id": one.id, "author": one.author, "at": one.at.isoformat(), "text": one.text, "revises": one.revises}


def _write_submission_received(event: SubmissionReceived) -> Json:
    return {
        "submission": submission_json(event.submission),
        "findings": [guard_finding_to_json(one) for one in event.findings],
    }


def _write_gate_checked(event: GateChecked) -> Json:
    checks = [{**_logged_judgment_json(one.judgment), "revision_hint": one.revision_hint} for one in event.checks]
    return {"submission": event.submission, "checks": checks}


def _write_submission_scored(event: SubmissionScored) -> Json:
    advice = [suggestion_to_json(one) for one in event.suggestions]
    return {"submission": event.submission, **_write_event_judgments(event), "suggestions": advice}


def _write_finalist_judgments(event: FinalistsRanked | ChallengeResolved) -> Json:
    return {**_write_event_judgments(event), "shown": {judge: list(ids) for judge, ids in event.shown.items()}}


def _write_event_judgments(event: SubmissionScored | FinalistsRanked | ChallengeResolved) -> Json:
    return {"judgments": [_logged_judgment_json(one) for one in event.judgments]}


def _write_ranking_challenged(event: RankingChallenged) -> Json:
    return {"by": event.challenge.by, "reason": event.challenge.reason}


def _logged_judgment_json(one: Judgment) -> Json:
    """Exact, unlike the JSON for readers: a mean of several replies is a fraction."""
    score = one.score
    return {
        "judge": one.judge,
        "output": one.output,
        "criterion": one.criterion,
        "score": _exact_number_json(score.value) if isinstance(score, Scored) else None,
        "band": score.band if isinstance(score, Scored) else None,
        "why": score.why if isinstance(score, Scored) and score.why != one.reason else None,  # Mostly the reason.
        "why_not": None if isinstance(score, Scored) else score.text,
        "reason": one.reason,
        "evidence": [{"text": quote.text, "start": quote.start, "end": quote.end} for quote in one.evidence],
        "feedback": one.feedback,
        "spread": None if one.spread is None else asdict(one.spread),
    }


def _exact_number_json(value: Fraction) -> int | str:
    """A whole number as such, any other as an exact fraction."""
    return value.numerator if value.denominator == 1 else str(value)


_EVENT_WRITERS: Mapping[type, Callable[[Any], Json]] = {
    ContestCreated: lambda event: {"task": contest_task_json(event.task)},
    SubmissionReceived: _write_submission_received,
    GateChecked: _write_gate_checked,
    SubmissionScored: _write_submission_scored,
    DeadlineReached: lambda event: {"deadline": event.deadline},
    FinalistsRanked: _write_finalist_judgments,
    RankingChallenged: _write_ranking_challenged,
    ChallengeResolved: _write_finalist_judgments,
}

LOGGED_JUDGMENT_FIELDS = (
    "judge", "output", "criterion", "score", "band", "why", "why_not", "reason", "evidence", "feedback", "spread",
)  # fmt: skip
LOGGED_TASK_FIELDS = (
    "name", "description", "acceptance", "mode", "deadline", "revisions", "challenge_period", "reward", "dimensions",
    "judges", "weights", "challenge_judges",
)  # fmt: skip


def contest_event_from_json(data: Mapping[str, Any]) -> ContestEvent:
    """The event that was kept."""
    kind = data.get("event") if isinstance(data, Mapping) else None
    if not isinstance(kind, str) or kind not in _EVENT_READERS:
        got = repr(kind[:40]) if isinstance(kind, str) else "none"
        raise ContestError(
            Fault(f"the kind of an event must be one of {', '.join(EVENT_KINDS)}, got {got}", DAMAGED_LOG_HINT)
        )
    fields, read = _EVENT_READERS[kind]
    try:
        plain = LogObject(data, ("event", "at", *fields))
        return read(plain, plain.moment("at"))
    except InputError as error:
        raise ContestError(*error.faults).within(kind) from None


def contest_task_from_json(data: object) -> Task:
    """The task that was kept."""
    plain = LogObject(data, LOGGED_TASK_FIELDS)
    return Task(
        name=plain.text("name"),
        description=plain.text("description"),
        acceptance=plain.texts("acceptance"),
        mode=plain.choice("mode", CONTEST_MODES),
        deadline=plain.moment_or_none("deadline"),
        revisions=plain.integer_or_none("revisions"),
        challenge_period=plain.length("challenge_period"),
        reward=plain.text("reward"),
        dimensions=plain.read_object_or_none("dimensions", _read_logged_dimensions),
        judges=plain.texts("judges"),
        weights=plain.fractions("weights"),
        challenge_judges=plain.texts("challenge_judges"),
    )


def _read_logged_dimensions(data: object) -> Rubric:
    """The locked dimensions; a task gives them its own name."""
    return Rubric(name="", method=load_method(CONTEST_METHOD), criteria=read_log_list(data, _read_logged_dimension))


def _read_logged_dimension(data: object) -> Criterion:
    plain = LogObject(data, ("id", "asks", "weight", "fixed"))
    return Criterion(
        id=plain.text("id"),
        asks=plain.text("asks"),
        weight=plain.fraction("weight"),
        fixed=plain.boolean("fixed"),
        scale=load_method(CONTEST_METHOD).criterion_scale,
    )


def _read_logged_submission(data: object) -> Submission:
    plain = LogObject(data, ("id", "author", "at", "text", "revises"))
    return Submission(
        id=plain.text("id"),
        author=plain.text("author"),
        at=plain.moment("at"),
        text=plain.text("text"),
        revises=plain.text_or_none("revises"),
    )


def _read_logged_finding(data: object) -> GuardFinding:
    plain = LogObject(data, ("guard", "rule", "says", "text", "start", "end"))
    return GuardFinding(
        guard=plain.text("guard"),
        rule=plain.text("rule"),
        says=plain.text("says"),
        text=plain.text("text"),
        start=plain.integer("start"),
        end=plain.integer("end"),
    )


def _read_logged_check(data: object) -> AcceptanceCheck:
    plain = LogObject(data, (*LOGGED_JUDGMENT_FIELDS, "revision_hint"))
    return AcceptanceCheck(judgment=_read_judgment_fields(plain), revision_hint=plain.text("revision_hint"))


def _read_logged_judgment(data: object) -> Judgment:
    return _read_judgment_fields(LogObject(data, LOGGED_JUDGMENT_FIELDS))


def _read_judgment_fields(plain: LogObject) -> Judgment:
    return Judgment(
        judge=plain.text("judge"),
        output=plain.text("output"),
        criterion=plain.text("criterion"),
        score=_read_logged_score(plain),
        reason=plain.text("reason"),
        evidence=plain.read_list("evidence", _read_logged_evidence),
        feedback=plain.text("feedback"),
        spread=plain.read_object_or_none("spread", _read_logged_spread),
    )


def _read_logged_score(plain: LogObject) -> CriterionScore:
    """A number, or why there is none; the reason of a number is that of the judgment, unless another is kept."""
    why_not = plain.text_or_none("why_not")
    if why_not is not None:
        for name in ("score", "band", "why"):
            plain.require_null(name)
        return Missing.from_text(why_not)
    why = plain.text_or_none("why")
    return Scored(plain.fraction("score"), plain.text_or_none("band"), plain.text("reason") if why is None else why)


def _read_logged_evidence(data: object) -> Evidence:
    plain = LogObject(data, ("text", "start", "end"))
    return Evidence(plain.text("text"), plain.integer("start"), plain.integer("end"))


def _read_logged_spread(data: object) -> AnswerSpread:
    plain = LogObject(data, ("n", "sd", "how"))
    return AnswerSpread(n=plain.integer("n"), sd=plain.number("sd"), how=plain.text("how"))


def _read_logged_suggestion(data: object) -> Suggestion:
    plain = LogObject(data, ("problem", "suggestion", "severity"))
    return Suggestion(
        problem=plain.text("problem"),
        suggestion=plain.text("suggestion"),
        severity=plain.choice("severity", SEVERITIES),
    )


def _read_submission_received(plain: LogObject, at: datetime) -> SubmissionReceived:
    event = SubmissionReceived(
        submission=plain.read_object("submission", _read_logged_submission),
        findings=plain.read_list("findings", _read_logged_finding),
    )
    if event.at != normalize_contest_moment(at, "at"):
        raise ContestError(Fault("is not the time of the submission", DAMAGED_LOG_HINT, ("at",)))
    return event


def _read_gate_checked(plain: LogObject, at: datetime) -> GateChecked:
    return GateChecked(at=at, submission=plain.text("submission"), checks=plain.read_list("checks", _read_logged_check))


def _read_submission_scored(plain: LogObject, at: datetime) -> SubmissionScored:
    return SubmissionScored(
        at=at,
        submission=plain.text("submission"),
        judgments=plain.read_list("judgments", _read_logged_judgment),
        suggestions=plain.read_list("suggestions", _read_logged_suggestion),
    )


def _read_finalists_ranked(plain: LogObject, at: datetime) -> FinalistsRanked:
    return FinalistsRanked(
        at=at, judgments=plain.read_list("judgments", _read_logged_judgment), shown=plain.texts_by_name("shown")
    )


def _read_ranking_challenged(plain: LogObject, at: datetime) -> RankingChallenged:
    return RankingChallenged(challenge=Challenge(by=plain.text("by"), at=at, reason=plain.text("reason")))


def _read_challenge_resolved(plain: LogObject, at: datetime) -> ChallengeResolved:
    return ChallengeResolved(
        at=at, judgments=plain.read_list("judgments", _read_logged_judgment), shown=plain.texts_by_name("shown")
    )


# By kind: the fields beside its name and its time, and who reads them.
_EVENT_READERS: Mapping[str, tuple[tuple[str, ...], Callable[[LogObject, datetime], ContestEvent]]] = {
    "created": (
        ("task",),
        lambda plain, at: ContestCreated(at=at, task=plain.read_object("task", contest_task_from_json)),
    ),
    "submitted": (("submission", "findings"), _read_submission_received),
    "gate_checked": (("submission", "checks"), _read_gate_checked),
    "scored": (("submission", "judgments", "suggestions"), _read_submission_scored),
    "deadline_reached": (
        ("deadline",),
        lambda plain, at: DeadlineReached(at=at, deadline=plain.choice("deadline", get_args(DeadlineKind))),
    ),
    "ranked": (("judgments", "shown"), _read_finalists_ranked),
    "challenged": (("by", "reason"), _read_ranking_challenged),
    "resolved": (("judgments", "shown"), _read_challenge_resolved),
}
