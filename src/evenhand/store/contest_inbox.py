"""What comes for a contest that a service plays: received in order, by the store's clock, whatever races."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from evenhand.errors import Fault, StoreError
from evenhand.store.database import StoreClock, read_store_moment
from evenhand.store.queries import stream_rows
from evenhand.store.rows import Row, fit_store_rows, repair_row_texts
from evenhand.store.tables import CONTESTS, INBOX

_LEAST_STEP = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedContestRows:
    """All that had come for a contest at one moment: whatever comes later has a later time."""

    rows: tuple[Row, ...]
    until: datetime


@dataclass(frozen=True, slots=True)
class ContestInbox:
    """The inboxes of the contests of a store, reached by `store.inbox`."""

    _read: Callable[[], AbstractContextManager[Connection]]
    _write: Callable[[], AbstractContextManager[Connection]]
    _shown: str
    _clock: StoreClock

    def receive_row(self, contest: str, make_row: Callable[[datetime, list[Row]], Row]) -> Row:
        """Write down what came, with its number and time; safe when this returns.

        `make_row` is given the time and what came before, and may refuse by raising. Who receives and who plays take
        the row of the contest in turn: what a player has not seen is later than what it has played up to.
        """
        with self._write() as connection:
            now = self._lock_contest(connection, contest)
            before = list(_stream_inbox(connection, contest))
            last = datetime.fromisoformat(before[-1]["at"]) if before else now
            at = max(now, last + _LEAST_STEP) if before else now
            row = {**make_row(at, before), "contest": contest, "number": len(before), "at": at.isoformat()}
            [fitted] = [repair_row_texts(one) for one in fit_store_rows(INBOX, [row])]
            try:
                connection.execute(insert(INBOX), [fitted])
            except IntegrityError:
                what, hint = f"there is a {row['kind']} {row['id']!r} already", "give it an id of its own"
                raise StoreError(Fault(what, hint, where=self._shown)) from None
            wake = update(CONTESTS).where(CONTESTS.c.id == contest).values(wakes=now.isoformat())
            connection.execute(wake)
            return fitted

    def take_stock(self, contest: str) -> ReceivedContestRows:
        """What has come so far, and the moment up to which that is all."""
        with self._write() as connection:
            now = self._lock_contest(connection, contest)
            rows = tuple(_stream_inbox(connection, contest))
            times = [now - _LEAST_STEP, *(datetime.fromisoformat(row["at"]) for row in rows[-1:])]
            return ReceivedContestRows(rows=rows, until=max(times))

    def list_rows(self, contest: str) -> list[Row]:
        """All that has come for a contest."""
        with self._read() as connection:
            return list(_stream_inbox(connection, contest))

    def _lock_contest(self, connection: Connection, contest: str) -> datetime:
        """Wait for whoever else receives or plays; the time after that, by the clock of the store."""
        query = select(CONTESTS.c.id).where(CONTESTS.c.id == contest).with_for_update()
        if connection.execute(query).first() is None:
            raise StoreError(Fault(f"no contest {contest!r}", where=self._shown))
        return read_store_moment(connection, self._clock)


def _stream_inbox(connection: Connection, contest: str) -> Iterator[Row]:
    return stream_rows(connection, select(INBOX).where(INBOX.c.contest == contest).order_by(INBOX.c.number))
