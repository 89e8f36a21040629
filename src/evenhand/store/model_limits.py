"""What has been handed out of the limits of each model: one row for a model, which processes change in turn."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import Connection, bindparam, select, update
from sqlalchemy.dialects import postgresql, sqlite

from evenhand.store.rows import storable_row_text
from evenhand.store.run_holds import DATABASE_CLOCKS
from evenhand.store.tables import MODEL_LIMITS

T = TypeVar("T")
# Built once: each process asks several times a second.
_INSERTS = {
    name: build(MODEL_LIMITS).values(model=bindparam("meant"), content="").on_conflict_do_nothing()
    for name, build in (("postgresql", postgresql.insert), ("sqlite", sqlite.insert))
}
_LOCKED = select(MODEL_LIMITS.c.content).where(MODEL_LIMITS.c.model == bindparam("meant")).with_for_update()
_TIMES = {name: select(clock) for name, clock in DATABASE_CLOCKS.items()}
_CHANGE = update(MODEL_LIMITS).where(MODEL_LIMITS.c.model == bindparam("meant")).values(content=bindparam("changed"))


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """The limits of a store, reached by `store.limits`."""

    _write: Callable[[], AbstractContextManager[Connection]]

    def change_row(self, model: str, change: Callable[[str, float], tuple[str, T]]) -> T:
        """Change what is kept of a model, given that ("" at first) and the time of the database in seconds."""
        meant = storable_row_text(model)
        with self._write() as connection:
            row = connection.execute(_LOCKED, {"meant": meant}).scalar()
            if row is None:
                connection.execute(_INSERTS[connection.dialect.name], {"meant": meant})
                row = connection.execute(_LOCKED, {"meant": meant}).scalar_one()
            now = float(connection.execute(_TIMES[connection.dialect.name]).scalar_one())  # After whatever it waited.
            content, result = change(row, now)
            connection.execute(_CHANGE, {"meant": meant, "changed": content})
            return result
