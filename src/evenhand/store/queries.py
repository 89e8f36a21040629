"""Queries of the tables, in an order that is the same in every database."""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, RowMapping, Select, Table, bindparam, delete, func, insert, select
from sqlalchemy.engine import Compiled
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.pool import PoolProxiedConnection

from evenhand.errors import Fault, StoreError, suggest_close_word_in_error
from evenhand.store.rows import Row, fit_store_rows, storable_row_text
from evenhand.store.tables import BASELINES, CALLS, CONTESTS, EVALUATIONS, GUEST, LABELS, MADE, RESULTS, RUNS, SAMPLES

ResultPlace = tuple[int, str, int]
SqlKey = TypeVar("SqlKey", str, int)
# Of the names of runs that hold what was asked for an alignment or a seal: no runs of an eval.
ALIGNING_PREFIX, SEALING_PREFIX = ASIDE_PREFIXES = ("align:", "probe:")
_ROWS_PER_FETCH = 500  # Keys per query, rows per fetch.
STREAMED = {"yield_per": _ROWS_PER_FETCH}


def _select_ordered_rows(table: Table, *order: str) -> Select[Any]:
    """All rows of the run that is bound when the query is executed."""
    return select(table).where(table.c.run == bindparam("of_run")).order_by(*(table.c[name] for name in order))


SAMPLES_OF_RUN = _select_ordered_rows(SAMPLES, "position")
RESULTS_OF_RUN = _select_ordered_rows(RESULTS, "position", "variant", "repeat")
CALLS_OF_RUN = _select_ordered_rows(CALLS, "position", "variant", "repeat", "judge", "key")
MADE_IN_RUN = _select_ordered_rows(MADE, "position", "variant", "repeat", "key")
LABELS_OF_RUN = _select_ordered_rows(LABELS, "sample", "variant", "criterion", "rater")
# What is counted of a call: all but its reply and where it belongs.
CALL_FACTS_OF_RUN = select(
    *(CALLS.c[name] for name in (
        "judge", "variant", "attempts", "seconds", "input_tokens", "output_tokens", "cost", "failed", "cached_from",
    ))
).where(CALLS.c.run == bindparam("of_run"))  # fmt: skip
_IS_REUSABLE = (CALLS.c.kept == "raw") & CALLS.c.failed.is_(None) & CALLS.c.reply.is_not(None)
_IS_OWN = CALLS.c.run.not_in(select(RUNS.c.id).where(GUEST))  # What a guest brings is used for nobody else.
IS_USABLE_BY_ALL = _IS_REUSABLE & _IS_OWN
_NEWEST_REPLY = (
    select(CALLS)
    .where(CALLS.c.key == bindparam("wanted"), _IS_REUSABLE)
    .order_by(CALLS.c.at.desc(), CALLS.c.run.desc())
    .limit(1)
)
NEWEST_REPLY_OF_ALL = _NEWEST_REPLY.where(_IS_OWN)
NEWEST_REPLY_OF_RUN = _NEWEST_REPLY.where(CALLS.c.run == bindparam("of_run"))


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKind:
    """What has an id and a name of its own: its table, what one is called, and hints where a name or all is missing."""

    table: Table
    word: str
    hint: str
    begin: str


RUN_KIND = StoredKind(
    table=RUNS,
    word="run",
    hint="evenhand runs list shows those that are",
    begin="evenhand run eval.yaml starts one",
)
CONTEST_KIND = StoredKind(
    table=CONTESTS,
    word="contest",
    hint="evenhand contest list shows those that are",
    begin="evenhand contest create task.yaml starts one",
)


def stream_rows(connection: Connection, query: Select[Any], run: str | None = None) -> Iterator[Row]:
    """The rows of a query, or of a query about one run, fetched a few at a time."""
    bound = {} if run is None else {"of_run": run}
    with connection.execute(query, bound, execution_options=STREAMED) as found:
        yield from map(dict, found.mappings())


def fetch_first_row(connection: Connection, query: Select[Any]) -> Row | None:
    """The first row of a question, if there is one."""
    row = connection.execute(query).mappings().first()
    return None if row is None else dict(row)


