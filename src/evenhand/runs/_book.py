"""Where a run writes down what comes: a row is kept when the wait for it is over."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from evenhand.runs.store import Row, Store, Writer


@dataclass(frozen=True, slots=True)
class Book:
    """The store as one run writes to it; `now` tells the time of day so that it sorts."""

    store: Store
    writer: Writer
    run: str
    now: Callable[[], str]

    def keep(self, kind: str, row: Row) -> Awaitable[None]:
        """Write a row of a table; once awaited, it outlives the process."""
        return self.writer.put(kind, row)
