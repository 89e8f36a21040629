"""Contests in the store: one row each, and a log of events that only grows, one number after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from evenhand.errors import Fault, StoreError
from evenhand.runs.store._holding import at_work, hold, let_go, moment
from evenhand.runs.store._migrate import NO_CONTESTS
from evenhand.runs.store._reading import CONTEST, newest_first, one_of, stream
from evenhand.runs.store._rows import Row, fit, repaired
from evenhand.runs.store._tables import CONTESTS, EVENTS

Transaction = Callable[[], AbstractContextManager[Connection]]


class Contests:
    """The contests of a store, reached by `store.contests`. Every failure is a StoreError that names the store."""

    def __init__(self, read: Transaction, write: Transaction, shown: str) -> None:
        self._read = read
        self._write = write
        self._shown = shown

    def begin(self, contest: Mapping[str, object], *, now: datetime | None = None) -> None:
        """Write down a new contest."""
        rows = fit(CONTESTS, [{**contest, "touched": _time(now)}])
        with self._write() as connection:
            try:
                connection.execute(insert(CONTESTS), rows)
            except IntegrityError:
                what = f"there is a contest {contest.get('id')!r} already"
                raise StoreError(Fault(what, where=self._shown)) from None

    def append(
        self, contest: str, number: int, at: str, content: str, calls: str, *, now: datetime | None = None
    ) -> None:
        """Write the next event, safe when this returns; refused if it is not the next one: another process was faster.

        `at` is the time of the contest; `now`, the time of the clock, is kept as the sign that its process lives.
        """
        row = {"contest": contest, "number": number, "at": at, "content": content, "calls": calls}
        with self._write() as connection:
            self._touch(connection, contest, now)  # First: whoever else appends waits here, and then sees this event.
            newest = connection.execute(select(func.max(EVENTS.c.number)).where(EVENTS.c.contest == contest)).scalar()
            due = 0 if newest is None else newest + 1
            if number != due:
                what = f"another process has gone on with contest {contest}: its next event is {due}, not {number}"
                raise StoreError(Fault(what, f"evenhand contest show {contest} shows how far it is", where=self._shown))
            connection.execute(insert(EVENTS), [repaired(one) for one in fit(EVENTS, [row])])

    def events(self, contest: str, *, calls: bool = False) -> Iterator[Row]:
        """The events of a contest by number; the calls to judges behind them only where they are asked for."""
        columns = [column for column in EVENTS.columns if calls or column is not EVENTS.c.calls]
        with self._read() as connection:
            yield from stream(connection, select(*columns).where(EVENTS.c.contest == contest).order_by(EVENTS.c.number))

    def one(self, id: str) -> Row:
        """The contest of an id, of the beginning of one, of "latest" or of "latest:NAME"."""
        with self._read() as connection:
            return self._one(connection, id)

    def all(self, name: str | None = None) -> list[Row]:
        """All contests, or those of one task, newest first."""
        with self._read() as connection:
            return newest_first(connection, CONTEST, name)

    def take(self, id: str, holder: str, *, now: datetime | None = None) -> None:
        """Hold a contest and set it running; refused while another process works on it."""
        with self._write() as connection:
            hold(connection, CONTEST, id, holder, lambda contest: self.held(contest, now=now), self._shown)
            self._touch(connection, id, now)

    def release(self, id: str, state: str, ended: str, summary: str | None, *, holder: str | None = None) -> None:
        """Let go of a contest: stopped or finished, with its summary as JSON.

        With `holder`, only if that process still holds it: whoever was overtaken leaves the other's state alone.
        """
        with self._write() as connection:
            if holder is None or self._holder(connection, id) == holder:
                let_go(connection, CONTEST, id, state, ended, summary)

    def held(self, contest: Mapping[str, Any], *, now: datetime | None = None) -> bool:
        """Whether a process that may still live works on a contest; one that says running and is not was killed."""
        return at_work(contest, now or datetime.now(UTC), lambda: moment(contest["touched"]))

    def delete(self, id: str, *, now: datetime | None = None) -> None:
        """Remove a contest with its events, unless a process works on it."""
        with self._write() as connection:
            contest = self._one(connection, id)
            if self.held(contest, now=now):
                what = f"a process is at work on contest {contest['id']}"
                raise StoreError(Fault(what, f"stop it first ({contest['holder']})", where=self._shown))
            connection.execute(delete(CONTESTS).where(CONTESTS.c.id == contest["id"]))

    def _one(self, connection: Connection, id: str) -> Row:
        if connection.execute(select(CONTESTS.c.id).limit(1)).first() is None:
            raise StoreError(Fault(NO_CONTESTS, where=self._shown))
        return one_of(connection, CONTEST, id, self._shown)

    def _holder(self, connection: Connection, id: str) -> str | None:
        query = select(CONTESTS.c.holder).where(CONTESTS.c.id == id).with_for_update()
        return connection.execute(query).scalar()

    def _touch(self, connection: Connection, id: str, now: datetime | None) -> None:
        """Note that the process at work on a contest lives; nobody else changes it until the transaction is over."""
        done = connection.execute(update(CONTESTS).where(CONTESTS.c.id == id).values(touched=_time(now)))
        if not done.rowcount:
            raise StoreError(Fault(f"no contest {id!r}", where=self._shown))


def _time(now: datetime | None) -> str:
    return (now or datetime.now(UTC)).isoformat(timespec="milliseconds")
