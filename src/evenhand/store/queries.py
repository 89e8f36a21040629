"""Queries of the tables, in an order that is the same in every database: runs, results, calls, cached replies,
finished keys.
"""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, Select, Table, bindparam, func, literal, select, tuple_
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import PoolProxiedConnection

from evenhand.errors import Fault, StoreError, suggest_close_word_in_fault
from evenhand.store.rows import Row, storable_text
from evenhand.store.tables import BASELINES, CALLS, CONTESTS, MADE, RESULTS, RUNS, SAMPLES

ResultPlace = tuple[int, str, int]
_ROWS_PER_FETCH = 500  # Keys per question, rows per fetch.


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKind:
    """What has an id and a name of its own: its table, what one is called, and a hint where a name is not there."""

    table: Table
    word: str
    hint: str


RUN_KIND = StoredKind(table=RUNS, word="run", hint="evenhand runs list shows those that are")
CONTEST_KIND = StoredKind(table=CONTESTS, word="contest", hint="evenhand contest list shows those that are")


def stream_rows(connection: Connection, query: Select[Any]) -> Iterator[Row]:
    """The rows of a question, fetched a few at a time."""
    with connection.execute(query, execution_options={"yield_per": _ROWS_PER_FETCH}) as found:
        for row in found.mappings():
            yield dict(row)


def fetch_first_row(connection: Connection, query: Select[Any]) -> Row | None:
    """The first row of a question, if there is one."""
    row = connection.execute(query).mappings().first()
    return None if row is None else dict(row)


def list_newest_first(connection: Connection, kind: StoredKind, name: str | None) -> list[Row]:
    """All of a kind, or those of one name, newest first."""
    query = select(kind.table).order_by(kind.table.c.id.desc())
    if name is not None:
        query = query.where(kind.table.c.name == storable_text(name))
    return [dict(row) for row in connection.execute(query).mappings()]


def find_run_row(connection: Connection, wanted: str, where: str) -> Row:
    """The run that is meant by an id, the beginning of one, "latest", "latest:NAME" or "baseline:NAME"."""
    word, colon, name = wanted.partition(":")
    if word == "baseline" and colon:
        pinned = find_baseline_row(connection, name, where)["run"]
        return dict(connection.execute(select(RUNS).where(RUNS.c.id == pinned)).mappings().one())
    return find_row_by_id(connection, RUN_KIND, wanted, where)


def find_row_by_id(connection: Connection, kind: StoredKind, wanted: str, where: str) -> Row:
    """The one of a kind that is meant by an id, the beginning of one, "latest" or "latest:NAME"."""
    word, colon, name = wanted.partition(":")
    if word == "latest":
        return _find_latest_row(connection, kind, name if colon else None, where)
    wanted, id = storable_text(wanted), kind.table.c.id
    query = select(kind.table).where(id >= wanted, id < wanted + "\U0010ffff").order_by(id).limit(6)
    found = connection.execute(query).mappings().all()
    if wanted and found and (len(found) == 1 or found[0]["id"] == wanted):
        return dict(found[0])
    raise StoreError(_row_not_found_fault(connection, kind, wanted, [row["id"] for row in found], where))


def _find_latest_row(connection: Connection, kind: StoredKind, name: str | None, where: str) -> Row:
    query = select(kind.table).order_by(kind.table.c.id.desc()).limit(1)
    row = fetch_first_row(connection, query if name is None else query.where(kind.table.c.name == storable_text(name)))
    if row is None:
        names = connection.execute(select(kind.table.c.name).distinct()).scalars().all()
        what = f"no {kind.word} is here" if name is None else f"no {kind.word} of {name!r} is here"
        raise StoreError(Fault(what, suggest_close_word_in_fault(name or "", names) or kind.hint, where=where))
    return row


def _row_not_found_fault(
    connection: Connection, kind: StoredKind, wanted: str, found: Sequence[str], where: str
) -> Fault:
    if wanted and found:
        several = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
        return Fault(f"{wanted!r} begins more than one {kind.word}", several, where=where)
    id = kind.table.c.id
    ids = connection.execute(select(id).order_by(id.desc()).limit(200)).scalars().all()
    hint = suggest_close_word_in_fault(wanted, ids) or (f"the latest is {ids[0]}" if ids else f"no {kind.word} is here")
    return Fault(f"no {kind.word} {wanted!r}", hint, where=where)


def list_baseline_rows(connection: Connection) -> list[Row]:
    """Every name with its run, by name."""
    return [dict(row) for row in connection.execute(select(BASELINES).order_by(BASELINES.c.name)).mappings()]


def find_baseline_row(connection: Connection, name: str, where: str) -> Row:
    """The baseline of a name."""
    row = fetch_first_row(connection, select(BASELINES).where(BASELINES.c.name == name))
    if row is None:
        names = [one["name"] for one in list_baseline_rows(connection)]
        hint = suggest_close_word_in_fault(name, names) or "evenhand baseline set RUN --name NAME pins one"
        raise StoreError(Fault(f"no baseline {name!r}", hint, where=where))
    return row


def select_results(run: str, after: ResultPlace | None) -> Select[Any]:
    """The results of a run by position, variant and repeat, from behind a given one."""
    unit = (RESULTS.c.position, RESULTS.c.variant, RESULTS.c.repeat)
    query = select(RESULTS).where(RESULTS.c.run == run).order_by(*unit)
    return query if after is None else query.where(tuple_(*unit) > tuple_(*map(literal, after)))


def select_sample_rows(run: str) -> Select[Any]:
    """The samples of a run by position."""
    return select(SAMPLES).where(SAMPLES.c.run == run).order_by(SAMPLES.c.position)