def find_run_row(connection: Connection, wanted: str, where: str) -> Row:
    """The run that is meant by an id, the beginning of one, "latest", "latest:NAME", "baseline:NAME" or just NAME."""
    word, colon, name = wanted.partition(":")
    if word == "baseline" and colon:
        pinned = find_baseline_row(connection, name, where)["run"]
        return dict(connection.execute(select(RUNS).where(RUNS.c.id == pinned)).mappings().one())
    try:
        return find_row_by_id(connection, RUN_KIND, wanted, where)
    except StoreError:
        pinned = fetch_first_row(connection, select(BASELINES).where(BASELINES.c.name == storable_row_text(wanted)))
        if pinned is None:
            _refuse_name_that_is_no_run(connection, storable_row_text(wanted), where)
            raise
        return find_row_by_id(connection, RUN_KIND, pinned["run"], where)


def _refuse_name_that_is_no_run(connection: Connection, wanted: str, where: str) -> None:
    """Say what shows an eval or a subject of this name, where there is one."""
    if fetch_first_row(connection, select(RUNS.c.id).where(RUNS.c.name == wanted)) is not None:
        hint = f"latest:{wanted} is its last run; evenhand history {wanted} shows all"
        raise StoreError(Fault(f"{wanted!r} is an eval, not a run", hint, where=where))
    name = wanted.removeprefix("latest:")
    of_subject = (EVALUATIONS.c.subject == name) | (EVALUATIONS.c.id == name)
    found = fetch_first_row(connection, select(EVALUATIONS.c.subject).where(of_subject))
    if found is not None:
        what = f"{name!r} is {'a subject' if found['subject'] == name else 'an evaluation'}, not a run"
        hint = f"evenhand history {found['subject']} shows its evaluations; --json has their scorecards"
        raise StoreError(Fault(what, hint, where=where))


def find_row_by_id(connection: Connection, kind: StoredKind, wanted: str, where: str) -> Row:
    """The one of a kind that is meant by an id, the beginning or last part of one, "latest" or "latest:NAME"."""
    word, colon, name = wanted.partition(":")
    if word == "latest":
        return _find_latest_row(connection, kind, name if colon else None, where)
    wanted, id = storable_row_text(wanted), kind.table.c.id
    query = select(kind.table).where(id >= wanted, id < wanted + "\U0010ffff").order_by(id).limit(6)
    found = connection.execute(query).mappings().all()
    if wanted and found:
        if len(found) == 1 or found[0]["id"] == wanted:
            return dict(found[0])
        several = ", ".join(map(_name_row, found[:5])) + (", …" if len(found) > 5 else "")
        raise StoreError(Fault(f"{wanted!r} begins more than one {kind.word}", several, where=where))
    told = connection.execute(select(id).order_by(id.desc()).limit(200)).scalars()
    ids = [one for one in told if isinstance(one, str)]  # SQLite keeps what somebody else wrote there.
    ended = [one for one in ids if one.endswith(f"-{wanted}")]  # As a comparison calls two runs.
    if len(ended) == 1:
        return dict(connection.execute(select(kind.table).where(id == ended[0])).mappings().one())
    own = _list_own_ids(connection, ids) if kind is RUN_KIND else ids
    begin = f"name what was imported by its id: {ids[0]}" if ids else kind.begin
    hint = suggest_close_word_in_error(wanted, own) or (f"the latest is {own[0]}" if own else begin)
    raise StoreError(Fault(f"no {kind.word} {wanted!r}", hint, where=where))


def _name_row(row: RowMapping) -> str:
    return f"{row['id']} (imported)" if row.get("imported") is not None else str(row["id"])


def _list_own_ids(connection: Connection, ids: Sequence[str]) -> list[str]:
    """Those of runs that were made here: whoever made another chose its id."""
    guests = set(connection.execute(select(RUNS.c.id).where(RUNS.c.imported.is_not(None))).scalars())
    return [id for id in ids if id not in guests]


