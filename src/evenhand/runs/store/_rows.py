"""What goes into the store: plain rows, one value per column, made fit for any database and refused where they lie."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Table

from evenhand.errors import Fault, StoreError, nearest

Row = dict[str, Any]
Rows = Iterable[Mapping[str, object]]

ALLOWED = {
    "runs": {"state": ("running", "stopped", "finished"), "keep": ("raw", "masked", "none")},
    "results": {"state": ("scored", "incomplete", "failed")},
    "calls": {"kept": ("raw", "masked", "none")},
    "contests": {"state": ("running", "stopped", "finished")},
}
# Texts that come from outside as they are; everything else long is JSON, which holds no zero byte.
_FREE = {
    "runs": ("name", "source"),
    "samples": ("id",),
    "results": ("subject",),
    "calls": ("failed",),
    "labels": ("sample", "variant", "criterion", "rater"),
    "contests": ("name", "source"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Rows that are written together or not at all.

    `drop` comes last: what takes the place of replies that must not stay, as run, key, reply and kept.
    """

    samples: Sequence[Mapping[str, object]] = ()
    results: Sequence[Mapping[str, object]] = ()
    calls: Sequence[Mapping[str, object]] = ()
    made: Sequence[Mapping[str, object]] = ()
    drop: Sequence[Mapping[str, object]] = ()


def compact(value: object) -> str:
    """Plain data as the JSON text that the store keeps."""
    return storable(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def storable(text: str) -> str:
    r"""A text that every database takes: zero bytes and halves of characters are written out.

    Half a character becomes "\ud83d", as in a reply that was cut off: inside JSON that is the same text again.
    """
    if "\0" in text:
        text = text.replace("\0", "\\x00")
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def fit(table: Table, rows: Rows) -> list[Row]:
    """Rows as their table takes them: every column there, nothing misspelt, no state that does not exist."""
    columns = table.columns.keys()
    known, allowed, free = {*columns, "at"}, ALLOWED.get(table.name, {}), _FREE.get(table.name, ())
    fitted = []
    for row in rows:
        if not row.keys() <= known:
            unknown = min(row.keys() - known)
            raise StoreError(Fault(f"{table.name} have no {unknown!r}", nearest(unknown, known)))
        one: Row = {name: row.get(name) for name in columns}
        for name, words in allowed.items():
            if one[name] not in words:
                raise StoreError(Fault(f"{name} of {table.name} cannot be {one[name]!r}", f"one of {', '.join(words)}"))
        for name in free:
            if one[name] is not None:
                one[name] = storable(one[name])
        number = one.get("number")
        if number is not None and not math.isfinite(number):
            raise StoreError(Fault(f"a number is finite or missing, got {number}"))
        fitted.append(one)
    return fitted


def repaired(row: Row) -> Row:
    """A row whose every text can be stored."""
    return {name: storable(value) if isinstance(value, str) else value for name, value in row.items()}
