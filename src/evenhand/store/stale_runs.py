"""Runs that were never finished and have not moved for long."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from evenhand.store.queries import run_last_stored, stream_rows
from evenhand.store.run_holds import is_run_row_held, lock_run_hold
from evenhand.store.service_requests import delete_run_rows
from evenhand.store.tables import BASELINES, RUNS


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedRuns:
    """What was removed: ids of runs, and bytes given back, which only a file can tell."""

    runs: tuple[str, ...]
    freed: int | None


def delete_stale_run_rows(connection: Connection, before: datetime) -> tuple[str, ...]:
    """Remove unfinished runs that nobody works on and that last wrote something before a time; return their ids."""
    pinned = select(BASELINES.c.run)  # A finished run may have been taken up again, and be a baseline all the same.
    unfinished = select(RUNS).where(RUNS.c.state != "finished", RUNS.c.id.not_in(pinned)).order_by(RUNS.c.id)
    for run in list(stream_rows(connection, unfinished)):
        lock_run_hold(connection, run["id"])
    old = tuple(
        run["id"]
        for run in list(stream_rows(connection, unfinished))
        if not is_run_row_held(connection, run) and run_last_stored(connection, run) < before
    )
    for id in old:
        delete_run_rows(connection, id)
    return old
