"""What a run would write down about one output, kept in memory: nothing is stored that nobody asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from datetime import UTC, datetime

from evenhand.runs.store import Row


class Notes:
    """A book, and the store behind it, as far as scoring one output needs them.

    No two outputs share one: a reply is never taken from another test, which may have scripted its judge otherwise.
    """

    run = "pytest"

    def __init__(self) -> None:
        self.rows: dict[str, list[Row]] = {"calls": [], "results": []}

    def now(self) -> str:
        """This moment, written so that it sorts."""
        return moment(datetime.now(UTC))

    @property
    def store(self) -> Notes:
        """Where to look for what is kept."""
        return self

    def keep(self, kind: str, row: Row) -> Awaitable[None]:
        """Note a row."""
        self.rows[kind].append(row)
        done = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done

    def cached(self, keys: Sequence[str], *, run: str | None = None) -> dict[str, Row]:
        """The replies to calls that were made about this output already."""
        return {row["key"]: row for row in self.rows["calls"] if row["key"] in keys and row["reply"] is not None}


def moment(at: datetime) -> str:
    """A time as a run keeps it."""
    return at.isoformat(timespec="milliseconds")
