"""What binds a contest to its log: a hash over each event and the one before, and a seal over its row; and damage."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Integer, Select, case, cast, func, select, true

from evenhand.errors import Fault, StoreError
from evenhand.store.queries import stream_rows
from evenhand.store.row_types import CHANGED_STORE_HINT, find_mistyped_column, show_stored_value
from evenhand.store.rows import Row, storable_row_text, to_stored_json
from evenhand.store.tables import CONTESTS, EVENTS


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


def list_damaged_contest_rows(connection: Connection) -> set[object]:
    """The ids, of whatever type, of rows that were changed, or that the end of their log does not fit.

    Of a log its numbers are looked at, which count from 0 without a gap, and its last event: numbered as the last of
    so many, with the hash that follows from the event before, and sealed.
    """
    return {row["id"] for row in stream_rows(connection, _build_log_end_query()) if _is_damaged(row)}


def list_orphaned_contest_logs(connection: Connection) -> list[Row]:
    """The logs that no row of contests belongs to: the id, and the task (`name`) where the first event says it.

    A contest is deleted with its log: something else took the row away, or gave it another id.
    """
    found = stream_rows(connection, _FIRST_EVENTS.where(CONTESTS.c.id.is_(None)))
    return [{"id": first["id"], "name": _read_logged_task(first)[1]} for first in found]


def refuse_damaged_contest_of_task(connection: Connection, key: str, where: str) -> None:
    """Refuse to begin the contest of a task while a damaged one may be it, and may have been paid."""
    damaged = _find_damaged_contest_of_task(connection, key)
    if damaged is not None:
        id = show_stored_value(damaged["id"])
        is_orphaned = damaged.get("row", id) is None
        seen = (
            "its log is there without its row"
            if is_orphaned
            else f"evenhand contest verify {id} says what does not fit"
        )
        what = f"contest {id} of {json.loads(key)[0]!r} is damaged: no other one is begun in its place"
        hint = (
            f"{CHANGED_STORE_HINT}; {seen}; "
            "--again NAME, with a new name, begins another contest on purpose, with a payment of its own"
        )
        raise StoreError(Fault(what, hint, where=where))


def _find_damaged_contest_of_task(connection: Connection, key: str) -> Row | None:
    """What is left of a damaged contest of a task; none where nothing keeps another one from beginning.

    A deliberate repetition begins beside a damaged one, unless that was this repetition by its seal or by its log.
    """
    name, again = json.loads(key)
    for row in stream_rows(connection, _build_log_end_query(storable_row_text(name))):
        if _is_damaged(row) and (again is None or _was_sealed_with_key(row, key)):
            return row
    for row in stream_rows(connection, _build_first_event_query(name)):
        logged_key, logged_name = _read_logged_task(row)
        is_renamed = again is None and logged_name == name and row["name"] != storable_row_text(name)
        if is_renamed or (logged_key == key and row["key"] != key):
            return row
    return None


def _was_sealed_with_key(row: Row, key: str) -> bool:
    return is_contest_sealed({**row, "key": key}, row["hash"] or "")


# The first event of each log, with what is in the row of its contest; nothing where it has none (`row`).
_FIRST_EVENTS = (
    select(EVENTS.c.contest.label("id"), EVENTS.c.content, EVENTS.c.calls)
    .add_columns(CONTESTS.c.id.label("row"), CONTESTS.c.name, CONTESTS.c.key)
    .select_from(EVENTS.outerjoin(CONTESTS, CONTESTS.c.id == EVENTS.c.contest))
    .where(EVENTS.c.number == 0)
    .order_by(EVENTS.c.contest)
)


def _build_first_event_query(name: str) -> Select[Any]:
    """Of the first events those that have, or have beside them, the name of a task somewhere."""
    stored = to_stored_json(name)
    in_key = to_stored_json(stored)[1:-1]  # A key is JSON itself.
    # The beginning is enough: SQLite takes no long patterns, and what is found is read.
    is_named = EVENTS.c.content.contains(f'"name":{stored}'[:_LONGEST_PATTERN], autoescape=True)
    is_named |= EVENTS.c.calls.contains(in_key[:_LONGEST_PATTERN], autoescape=True)
    return _FIRST_EVENTS.where(is_named)


_LONGEST_PATTERN = 500


def _read_logged_task(first: Row) -> tuple[object, object]:
    """The key and the name of a task, as the first event of a log has them; None where it says none."""
    key = name = None
    with suppress(ValueError, TypeError, LookupError, AttributeError, RecursionError):
        key = json.loads(first["calls"]).get("key")
        name = json.loads(key)[0]
    with suppress(ValueError, TypeError, LookupError, AttributeError, RecursionError):
        name = json.loads(first["content"])["task"]["name"]
    return key, name


def _is_damaged(row: Row) -> bool:
    return find_mistyped_column(CONTESTS, row) is not None or not _fits_log_end(row)


def _build_log_end_query(name: str | None = None) -> Select[Any]:
    """Each contest, or those of a task, with its last event, the hash of the one before (`before`), and how many there
    are (`events`).

    And of their numbers the least (`first`) and how many are whole (`whole`), which together leave room for no gap.
    In one statement, so that it is all of one moment.
    """
    meant = true() if name is None else CONTESTS.c.name == name
    number, of, last, before = EVENTS.c.number, EVENTS.c.contest, EVENTS.alias(), EVENTS.alias()
    # SQLite takes 1.5 in a column of integers.
    whole = func.sum(case((number == cast(number, Integer), 1), else_=0)).label("whole")
    first, count = func.min(number).label("first"), func.count().label("events")
    numbers = select(of, first, func.max(number).label("last"), count, whole).group_by(of)
    if name is not None:
        numbers = numbers.where(of.in_(select(CONTESTS.c.id).where(meant)))
    span = numbers.subquery()
    tables = (
        CONTESTS.outerjoin(span, span.c.contest == CONTESTS.c.id)
        .outerjoin(last, (last.c.contest == span.c.contest) & (last.c.number == span.c.last))
        .outerjoin(before, (before.c.contest == span.c.contest) & (before.c.number == span.c.last - 1))
    )
    numbered = (span.c.first, span.c.events, span.c.whole)
    return select(CONTESTS, *numbered, last, before.c.hash.label("before")).select_from(tables).where(meant)


def _fits_log_end(row: Row) -> bool:
    if row["events"] is None:
        return is_contest_sealed(row, "")
    is_numbered = row["first"] == 0 and row["whole"] == row["events"]  # No two are the same: they are the key.
    is_last = row["number"] == row["events"] - 1
    follows = row["hash"] == hash_stored_contest_event(row["before"] or "", row)
    return is_numbered and is_last and follows and is_contest_sealed(row, row["hash"])
