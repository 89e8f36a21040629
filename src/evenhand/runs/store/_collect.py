"""Runs that go: one on request, or those that were begun long ago and left; and the room they took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, delete, select

from evenhand.errors import Fault, StoreError
from evenhand.runs.store._beside import names_of
from evenhand.runs.store._holding import is_held, last_seen
from evenhand.runs.store._reading import stream
from evenhand.runs.store._tables import BASELINES, METADATA, RUNS


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What was removed: ids of runs, and bytes given back, which only a file can tell."""

    runs: tuple[str, ...]
    freed: int | None


def delete_run(
    connection: Connection, run: Mapping[str, Any], now: datetime, where: str, *, pinned: bool = False
) -> None:
    """Remove a run; all that belongs to it goes with it, the names it is pinned under only where `pinned` says so."""
    names = [] if pinned else names_of(connection, run["id"])
    if names:
        hint = f"evenhand baseline remove {names[0]} first, or delete it with --baseline"
        raise StoreError(Fault(f"run {run['id']} is the baseline {' and '.join(names)}", hint, where=where))
    if is_held(connection, run, now):
        hint = f"stop it first ({run['holder']})"
        raise StoreError(Fault(f"a process is at work on run {run['id']}", hint, where=where))
    connection.execute(delete(RUNS).where(RUNS.c.id == run["id"]))


def collect(connection: Connection, keep: timedelta, now: datetime) -> tuple[str, ...]:
    """Remove the runs that never finished, that nobody holds or pinned and that have not moved for `keep`."""
    pinned = select(BASELINES.c.run)  # A finished run may have been taken up again, and be a baseline all the same.
    open = (RUNS.c.state != "finished") & RUNS.c.id.not_in(pinned)
    left = list(stream(connection, select(RUNS).where(open).order_by(RUNS.c.id)))
    old = [run["id"] for run in left if not is_held(connection, run, now) and now - last_seen(connection, run) > keep]
    for id in old:
        connection.execute(delete(RUNS).where(RUNS.c.id == id))
    return tuple(old)


def give_back(engine: Engine, file: Path | None) -> int | None:
    """Give back the room of what was removed, and say how many bytes a file has become smaller."""
    if file is None:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql(f"VACUUM {', '.join(METADATA.tables)}")
        return None
    before = _size(file)
    raw = engine.raw_connection()  # SQLite compacts outside of transactions only.
    try:
        raw.cursor().execute("VACUUM")
        raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        raw.close()
    return before - _size(file)


def _size(file: Path) -> int:
    parts = (file, file.with_name(file.name + "-wal"))
    return sum(part.stat().st_size for part in parts if part.exists())
