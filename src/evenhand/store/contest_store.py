"""Contests in the store: one per task, and a log of events that only grows, each chained to the one before by hash."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from evenhand.errors import Fault, StoreError
from evenhand.store.contest_queues import put_messages_into_outbox
from evenhand.store.contest_seals import (
    hash_stored_contest_event,
    is_contest_sealed,
    list_damaged_contest_rows,
    list_orphaned_contest_logs,
    refuse_damaged_contest_of_task,
    seal_contest_row,
)
from evenhand.store.database import NO_CONTESTS, StoreClock, read_store_moment
from evenhand.store.lost_writes import look_for_lost_write, may_be_written
from evenhand.store.queries import (
    CONTEST_KIND,
    fetch_first_row,
    find_row_by_id,
    parse_stored_time,
    stream_rows,
)
from evenhand.store.row_types import CHANGED_STORE_HINT, find_mistyped_column, refuse_mistyped_row, show_stored_value
from evenhand.store.rows import Row, fit_store_rows, repair_row_texts, storable_row_text
from evenhand.store.run_holds import hold_stored_row, is_lock_holder_alive, release_stored_row
from evenhand.store.tables import CONTESTS, EVENTS, INBOX, RECEIPTS


@dataclass(frozen=True, slots=True)
class ContestStore:
    """The contests of a store, reached by `store.contests`. Every failure is a StoreError that names the store."""

    _read: Callable[[], AbstractContextManager[Connection]]
    _write: Callable[[], AbstractContextManager[Connection]]
    _shown: str
    _clock: StoreClock

    def begin_contest(
        self,
        contest: Mapping[str, object],
        *,
        now: datetime | None = None,
        first: Mapping[str, Any] | None = None,
        messages: Sequence[Mapping[str, object]] = (),
    ) -> None:
        """Write down a new contest; refused where its id or its key is taken, whoever else begins one now, and where a
        damaged one may be that of its task.

        With its `first` event, and what that tells others: all of it is written or nothing.
        """
        try:
            with self._write() as connection:
                [row] = fit_store_rows(CONTESTS, [{**contest, "touched": self._read_moment(connection, now)}])
                if row["key"] is not None:
                    refuse_damaged_contest_of_task(connection, row["key"], self._shown)
                self._insert_contest(connection, row)
                if first is not None:
                    self._insert_event(connection, first, messages)
        except StoreError as error:
            if not may_be_written(error) or not self._is_contest_begun(str(contest["id"]), error):
                raise

    def _insert_contest(self, connection: Connection, row: Row) -> None:
        try:
            connection.execute(insert(CONTESTS), [{**row, "seal": seal_contest_row("", row)}])
        except IntegrityError as error:
            of_task = any(name in str(error.orig) for name in ("contests.key", "ix_contests_key"))
            what = f"there is a contest {'of this task' if of_task else repr(row['id'])} already"
            hint = "another process has just begun it: the same command again goes on with it" if of_task else ""
            raise StoreError(Fault(what, hint, where=self._shown)) from None

    def _is_contest_begun(self, id: str, lost: StoreError) -> bool:
        """Whether a contest is there although its writer was cut off; nobody else has its id."""
        query = select(CONTESTS.c.id).where(CONTESTS.c.id == id)
        what = f"whether contest {id} was begun is not known ({lost.faults[0].what})"
        unknown = Fault(what, "when it can be reached, see evenhand contest list", where=self._shown)
        return look_for_lost_write(self._write, lambda one: one.execute(query).first() is not None, lost, unknown)

    def append_event(
        self,
        event: Mapping[str, Any],
        *,
        holder: str | None = None,
        now: datetime | None = None,
        longest_gap: timedelta | None = None,
        messages: Sequence[Mapping[str, object]] = (),
    ) -> None:
        """Write the next event, safe when this returns; refused if it is not the next one: another process was faster.

        It has its contest, number, time (`at`, that of the contest), content and calls. `now`, the time of the clock,
        is kept as the sign that its process lives. With `holder`, it is refused too where another process has taken the
        contest over, and with `longest_gap` where the clock has jumped since the last sign. `messages` say to others
        what it means: rows of the outbox, written with it or not at all.
        """
        contest, number = event["contest"], event["number"]
        try:
            with self._write() as connection:
                # First: whoever else appends waits here, and then sees this event.
                self._touch_contest_row(connection, contest, now, longest_gap)
                self._refuse_stale_write(connection, contest, number, holder)
                self._refuse_changed_row(connection, contest)
                self._insert_event(connection, event, messages)
        except StoreError as error:
            if not may_be_written(error) or not self._is_event_kept(event, holder, error):
                raise

    def _is_event_kept(self, event: Mapping[str, Any], holder: str | None, lost: StoreError) -> bool:
        """Whether an event is there although its writer was cut off: perhaps only the answer of the server was lost."""
        contest, number = event["contest"], event["number"]
        [own] = [repair_row_texts(one) for one in fit_store_rows(EVENTS, [event])]

        def look(connection: Connection) -> bool:
            # The server may still be at it: until then it keeps the row.
            row = fetch_first_row(connection, select(CONTESTS).where(CONTESTS.c.id == contest).with_for_update())
            found = select(EVENTS).where(EVENTS.c.contest == contest, EVENTS.c.number == number)
            kept = fetch_first_row(connection, found)
            is_ours = row is not None and holder in (None, row["holder"])
            return is_ours and kept is not None and all(kept[name] == own[name] for name in ("at", "content", "calls"))

        what = f"whether event {number} of contest {contest} was written is not known ({lost.faults[0].what})"
        hint = (
            f"when it can be reached, see evenhand contest show {contest}: "
            "a payment released there that no call reported with exit code 0 was released by this one"
        )
        return look_for_lost_write(self._write, look, lost, Fault(what, hint, where=self._shown))

    def stream_events(self, contest: str, *, calls: bool = False) -> Iterator[Row]:
        """The events of a contest by number; the calls to judges behind them only where they are asked for."""
        left_out = ("hash",) if calls else ("calls", "hash")
        columns = [column for column in EVENTS.columns if column.name not in left_out]
        query = select(*columns).where(EVENTS.c.contest == contest).order_by(EVENTS.c.number)
        with self._read() as connection:
            yield from stream_rows(connection, query)

    def load_log(self, id: str) -> tuple[Row, list[Row]]:
        """A contest and its events with all that is kept of them, as they stood at one moment, to be verified."""
        with self._read() as connection:
            row = self._find_contest_row(connection, id)
            query = select(EVENTS).where(EVENTS.c.contest == row["id"]).order_by(EVENTS.c.number)
            return row, list(stream_rows(connection, query))

    def list_damaged(self) -> set[object]:
        """The ids of contests whose row was changed, or does not fit the end of their log."""
        with self._read() as connection:
            return list_damaged_contest_rows(connection)

    def list_orphaned_logs(self) -> list[Row]:
        """The id and the task (`name`) of each log whose row is gone, as far as it says them."""
        with self._read() as connection:
            return list_orphaned_contest_logs(connection)

    def find_contest(self, id: str) -> Row:
        """The contest of an id, of the beginning of one, of "latest" or of "latest:NAME"."""
        with self._read() as connection:
            return self._find_contest_row(connection, id)

    def find_contest_by_key(self, key: str) -> Row | None:
        """The one contest of a task; None where none has begun."""
        with self._read() as connection:
            row = fetch_first_row(connection, select(CONTESTS).where(CONTESTS.c.key == storable_row_text(key)))
            return None if row is None else self._refuse_mistyped_row(row)

    def refuse_damaged_task(self, key: str) -> None:
        """Refuse to begin the contest of a task while a damaged one may be it: it may have been paid."""
        with self._read() as connection:
            refuse_damaged_contest_of_task(connection, key, self._shown)

    def list_contests(self, name: str | None = None) -> list[Row]:
        """All contests, or those of one task, newest first."""
        query = select(CONTESTS).order_by(CONTESTS.c.id.desc())
        if name is not None:
            query = query.where(CONTESTS.c.name == storable_row_text(name))
        with self._read() as connection:
            return list(stream_rows(connection, query))

    def hold_contest(
        self,
        id: str,
        holder: str,
        *,
        seen: int | None = None,
        now: datetime | None = None,
        longest_gap: timedelta | None = None,
    ) -> None:
        """Hold a contest and set it running; refused while another process works on it.

        With `seen`, it is refused too if the log has another number of events by now, and with `longest_gap` where the
        clock has jumped since the last sign.
        """
        with self._write() as connection:
            held = partial(self._is_row_held, connection, now)
            self._refuse_changed_row(connection, id)
            hold_stored_row(connection, CONTEST_KIND, id, holder, held, self._shown)
            if seen is not None:
                self._refuse_stale_write(connection, id, seen)
            self._touch_contest_row(connection, id, now, longest_gap)
            # Whoever holds it may die: until it is let go, it is due, and a hold that went stale is found.
            due = update(CONTESTS).where(CONTESTS.c.id == id, CONTESTS.c.hooks.is_not(None))
            connection.execute(due.values(wakes=self._read_moment(connection, now)))
            self._seal_contest(connection, id)

    def beat_contest(
        self, id: str, holder: str, *, now: datetime | None = None, longest_gap: timedelta | None = None
    ) -> None:
        """A sign that the player of a contest lives; none is given by a clock that has jumped since the last one."""
        with self._write() as connection:
            if connection.execute(select(CONTESTS.c.holder).where(CONTESTS.c.id == id)).scalar() == holder:
                self._touch_contest_row(connection, id, now, longest_gap)

    def settle_wake(self, id: str, wakes: datetime | None, *, seen: int) -> None:
        """Say when something is due next of a contest that was let go.

        Where more has come than was seen, or another holds it by now, that is now, and stays so.
        """
        value = None if wakes is None else wakes.astimezone(UTC).isoformat()
        held = select(CONTESTS.c.holder).where(CONTESTS.c.id == id).with_for_update()
        came = select(func.count()).where(INBOX.c.contest == id)
        with self._write() as connection:
            # First whoever receives is waited for: PostgreSQL would count what had come before that.
            holder = connection.execute(held).scalar()
            if holder is None and connection.execute(came).scalar() == seen:
                connection.execute(update(CONTESTS).where(CONTESTS.c.id == id).values(wakes=value))

    def list_waking(self, now: str) -> list[str]:
        """The contests of a service in which something is due and that nobody plays, the longest waiting first."""
        of_service = CONTESTS.c.hooks.is_not(None)
        query = select(CONTESTS).where(CONTESTS.c.wakes <= now, of_service).order_by(CONTESTS.c.wakes)
        with self._read() as connection:
            rows = [row for row in stream_rows(connection, query) if find_mistyped_column(CONTESTS, row) is None]
            return [row["id"] for row in rows if not self._is_row_held(connection, None, row)]

    def release_contest(
        self,
        id: str,
        state: str,
        ended: str,
        summary: str | None,
        *,
        holder: str | None = None,
        seen: int | None = None,
    ) -> None:
        """Let go of a contest: stopped or finished, with its summary as JSON.

        With `holder`, only if that process still holds it, and with `seen` only if the log has that many events:
        whoever was overtaken leaves the other's state alone.
        """
        with self._write() as connection:
            query = select(CONTESTS.c.holder).where(CONTESTS.c.id == id).with_for_update()
            if holder is not None and connection.execute(query).scalar() != holder:
                return
            if seen is not None and self._count_events(connection, id) != seen:
                return
            self._refuse_changed_row(connection, id)
            release_stored_row(connection, CONTEST_KIND, id, state, ended, summary)
            self._seal_contest(connection, id)

    def is_contest_held(self, contest: Mapping[str, Any], *, now: datetime | None = None) -> bool:
        """Whether a process that may still live works on a contest; one that says running and is not was killed."""
        with self._read() as connection:
            return self._is_row_held(connection, now, contest)

    def _is_row_held(self, connection: Connection, now: datetime | None, contest: Mapping[str, Any]) -> bool:
        def measure_silence_of_contest_row() -> float:
            at = now or read_store_moment(connection, self._clock)
            return (at - parse_stored_time(contest["touched"])).total_seconds()

        return is_lock_holder_alive(contest, measure_silence_of_contest_row)

    def delete_contest(self, id: str, *, now: datetime | None = None) -> None:
        """Remove a contest with its events, unless a process works on it."""
        with self._write() as connection:
            contest = self._find_contest_row(connection, id)
            if self._is_row_held(connection, now, contest):
                what = f"a process is at work on contest {contest['id']}"
                raise StoreError(Fault(what, f"stop it first ({contest['holder']})", where=self._shown))
            connection.execute(delete(CONTESTS).where(CONTESTS.c.id == contest["id"]))
            connection.execute(delete(RECEIPTS).where(RECEIPTS.c.key == contest["key"]))

    def list_receipts(self, key: str) -> list[Row]:
        """What was received for a task: file, digest and time of each."""
        query = select(RECEIPTS).where(RECEIPTS.c.key == storable_row_text(key)).order_by(RECEIPTS.c.file)
        with self._read() as connection:
            rows = list(stream_rows(connection, query))
        for row in rows:
            name = f"the receipt of {show_stored_value(row['file'])!r} for the task {key}"
            refuse_mistyped_row(RECEIPTS, row, name, self._shown)
        return rows

    def add_receipts(self, key: str, receipts: Sequence[Mapping[str, object]]) -> None:
        """Write down what was received; what has a receipt keeps it."""
        rows = [repair_row_texts(one) for one in fit_store_rows(RECEIPTS, [{**one, "key": key} for one in receipts])]
        with self._write() as connection:
            add = (postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert)(RECEIPTS)
            if rows:
                connection.execute(add.on_conflict_do_nothing(), rows)

    def _insert_event(
        self, connection: Connection, event: Mapping[str, Any], messages: Sequence[Mapping[str, object]]
    ) -> None:
        """Chain an event to the log, seal the contest, and put what it tells others into the outbox."""
        contest, fitted = event["contest"], repair_row_texts(fit_store_rows(EVENTS, [event])[0])
        fitted["hash"] = hash_stored_contest_event(self._read_head(connection, contest), fitted)
        connection.execute(insert(EVENTS), [fitted])
        if self._count_events(connection, contest) <= fitted["number"]:  # A trigger may swallow it.
            raise StoreError(Fault(f"an event of contest {contest} was not stored", where=self._shown))
        self._seal_contest(connection, contest)
        put_messages_into_outbox(connection, contest, messages)

    def _find_contest_row(self, connection: Connection, id: str) -> Row:
        if connection.execute(select(CONTESTS.c.id).limit(1)).first() is None:
            raise StoreError(Fault(NO_CONTESTS, where=self._shown))
        return self._refuse_mistyped_row(find_row_by_id(connection, CONTEST_KIND, id, self._shown))

    def _refuse_mistyped_row(self, row: Row) -> Row:
        """A row that was read, refused where a column holds what is never written there."""
        refuse_mistyped_row(CONTESTS, row, f"what is kept of contest {row['id']} beside its log", self._shown)
        return row

    def _refuse_stale_write(self, connection: Connection, id: str, seen: int, holder: str | None = None) -> None:
        """Refuse what was decided on a log that has grown since, or by a process that was taken over."""
        due = self._count_events(connection, id)
        hint = f"evenhand contest show {id} shows how far it is"
        if seen != due:
            what = f"another process has gone on with contest {id}: its next event is {due}, not {seen}"
            raise StoreError(Fault(what, hint, where=self._shown))
        if holder is not None:
            now = connection.execute(select(CONTESTS.c.holder).where(CONTESTS.c.id == id)).scalar()
            if now != holder:
                what = f"another process has taken over contest {id} ({now or 'and has let it go'})"
                raise StoreError(Fault(what, hint, where=self._shown))

    def _count_events(self, connection: Connection, id: str) -> int:
        return int(connection.scalar(select(func.max(EVENTS.c.number) + 1).where(EVENTS.c.contest == id)) or 0)

    def _read_head(self, connection: Connection, id: str) -> str:
        """The hash of the last event."""
        query = select(EVENTS.c.hash).where(EVENTS.c.contest == id).order_by(EVENTS.c.number.desc()).limit(1)
        return connection.execute(query).scalar() or ""

    def _seal_contest(self, connection: Connection, id: str) -> None:
        row = fetch_first_row(connection, select(CONTESTS).where(CONTESTS.c.id == id))
        if row is not None:
            seal = seal_contest_row(self._read_head(connection, id), row)
            connection.execute(update(CONTESTS).where(CONTESTS.c.id == id).values(seal=seal))

    def _refuse_changed_row(self, connection: Connection, id: str) -> None:
        """What was changed by something else is not sealed as if it had been written here."""
        row = fetch_first_row(connection, select(CONTESTS).where(CONTESTS.c.id == id).with_for_update())
        if row is not None and not is_contest_sealed(row, self._read_head(connection, id)):
            what = f"what is kept of contest {id} beside its log was changed, or events at its end are missing"
            raise StoreError(Fault(what, CHANGED_STORE_HINT, where=self._shown))

    def _touch_contest_row(
        self, connection: Connection, id: str, now: datetime | None, longest_gap: timedelta | None
    ) -> None:
        """Note that the process at work on a contest lives; nobody else changes it until the transaction is over.

        A clock that has jumped while it worked must not vouch for itself: the next look would find no gap.
        """
        touched = self._read_moment(connection, now)
        of_contest = CONTESTS.c.id == id
        last = connection.execute(select(CONTESTS.c.touched).where(of_contest).with_for_update()).scalar()
        if last is None:
            raise StoreError(Fault(f"no contest {id!r}", where=self._shown))
        sign = f"the last sign of contest {id}"
        if longest_gap and (fault := explain_clock_jump(sign, last, datetime.fromisoformat(touched), longest_gap)):
            raise StoreError(replace(fault, where=self._shown))
        connection.execute(update(CONTESTS).where(of_contest).values(touched=touched))

    def _read_moment(self, connection: Connection, now: datetime | None) -> str:
        return (now or read_store_moment(connection, self._clock)).isoformat(timespec="milliseconds")


def explain_clock_jump(name: str, last: str, now: datetime, longest: timedelta) -> Fault | None:
    """What is wrong with a clock that is too far from a sign of a contest, which has a name; None where nothing is.

    One that runs ahead would close it for good, and one that runs behind would hold it open.
    """
    sign = parse_stored_time(last)
    if abs(now - sign) <= longest:
        return None
    side, far = ("after", now - sign) if now > sign else ("before", sign - now)
    days = round(far / timedelta(days=1))
    what = f"the clock says {now.isoformat(timespec='seconds')}, {days} days {side} {name}"
    limit = f"{longest.total_seconds() / 86_400:g} days are allowed"
    return Fault(
        what, f"{limit}; set the clock, or, if it is right, name a longer time: --longest-gap '{days + 1} days'"
    )
