"""Baselines: finished runs that have a name, to be compared with."""

from __future__ import annotations

import re
from datetime import datetime

from sqlalchemy import Connection, delete, select

from evenhand.errors import Fault, StoreError
from evenhand.store.queries import find_baseline_row, find_run_row
from evenhand.store.rows import Row, upsert_rows
from evenhand.store.run_holds import is_run_row_held
from evenhand.store.tables import BASELINES

_BASELINE_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z._/-]{0,79}")


def set_baseline_row(connection: Connection, name: str, run: str, at: datetime, shown: str) -> str | None:
    """Give a finished run a name, and say which run had it before."""
    if not _BASELINE_NAME.fullmatch(name):
        hint = "letters, digits and . _ / - as in main or release/2"
        raise StoreError(Fault(f"a baseline cannot be called {name!r}", hint, where=shown))
    row = find_run_row(connection, run, shown)
    state = row["state"]
    if state != "finished":
        state = "killed" if state == "running" and not is_run_row_held(connection, row) else state
        fix = "wait for its end" if state == "running" else "evenhand run EVAL --resume finishes it"
        what, hint = f"run {row['id']} is {state}, not finished", f"a baseline is a finished run: {fix}"
        raise StoreError(Fault(what, hint, where=shown))
    before = connection.execute(select(BASELINES.c.run).where(BASELINES.c.name == name)).scalar()
    new = {"name": name, "run": row["id"], "at": at.isoformat(timespec="milliseconds")}
    upsert_rows(connection, BASELINES, [new])
    return None if before is None else str(before)


def list_baseline_rows(connection: Connection) -> list[Row]:
    """Every baseline as name, run and when it was set, by name."""
    rows = connection.execute(select(BASELINES).order_by(BASELINES.c.name)).mappings()
    return [dict(row) for row in rows]


def remove_baseline_row(connection: Connection, name: str, shown: str) -> str:
    """Take a name away and say which run had it; the run stays."""
    row = find_baseline_row(connection, name, shown)
    connection.execute(delete(BASELINES).where(BASELINES.c.name == name))
    return str(row["run"])


def refuse_baseline_run(connection: Connection, run: str, where: str) -> None:
    """A run that has a name is not deleted by the way."""
    query = select(BASELINES.c.name).where(BASELINES.c.run == run).order_by(BASELINES.c.name)
    names = connection.execute(query).scalars().all()
    if names:
        hint = f"evenhand baseline remove {names[0]} first, or delete it with --baseline"
        raise StoreError(Fault(f"run {run} is the baseline {' and '.join(names)}", hint, where=where))
