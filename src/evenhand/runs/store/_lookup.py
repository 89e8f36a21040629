"""One question for every call that is about to be made: has this been answered before?"""

from __future__ import annotations

import threading
from typing import Any

from sqlalchemy import Engine, Select, bindparam, select
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import PoolProxiedConnection

from evenhand.runs.store._prepared import Prepared
from evenhand.runs.store._rows import Row
from evenhand.runs.store._tables import CALLS


class Lookup:
    """The newest reply to one key, over a connection of its own that stays open between questions."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._connection: PoolProxiedConnection | None = None
        self._anywhere = Prepared(_query(None), engine.dialect)
        self._in_run = Prepared(_query("run"), engine.dialect)

    def newest(self, key: str, run: str | None) -> Row | None:
        """The newest reply as it came; of all runs or of one."""
        statement = self._anywhere if run is None else self._in_run
        values = {"wanted": key} if run is None else {"wanted": key, "of_run": run}
        with self._lock:
            try:
                cursor = self._open().cursor()
                cursor.execute(statement.text, statement.parameters(values))
                row = cursor.fetchone()
                cursor.close()
            except self._engine.dialect.loaded_dbapi.Error as error:
                self._close()  # The next question gets a new connection.
                raise DBAPIError(None, None, error) from error
        return None if row is None else dict(zip(CALLS.columns.keys(), row, strict=True))

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> DBAPIConnection:
        if self._connection is None:
            self._connection = self._engine.raw_connection()
            if self._engine.dialect.name == "postgresql":
                self._connection.detach()  # It differs from the pool's: every question sees the newest state.
                self._connection.dbapi_connection.autocommit = True  # type: ignore[union-attr]
        return self._connection


def _query(run: str | None) -> Select[Any]:
    usable = (CALLS.c.kept == "raw") & CALLS.c.failed.is_(None) & CALLS.c.reply.is_not(None)
    query = select(CALLS).where(CALLS.c.key == bindparam("wanted"), usable)
    if run is not None:
        query = query.where(CALLS.c.run == bindparam("of_run"))
    return query.order_by(CALLS.c.at.desc(), CALLS.c.run.desc()).limit(1)
