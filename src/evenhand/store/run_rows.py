"""A few rows of a run at a time, as pages show them; runs pinned under a name; and runs that are removed."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Table, delete, func, select

from evenhand.errors import Fault, StoreError
from evenhand.store.queries import (
    find_baseline_row,
    find_run_row,
    run_last_stored,
    select_made_output_rows,
    select_named_sample_rows,
    stream_rows,
)
from evenhand.store.rows import Row, storable_row_text, upsert_rows
from evenhand.store.run_holds import is_run_row_held, lock_run_hold
from evenhand.store.service_store import delete_run_rows
from evenhand.store.tables import BASELINES, CALLS, COLUMNS, RESULTS, RUNS, SAMPLES

HEAD_COLUMNS = ("id", "name", "state", "started", "ended", "fingerprint", "holder", "imported")
LARGEST_POSITION = 2**31 - 1  # That PostgreSQL keeps in the column.
ROW_ORDERS = {
    SAMPLES: ("position",),
    RESULTS: ("position", "variant", "repeat"),
    CALLS: ("position", "variant", "repeat", "judge", "key"),
}


@dataclass(frozen=True, slots=True)
class StoredRunRows:
    """Rows of runs, reached by `store.rows`."""

    _read: Callable[[], AbstractContextManager[Connection]]

    def list_run_heads(self) -> list[Row]:
        """Every run without its texts and numbers, the newest first."""
        query = select(*(RUNS.c[name] for name in HEAD_COLUMNS)).order_by(RUNS.c.id.desc())
        with self._read() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def list_eval_runs(self, name: str, most: int) -> list[Row]:
        """The newest runs of an eval, the newest first."""
        query = select(RUNS).where(RUNS.c.name == storable_row_text(name)).order_by(RUNS.c.id.desc()).limit(most)
        with self._read() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def load_columns(self, run: str) -> bytes | None:
        """What `save_columns` kept of a run; None where there is nothing, or the run was taken up since."""
        with self._read() as connection:
            found = connection.execute(select(COLUMNS.c.content).where(COLUMNS.c.run == run)).scalar()
        return None if found is None else bytes(found)

    def list_baselines(self) -> list[Row]:
        """Every baseline as name, run and when it was set, by name."""
        with self._read() as connection:
            return list_baseline_rows(connection)

    def sample_ids(self, run: str, positions: Collection[int]) -> dict[int, str]:
        """The ids of some samples of a run."""
        which = (SAMPLES.c.run == run, SAMPLES.c.position.in_(sorted(positions)))
        with self._read() as connection:
            rows = connection.execute(select(SAMPLES.c.position, SAMPLES.c.id).where(*which))
            return {row.position: row.id for row in rows}

    def find_outputs(self, keys: Sequence[str], runs: Sequence[str]) -> dict[str, Row]:
        """The newest output that a live variant made in one of some runs, by key."""
        with self._read() as connection:
            return select_made_output_rows(connection, keys, runs)

    def find_sample_position(self, run: str, id: str) -> int | None:
        """The place of the first sample of an id in its run."""
        of_id = (SAMPLES.c.run == run) & (SAMPLES.c.id == storable_row_text(id))
        with self._read() as connection:
            return connection.execute(select(func.min(SAMPLES.c.position)).where(of_id)).scalar()

    def list_positions(self, run: str) -> list[int]:
        """The places of all samples of a run, in order."""
        query = select(SAMPLES.c.position).where(SAMPLES.c.run == run).order_by(SAMPLES.c.position)
        with self._read() as connection:
            return list(connection.execute(query).scalars())

    def find_positions(self, run: str, text: str) -> list[int]:
        """The places of the samples of a run that have a text in their id or in what they were asked."""
        wanted = storable_row_text(text)
        has = SAMPLES.c.id.icontains(wanted, autoescape=True) | SAMPLES.c.content.icontains(wanted, autoescape=True)
        with self._read() as connection:
            return list(connection.execute(select(SAMPLES.c.position).where(SAMPLES.c.run == run, has)).scalars())

    def list_samples_at(self, run: str, positions: Collection[int]) -> list[Row]:
        """Some samples of a run, by position."""
        return self._list_rows_at(SAMPLES, run, positions)

    def list_results_at(self, run: str, positions: Collection[int]) -> list[Row]:
        """The results of some samples of a run, by position, variant and repeat."""
        return self._list_rows_at(RESULTS, run, positions)

    def list_calls_at(self, run: str, positions: Collection[int]) -> list[Row]:
        """The calls about some samples of a run, by position, variant, repeat and judge."""
        return self._list_rows_at(CALLS, run, positions)

    def load_named_samples(self, run: str, ids: Collection[str]) -> tuple[list[Row], list[Row]]:
        """Some samples of a run by their ids, and their results."""
        with self._read() as connection:
            return select_named_sample_rows(connection, run, ids)

    def count_result_states(self, run: str) -> dict[tuple[str, str], int]:
        """How many results there are of each variant in each state."""
        kinds = (RESULTS.c.variant, RESULTS.c.state)
        query = select(*kinds, func.count()).where(RESULTS.c.run == run).group_by(*kinds)
        with self._read() as connection:
            return {(variant, state): count for variant, state, count in connection.execute(query)}

    def count_samples_with_result(self, run: str) -> int:
        """How many samples have a result, once for each repeat; a variant may still lack its own."""
        pieces = select(RESULTS.c.position, RESULTS.c.repeat).where(RESULTS.c.run == run).distinct()
        with self._read() as connection:
            return int(connection.execute(select(func.count()).select_from(pieces.subquery())).scalar_one())

    def find_last_result_moment(self, run: str) -> str | None:
        """When the last result of a run was written; None where there is none."""
        with self._read() as connection:
            return connection.execute(select(func.max(RESULTS.c.at)).where(RESULTS.c.run == run)).scalar()

    def list_unscored_results(self, run: str, most: int) -> list[Row]:
        """Some results of a run that have no score."""
        without = (RESULTS.c.run == run) & (RESULTS.c.state != "scored")
        query = select(RESULTS).where(without).order_by(RESULTS.c.position).limit(most)
        with self._read() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def _list_rows_at(self, table: Table, run: str, positions: Collection[int]) -> list[Row]:
        # What a column cannot hold is no position, and a database refuses to look for it.
        known = sorted(position for position in positions if 0 <= position <= LARGEST_POSITION)
        some = (table.c.run == run) & table.c.position.in_(known)
        query = select(table).where(some).order_by(*(table.c[name] for name in ROW_ORDERS[table]))
        with self._read() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]


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


def delete_named_run_rows(connection: Connection, run: str, shown: str, *, pinned: bool) -> None:
    """Remove a run with all that belongs to it; a baseline only if told so, and none that a process works on."""
    id = find_run_row(connection, run, shown)["id"]
    lock_run_hold(connection, id)
    row = find_run_row(connection, id, shown)
    if not pinned:
        refuse_baseline_run(connection, row["id"], shown)
    if is_run_row_held(connection, row):
        hint = f"stop it first ({row['holder']})"
        raise StoreError(Fault(f"a process is at work on run {row['id']}", hint, where=shown))
    delete_run_rows(connection, row["id"])
