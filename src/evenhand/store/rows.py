"""Rows of the store: checked, made fit for any database, and written by one thread for many tasks."""

from __future__ import annotations

import asyncio
import json
import math
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from queue import Empty, SimpleQueue
from typing import Any

from sqlalchemy import Connection, Dialect, Table, bindparam, text, update
from sqlalchemy.dialects import postgresql, sqlite

from evenhand.errors import Fault, RunLostError, StoreError, suggest_known_word_in_error
from evenhand.store.tables import CALLS, MADE, RESULTS, SAMPLES

Row = dict[str, Any]
StoreRows = Iterable[Mapping[str, object]]

ALLOWED_VALUES: dict[str, dict[str, tuple[str, ...]]] = {
    "runs": {"state": ("running", "stopped", "finished"), "keep": ("raw", "masked", "none")},
    "results": {"state": ("scored", "incomplete", "failed")},
    "calls": {"kept": ("raw", "masked", "none")},
    # Meant to be created; created; its answers are kept; or nothing of it was ever created.
    "batches": {"state": ("sending", "waiting", "read", "unsent")},
    "contests": {"state": ("running", "stopped", "finished")},
    "run_requests": {"state": ("due", "stopping", "stopped", "failed")},  # What is finished is a run and no request.
}
# Texts that come from outside as they are; everything else long is JSON, which holds no zero byte.
_FREE_TEXTS = {
    "runs": ("name", "source"),
    "samples": ("id",),
    "results": ("subject",),
    "calls": ("failed",),
    "labels": ("sample", "variant", "criterion", "rater"),
    "label_answers": ("rater", "sample", "variant"),
    "contests": ("name", "source"),
    "evaluations": ("subject",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RowBatch:
    """Rows that are written together or not at all.

    `drop` comes last: what takes the place of replies that must not stay, as run, key, reply and kept. `claims` are
    questions that the run wants to ask, and `released` those that it asks no more.
    """

    samples: Sequence[Mapping[str, object]] = ()
    results: Sequence[Mapping[str, object]] = ()
    calls: Sequence[Mapping[str, object]] = ()
    made: Sequence[Mapping[str, object]] = ()
    drop: Sequence[Mapping[str, object]] = ()
    claims: Sequence[str] = ()
    released: Sequence[str] = ()


def to_stored_json(value: object) -> str:
    """Plain data as the JSON text that the store keeps."""
    return storable_row_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def storable_row_text(text: str) -> str:
    r"""A text that every database takes: zero bytes and halves of characters are written out.

    Half a character becomes "\ud83d", as in a reply that was cut off: inside JSON that is the same text again.
    """
    if "\0" in text:
        text = text.replace("\0", "\\x00")
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def fit_store_rows(table: Table, rows: StoreRows) -> list[Row]:
    """Rows as their table takes them: every column there, nothing misspelt, no state that does not exist."""
    columns = table.columns.keys()
    whole, known = {*columns}, {*columns, "at"}
    allowed, free = ALLOWED_VALUES.get(table.name, {}), _FREE_TEXTS.get(table.name, ())
    fitted, are_whole = [], set()
    for row in rows:
        names = tuple(row)  # Most rows of a batch are spelt alike.
        if names not in are_whole:
            if not row.keys() <= known:
                unknown = min(row.keys() - known)
                hint = suggest_known_word_in_error(unknown, known)
                raise StoreError(Fault(f"{table.name} have no {unknown!r}", hint))
            if row.keys() == whole:
                are_whole.add(names)
        one: Row = row if names in are_whole and type(row) is dict else {name: row.get(name) for name in columns}
        for name, words in allowed.items():
            if one[name] not in words:
                raise StoreError(Fault(f"{name} of {table.name} cannot be {one[name]!r}", f"one of {', '.join(words)}"))
        for name in free:
            text = one[name]
            if text is not None and ("\0" in text or not text.isascii()):
                one = {**one, name: storable_row_text(text)}
        number = one.get("number")
        if number is not None and not math.isfinite(number):
            raise StoreError(Fault(f"a number is finite or missing, got {number}"))
        fitted.append(one)
    return fitted


def repair_row_texts(row: Row) -> Row:
    """A row whose every text can be stored."""
    return {name: storable_row_text(value) if isinstance(value, str) else value for name, value in row.items()}


def upsert_rows(connection: Connection, table: Table, rows: StoreRows, *, but: str | None = None) -> None:
    """Write rows over those with the same key, `but` not over those of which this SQL is true."""
    statement, fitted = _upsert_sql_statement(table, share_dialect(connection), but), fit_store_rows(table, rows)
    try:
        run_driver_sql(connection, statement, fitted)
    except UnicodeEncodeError:  # Half a character somewhere: rare, and slow to look for in every text.
        run_driver_sql(connection, statement, [repair_row_texts(row) for row in fitted])


def run_driver_sql(connection: Connection, statement: str, values: Row | Sequence[Row]) -> Any:
    """Run what every batch of rows runs, once or for each of several rows; return where the rows found are fetched.

    What SQLAlchemy does around a statement takes several times as long as SQLite does with it. The driver of a server
    has errors of its own, which SQLAlchemy knows.
    """
    if connection.dialect.name != "sqlite":
        return connection.exec_driver_sql(statement, values)
    cursor = connection.connection.cursor()
    return cursor.execute(statement, values) if isinstance(values, dict) else cursor.executemany(statement, values)


def write_row_batch(connection: Connection, batch: RowBatch) -> None:
    """Write the rows of a batch over those with the same keys, and drop the replies that must not stay."""
    tables = ((SAMPLES, batch.samples), (RESULTS, batch.results), (CALLS, batch.calls), (MADE, batch.made))
    for table, rows in tables:
        if rows:
            upsert_rows(connection, table, rows)
    if batch.drop:
        drops = [
            {"of_run": row["run"], "of_key": row["key"], "new": row["reply"], "new_kept": row["kept"]}
            for row in batch.drop
        ]
        connection.execute(_DROP_REPLY, [repair_row_texts(row) for row in drops])


_DROP_REPLY = (
    update(CALLS)
    .where(CALLS.c.run == bindparam("of_run"), CALLS.c.key == bindparam("of_key"))
    .values(reply=bindparam("new"), kept=bindparam("new_kept"))
)


_DIALECTS: dict[str, Dialect] = {}  # By database.


def share_dialect(connection: Connection) -> Dialect:
    """The dialect of the first store in the same database system: what is compiled for one serves all, and once."""
    return _DIALECTS.setdefault(connection.dialect.name, connection.dialect)


@cache
def _upsert_sql_statement(table: Table, dialect: Dialect, but: str | None) -> str:
    """The statement in the SQL of one database. Building it takes ten times as long as running it."""
    insert = (postgresql.insert if dialect.name == "postgresql" else sqlite.insert)(table)
    key = [column.name for column in table.primary_key]
    values = {column.name: insert.excluded[column.name] for column in table.columns if not column.primary_key}
    where = None if but is None else text(f"NOT ({but})")
    return str(insert.on_conflict_do_update(index_elements=key, set_=values, where=where).compile(dialect=dialect))


GATHER_SECONDS = 0.02  # A transaction costs as much as ten rows: the first one waits a moment for others.
PAID_KINDS = ("calls", "made")  # Rows that a store keeps also of a process that has lost its run.
FLUSH = "flush"  # An entry without a row, for whoever waits until those before it are written.
# A kind of the batch, a row or a key, and who waits for it, where somebody does.
WriterEntry = tuple[str, Any, "asyncio.Future[Any] | None"]


@dataclass(slots=True)
class StoreWriter:
    """One thread that writes for many tasks: rows that arrive while it commits go into the next transaction together.

    Rows are put in from the loop; each put is over when its row is committed, or fails with the store's error. Once
    the run is lost, replies and outputs that were paid for are written all the same, and everything else fails.
    """

    _write_rows: Callable[[RowBatch], Collection[str]]  # It returns the questions that were claimed, or came late.
    _on_lost: Callable[[], object] = lambda: None  # Called in the loop, with every batch since the run was lost.
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    _entries: SimpleQueue[WriterEntry | None] = field(default_factory=SimpleQueue)
    _closing: threading.Event = field(default_factory=threading.Event)
    _error: Exception | None = None
    _thread: threading.Thread | None = None

    def put(self, kind: str, value: Mapping[str, object] | str) -> asyncio.Future[Any]:
        """Write a row of samples, results, calls, made or drop, or claim a question by its key.

        A claim comes to false where another run may be asking the question, or somebody has its reply; a call to true
        where another worker of the run has written down a reply to the same question before.
        """
        future = self._loop.create_future()
        self.leave(kind, value, future)
        return future

    def leave(self, kind: str, value: Mapping[str, object] | str, waiting: asyncio.Future[Any] | None = None) -> None:
        """Write the same in its turn, for nobody who waits: `close` raises what went wrong."""
        if self._closing.is_set():
            raise RuntimeError("the writer is closed")
        if self._thread is None:
            self._thread = threading.Thread(target=self._write_until_closed, name="evenhand-writer", daemon=True)
            self._thread.start()
        self._entries.put((kind, value, waiting))

    def flush(self) -> asyncio.Future[None]:
        """Wait until all that was put before is committed."""
        return self.put(FLUSH, "")

    def release(self, key: str) -> None:
        """Give up a question that was claimed and is not answered; the end of a run gives up all of them."""
        if not self._closing.is_set():
            self.leave("released", key)

    def close(self) -> None:
        """Write what is left and stop; what went wrong since the beginning is raised once more."""
        self._closing.set()
        self._entries.put(None)
        if self._thread is not None:
            self._thread.join()
        if self._error is not None:
            raise self._error

    def _write_until_closed(self) -> None:
        open = True
        claimed: Collection[str] = ()
        while open:
            found = [self._entries.get()]
            self._closing.wait(GATHER_SECONDS)
            try:
                while True:
                    found.append(self._entries.get_nowait())
            except Empty:
                pass
            open = None not in found
            entries = [entry for entry in found if entry is not None]
            if entries and (self._error is None or isinstance(self._error, RunLostError)):
                batch: dict[str, list[Any]] = {}
                for kind, value, _ in entries:
                    if kind != FLUSH:
                        batch.setdefault(kind, []).append(value)
                try:
                    claimed = self._write_rows(RowBatch(**batch))
                except Exception as error:  # Whatever it is, nobody may wait for a thread that has died.
                    self._error = error
            if entries and not self._loop.is_closed():
                if isinstance(self._error, RunLostError):
                    self._loop.call_soon_threadsafe(self._on_lost)
                self._loop.call_soon_threadsafe(_settle_store_row_futures, entries, claimed, self._error)


def _settle_store_row_futures(entries: list[WriterEntry], claimed: Collection[str], error: Exception | None) -> None:
    for kind, value, future in entries:
        if future is None or future.done():  # Whoever waited was cancelled; the row is written all the same.
            continue
        if error is None or (isinstance(error, RunLostError) and kind in PAID_KINDS):
            key = value["key"] if kind == "calls" else value if kind == "claims" else None
            future.set_result(None if key is None else key in claimed)
        else:
            future.set_exception(error)
            future.exception()  # Seen: close() raises it for those who did not wait.