def _find_latest_row(connection: Connection, kind: StoredKind, name: str | None, where: str) -> Row:
    """Never one that was imported: whoever made it chose its date."""
    id = kind.table.c.id
    # In SQLite a value may have any type: what is no text comes behind all text, and is no id.
    query = select(kind.table).where(id < "\U0010ffff").order_by(id.desc()).limit(1)
    if name is not None:
        query = query.where(kind.table.c.name == storable_row_text(name))
    elif kind is RUN_KIND:
        query = query.where(*(RUNS.c.name.not_like(f"{prefix}%") for prefix in ASIDE_PREFIXES))
    row = fetch_first_row(connection, query.where(RUNS.c.imported.is_(None)) if kind is RUN_KIND else query)
    if row is None and kind is RUN_KIND and (guest := fetch_first_row(connection, query)) is not None:
        what, hint = "what is here was imported, and is never the latest", f"name it by its id: {guest['id']}"
        raise StoreError(Fault(what, hint, where=where))
    if row is None:
        told = connection.execute(select(kind.table.c.name).distinct()).scalars()
        names = [one for one in told if isinstance(one, str)]
        what = f"no {kind.word} is here" if name is None else f"no {kind.word} of {name!r} is here"
        raise StoreError(Fault(what, suggest_close_word_in_error(name or "", names) or kind.hint, where=where))
    return row


def find_baseline_row(connection: Connection, name: str, where: str) -> Row:
    """The baseline of a name."""
    row = fetch_first_row(connection, select(BASELINES).where(BASELINES.c.name == name))
    if row is None:
        names = connection.execute(select(BASELINES.c.name).order_by(BASELINES.c.name)).scalars().all()
        hint = suggest_close_word_in_error(name, names) or "evenhand baseline set RUN --name NAME pins one"
        raise StoreError(Fault(f"no baseline {name!r}", hint, where=where))
    return row


def select_cached_call_rows(connection: Connection, keys: Sequence[str], run: str | None) -> dict[str, Row]:
    """The newest reply as it came, by key; of all runs or of one."""
    found: dict[str, Row] = {}
    mark = (CALLS.c.at + " " + CALLS.c.run).label("mark")
    for some in _batch_sql_keys(keys):
        usable = CALLS.c.key.in_(some) & _IS_REUSABLE & (_IS_OWN if run is None else CALLS.c.run == run)
        newest = select(CALLS.c.key, func.max(mark).label("mark")).where(usable).group_by(CALLS.c.key).subquery()
        query = select(CALLS).join(newest, (CALLS.c.key == newest.c.key) & (mark == newest.c.mark))
        found |= {row["key"]: dict(row) for row in connection.execute(query).mappings()}
    return found


def select_made_output_rows(connection: Connection, keys: Sequence[str], runs: Sequence[str]) -> dict[str, Row]:
    """The newest output that a live variant made in one of some runs, by key."""
    found: dict[str, Row] = {}
    for some in _batch_sql_keys(keys):
        query = select(MADE).where(MADE.c.key.in_(some), MADE.c.run.in_(runs)).order_by(MADE.c.at, MADE.c.run)
        found |= {row["key"]: dict(row) for row in connection.execute(query).mappings()}
    return found


def select_named_sample_rows(connection: Connection, run: str, ids: Collection[str]) -> tuple[list[Row], list[Row]]:
    """Some samples of a run by their ids, and their results."""
    samples: list[Row] = []
    for some in _batch_sql_keys(sorted(ids)):
        samples += stream_rows(connection, SAMPLES_OF_RUN.where(SAMPLES.c.id.in_(some)), run)
    samples.sort(key=lambda row: row["position"])
    results: list[Row] = []
    for some in _batch_sql_keys([row["position"] for row in samples]):
        results += stream_rows(connection, RESULTS_OF_RUN.where(RESULTS.c.position.in_(some)), run)
    return samples, results


def _batch_sql_keys(keys: Sequence[SqlKey]) -> Iterable[Sequence[SqlKey]]:
    return (keys[start : start + _ROWS_PER_FETCH] for start in range(0, len(keys), _ROWS_PER_FETCH))


