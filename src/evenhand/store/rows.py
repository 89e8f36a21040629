"""Rows of the store: checked, made fit for any database, and written over those with the same key."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import ClauseElement, Connection, Dialect, Table, bindparam, update
from sqlalchemy.dialects import postgresql, sqlite

from evenhand.errors import Fault, StoreError, suggest_known_word
from evenhand.store.tables import CALLS, MADE, RESULTS, SAMPLES

Row = dict[str, Any]
StoreRows = Iterable[Mapping[str, object]]

ALLOWED_VALUES = {
    "runs": {"state": ("running", "stopped", "finished"), "keep": ("raw", "masked", "none")},
    "results": {"state": ("scored", "incomplete", "failed")},
    "calls": {"kept": ("raw", "masked", "none")},
    "contests": {"state": ("running", "stopped", "finished")},
}
# Texts that come from outside as they are; everything else long is JSON, which holds no zero byte.
_FREE_TEXTS = {
    "runs": ("name", "source"),
    "samples": ("id",),
    "results": ("subject",),
    "calls": ("failed",),
    "labels": ("sample", "variant", "criterion", "rater"),
    "contests": ("name", "source"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RowBatch:
    """Rows that are written together or not at all.

    `drop` comes last: what takes the place of replies that must not stay, as run, key, reply and kept.
    """

    samples: Sequence[Mapping[str, object]] = ()
    results: Sequence[Mapping[str, object]] = ()
    calls: Sequence[Mapping[str, object]] = ()
    made: Sequence[Mapping[str, object]] = ()
    drop: Sequence[Mapping[str, object]] = ()


def to_stored_json(value: object) -> str:
    """Plain data as the JSON text that the store keeps."""
    return storable_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def storable_text(text: str) -> str:
    r"""A text that every database takes: zero bytes and halves of characters are written out.

    Half a character becomes "\ud83d", as in a reply that was cut off: inside JSON that is the same text again.
    """
    if "\0" in text:
        text = text.replace("\0", "\\x00")
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def fit_store_rows(table: Table, rows: StoreRows) -> list[Row]:
    """Rows as their table takes them: every column there, nothing misspelt, no state that does not exist."""
    columns = table.columns.keys()
    known, allowed, free = {*columns, "at"}, ALLOWED_VALUES.get(table.name, {}), _FREE_TEXTS.get(table.name, ())
    fitted = []
    for row in rows:
        if not row.keys() <= known:
            unknown = min(row.keys() - known)
            raise StoreError(Fault(f"{table.name} have no {unknown!r}", suggest_known_word(unknown, known)))
        one: Row = {name: row.get(name) for name in columns}
        for name, words in allowed.items():
            if one[name] not in words:
                raise StoreError(Fault(f"{name} of {table.name} cannot be {one[name]!r}", f"one of {', '.join(words)}"))
        for name in free:
            if one[name] is not None:
                one[name] = storable_text(one[name])
        number = one.get("number")
        if number is not None and not math.isfinite(number):
            raise StoreError(Fault(f"a number is finite or missing, got {number}"))
        fitted.append(one)
    return fitted


def repair_row_texts(row: Row) -> Row:
    """A row whose every text can be stored."""
    return {name: storable_text(value) if isinstance(value, str) else value for name, value in row.items()}


def write_row_batch(connection: Connection, batch: RowBatch) -> None:
    """Write all rows of a batch in the transaction that is open."""
    for table, rows in ((SAMPLES, batch.samples), (RESULTS, batch.results), (CALLS, batch.calls), (MADE, batch.made)):
        if rows:
            upsert_rows(connection, table, rows)
    if batch.drop:
        _execute_for_rows(
            connection, _drop_reply_statement(connection.dialect), [_drop_reply_values(row) for row in batch.drop]
        )


def upsert_rows(connection: Connection, table: Table, rows: StoreRows) -> None:
    """Write rows over those with the same key."""
    _execute_for_rows(connection, _upsert_statement(table, connection.dialect), fit_store_rows(table, rows))


def _execute_for_rows(connection: Connection, statement: PreparedStatement, rows: list[Row]) -> None:
    try:
        connection.exec_driver_sql(statement.text, [statement.parameters(row) for row in rows])
    except UnicodeEncodeError:  # Rare, and dear to look for in every text: half a character somewhere.
        connection.exec_driver_sql(statement.text, [statement.parameters(repair_row_texts(row)) for row in rows])


@cache
def _upsert_statement(table: Table, dialect: Dialect) -> PreparedStatement:
    insert = (postgresql.insert if dialect.name == "postgresql" else sqlite.insert)(table)
    key = [column.name for column in table.primary_key]
    values = {column.name: insert.excluded[column.name] for column in table.columns if not column.primary_key}
    return PreparedStatement(insert.on_conflict_do_update(index_elements=key, set_=values), dialect)


@cache
def _drop_reply_statement(dialect: Dialect) -> PreparedStatement:
    chosen = (CALLS.c.run == bindparam("of_run")) & (CALLS.c.key == bindparam("of_key"))
    statement: ClauseElement = update(CALLS).where(chosen).values(reply=bindparam("new"), kept=bindparam("new_kept"))
    return PreparedStatement(statement, dialect)


def _drop_reply_values(row: Mapping[str, Any]) -> Row:
    return {"of_run": row["run"], "of_key": row["key"], "new": row["reply"], "new_kept": row["kept"]}


class PreparedStatement:
    """One statement in the words of one database. Building a statement takes ten times as long as running it."""

    def __init__(self, statement: ClauseElement, dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect)
        self.text = str(compiled)
        self._fixed = {name: value for name, value in compiled.params.items() if value is not None}
        self._order: list[str] | None = getattr(compiled, "positiontup", None)

    def parameters(self, row: Mapping[str, Any]) -> Any:
        """The values of a row as the driver takes them: in order, or by name."""
        if self._fixed:
            row = {**self._fixed, **row}
        return row if self._order is None else tuple([row[name] for name in self._order])
