"""Values of a type or shape that is never written to their column: SQLite takes anything anywhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Table

from evenhand.errors import Fault, StoreError
from evenhand.store.tables import CONTESTS, EVENTS, INBOX, OUTBOX, RECEIPTS

_TIMES = {
    CONTESTS.name: ("touched", "wakes"),
    EVENTS.name: ("at",),
    INBOX.name: ("at",),
    RECEIPTS.name: ("at",),
    OUTBOX.name: ("made", "due", "delivered"),
}
_OBJECTS = {OUTBOX.name: ("body",)}
_NUMBERS = range(2**31 - 1)  # Of events, of what came, and of tries.


def find_mistyped_column(table: Table, row: Mapping[str, Any]) -> str | None:
    """The first column of a row that holds what is never written there: another type, no time, no object in JSON, or
    a number that nobody counts to.
    """
    times, objects = _TIMES.get(table.name, ()), _OBJECTS.get(table.name, ())
    for column in table.columns:
        name, value = column.name, row[column.name]
        if value is None and column.nullable:
            continue
        is_fit = isinstance(value, column.type.python_type)
        is_fit = is_fit and (name not in times or _is_stored_time(value))
        is_fit = is_fit and (not isinstance(value, int) or value in _NUMBERS)
        if not is_fit or (name in objects and parse_stored_object(value) is None):
            return name
    return None


CHANGED_STORE_HINT = "the store was changed by something else: nothing is shown or paid; restore a copy"


def refuse_mistyped_row(table: Table, row: Mapping[str, Any], name: str, where: str) -> None:
    """Tell a row that holds what is never written there, by its name, as damage."""
    if column := find_mistyped_column(table, row):
        raise StoreError(Fault(f"{name} was changed: {column} is not what it was", CHANGED_STORE_HINT, where=where))


def parse_stored_object(text: object) -> dict[str, Any] | None:
    """The object that is kept as JSON; None where it is none."""
    try:
        found = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def show_stored_value(value: object) -> str:
    """A value as text, whatever type it has been given in the store."""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


_YEARS = range(2, 9999)  # The first year and the last are not whole in every zone.


def _is_stored_time(text: str) -> bool:
    """Whether it is a time with a zone, which can be held against others."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return False
    return time.tzinfo is not None and time.year in _YEARS
