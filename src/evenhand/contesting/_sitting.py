"""What a process that plays a contest writes: events as they happen, and at its end what is not in the log."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from evenhand.contest import Created, Event, State, event_json
from evenhand.contest._play import Log
from evenhand.contest._refused import Refused, refused
from evenhand.contesting._terms import how_json
from evenhand.judging import Call, How, call_json, spent_json
from evenhand.judging.models import Connections
from evenhand.runs.store import Row, Store, compact, this_process

Json = dict[str, Any]


class Sitting:
    """One process at work on one contest. What earlier ones refused and spent is taken over."""

    def __init__(self, store: Store, row: Row, how: How, connections: Connections) -> None:
        self.id: str = row["id"]
        self._store = store
        self._how = how
        self._connections = connections
        self._before: Json = json.loads(row["summary"]) if row["summary"] else {}

    def keep(self, number: int, event: Event, calls: Sequence[Call]) -> None:
        """Write an event down with the calls that it rests on; beside the first, how judges are asked."""
        said: object = [call_json(one) for one in calls]
        if isinstance(event, Created):
            said = {"how": how_json(self._how)}
        content = compact(event_json(event))
        self._store.contests.append(self.id, number, event.at.isoformat(), content, compact(said))

    def end(self, log: Log, why: str) -> Json:
        """Let go of the contest; what it did not take, what was spent, why it stopped, whether it ran ahead of time."""
        last = log.state.at
        more = {
            "winner": log.state.winner,
            "ahead": last.isoformat() if last is not None and last > datetime.now(UTC) else None,
            "refused": merged(self._before.get("refused", []), refused(log.events, log.left_out), log.state),
            "spent": self._spent(),
            "stopped": why or None,
        }
        state, ended = ("stopped" if why else "finished"), datetime.now(UTC).isoformat(timespec="milliseconds")
        self._store.contests.release(self.id, state, ended, compact(more), holder=this_process())
        return more

    def _spent(self) -> Json:
        """What all sittings together have spent; a cost is known where it is known of each."""
        before, now = self._before.get("spent") or {}, spent_json(self._connections.spent)
        return {name: _sum(before.get(name, 0), now[name]) for name in now}


def merged(before: Sequence[Json], now: Sequence[Refused], state: State) -> list[Json]:
    """What was refused in any sitting and not taken since; of the same one the first reason."""
    new = [{"id": one.id, "author": one.author, "at": one.at.isoformat(), "why": one.why} for one in now]
    found: dict[tuple[Any, ...], Json] = {}
    for one in (*before, *new):
        if one["id"] not in state.entries:
            found.setdefault((one["id"], one["author"], one["at"]), one)
    return list(found.values())


def _sum(before: Any, now: Any) -> Any:
    return None if before is None or now is None else before + now