def select_calls(run: str, position: int | None = None) -> Select[Any]:
    """The calls of a run, or those about one sample."""
    order = (CALLS.c.position, CALLS.c.variant, CALLS.c.repeat, CALLS.c.judge, CALLS.c.key)
    query = select(CALLS).where(CALLS.c.run == run).order_by(*order)
    return query if position is None else query.where(CALLS.c.position == position)


def select_made_outputs(run: str) -> Select[Any]:
    """What live variants made in a run."""
    return select(MADE).where(MADE.c.run == run).order_by(MADE.c.position, MADE.c.variant, MADE.c.repeat, MADE.c.key)


def find_cached_calls(connection: Connection, keys: Sequence[str], run: str | None) -> dict[str, Row]:
    """The newest reply as it came, by key; of all runs or of one."""
    found: dict[str, Row] = {}
    mark = (CALLS.c.at + " " + CALLS.c.run).label("mark")
    for some in _split_select_keys(keys):
        usable = CALLS.c.key.in_(some) & (CALLS.c.kept == "raw") & CALLS.c.failed.is_(None) & CALLS.c.reply.is_not(None)
        if run is not None:
            usable &= CALLS.c.run == run
        newest = select(CALLS.c.key, func.max(mark).label("mark")).where(usable).group_by(CALLS.c.key).subquery()
        query = select(CALLS).join(newest, (CALLS.c.key == newest.c.key) & (mark == newest.c.mark))
        found |= {row["key"]: dict(row) for row in connection.execute(query).mappings()}
    return found


def find_made_outputs(connection: Connection, keys: Sequence[str], runs: Sequence[str]) -> dict[str, Row]:
    """The newest output that a live variant made in one of some runs, by key."""
    found: dict[str, Row] = {}
    for some in _split_select_keys(keys):
        query = select(MADE).where(MADE.c.key.in_(some), MADE.c.run.in_(runs)).order_by(MADE.c.at, MADE.c.run)
        found |= {row["key"]: dict(row) for row in connection.execute(query).mappings()}
    return found


def _split_select_keys(keys: Sequence[str]) -> Iterable[Sequence[str]]:
    return (keys[start : start + _ROWS_PER_FETCH] for start in range(0, len(keys), _ROWS_PER_FETCH))


class ReplyRowLookup:
    """The newest reply to one key, over a connection of its own that stays open between questions."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = threading.RLock()
        self._connection: PoolProxiedConnection | None = None
        usable = (CALLS.c.kept == "raw") & CALLS.c.failed.is_(None) & CALLS.c.reply.is_not(None)
        query = select(CALLS).where(CALLS.c.key == bindparam("wanted"), usable)
        query = query.order_by(CALLS.c.at.desc(), CALLS.c.run.desc()).limit(1)
        # Compiled once: that takes ten times as long as a lookup.
        self._in_all_runs = query.compile(dialect=engine.dialect)
        self._in_one_run = query.where(CALLS.c.run == bindparam("of_run")).compile(dialect=engine.dialect)

    def select_newest_row(self, key: str, run: str | None) -> Row | None:
        """The newest reply as it came; of all runs or of one."""
        statement = self._in_all_runs if run is None else self._in_one_run
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._engine.raw_connection()
                    if self._engine.dialect.name == "postgresql":
                        self._connection.detach()  # It differs from the pool's: every query sees the newest state.
                        self._connection.dbapi_connection.autocommit = True  # type: ignore[union-attr]
                cursor = self._connection.cursor()
                cursor.execute(str(statement), {**statement.params, "wanted": key, "of_run": run})
                row = cursor.fetchone()
                cursor.close()
            except self._engine.dialect.loaded_dbapi.Error as error:
                self.close()  # The next question gets a new connection.
                raise DBAPIError(None, None, error) from error
        return None if row is None else dict(zip(CALLS.columns.keys(), row, strict=True))

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None


class FinishedRowKeys(Mapping[ResultPlace, str]):
    """Keys by position, variant and repeat, kept as two arrays and one row of bytes instead of a dictionary."""

    def __init__(self, rows: Iterable[Any], variants: Iterable[str], repeats: int) -> None:
        """Take rows in order of position, variant and repeat; `variants` sorted, `repeats` above every repeat."""
        self._number = {variant: number for number, variant in enumerate(variants)}
        self._repeats = repeats
        self._places = array("q")
        self._ends = array("q", [0])
        self._keys = bytearray()
        for position, variant, repeat, key in rows:
            self._places.append(self._row_number_of(position, variant, repeat))
            self._keys += key.encode()
            self._ends.append(len(self._keys))

    def __getitem__(self, unit: ResultPlace) -> str:
        position, variant, repeat = unit
        if variant not in self._number or not 0 <= repeat < self._repeats:
            raise KeyError(unit)
        place = self._row_number_of(position, variant, repeat)
        found = bisect_left(self._places, place)
        if found == len(self._places) or self._places[found] != place:
            raise KeyError(unit)
        return self._keys[self._ends[found] : self._ends[found + 1]].decode()

    def __iter__(self) -> Iterator[ResultPlace]:
        variants = list(self._number)
        for place in self._places:
            rest, repeat = divmod(place, self._repeats)
            position, number = divmod(rest, len(variants))
            yield position, variants[number], repeat

    def __len__(self) -> int:
        return len(self._places)

    def _row_number_of(self, position: int, variant: str, repeat: int) -> int:
        return (position * len(self._number) + self._number[variant]) * self._repeats + repeat
