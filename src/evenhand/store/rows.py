"""Rows of the store: checked, made fit for any database, and written over those with the same key."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Connection, Dialect, Table
from sqlalchemy.dialects import postgresql, sqlite

from evenhand.errors import Fault, StoreError, suggest_known_word_in_fault

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
            raise StoreError(Fault(f"{table.name} have no {unknown!r}", suggest_known_word_in_fault(unknown, known)))
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


def upsert_rows(connection: Connection, table: Table, rows: StoreRows) -> None:
    """Write rows over those with the same key."""
    statement, fitted = _upsert_statement(table, connection.dialect), fit_store_rows(table, rows)
    try:
        connection.exec_driver_sql(statement, fitted)
    except UnicodeEncodeError:  # Half a character somewhere: rare, and slow to look for in every text.
        connection.exec_driver_sql(statement, [repair_row_texts(row) for row in fitted])


@cache
def _upsert_statement(table: Table, dialect: Dialect) -> str:
    """The statement in the SQL of one database. Building it takes ten times as long as running it."""
    insert = (postgresql.insert if dialect.name == "postgresql" else sqlite.insert)(table)
    key = [column.name for column in table.primary_key]
    values = {column.name: insert.excluded[column.name] for column in table.columns if not column.primary_key}
    return str(insert.on_conflict_do_update(index_elements=key, set_=values).compile(dialect=dialect))
