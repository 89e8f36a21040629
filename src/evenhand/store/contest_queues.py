"""What comes for contests, in the order of the store's clock, and what others are to be told, delivered at least
once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, Select, bindparam, case, func, insert, select, update
from sqlalchemy.sql.functions import count

from evenhand.errors import Fault, StoreError
from evenhand.store.database import StoreClock, read_store_moment
from evenhand.store.queries import stream_rows
from evenhand.store.row_types import (
    CHANGED_STORE_HINT,
    parse_stored_object,
    refuse_mistyped_row,
    show_stored_value,
)
from evenhand.store.rows import Row, fit_store_rows, repair_row_texts, storable_row_text
from evenhand.store.tables import CONTESTS, EVENTS, INBOX, OUTBOX

_LEAST_STEP = timedelta(microseconds=1)
_LONGEST_WAIT = timedelta(days=1)  # No message is ever put off for so long.
# No sum that a column cannot hold: what cannot be counted must still be put aside.
_ONE_MORE_TRY = case((OUTBOX.c.attempts < 2**31 - 1, OUTBOX.c.attempts + 1), else_=OUTBOX.c.attempts)
# Built once: that takes longer than SQLite takes to answer them.
_CONTEST = select(CONTESTS).where(CONTESTS.c.id == bindparam("meant"))
_LOCKED_CONTEST = _CONTEST.with_for_update()
_IS_MEANT = CONTESTS.c.id.in_(bindparam("meant", expanding=True))
# In one order for all: who waits for whom is never a circle.
_LOCK_CONTESTS = select(CONTESTS.c.id).where(_IS_MEANT).order_by(CONTESTS.c.id).with_for_update()
_NEWEST = select(func.max(INBOX.c.number)).where(INBOX.c.contest == CONTESTS.c.id).scalar_subquery()
_CONTESTS_WITH_NEWEST = select(CONTESTS, _NEWEST.label("newest")).where(_IS_MEANT)
_NEW_ROWS = select(INBOX).where(INBOX.c.contest == bindparam("meant"), INBOX.c.number >= bindparam("since"))
_NEW_EVENTS = select(EVENTS).where(EVENTS.c.contest == bindparam("meant"), EVENTS.c.number >= bindparam("since"))
_WAKE = update(CONTESTS).where(CONTESTS.c.id == bindparam("meant")).values(wakes=bindparam("due"))
_RECEIVE = insert(INBOX)
_MOVE_MESSAGE = update(OUTBOX).where(OUTBOX.c.id == bindparam("taken")).values(id=bindparam("free"))
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
    happened: datetime | None = None  # The time of the last event.


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredContestNews:
    """A contest at one moment: its row, and the events and rows of the inbox behind a place."""

    at: datetime
    contest: Row
    events: tuple[Row, ...]
    inbox: tuple[Row, ...]

    def read_time_of(self, number: int) -> datetime:
        """The time of what comes now: of the first, the second and so on, each a moment later."""
        return self.at + number * _LEAST_STEP


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestArrivals:
    """What came for one contest. `make_rows` is given what is new since a place, and leaves out what it refuses.

    `refuse` is told instead where what is kept of the contest is damaged: the others are received.
    """

    contest: str
    since: ContestPosition
    make_rows: Callable[[StoredContestNews], Sequence[Row]]
    refuse: Callable[[StoreError], None]


@dataclass(frozen=True, slots=True)
class StoredContestInbox:
    """The inboxes of the contests of a store, reached by `store.inbox`."""

    _read: Callable[[], AbstractContextManager[Connection]]
    _write: Callable[[], AbstractContextManager[Connection]]
    _shown: str
    _clock: StoreClock

    def receive_rows(self, arrivals: Sequence[ContestArrivals]) -> dict[str, list[Row]]:
        """Write down what came, with numbers and times, all in one transaction; by contest, safe when this returns.

        Who receives and who plays take the row of a contest in turn: what a player has not seen is later than what it
        has played up to. A contest that is not there any more is left out.
        """
        meant = {"meant": [one.contest for one in arrivals]}
        with self._write() as connection:
            if connection.dialect.name == "postgresql":  # In SQLite, whoever writes is alone.
                connection.execute(_LOCK_CONTESTS, meant).all()
            now = read_store_moment(connection, self._clock)  # After whatever it waited for.
            contests = {row["id"]: dict(row) for row in connection.execute(_CONTESTS_WITH_NEWEST, meant).mappings()}
            received: dict[str, list[Row]] = {}
            for one in arrivals:
                if one.contest not in contests:
                    continue
                try:
                    news = self._read_contest_news(connection, contests[one.contest], one.since, now)
                except StoreError as error:
                    one.refuse(error)
                    received[one.contest] = []
                else:
                    received[one.contest] = _number_rows(one, news)
            _write_received_rows(connection, received, contests, now)
            return received

    def _read_contest_news(
        self, connection: Connection, contest: Row, since: ContestPosition, now: datetime
    ) -> StoredContestNews:
        """What is new of a contest; refused where any of it is not what was written."""
        name, newest = f"what is kept of contest {contest['id']} beside its log", contest["newest"]
        refuse_mistyped_row(CONTESTS, contest, name, self._shown)
        has_news = newest is not None and (not isinstance(newest, int) or newest >= since.inbox)
        inbox = tuple(self._stream_inbox_rows(connection, contest["id"], since.inbox)) if has_news else ()
        events = _list_new_event_rows(connection, contest, since)
        for event in events:
            name = f"event {show_stored_value(event['number'])} of contest {contest['id']}"
            refuse_mistyped_row(EVENTS, event, name, self._shown)
        at = _choose_next_row_time(now, since, events, inbox)
        return StoredContestNews(at=at, contest=contest, events=events, inbox=inbox)

    def _stream_inbox_rows(self, connection: Connection, contest: str, since: int = 0) -> Iterator[Row]:
        """What came, in its order; refused where a row is not what was written."""
        for row in map(dict, connection.execute(_ROWS_SINCE, {"meant": contest, "since": since}).mappings()):
            name = f"row {show_stored_value(row['number'])} of what came for contest {contest}"
            refuse_mistyped_row(INBOX, row, name, self._shown)
            if not _is_inbox_content(row["kind"], parse_stored_object(row["content"]) or {}):
                what = f"{name} was changed: content is not what it was"
                raise StoreError(Fault(what, CHANGED_STORE_HINT, where=self._shown))
            yield row

    def take_stock(self, contest: str) -> ReceivedContestRows:
        """What has come so far, and the moment up to which that is all."""
        with self._write() as connection:
            _, now = self._lock_contest(connection, contest)
            rows = tuple(self._stream_inbox_rows(connection, contest))
            times = [now - _LEAST_STEP, *(datetime.fromisoformat(row["at"]) for row in rows[-1:])]
            return ReceivedContestRows(rows=rows, until=max(times))

    def read_news(self, contest: str, since: ContestPosition) -> StoredContestNews:
        """What is new since a place."""
        with self._read() as connection:
            row = self._find_contest(connection, _CONTEST, contest)
            inbox = tuple(self._stream_inbox_rows(connection, contest, since.inbox))
            events = _list_new_event_rows(connection, row, since)
            return StoredContestNews(at=self._clock(), contest=row, events=events, inbox=inbox)

    def list_rows(self, contest: str) -> list[Row]:
        """All that has come for a contest."""
        with self._read() as connection:
            return list(self._stream_inbox_rows(connection, contest))

    def _lock_contest(self, connection: Connection, contest: str) -> tuple[Row, datetime]:
        """Wait for whoever else receives or plays; the contest and the time after that, by the clock of the store."""
        row = self._find_contest(connection, _LOCKED_CONTEST, contest)
        return row, read_store_moment(connection, self._clock)

    def _find_contest(self, connection: Connection, query: Select[Any], contest: str) -> Row:
        row = connection.execute(query, {"meant": contest}).mappings().first()
        if row is None:
            raise StoreError(Fault(f"no contest {contest!r}", where=self._shown))
        return dict(row)


def _choose_next_row_time(
    now: datetime, since: ContestPosition, events: Sequence[Row], inbox: Sequence[Row]
) -> datetime:
    """The time of what comes now: after all that came, and not before what has happened, whatever the clock says."""
    came = datetime.fromisoformat(inbox[-1]["at"]) if inbox else since.last
    happened = datetime.fromisoformat(events[-1]["at"]) if events else since.happened
    return max(filter(None, (now, came and came + _LEAST_STEP, happened)))


def _number_rows(arrivals: ContestArrivals, news: StoredContestNews) -> list[Row]:
    """The rows of what came as they are stored, behind those that are there."""
    first = arrivals.since.inbox + len(news.inbox)
    rows = [
        {**row, "contest": arrivals.contest, "number": first + number, "at": news.read_time_of(number).isoformat()}
        for number, row in enumerate(arrivals.make_rows(news))
    ]
    return [repair_row_texts(one) for one in fit_store_rows(INBOX, rows)]


def _write_received_rows(
    connection: Connection, received: Mapping[str, Sequence[Row]], contests: Mapping[str, Row], now: datetime
) -> None:
    """The new rows, and that their contests are due from now on, where they are not already."""
    if rows := [row for several in received.values() for row in several]:
        connection.execute(_RECEIVE, rows)
    if woken := [id for id, rows in received.items() if rows and not _is_row_due(contests[id], now)]:
        connection.execute(_WAKE, [{"meant": id, "due": now.isoformat()} for id in woken])


def _is_row_due(contest: Row, now: datetime) -> bool:
    """Whether it is found by whoever looks for what is to be played."""
    return contest["wakes"] is not None and datetime.fromisoformat(contest["wakes"]) <= now


def _is_inbox_content(kind: str, content: Mapping[str, object]) -> bool:
    """Whether it has the texts that something of its kind was received with."""
    if kind == "challenge":
        return isinstance(content.get("reason"), str)
    optional = (content.get(name) for name in ("revises", "notify"))
    return isinstance(content.get("text"), str) and all(one is None or isinstance(one, str) for one in optional)


def _list_new_event_rows(connection: Connection, contest: Row, since: ContestPosition) -> tuple[Row, ...]:
    if contest["seal"] == since.seal:
        return ()
    found = connection.execute(_EVENTS_SINCE, {"meant": contest["id"], "since": since.events})
    return tuple(map(dict, found.mappings()))


def put_messages_into_outbox(connection: Connection, contest: str, messages: Sequence[Mapping[str, object]]) -> None:
    """Write the messages of a contest, in the transaction of the event that they tell of.

    No row that is there keeps an event from being written: what has the id of one of them, for it was changed by
    something else, gives way under another.
    """
    if messages:
        rows = fit_store_rows(OUTBOX, [{**one, "contest": contest} for one in messages])
        connection.execute(_MOVE_MESSAGE, [{"taken": row["id"], "free": f"{row['id']}-{uuid4().hex}"} for row in rows])
        connection.execute(insert(OUTBOX), [repair_row_texts(one) for one in rows])


@dataclass(frozen=True, slots=True)
class StoredOutbox:
    """The messages of a store, reached by `store.outbox`."""

    _read: Callable[[], AbstractContextManager[Connection]]
    _write: Callable[[], AbstractContextManager[Connection]]
    _shown: str

    def claim_due_messages(self, now: datetime, *, most: int, lease: timedelta) -> list[Row]:
        """Messages to be sent now; nobody else is given them before the lease is over.

        What is due later than anything was ever put off to (a clock had jumped, or it is no time at all) is due now.
        """
        due, last = OUTBOX.c.due, (now + _LONGEST_WAIT).isoformat()
        query = select(OUTBOX).where(OUTBOX.c.state == "pending", (due <= now.isoformat()) | (due > last))
        query = query.order_by(OUTBOX.c.due, OUTBOX.c.id).limit(most)
        with self._write() as connection:
            rows = list(stream_rows(connection, query.with_for_update(skip_locked=True)))
            ids = [row["id"] for row in rows]
            later = (now + lease).isoformat()
            connection.execute(update(OUTBOX).where(OUTBOX.c.id.in_(ids)).values(due=later))
            return rows

    def mark_delivered(self, id: str, at: datetime) -> None:
        """Whoever was to be told has said that it heard."""
        self._change_message(id, state="delivered", delivered=at.isoformat(), failure=None, attempts=_ONE_MORE_TRY)

    def postpone_message(self, id: str, due: datetime, failure: str) -> None:
        """It could not be delivered: to be tried again, unless somebody else has delivered it since."""
        told = {"due": due.isoformat(), "failure": storable_row_text(failure)}
        self._change_message(id, only_pending=True, attempts=_ONE_MORE_TRY, **told)

    def bury_message(self, id: str, failure: str) -> None:
        """It is not tried any more; it is listed, and can be sent again by hand."""
        self._change_message(
            id, only_pending=True, state="dead", attempts=_ONE_MORE_TRY, failure=storable_row_text(failure)
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
