"""What is kept beside a run: the names it is pinned under, its columns, and what people said of its outputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, delete, insert, select
from sqlalchemy.exc import IntegrityError

from evenhand.errors import Fault, StoreError
from evenhand.runs.store._holding import is_held
from evenhand.runs.store._reading import first, one_baseline, one_run
from evenhand.runs.store._rows import fit
from evenhand.runs.store._tables import BASELINES, COLUMNS, LABELS
from evenhand.runs.store._writing import write_rows

_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z._/-]{0,79}")


def pin(connection: Connection, name: str, wanted: str, now: datetime, where: str) -> str | None:
    """Give a finished run a name, and say which run had it before."""
    if not _NAME.fullmatch(name):
        hint = "letters, digits and . _ / - as in main or release/2"
        raise StoreError(Fault(f"a baseline cannot be called {name!r}", hint, where=where))
    run = one_run(connection, wanted, where)
    if run["state"] != "finished":
        state = "killed" if run["state"] == "running" and not is_held(connection, run, now) else run["state"]
        mend = "wait for its end" if state == "running" else "evenhand run EVAL --resume finishes it"
        what = f"run {run['id']} is {state}, not finished"
        raise StoreError(Fault(what, f"a baseline is a finished run: {mend}", where=where))
    before = first(connection, select(BASELINES).where(BASELINES.c.name == name))
    write_rows(connection, BASELINES, [{"name": name, "run": run["id"], "at": now.isoformat(timespec="milliseconds")}])
    return None if before is None else str(before["run"])


def unpin(connection: Connection, name: str, where: str) -> str:
    """Take a name away, and say which run had it; the run stays."""
    row = one_baseline(connection, name, where)
    connection.execute(delete(BASELINES).where(BASELINES.c.name == name))
    return str(row["run"])


def names_of(connection: Connection, run: str) -> list[str]:
    """The names that a run is pinned under."""
    query = select(BASELINES.c.name).where(BASELINES.c.run == run).order_by(BASELINES.c.name)
    return list(connection.execute(query).scalars())


def kept_columns(connection: Connection, run: str) -> bytes | None:
    """The columns of a run, where they have been worked out."""
    found = connection.execute(select(COLUMNS.c.content).where(COLUMNS.c.run == run)).scalar()
    return None if found is None else bytes(found)


def write_columns(connection: Connection, run: str, content: bytes) -> None:
    """Keep the columns of a run in place of those before."""
    write_rows(connection, COLUMNS, [{"run": run, "content": content}])


def drop_columns(connection: Connection, run: str) -> None:
    """Forget the columns of a run whose results are about to change."""
    connection.execute(delete(COLUMNS).where(COLUMNS.c.run == run))


def labels_query(run: str) -> Select[Any]:
    """What people said of a run's outputs, by sample, variant, criterion and rater."""
    key = (LABELS.c.sample, LABELS.c.variant, LABELS.c.criterion, LABELS.c.rater)
    return select(LABELS).where(LABELS.c.run == run).order_by(*key)


def write_labels(connection: Connection, run: str, labels: Iterable[Mapping[str, object]], where: str) -> None:
    """Keep labels of a run in place of all those before."""
    rows = fit(LABELS, [{**one, "run": run} for one in labels])
    connection.execute(delete(LABELS).where(LABELS.c.run == run))
    if not rows:
        return
    try:
        connection.execute(insert(LABELS), rows)
    except IntegrityError:
        what = "labels do not fit: one is there twice or lacks a field, or the run is gone"
        hint = "one score for each sample, variant, criterion and rater"
        raise StoreError(Fault(what, hint, where=where)) from None
