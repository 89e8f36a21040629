"""Events as plain data and back: the log of a contest, from which its state is rebuilt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from evenhand.contest._challenge import Challenge
from evenhand.contest._events import (
    Challenged,
    Created,
    DeadlineReached,
    Event,
    GateChecked,
    RankedTogether,
    Resolved,
    ScoredAlone,
    Submitted,
)
from evenhand.contest._submission import Submission
from evenhand.contest._task import METHOD, Task
from evenhand.judging import Check, Suggestion, finding_json, suggestion_json
from evenhand.loading import load_method
from evenhand.model import Criterion, Evidence, Finding, Judgment, Rubric, Scored, Spread, Unscored

Json = dict[str, Any]


def event_json(event: Event) -> Json:
    """An event as it is kept."""
    return {"event": event.kind, "at": event.at.isoformat(), **_WRITERS[type(event)](event)}


def event_from(data: Mapping[str, Any]) -> Event:
    """The event that was kept."""
    event: Event = _READERS[data["event"]](data, datetime.fromisoformat(data["at"]))
    return event


def dimensions_json(rubric: Rubric) -> list[Json]:
    """The locked dimensions, their weights exact."""
    return [
        {"id": one.id, "asks": one.asks, "weight": _number(one.weight), "fixed": one.fixed} for one in rubric.criteria
    ]


def task_json(task: Task) -> Json:
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
        "dimensions": None if task.dimensions is None else dimensions_json(task.dimensions),
        "judges": list(task.judges),
        "weights": {name: _number(weight) for name, weight in task.weights.items()},
        "challenge_judges": list(task.challenge_judges),
    }


def task_from(data: Mapping[str, Any]) -> Task:
    """The task that was kept."""
    named = ("name", "description", "mode", "revisions", "reward")
    return Task(
        **{name: data[name] for name in named},
        acceptance=tuple(data["acceptance"]),
        deadline=None if data["deadline"] is None else datetime.fromisoformat(data["deadline"]),
        challenge_period=timedelta(seconds=data["challenge_period"]),
        dimensions=None if data["dimensions"] is None else _dimensions(data["dimensions"], data["name"]),
        judges=tuple(data["judges"]),
        weights={name: Fraction(weight) for name, weight in data["weights"].items()},
        challenge_judges=tuple(data["challenge_judges"]),
    )


def submission_json(one: Submission) -> Json:
    """A submission as it came."""
    return {"id": one.id, "author": one.author, "at": one.at.isoformat(), "text": one.text, "revises": one.revises}


def _submitted(event: Submitted) -> Json:
    return {"submission": submission_json(event.submission), "findings": [finding_json(one) for one in event.findings]}


def _gate_checked(event: GateChecked) -> Json:
    checks = [{**_judgment_json(one.judgment), "revision_hint": one.revision_hint} for one in event.checks]
    return {"submission": event.submission, "checks": checks}


def _scored(event: ScoredAlone) -> Json:
    advice = [suggestion_json(one) for one in event.suggestions]
    return {"submission": event.submission, **_said(event), "suggestions": advice}


def _side_by_side(event: RankedTogether | Resolved) -> Json:
    return {**_said(event), "shown": {judge: list(ids) for judge, ids in event.shown.items()}}


def _said(event: ScoredAlone | RankedTogether | Resolved) -> Json:
    return {"judgments": [_judgment_json(one) for one in event.judgments]}


def _challenged(event: Challenged) -> Json:
    return {"by": event.challenge.by, "reason": event.challenge.reason}


_WRITERS: Mapping[type, Callable[[Any], Json]] = {
    Created: lambda event: {"task": task_json(event.task)},
    Submitted: _submitted,
    GateChecked: _gate_checked,
    ScoredAlone: _scored,
    DeadlineReached: lambda event: {"deadline": event.deadline},
    RankedTogether: _side_by_side,
    Challenged: _challenged,
    Resolved: _side_by_side,
}
_READERS: Mapping[str, Callable[[Mapping[str, Any], datetime], Any]] = {
    "created": lambda data, at: Created(at=at, task=task_from(data["task"])),
    "submitted": lambda data, at: Submitted(
        submission=Submission(**{**data["submission"], "at": at}),
        findings=tuple(Finding(**one) for one in data["findings"]),
    ),
    "gate_checked": lambda data, at: GateChecked(
        at=at,
        submission=data["submission"],
        checks=tuple(Check(judgment=_judgment(one), revision_hint=one["revision_hint"]) for one in data["checks"]),
    ),
    "scored": lambda data, at: ScoredAlone(
        at=at,
        submission=data["submission"],
        judgments=_judgments(data),
        suggestions=tuple(Suggestion(**one) for one in data["suggestions"]),
    ),
    "deadline_reached": lambda data, at: DeadlineReached(at=at, deadline=data["deadline"]),
    "ranked": lambda data, at: RankedTogether(at=at, judgments=_judgments(data), shown=_shown(data)),
    "challenged": lambda data, at: Challenged(challenge=Challenge(by=data["by"], at=at, reason=data["reason"])),
    "resolved": lambda data, at: Resolved(at=at, judgments=_judgments(data), shown=_shown(data)),
}


def _judgment_json(one: Judgment) -> Json:
    """Exact, unlike the JSON for readers: a mean of several replies is a fraction."""
    score = one.score
    return {
        "judge": one.judge,
        "output": one.output,
        "criterion": one.criterion,
        "score": _number(score.value) if isinstance(score, Scored) else None,
        "band": score.band if isinstance(score, Scored) else None,
        "why": score.why if isinstance(score, Scored) and score.why != one.reason else None,  # Mostly the reason.
        "why_not": None if isinstance(score, Scored) else score.why,
        "reason": one.reason,
        "evidence": [{"text": quote.text, "start": quote.start, "end": quote.end} for quote in one.evidence],
        "feedback": one.feedback,
        "spread": None if one.spread is None else asdict(one.spread),
    }


def _judgment(data: Mapping[str, Any]) -> Judgment:
    known = data["why_not"] is None
    why = data["reason"] if data["why"] is None else data["why"]
    return Judgment(
        judge=data["judge"],
        output=data["output"],
        criterion=data["criterion"],
        score=Scored(Fraction(data["score"]), data["band"], why) if known else Unscored(data["why_not"]),
        reason=data["reason"],
        evidence=tuple(Evidence(**one) for one in data["evidence"]),
        feedback=data["feedback"],
        spread=None if data["spread"] is None else Spread(**data["spread"]),
    )


def _judgments(data: Mapping[str, Any]) -> tuple[Judgment, ...]:
    return tuple(_judgment(one) for one in data["judgments"])


def _shown(data: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {judge: tuple(ids) for judge, ids in data["shown"].items()}


def _dimensions(data: list[Json], name: str) -> Rubric:
    method = load_method(METHOD)
    criteria = [
        Criterion(
            id=one["id"],
            asks=one["asks"],
            weight=Fraction(one["weight"]),
            fixed=one["fixed"],
            scale=method.criterion_scale,
        )
        for one in data
    ]
    return Rubric(name=name, method=method, criteria=tuple(criteria))


def _number(value: Fraction) -> int | str:
    """A whole number as such, any other as an exact fraction."""
    return value.numerator if value.denominator == 1 else str(value)