@dataclass(slots=True)
class StoredRowLookup:
    """The first row of a query, over a connection of its own that stays open between lookups."""

    _engine: Engine
    _lock: threading.RLock = field(default_factory=threading.RLock)
    connection: PoolProxiedConnection | None = None  # Opened by the first lookup.
    _statements: dict[Select[Any], Compiled] = field(default_factory=dict)

    def select_first(self, query: Select[Any], bound: Mapping[str, object]) -> Row | None:
        """The first row, as the store stands now; the query is one that is built once and asked again and again."""
        with self._lock:
            if query not in self._statements:  # Compiled once: that takes ten times as long as a lookup.
                self._statements[query] = query.compile(dialect=self._engine.dialect)
            statement = self._statements[query]
            try:
                if self.connection is None:
                    self.connection = self._engine.raw_connection()
                    if self._engine.dialect.name == "postgresql":
                        self.connection.detach()  # It differs from the pool's: every query sees the newest state.
                        self.connection.dbapi_connection.autocommit = True  # type: ignore[union-attr]
                cursor = self.connection.cursor()
                cursor.execute(str(statement), {**statement.params, **bound})
                row = cursor.fetchone()
                cursor.close()
            except self._engine.dialect.loaded_dbapi.Error as error:
                self.close()  # The next lookup gets a new connection.
                raise DBAPIError(None, None, error) from error
        return None if row is None else dict(zip(query.selected_columns.keys(), row, strict=True))

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            if self.connection is not None:
                self.connection.close()
                self.connection = None


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
            self._places.append((position * len(self._number) + self._number[variant]) * repeats + repeat)
            self._keys += key.encode()
            self._ends.append(len(self._keys))

    def __getitem__(self, unit: ResultPlace) -> str:
        position, variant, repeat = unit
        if variant not in self._number or not 0 <= repeat < self._repeats:
            raise KeyError(unit)
        place = (position * len(self._number) + self._number[variant]) * self._repeats + repeat
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


def select_finished_row_keys(connection: Connection, run: str, states: Collection[str]) -> Mapping[ResultPlace, str]:
    """The keys of a run's results that are in one of some states, by position, variant and repeat."""
    of_run = RESULTS.c.run == run
    unit = (RESULTS.c.position, RESULTS.c.variant, RESULTS.c.repeat)
    variants = connection.execute(select(RESULTS.c.variant).where(of_run).distinct()).scalars().all()
    most = connection.execute(select(func.max(RESULTS.c.repeat)).where(of_run)).scalar()
    if most is None:
        return {}
    query = select(*unit, RESULTS.c.key).where(of_run, RESULTS.c.state.in_(states)).order_by(*unit)
    with connection.execute(query, execution_options={"yield_per": 1000}) as rows:
        return FinishedRowKeys(rows, sorted(variants), most + 1)


def run_last_stored(connection: Connection, run: Mapping[str, Any]) -> datetime:
    """When a run last wrote something."""
    times = [run["started"], run["ended"]]
    for table in (CALLS, RESULTS):
        times.append(connection.execute(select(func.max(table.c.at)).where(table.c.run == run["id"])).scalar())
    return max(parse_stored_time(time) for time in times if time)


def parse_stored_time(text: str) -> datetime:
    """A time as the store keeps it; one without a zone is UTC."""
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def select_output_rows(connection: Connection, run: str, samples: Sequence[str]) -> list[Row]:
    """The results of some samples, by their ids, each with `id` and `sample`, the content of its sample."""
    found: list[Row] = []
    order = (RESULTS.c.position, RESULTS.c.variant, RESULTS.c.repeat)
    for start in range(0, len(samples), _ROWS_PER_FETCH):
        some = SAMPLES.c.id.in_([storable_row_text(id) for id in samples[start : start + _ROWS_PER_FETCH]])
        # Positions first: no index is by id, and a join reads the results of all samples to find those of a few.
        named = {
            row.position: {"id": row.id, "sample": row.content}
            for row in connection.execute(select(SAMPLES).where(SAMPLES.c.run == run, some))
        }
        query = select(RESULTS).where(RESULTS.c.run == run, RESULTS.c.position.in_(sorted(named))).order_by(*order)
        found += [{**row, **named[row["position"]]} for row in connection.execute(query).mappings()]
    return found


def replace_label_rows(connection: Connection, run: str, labels: Iterable[Mapping[str, object]], shown: str) -> None:
    """Write the labels of a run in place of those before."""
    rows = fit_store_rows(LABELS, [{**one, "run": run} for one in labels])
    connection.execute(delete(LABELS).where(LABELS.c.run == run))
    try:
        if rows:
            connection.execute(insert(LABELS), rows)
    except IntegrityError:
        what = "labels do not fit: one is there twice or lacks a field, or the run is gone"
        hint = "one score for each sample, variant, criterion and rater"
        raise StoreError(Fault(what, hint, where=shown)) from None
