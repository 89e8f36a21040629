"""Contests as the store has them: their logs read back, and their records."""

from __future__ import annotations

import json
from typing import Any

from evenhand.contest import Event, State, apply, event_from, record
from evenhand.errors import ContestError, Fault, StoreError
from evenhand.runs.store import Store

Json = dict[str, Any]


def contest_record(store: Store, id: str) -> Json:
    """The stable JSON of a kept contest."""
    row = store.contests.one(id)
    events = kept_events(store, row["id"])
    if not events:
        raise ContestError(Fault(f"contest {row['id']} was stopped before it began", "run it again"))
    if row["state"] == "running":
        stopped = None if store.contests.held(row) else "it was killed"
        return {"id": row["id"], **record(events), "ahead": None, "refused": [], "spent": None, "stopped": stopped}
    return {"id": row["id"], **record(events), **json.loads(row["summary"])}


def kept_events(store: Store, id: str) -> list[Event]:
    """The log of a contest, read back and tried: where it was damaged, that is told, with the event."""
    events: list[Event] = []
    state = State()
    for row in store.contests.events(id):
        try:
            event = event_from(json.loads(row["content"]))
            state, _ = apply(state, event)
        except (ContestError, ValueError) as problem:
            what = f"event {row['number']} of contest {id} cannot be read: {problem}"
            raise StoreError(Fault(what, "the store was changed by something else", where=store.shown)) from None
        events.append(event)
    return events
