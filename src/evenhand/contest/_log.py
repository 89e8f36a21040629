"""Events as plain data: the log of a contest, from which its state is rebuilt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from fractions import Fraction
from typing import Any

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
from evenhand.contest._task import Task
from evenhand.judging import finding_json, suggestion_json
from evenhand.model import Judgment, Rubric, Scored

Json = dict[str, Any]


def event_json(event: Event) -> Json:
    """An event as it is kept."""
    return {"event": event.kind, "at": event.at.isoformat(), **_WRITERS[type(event)](event)}


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


def _number(value: Fraction) -> int | str:
    """A whole number as such, any other as an exact fraction."""
    return value.numerator if value.denominator == 1 else str(value)
