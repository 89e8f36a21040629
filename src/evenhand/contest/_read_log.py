"""Reading the log of a contest: events out of plain data as they were written, or an error that says why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, get_args

from evenhand.contest._challenge import Challenge
from evenhand.contest._events import (
    KINDS,
    Challenged,
    Created,
    Deadline,
    DeadlineReached,
    Event,
    GateChecked,
    RankedTogether,
    Resolved,
    ScoredAlone,
    Submitted,
)
from evenhand.contest._plain import HINT, Plain, entries
from evenhand.contest._submission import Submission
from evenhand.contest._task import METHOD, MODES, Task
from evenhand.contest._times import kept_moment
from evenhand.errors import ContestError, Fault, InputError
from evenhand.judging import Check, Suggestion
from evenhand.judging._told import SEVERITIES
from evenhand.loading import load_method
from evenhand.model import Criterion, CriterionScore, Evidence, Finding, Judgment, Rubric, Scored, Spread, Unscored

JUDGMENT_FIELDS = (
    "judge", "output", "criterion", "score", "band", "why", "why_not", "reason", "evidence", "feedback", "spread",
)  # fmt: skip
TASK_FIELDS = (
    "name", "description", "acceptance", "mode", "deadline", "revisions", "challenge_period", "reward", "dimensions",
    "judges", "weights", "challenge_judges",
)  # fmt: skip


def event_from(data: Mapping[str, Any]) -> Event:
    """The event that was kept."""
    kind = data.get("event") if isinstance(data, Mapping) else None
    if not isinstance(kind, str) or kind not in _READERS:
        got = repr(kind[:40]) if isinstance(kind, str) else "none"
        raise ContestError(Fault(f"the kind of an event must be one of {', '.join(KINDS)}, got {got}", HINT))
    fields, read = _READERS[kind]
    try:
        plain = Plain(data, ("event", "at", *fields))
        return read(plain, plain.moment("at"))
    except InputError as error:
        raise ContestError(*error.faults).within(kind) from None


def task_from(data: object) -> Task:
    """The task that was kept."""
    plain = Plain(data, TASK_FIELDS)
    return Task(
        name=plain.text("name"),
        description=plain.text("description"),
        acceptance=plain.texts("acceptance"),
        mode=plain.word("mode", MODES),
        deadline=plain.moment_or_none("deadline"),
        revisions=plain.whole_or_none("revisions"),
        challenge_period=plain.length("challenge_period"),
        reward=plain.text("reward"),
        dimensions=plain.part_or_none("dimensions", _dimensions),
        judges=plain.texts("judges"),
        weights=plain.fractions("weights"),
        challenge_judges=plain.texts("challenge_judges"),
    )


def _dimensions(data: object) -> Rubric:
    """The locked dimensions; a task gives them its own name."""
    return Rubric(name="", method=load_method(METHOD), criteria=entries(data, _dimension))


def _dimension(data: object) -> Criterion:
    plain = Plain(data, ("id", "asks", "weight", "fixed"))
    return Criterion(
        id=plain.text("id"),
        asks=plain.text("asks"),
        weight=plain.fraction("weight"),
        fixed=plain.flag("fixed"),
        scale=load_method(METHOD).criterion_scale,
    )


def _submission(data: object) -> Submission:
    plain = Plain(data, ("id", "author", "at", "text", "revises"))
    return Submission(
        id=plain.text("id"),
        author=plain.text("author"),
        at=plain.moment("at"),
        text=plain.text("text"),
        revises=plain.text_or_none("revises"),
    )


def _finding(data: object) -> Finding:
    plain = Plain(data, ("guard", "rule", "says", "text", "start", "end"))
    return Finding(
        guard=plain.text("guard"),
        rule=plain.text("rule"),
        says=plain.text("says"),
        text=plain.text("text"),
        start=plain.whole("start"),
        end=plain.whole("end"),
    )


def _check(data: object) -> Check:
    plain = Plain(data, (*JUDGMENT_FIELDS, "revision_hint"))
    return Check(judgment=_said(plain), revision_hint=plain.text("revision_hint"))


def _judgment(data: object) -> Judgment:
    return _said(Plain(data, JUDGMENT_FIELDS))


def _said(plain: Plain) -> Judgment:
    return Judgment(
        judge=plain.text("judge"),
        output=plain.text("output"),
        criterion=plain.text("criterion"),
        score=_score(plain),
        reason=plain.text("reason"),
        evidence=plain.each("evidence", _evidence),
        feedback=plain.text("feedback"),
        spread=plain.part_or_none("spread", _spread),
    )


def _score(plain: Plain) -> CriterionScore:
    """A number, or why there is none; the reason of a number is that of the judgment, unless another is kept."""
    why_not = plain.text_or_none("why_not")
    if why_not is not None:
        for name in ("score", "band", "why"):
            plain.nothing(name)
        return Unscored(why_not)
    why = plain.text_or_none("why")
    return Scored(plain.fraction("score"), plain.text_or_none("band"), plain.text("reason") if why is None else why)


def _evidence(data: object) -> Evidence:
    plain = Plain(data, ("text", "start", "end"))
    return Evidence(plain.text("text"), plain.whole("start"), plain.whole("end"))


def _spread(data: object) -> Spread:
    plain = Plain(data, ("n", "sd", "how"))
    return Spread(n=plain.whole("n"), sd=plain.number("sd"), how=plain.text("how"))


def _suggestion(data: object) -> Suggestion:
    plain = Plain(data, ("problem", "suggestion", "severity"))
    return Suggestion(
        problem=plain.text("problem"),
        suggestion=plain.text("suggestion"),
        severity=plain.word("severity", SEVERITIES),
    )


def _submitted(plain: Plain, at: datetime) -> Submitted:
    event = Submitted(submission=plain.part("submission", _submission), findings=plain.each("findings", _finding))
    if event.at != kept_moment(at, "at"):
        raise ContestError(Fault("is not the time of the submission", HINT, ("at",)))
    return event


def _gate_checked(plain: Plain, at: datetime) -> GateChecked:
    return GateChecked(at=at, submission=plain.text("submission"), checks=plain.each("checks", _check))


def _scored(plain: Plain, at: datetime) -> ScoredAlone:
    return ScoredAlone(
        at=at,
        submission=plain.text("submission"),
        judgments=plain.each("judgments", _judgment),
        suggestions=plain.each("suggestions", _suggestion),
    )


def _ranked(plain: Plain, at: datetime) -> RankedTogether:
    return RankedTogether(at=at, judgments=plain.each("judgments", _judgment), shown=plain.texts_by_name("shown"))


def _challenged(plain: Plain, at: datetime) -> Challenged:
    return Challenged(challenge=Challenge(by=plain.text("by"), at=at, reason=plain.text("reason")))


def _resolved(plain: Plain, at: datetime) -> Resolved:
    return Resolved(at=at, judgments=plain.each("judgments", _judgment), shown=plain.texts_by_name("shown"))


# By kind: the fields beside its name and its time, and who reads them.
_READERS: Mapping[str, tuple[tuple[str, ...], Callable[[Plain, datetime], Event]]] = {
    "created": (("task",), lambda plain, at: Created(at=at, task=plain.part("task", task_from))),
    "submitted": (("submission", "findings"), _submitted),
    "gate_checked": (("submission", "checks"), _gate_checked),
    "scored": (("submission", "judgments", "suggestions"), _scored),
    "deadline_reached": (
        ("deadline",),
        lambda plain, at: DeadlineReached(at=at, deadline=plain.word("deadline", get_args(Deadline))),
    ),
    "ranked": (("judgments", "shown"), _ranked),
    "challenged": (("by", "reason"), _challenged),
    "resolved": (("judgments", "shown"), _resolved),
}
