"""The stable JSON of a contest: safe to publish at any moment, for it shows no score before its time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.contest._decision import Decision, decision
from evenhand.contest._effects import AskHorizontal, Effect, effect_json
from evenhand.contest._events import Event
from evenhand.contest._log import event_json
from evenhand.contest._machine import apply
from evenhand.contest._seen import seen
from evenhand.contest._state import Entry, State
from evenhand.errors import ContestError, Fault
from evenhand.model import number_for_json

Json = dict[str, Any]
SECRET = ("judgments", "suggestions")  # What of an event would tell scores, or advice to others.


def record(events: Sequence[Event]) -> Json:
    """A contest as its log has it: where it stands, every submission, what happened and what was wanted."""
    state = State()
    effects: list[tuple[Effect, int, Event]] = []
    for number, event in enumerate(events):
        state, wanted = apply(state, event)
        effects += [(one, number, event) for one in wanted]
    if state.task is None:
        raise ContestError(Fault("nothing has happened yet", "a log begins with created"))
    task = state.task
    return {
        "task": task.name,
        "mode": task.mode,
        "state": state.phase,
        "winner": state.winner,
        "period_ends": None if state.period_ends is None else state.period_ends.isoformat(),
        "decision": _decision(decision(state)),
        "dimensions": [
            {"id": one.id, "asks": one.asks, "weight": number_for_json(one.weight), "fixed": one.fixed}
            for one in state.dimensions.criteria
        ],
        "submissions": [_submission(state, id) for id in state.entries],
        "events": [_event(state, number, event) for number, event in enumerate(events)],
        "effects": [_effect(state, *one) for one in effects],
    }


def _submission(state: State, id: str) -> Json:
    entry = state.entries[id]
    more = {"at": entry.submission.at.isoformat(), "revises": entry.submission.revises, "why": _why(state, entry)}
    return {**seen(state, id), **more}


def _why(state: State, entry: Entry) -> str | None:
    """While scores are hidden, not what a judge wrote instead of one: a number off the scale is in it."""
    hidden = entry.status == "unjudged" and entry.scored and not state.revealed
    return "it could not be scored" if hidden else entry.why or None


def _event(state: State, number: int, event: Event) -> Json:
    data = event_json(event)
    if not state.revealed:
        data = {name: value for name, value in data.items() if name not in SECRET}
    return {"number": number, **data}


def _effect(state: State, effect: Effect, number: int, event: Event) -> Json:
    """Who is in the final is hidden as long as the scores that put them there."""
    data = effect_json(effect)
    if not state.revealed and isinstance(effect, AskHorizontal):
        del data["submissions"]
    return {"after": number, "at": event.at.isoformat(), **data}


def _decision(one: Decision | None) -> Json | None:
    return None if one is None else {"winner": one.winner, "why": list(one.why), "how_sure": list(one.how_sure)}
