"""What others are to be told: written with the event that it tells of, delivered at least once, never forgotten."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, select, update
from sqlalchemy.sql.functions import count

from evenhand.errors import Fault, StoreError
from evenhand.store.queries import stream_rows
from evenhand.store.rows import Row, storable_row_text
from evenhand.store.tables import OUTBOX

OUTBOX_STATES = ("pending", "delivered", "dead")


@dataclass(frozen=True, slots=True)
class Outbox:
    """The messages of a store, reached by `store.outbox`."""

    _read: Callable[[], AbstractContextManager[Connection]]
    _write: Callable[[], AbstractContextManager[Connection]]
    _shown: str

    def claim_due_messages(self, now: datetime, *, most: int, lease: timedelta) -> list[Row]:
        """Messages to be sent now; nobody else is given them before the lease is over."""
        waiting = (OUTBOX.c.state == "pending") & (OUTBOX.c.due <= now.isoformat())
        query = select(OUTBOX).where(waiting).order_by(OUTBOX.c.due, OUTBOX.c.id).limit(most)
        with self._write() as connection:
            rows = list(stream_rows(connection, query.with_for_update(skip_locked=True)))
            ids = [row["id"] for row in rows]
            later = (now + lease).isoformat()
            connection.execute(update(OUTBOX).where(OUTBOX.c.id.in_(ids)).values(due=later))
            return rows

    def mark_delivered(self, id: str, at: datetime) -> None:
        """Whoever was to be told has said that it heard."""
        tried = OUTBOX.c.attempts + 1
        self._change_message(id, state="delivered", delivered=at.isoformat(), failure=None, attempts=tried)

    def postpone_message(self, id: str, due: datetime, failure: str) -> None:
        """It could not be delivered: to be tried again, unless somebody else has delivered it since."""
        told = {"due": due.isoformat(), "failure": storable_row_text(failure)}
        self._change_message(id, only_pending=True, attempts=OUTBOX.c.attempts + 1, **told)

    def bury_message(self, id: str, failure: str) -> None:
        """It is not tried any more; it is listed, and can be sent again by hand."""
        self._change_message(
            id, only_pending=True, state="dead", attempts=OUTBOX.c.attempts + 1, failure=storable_row_text(failure)
        )

    def replay_messages(self, ids: Sequence[str], now: datetime) -> None:
        """Send messages once more, dead or delivered, under the same key; none of them where one is not known."""
        anew = {"state": "pending", "attempts": 0, "due": now.isoformat(), "delivered": None}
        with self._write() as connection:
            for id in ids:
                self._change_row(connection, id, anew)

    def list_messages(self, *, contest: str | None = None, state: str | None = None, most: int = 1000) -> list[Row]:
        """Messages, the newest first."""
        query = select(OUTBOX).order_by(OUTBOX.c.made.desc(), OUTBOX.c.id.desc()).limit(most)
        query = query if contest is None else query.where(OUTBOX.c.contest == contest)
        query = query if state is None else query.where(OUTBOX.c.state == state)
        with self._read() as connection:
            return list(stream_rows(connection, query))

    def count_messages(self, contest: str) -> dict[str, int]:
        """How many messages of a contest each address has been, or is to be, sent."""
        query = select(OUTBOX.c.target, count().label("messages")).where(OUTBOX.c.contest == contest)
        with self._read() as connection:
            return {row["target"]: row["messages"] for row in stream_rows(connection, query.group_by(OUTBOX.c.target))}

    def _change_message(self, id: str, *, only_pending: bool = False, **values: object) -> None:
        with self._write() as connection:
            self._change_row(connection, id, values, only_pending=only_pending)

    def _change_row(
        self, connection: Connection, id: str, values: Mapping[str, object], *, only_pending: bool = False
    ) -> None:
        meant = (OUTBOX.c.id == id) & (OUTBOX.c.state == "pending") if only_pending else OUTBOX.c.id == id
        if not connection.execute(update(OUTBOX).where(meant).values(**values)).rowcount and not only_pending:
            hint = "evenhand contest messages lists them"
            raise StoreError(Fault(f"no message {id!r} in the outbox", hint, where=self._shown))
