"""Batches in the store: each is a row before it is paid for, and says what became of it until its answers are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from sqlalchemy import Connection, func, insert, select, update

from evenhand.errors import RunLostError
from evenhand.store.queries import stream_rows
from evenhand.store.rows import Row, fit_store_rows, repair_row_texts
from evenhand.store.run_holds import RunHold, explain_lost_run, is_run_row_held
from evenhand.store.tables import BATCHES, RUNS

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
        lost = explain_lost_run(connection, hold, self._shown)
        if lost is not None:
            raise RunLostError(lost)
