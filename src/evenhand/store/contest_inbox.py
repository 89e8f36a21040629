"""What comes for a contest that a service plays: received in order, by the store's clock, whatever races."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from evenhand.errors import Fault, StoreError
from evenhand.store.database import StoreClock, read_store_moment
from evenhand.store.rows import Row, fit_store_rows, repair_row_texts
from evenhand.store.tables import CONTESTS, EVENTS, INBOX

_LEAST_STEP = timedelta(microseconds=1)
# Built once: that takes longer than SQLite takes to answer them.
_CONTEST = select(CONTESTS).where(CONTESTS.c.id == bindparam("meant"))
_LOCKED_CONTEST = _CONTEST.with_for_update()
_NEW_ROWS = select(INBOX).where(INBOX.c.contest == bindparam("meant"), INBOX.c.number >= bindparam("since"))
_NEW_EVENTS = select(EVENTS).where(EVENTS.c.contest == bindparam("meant"), EVENTS.c.number >= bindparam("since"))
_WAKE = update(CONTESTS).where(CONTESTS.c.id == bindparam("meant")).values(wakes=bindparam("due"))
_RECEIVE = insert(INBOX)
_ROWS_SINCE, _EVENTS_SINCE = _NEW_ROWS.order_by(INBOX.c.number), _NEW_EVENTS.order_by(EVENTS.c.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedContestRows:
    """All that had come for a contest at one moment: whatever comes later has a later time."""

    rows: tuple[Row, ...]
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestPosition:
    """How far somebody has followed a contest: what lies before it is not read again."""

    seal: str = ""  # Of its row: it changes with every event.
    events: int = 0
    inbox: int = 0
    last: datetime | None = None  # When the last row of the inbox came.


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestNews:
    """A contest at one moment: its row, and the events and rows of the inbox behind a place."""

    at: datetime
    contest: Row
    events: tuple[Row, ...]
    inbox: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class ContestInbox:
    """The inboxes of the contests of a store, reached by `store.inbox`."""

    _read: Callable[[], AbstractContextManager[Connection]]
    _write: Callable[[], AbstractContextManager[Connection]]
    _shown: str
    _clock: StoreClock

    def receive_row(self, contest: str, make_row: Callable[[ContestNews], Row], since: ContestPosition) -> Row:
        """Write down what came, with its number and time; safe when this returns.

        `make_row` is given the time and what is new since a place, and may refuse by raising. Who receives and who
        plays take the row of the contest in turn: what a player has not seen is later than what it has played up to.
        """
        with self._write() as connection:
            held, now = self._lock_contest(connection, contest)
            inbox = tuple(_stream_inbox(connection, contest, since.inbox))
            last = datetime.fromisoformat(inbox[-1]["at"]) if inbox else since.last
            at = now if last is None else max(now, last + _LEAST_STEP)
            news = ContestNews(at=at, contest=held, events=_list_new_events(connection, held, since), inbox=inbox)
            number = since.inbox + len(inbox)
            row = {**make_row(news), "contest": contest, "number": number, "at": at.isoformat()}
            [fitted] = [repair_row_texts(one) for one in fit_store_rows(INBOX, [row])]
            try:
                connection.execute(_RECEIVE, [fitted])
            except IntegrityError:
                what, hint = f"there is a {row['kind']} {row['id']!r} already", "give it an id of its own"
                raise StoreError(Fault(what, hint, where=self._shown)) from None
            connection.execute(_WAKE, {"meant": contest, "due": now.isoformat()})
            return fitted

    def take_stock(self, contest: str) -> ReceivedContestRows:
        """What has come so far, and the moment up to which that is all."""
        with self._write() as connection:
            _, now = self._lock_contest(connection, contest)
            rows = tuple(_stream_inbox(connection, contest))
            times = [now - _LEAST_STEP, *(datetime.fromisoformat(row["at"]) for row in rows[-1:])]
            return ReceivedContestRows(rows=rows, until=max(times))

    def read_news(self, contest: str, since: ContestPosition) -> ContestNews:
        """What is new since a place."""
        with self._read() as connection:
            row = self._find_contest(connection, _CONTEST, contest)
            inbox = tuple(_stream_inbox(connection, contest, since.inbox))
            events = _list_new_events(connection, row, since)
            return ContestNews(at=self._clock(), contest=row, events=events, inbox=inbox)

    def list_rows(self, contest: str) -> list[Row]:
        """All that has come for a contest."""
        with self._read() as connection:
            return list(_stream_inbox(connection, contest))

    def _lock_contest(self, connection: Connection, contest: str) -> tuple[Row, datetime]:
        """Wait for whoever else receives or plays; the contest and the time after that, by the clock of the store."""
        row = self._find_contest(connection, _LOCKED_CONTEST, contest)
        return row, read_store_moment(connection, self._clock)

    def _find_contest(self, connection: Connection, query: Select[Any], contest: str) -> Row:
        row = connection.execute(query, {"meant": contest}).mappings().first()
        if row is None:
            raise StoreError(Fault(f"no contest {contest!r}", where=self._shown))
        return dict(row)


def _stream_inbox(connection: Connection, contest: str, since: int = 0) -> Iterator[Row]:
    return map(dict, connection.execute(_ROWS_SINCE, {"meant": contest, "since": since}).mappings())


def _list_new_events(connection: Connection, contest: Row, since: ContestPosition) -> tuple[Row, ...]:
    if contest["seal"] == since.seal:
        return ()
    found = connection.execute(_EVENTS_SINCE, {"meant": contest["id"], "since": since.events})
    return tuple(map(dict, found.mappings()))
