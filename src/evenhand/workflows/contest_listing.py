"""The contests of a store in a list: what is sealed of each, and of those that were changed nothing but their names."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from evenhand.contest.finish import is_kept_contest_waiting
from evenhand.runs.run_record import read_run_record_moment
from evenhand.store.database import NO_CONTESTS
from evenhand.store.row_types import show_stored_value
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.workflows.contests import read_repeated_contest_name
from evenhand.workflows.stores import StoreLike, open_user_store

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestListing:
    """One contest in a list of them."""

    id: str
    task: str
    state: str
    winner: str | None
    started: str | None
    ended: str | None
    again: str | None = None  # The name of a deliberate repetition.


def list_contests(store: StoreLike, name: str | None = None) -> list[ContestListing]:
    """All contests, or those of one task, newest first."""
    with open_user_store(store, empty=NO_CONTESTS) as opened:
        rows = opened.contests.list_contests(name)
        damaged = opened.contests.list_damaged()
        listed = [_list_damaged(row) if row["id"] in damaged else _list_intact(opened, row) for row in rows]
        orphans = [row for row in opened.contests.list_orphaned_logs() if name in (None, row["name"])]
        listed += [_list_damaged(row) for row in orphans]
        return sorted(listed, key=lambda one: one.id, reverse=True)


def _list_damaged(row: Row) -> ContestListing:
    """One that was changed by something else: nothing that it says is repeated but its names."""
    id, task = show_stored_value(row["id"]), show_stored_value("" if row["name"] is None else row["name"])
    started = read_run_record_moment(id)
    return ContestListing(id=id, task=task, started=started, state="damaged", winner=None, ended=None)


def _list_intact(store: Store, row: Row) -> ContestListing:
    """Of what a row says of times nothing is sealed; its id is, and its summary."""
    running = row["state"] == "running"
    # A row that says running and that no process works on was killed.
    state = "killed" if running and not store.contests.is_contest_held(row) else row["state"]
    kept: Json = json.loads(row["summary"]) if row["summary"] and not running else {}
    state = "waiting" if is_kept_contest_waiting(kept) else state
    if row["key"] is None and kept.get("ahead"):  # Played ahead of the clock: it pays nobody.
        state = "rehearsal"
    # Whoever is first before the end has not won, and the end of a sitting is not that of the contest.
    over = kept if row["state"] == "finished" else {}
    return ContestListing(
        id=row["id"],
        task=row["name"],
        state=state,
        winner=over.get("winner"),
        started=read_run_record_moment(row["id"]),
        ended=over.get("ended"),
        again=read_repeated_contest_name(row["key"]),
    )
