"""Baselines and labels kept beside a run, and the deletion of runs with all that belongs to them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, delete, insert, select
from sqlalchemy.exc import IntegrityError

from evenhand.errors import Fault, StoreError
from evenhand.store.process_locks import is_run_row_held, run_last_written
from evenhand.store.queries import fetch_first_row, find_run_row, stream_rows
from evenhand.store.rows import fit_store_rows, upsert_rows
from evenhand.store.tables import BASELINES, LABELS, METADATA, RUNS

_BASELINE_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z._/-]{0,79}")


def set_baseline_row(connection: Connection, name: str, wanted: str, now: datetime, where: str) -> str | None:
    """Give a finished run a name, and say which run had it before."""
    if not _BASELINE_NAME.fullmatch(name):
        hint = "letters, digits and . _ / - as in main or release/2"
        raise StoreError(Fault(f"a baseline cannot be called {name!r}", hint, where=where))
    run = find_run_row(connection, wanted, where)
    if run["state"] != "finished":
        state = "killed" if run["state"] == "running" and not is_run_row_held(connection, run, now) else run["state"]
        mend = "wait for its end" if state == "running" else "evenhand run EVAL --resume finishes it"
        what = f"run {run['id']} is {state}, not finished"
        raise StoreError(Fault(what, f"a baseline is a finished run: {mend}", where=where))
    before = fetch_first_row(connection, select(BASELINES).where(BASELINES.c.name == name))
    upsert_rows(connection, BASELINES, [{"name": name, "run": run["id"], "at": now.isoformat(timespec="milliseconds")}])
    return None if before is None else str(before["run"])


def replace_label_rows(connection: Connection, run: str, labels: Iterable[Mapping[str, object]], where: str) -> None:
    """Keep labels of a run in place of all those before."""
    rows = fit_store_rows(LABELS, [{**one, "run": run} for one in labels])
    connection.execute(delete(LABELS).where(LABELS.c.run == run))
    if not rows:
        return
    try:
        connection.execute(insert(LABELS), rows)
    except IntegrityError:
        what = "labels do not fit: one is there twice or lacks a field, or the run is gone"
        hint = "one score for each sample, variant, criterion and rater"
        raise StoreError(Fault(what, hint, where=where)) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedRuns:
    """What was removed: ids of runs, and bytes given back, which only a file can tell."""

    runs: tuple[str, ...]
    freed: int | None


def delete_run_row(
    connection: Connection, run: Mapping[str, Any], now: datetime, where: str, *, pinned: bool = False
) -> None:
    """Remove a run; all that belongs to it goes with it, the names it is pinned under only where `pinned` says so."""
    query = select(BASELINES.c.name).where(BASELINES.c.run == run["id"]).order_by(BASELINES.c.name)
    names = connection.execute(query).scalars().all()
    if names and not pinned:
        hint = f"evenhand baseline remove {names[0]} first, or delete it with --baseline"
        raise StoreError(Fault(f"run {run['id']} is the baseline {' and '.join(names)}", hint, where=where))
    if is_run_row_held(connection, run, now):
        hint = f"stop it first ({run['holder']})"
        raise StoreError(Fault(f"a process is at work on run {run['id']}", hint, where=where))
    connection.execute(delete(RUNS).where(RUNS.c.id == run["id"]))


def delete_abandoned_run_rows(connection: Connection, keep: timedelta, now: datetime) -> tuple[str, ...]:
    """Remove the runs that never finished, that nobody holds or pinned and that have not moved for `keep`."""
    pinned = select(BASELINES.c.run)  # A finished run may have been taken up again, and be a baseline all the same.
    open = (RUNS.c.state != "finished") & RUNS.c.id.not_in(pinned)
    left = list(stream_rows(connection, select(RUNS).where(open).order_by(RUNS.c.id)))
    old = [
        run["id"]
        for run in left
        if not is_run_row_held(connection, run, now) and now - run_last_written(connection, run) > keep
    ]
    for id in old:
        connection.execute(delete(RUNS).where(RUNS.c.id == id))
    return tuple(old)


def vacuum_store(engine: Engine, file: Path | None) -> int | None:
    """Give back the room of what was removed, and say how many bytes a file has become smaller."""
    if file is None:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql(f"VACUUM {', '.join(METADATA.tables)}")
        return None
    before = _store_file_size(file)
    raw = engine.raw_connection()  # SQLite compacts outside of transactions only.
    try:
        raw.cursor().execute("VACUUM")
        raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        raw.close()
    return before - _store_file_size(file)


def _store_file_size(file: Path) -> int:
    parts = (file, file.with_name(file.name + "-wal"))
    return sum(part.stat().st_size for part in parts if part.exists())
