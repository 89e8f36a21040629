"""Questions under way: claimed by one run before it asks them, or sent in a batch until its answers are kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache

from sqlalchemy import Connection, Dialect, bindparam, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from evenhand.errors import RunLostError
from evenhand.store.queries import IS_USABLE_BY_ALL, stream_rows
from evenhand.store.rows import (
    Row,
    RowBatch,
    StoreRows,
    fit_store_rows,
    repair_row_texts,
    run_driver_sql,
    share_dialect,
    to_stored_json,
    upsert_rows,
)
from evenhand.store.run_holds import RunHold, explain_lost_run_hold, is_run_row_held
from evenhand.store.tables import BATCHES, CALLS, CLAIMS, MADE, RUNS

# Written out: a statement for many rows takes no values but theirs.
_IS_ANSWERED = "calls.kept = 'raw' AND calls.failed IS NULL AND calls.reply IS NOT NULL"
# All that a run has claimed and that has no reply which every run may use.
_UNANSWERED_CLAIMS = select(CLAIMS.c.key).where(
    CLAIMS.c.run == bindparam("run"), ~select(CALLS.c.key).where(CALLS.c.key == CLAIMS.c.key, IS_USABLE_BY_ALL).exists()
)


def claim_rows_of_unasked_replies(connection: Connection, keys: Sequence[str], run: str) -> set[str]:
    """Claim questions for a run; those that it got: nobody has claimed them, and nobody has their replies."""
    # In one order, so that two processes that claim the same do not wait for each other.
    rows = [{"key": key, "run": run} for key in sorted(keys)]
    statements = _compile_claim_statements(share_dialect(connection))
    run_driver_sql(connection, statements.claim, rows)
    found = run_driver_sql(connection, statements.list_unanswered, {**statements.values, "run": run})
    unanswered = {key for (key,) in found.fetchall()}
    release_reply_claim_rows(connection, run, [key for key in keys if key not in unanswered])
    return unanswered.intersection(keys)


@dataclass(frozen=True, slots=True)
class _ClaimStatements:
    """What every batch of a run does with claims, in the SQL of one database."""

    claim: str
    release: str
    list_unanswered: str
    values: Mapping[str, object]  # That the last one takes beside the run.


@cache
def _compile_claim_statements(dialect: Dialect) -> _ClaimStatements:
    add = (postgresql.insert if dialect.name == "postgresql" else sqlite.insert)(CLAIMS).on_conflict_do_nothing()
    release = delete(CLAIMS).where(CLAIMS.c.run == bindparam("run"), CLAIMS.c.key == bindparam("key"))
    unanswered = _UNANSWERED_CLAIMS.compile(dialect=dialect)
    return _ClaimStatements(
        str(add.compile(dialect=dialect)), str(release.compile(dialect=dialect)), str(unanswered), unanswered.params
    )


@dataclass(frozen=True, slots=True)
class StoredReplyClaims:
    """The claims of a store, reached by `store.claims`. Every failure is a StoreError that names the store."""

    _read: Callable[[], AbstractContextManager[Connection]]
    _write: Callable[[], AbstractContextManager[Connection]]
    _shown: str

    def claim_reply(self, key: str, hold: RunHold) -> bool:
        """Claim a question for a run, unless another run, whose process may still live, asks it now; whether it has it.

        For what `claim_rows_of_unasked_replies` did not get. The claim ends with the row of the call, or with the run.
        """
        with self._read() as connection:
            if is_reply_row_claimed(connection, key, hold.run):
                return False
        with self._write() as connection:
            lost = explain_lost_run_hold(connection, hold, self._shown)
            if lost is not None:
                raise RunLostError(lost)
            add = (postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert)(CLAIMS)
            connection.execute(add.values(key=key, run=hold.run).on_conflict_do_nothing())
            # Two that find a claim of the dead wait here for each other.
            holder = connection.execute(select(CLAIMS.c.run).where(CLAIMS.c.key == key).with_for_update()).scalar()
            if holder == hold.run:
                return True
            if holder is None or is_reply_row_claimed(connection, key, hold.run):
                return False
            connection.execute(update(CLAIMS).where(CLAIMS.c.key == key).values(run=hold.run))
            return True


def is_reply_row_claimed(connection: Connection, key: str, run: str) -> bool:
    """Whether another run, whose process may still live, asks a question now."""
    query = select(RUNS).join(CLAIMS, CLAIMS.c.run == RUNS.c.id).where(CLAIMS.c.key == key, CLAIMS.c.run != run)
    claimer = connection.execute(query).mappings().first()
    return claimer is not None and is_run_row_held(connection, dict(claimer))


def release_reply_claim_rows(connection: Connection, run: str, keys: Sequence[str] | None = None) -> None:
    """Give up the claims of a run on some questions, or on all."""
    if keys is None:
        connection.execute(delete(CLAIMS).where(CLAIMS.c.run == run))
    elif keys:
        release = _compile_claim_statements(share_dialect(connection)).release
        run_driver_sql(connection, release, [{"key": key, "run": run} for key in keys])


def keep_first_reply_rows(connection: Connection, calls: StoreRows, run: str) -> set[str]:
    """Write the calls of one of many workers of a run; the keys of those that another has answered before.

    The first reply stays, and counts for all. One that came later was paid for too: it is kept under another key.
    """
    ours = {str(row["key"]): dict(row) for row in calls}
    upsert_rows(connection, CALLS, ours.values(), but=_IS_ANSWERED)
    query = select(CALLS.c.key, CALLS.c.reply, CALLS.c.at).where(CALLS.c.run == run, CALLS.c.key.in_(ours))
    there = {row.key: (row.reply, row.at) for row in connection.execute(query)}
    late = {key for key, row in ours.items() if there[key] != (row["reply"], row["at"])}
    paid = [row for key, row in ours.items() if key in late and row["failed"] is None and row["cached_from"] is None]
    if paid:
        upsert_rows(connection, CALLS, [{**row, "key": f"{row['key']} {row['at']}"} for row in paid])
    return late


def keep_paid_rows(connection: Connection, batch: RowBatch, run: str) -> None:
    """Write the replies and outputs of a batch that were paid for, beside what the run's new holder has written.

    Without their texts where the run keeps none as they came: the new holder may have dropped its own already.
    """
    calls = [dict(row) for row in batch.calls if row["failed"] is None and row["cached_from"] is None]
    made = [repair_row_texts(dict(row)) for row in batch.made]
    if connection.execute(select(RUNS.c.keep).where(RUNS.c.id == run)).scalar() != "raw":
        calls = [{**row, "reply": None, "kept": "none"} for row in calls]
        made = [{**row, "content": _remove_text_of_stored_output(row["content"])} for row in made]
    keys = CALLS.c.key.in_([row["key"] for row in calls])
    there = set(connection.execute(select(CALLS.c.key).where(CALLS.c.run == run, keys)).scalars())
    for row in calls:
        if row["key"] in there:  # It was asked and paid for twice, and counts twice.
            row["key"] = f"{row['key']} {row['at']}"
    if calls:
        upsert_rows(connection, CALLS, calls)
    if made:
        add = (postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert)(MADE)
        connection.execute(add.on_conflict_do_nothing(), made)


def _remove_text_of_stored_output(content: str) -> str:
    """What an output cost, without the output."""
    return to_stored_json({**json.loads(content), "text": "", "trace": None, "kept": "none"})


LIVE_STATES = ("sending", "waiting")  # The provider has it, or may have.


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCounts:
    """The batches of a run that are under way, the questions in them, and how many of those are answered."""

    batches: int = 0
    lines: int = 0
    answered: int = 0


@dataclass(frozen=True, slots=True)
class BatchStore:
    """The batches of a store, reached by `store.batches`. Every failure is a StoreError that names the store."""

    _read: Callable[[], AbstractContextManager[Connection]]
    _write: Callable[[], AbstractContextManager[Connection]]
    _shown: str

    def add_batch(self, row: Mapping[str, object], hold: RunHold) -> None:
        """Write a batch down before it is created; a RunLostError where the run is another's by now.

        What is written is on the disk afterwards, whatever happens to the machine.
        """
        rows = [repair_row_texts(one) for one in fit_store_rows(BATCHES, [row])]
        with self._write() as connection:
            self._refuse_lost(connection, hold)
            connection.execute(insert(BATCHES), rows)
        with self._read() as connection:
            if connection.dialect.name == "sqlite":  # A commit alone may wait in the memory of the machine.
                connection.exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)")

    def change_batch(self, id: str, hold: RunHold, **changes: object) -> None:
        """Note what became of a batch; a RunLostError where the run is another's by now."""
        with self._write() as connection:
            self._refuse_lost(connection, hold)
            connection.execute(update(BATCHES).where(BATCHES.c.id == id).values(**changes))

    def take_batch(self, id: str, hold: RunHold) -> bool:
        """Make a batch of another run that of this one; not while a process works on the other, or it is over."""
        owner = select(RUNS).join(BATCHES, BATCHES.c.run == RUNS.c.id).where(BATCHES.c.id == id)
        with self._write() as connection:
            self._refuse_lost(connection, hold)
            run = connection.execute(owner.with_for_update(of=BATCHES)).mappings().first()
            if run is None or (run["id"] != hold.run and is_run_row_held(connection, dict(run))):
                return False
            live = update(BATCHES).where(BATCHES.c.id == id, BATCHES.c.state.in_(LIVE_STATES))
            return bool(connection.execute(live.values(run=hold.run)).rowcount)

    def list_live(self, run: str | None = None) -> list[Row]:
        """The batches that are under way, of all runs or of one, in the order in which they were written down."""
        query = select(BATCHES).where(BATCHES.c.state.in_(LIVE_STATES)).order_by(BATCHES.c.at, BATCHES.c.id)
        with self._read() as connection:
            return list(stream_rows(connection, query if run is None else query.where(BATCHES.c.run == run)))

    def list_provider_ids(self, judge: str) -> Sequence[str]:
        """All batches of a judge that are known by the id of their provider."""
        query = select(BATCHES.c.provider_id).where(BATCHES.c.judge == judge, BATCHES.c.provider_id.is_not(None))
        with self._read() as connection:
            return connection.execute(query).scalars().all()

    def count_live(self) -> dict[str, BatchCounts]:
        """What is under way, by run."""
        sums = (func.count(), func.sum(BATCHES.c.lines), func.sum(BATCHES.c.answered))
        query = select(BATCHES.c.run, *sums).where(BATCHES.c.state.in_(LIVE_STATES)).group_by(BATCHES.c.run)
        with self._read() as connection:
            rows = connection.execute(query).all()
        return {run: BatchCounts(batches=count, lines=lines, answered=done) for run, count, lines, done in rows}

    def _refuse_lost(self, connection: Connection, hold: RunHold) -> None:
        lost = explain_lost_run_hold(connection, hold, self._shown)
        if lost is not None:
            raise RunLostError(lost)
