"""What binds a contest to its log: a hash over each event and the one before, and a seal over its row; and damage."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Integer, Select, case, cast, func, select

from evenhand.store.queries import parse_stored_time, stream_rows
from evenhand.store.rows import Row
from evenhand.store.tables import CONTESTS, EVENTS

CHANGED_CONTEST_HINT = "the store was changed by something else: nothing is shown or paid; restore a copy"


def hash_stored_contest_event(before: str, row: Mapping[str, Any]) -> str:
    """The hash of an event: over the hash of the one before, its place, its content and the replies it rests on."""
    return _hash_stored_row_parts(before, *(row[name] for name in ("contest", "number", "at", "content", "calls")))


_SEALED_COLUMNS = ("id", "name", "digest", "state", "key", "source", "summary")


def seal_contest_row(head: str, row: Mapping[str, Any]) -> str:
    """What binds a row of contests to the last event of its log, and tells where events at the end are missing."""
    return _hash_stored_row_parts(head, *list_sealed_row_parts(row))


def list_sealed_row_parts(row: Mapping[str, Any]) -> tuple[object, ...]:
    """What of a row of contests is sealed: all that is nobody else's to change."""
    hooks = () if row.get("hooks") is None else (row["hooks"],)  # Who is told to pay.
    return *(row[name] for name in _SEALED_COLUMNS), *hooks


def is_contest_sealed(row: Mapping[str, Any], head: str) -> bool:
    """Whether a row of contests fits the last event of its log."""
    return bool(row["seal"] == seal_contest_row(head, row))


def _hash_stored_row_parts(*parts: object) -> str:
    # What is no text and no number was never written here: by its `repr` it has another hash, and is refused so.
    return sha256(json.dumps(parts, separators=(",", ":"), default=repr).encode()).hexdigest()


_TIMES = ("touched", "wakes")


def find_mistyped_contest_column(row: Mapping[str, Any]) -> str | None:
    """The first column of a row of contests whose value has a type that is never written there: SQLite takes any."""
    for column in CONTESTS.columns:
        value = row[column.name]
        if value is None and column.nullable:
            continue
        if not isinstance(value, column.type.python_type):
            return column.name
        if column.name in _TIMES and not _is_stored_time(value):
            return column.name
    return None


def _is_stored_time(text: str) -> bool:
    with suppress(ValueError):
        parse_stored_time(text)
        return True
    return False


def list_damaged_contest_rows(connection: Connection) -> set[object]:
    """The ids, of whatever type, of rows that were changed, or that the end of their log does not fit.

    Of a log its numbers are looked at, which count from 0 without a gap, and its last event: numbered as the last of
    so many, with the hash that follows from the event before, and sealed.
    """
    return {
        row["id"]
        for row in stream_rows(connection, _build_log_end_query())
        if find_mistyped_contest_column(row) or not _fits_log_end(row)
    }


def _build_log_end_query() -> Select[Any]:
    """Each contest with its last event, the hash of the one before (`before`), and how many there are (`events`).

    And of their numbers the least (`first`) and how many are whole (`whole`), which together leave room for no gap.
    In one statement, so that it is all of one moment.
    """
    number, of, last, before = EVENTS.c.number, EVENTS.c.contest, EVENTS.alias(), EVENTS.alias()
    # SQLite takes 1.5 in a column of integers.
    whole = func.sum(case((number == cast(number, Integer), 1), else_=0)).label("whole")
    first, count = func.min(number).label("first"), func.count().label("events")
    span = select(of, first, func.max(number).label("last"), count, whole).group_by(of).subquery()
    tables = (
        CONTESTS.outerjoin(span, span.c.contest == CONTESTS.c.id)
        .outerjoin(last, (last.c.contest == span.c.contest) & (last.c.number == span.c.last))
        .outerjoin(before, (before.c.contest == span.c.contest) & (before.c.number == span.c.last - 1))
    )
    numbered = (span.c.first, span.c.events, span.c.whole)
    return select(CONTESTS, *numbered, last, before.c.hash.label("before")).select_from(tables)


def _fits_log_end(row: Row) -> bool:
    if row["events"] is None:
        return is_contest_sealed(row, "")
    is_numbered = row["first"] == 0 and row["whole"] == row["events"]  # No two are the same: they are the key.
    is_last = row["number"] == row["events"] - 1
    follows = row["hash"] == hash_stored_contest_event(row["before"] or "", row)
    return is_numbered and is_last and follows and is_contest_sealed(row, row["hash"])
