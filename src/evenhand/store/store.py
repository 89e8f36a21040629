"""The store of runs: one file at home, a server for a team; what is written once is never lost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO, Self

from sqlalchemy import Connection, Engine, Select, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from evenhand.errors import Fault, StoreError
from evenhand.store.contest_store import ContestStore
from evenhand.store.database import (
    NO_RUNS,
    StoreLocation,
    create_store_engine,
    engine_for_writing,
    locate_store,
    prepare_store_tables,
)
from evenhand.store.process_locks import hold_stored_row, is_run_row_held, release_stored_row
from evenhand.store.queries import (
    RUN_KIND,
    FinishedRowKeys,
    ReplyRowLookup,
    ResultPlace,
    find_baseline_row,
    find_cached_calls,
    find_made_outputs,
    find_run_row,
    list_baseline_rows,
    list_newest_first,
    select_calls,
    select_made_outputs,
    select_results,
    select_sample_rows,
    stream_rows,
)
from evenhand.store.rows import ALLOWED_VALUES, Row, RowBatch, fit_store_rows, repair_row_texts, upsert_rows
from evenhand.store.run_attachments import (
    CollectedRuns,
    delete_abandoned_run_rows,
    delete_run_row,
    remove_baseline_row,
    replace_label_rows,
    select_labels,
    set_baseline_row,
    vacuum_store,
)
from evenhand.store.run_export import export_run_lines, insert_run_rows, write_exported_rows
from evenhand.store.tables import CALLS, COLUMNS, MADE, RESULTS, RUNS, SAMPLES

# What is counted of a call: all but its reply and where it belongs.
_CALL_FACTS = [
    CALLS.c[name]
    for name in (
        "judge", "variant", "attempts", "seconds", "input_tokens", "output_tokens", "cost", "failed", "cached_from",
    )
]  # fmt: skip
_DROP_REPLY = (
    update(CALLS)
    .where(CALLS.c.run == bindparam("of_run"), CALLS.c.key == bindparam("of_key"))
    .values(reply=bindparam("new"), kept=bindparam("new_kept"))
)


def read_store_clock() -> datetime:
    """This moment: what a store goes by unless it is given another clock."""
    return datetime.now(UTC)


class Store:
    """Runs with their samples, results, calls and outputs. Every failure is a StoreError that names the store."""

    def __init__(self, place: StoreLocation, engine: Engine, clock: Callable[[], datetime]) -> None:
        self._place = place
        self._clock = clock
        self.shown = place.shown  # The store as messages name it: its file, or its address without the password.
        self._engine = engine
        self._writing = engine_for_writing(engine)
        self._lookup = ReplyRowLookup(engine)

    @classmethod
    def open(
        cls,
        place: str | Path | None,
        environ: Mapping[str, str],
        *,
        create: bool = True,
        empty: str = NO_RUNS,
        clock: Callable[[], datetime] = read_store_clock,
    ) -> Self:
        """The store at a folder or an address, else at EVENHAND_DATABASE_URL, else in the folder .evenhand.

        Where there is none and none may be made, the error says `empty`.
        """
        at = locate_store(place, environ)
        if at.file is not None and not create and not at.file.exists():
            raise StoreError(Fault(empty, where=at.shown))
        with at.wrap_errors():
            if at.file is not None and create:
                at.file.parent.mkdir(parents=True, exist_ok=True)
            engine = create_store_engine(at)
            try:
                prepare_store_tables(engine, at, create=create, empty=empty)
            except BaseException:
                engine.dispose()
                raise
        return cls(at, engine, clock)

    @property
    def contests(self) -> ContestStore:
        """The contests that are kept beside the runs."""
        return ContestStore(self._read, self._write, self.shown, self._clock)

    def close(self) -> None:
        """Let go of the file or the server."""
        self._lookup.close()
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin_run(self, run: Mapping[str, object]) -> None:
        """Write down a new run."""
        rows = fit_store_rows(RUNS, [run])
        with self._write() as connection:
            try:
                connection.execute(insert(RUNS), rows)
            except IntegrityError:
                raise StoreError(Fault(f"there is a run {run.get('id')!r} already", where=self.shown)) from None

    def hold_run(self, id: str, holder: str, *, now: datetime | None = None) -> None:
        """Hold a run and set it running; refused while another process works on it."""
        at = now or self._clock()
        with self._write() as connection:
            hold_stored_row(
                connection, RUN_KIND, id, holder, lambda run: is_run_row_held(connection, run, at), self.shown
            )
            connection.execute(delete(COLUMNS).where(COLUMNS.c.run == id))  # Its results are about to change.

    def release_run(self, id: str, state: str, ended: str, summary: str | None) -> None:
        """Let go of a run: stopped or finished, with its summary as JSON."""
        with self._write() as connection:
            release_stored_row(connection, RUN_KIND, id, state, ended, summary)

    def is_run_held(self, run: Mapping[str, object], *, now: datetime | None = None) -> bool:
        """Whether a process that may still live works on a run; a run that says running and is not held was killed."""
        with self._read() as connection:
            return is_run_row_held(connection, run, now or self._clock())

    def write_rows(self, batch: RowBatch) -> None:
        """Write the rows of a batch, all of them or none."""
        tables = ((SAMPLES, batch.samples), (RESULTS, batch.results), (CALLS, batch.calls), (MADE, batch.made))
        drops = [
            {"of_run": row["run"], "of_key": row["key"], "new": row["reply"], "new_kept": row["kept"]}
            for row in batch.drop
        ]
        with self._write() as connection:
            for table, rows in tables:
                if rows:
                    upsert_rows(connection, table, rows)
            if drops:
                connection.execute(_DROP_REPLY, [repair_row_texts(row) for row in drops])

    def list_runs(self, name: str | None = None) -> list[Row]:
        """All runs, or those of one eval, newest first."""
        with self._read() as connection:
            return list_newest_first(connection, RUN_KIND, name)

    def find_run(self, id: str) -> Row:
        """The run of an id, of the beginning of one, of "latest", of "latest:NAME" or of "baseline:NAME"."""
        with self._read() as connection:
            return find_run_row(connection, id, self.shown)

    def samples(self, run: str) -> Iterator[Row]:
        """The samples of a run by position."""
        return self._stream_rows(select_sample_rows(run))

    def results(self, run: str, *, after: ResultPlace | None = None) -> Iterator[Row]:
        """The results of a run by position, variant and repeat, from behind a given one."""
        return self._stream_rows(select_results(run, after))

    def calls(self, run: str, position: int | None = None) -> Iterator[Row]:
        """The calls of a run by position, or those about one sample."""
        return self._stream_rows(select_calls(run, position))

    def call_facts(self, run: str) -> Iterator[Row]:
        """The calls of a run without their replies, to be counted."""
        return self._stream_rows(select(*_CALL_FACTS).where(CALLS.c.run == run))

    def calls_by_key(self, run: str, keys: Sequence[str]) -> dict[str, Row]:
        """Some calls of a run."""
        query = select(CALLS).where(CALLS.c.run == run, CALLS.c.key.in_(keys))
        return {row["key"]: row for row in self._stream_rows(query)}

    def sample_ids(self, run: str, positions: Collection[int]) -> dict[int, str]:
        """The ids of some samples of a run."""
        some = SAMPLES.c.position.in_(sorted(positions))
        query = select(SAMPLES.c.position, SAMPLES.c.id).where(SAMPLES.c.run == run, some)
        return {row["position"]: row["id"] for row in self._stream_rows(query)}

    def finished_keys(
        self, run: str, *, states: Collection[str] = ALLOWED_VALUES["results"]["state"]
    ) -> FinishedRowKeys:
        """The keys of the results that are there, by position, variant and repeat."""
        of_run = RESULTS.c.run == run
        unit = (RESULTS.c.position, RESULTS.c.variant, RESULTS.c.repeat)
        with self._read() as connection:
            variants = connection.execute(select(RESULTS.c.variant).where(of_run).distinct()).scalars().all()
            most = connection.execute(select(func.max(RESULTS.c.repeat)).where(of_run)).scalar()
            query = select(*unit, RESULTS.c.key).where(of_run, RESULTS.c.state.in_(states)).order_by(*unit)
            with connection.execute(query, execution_options={"yield_per": 1000}) as rows:
                return FinishedRowKeys(rows, sorted(variants), (most or 0) + 1)

    def find_cached_replies(self, keys: Sequence[str], *, run: str | None = None) -> dict[str, Row]:
        """The newest reply as it came, by the key of its call; of all runs or of one."""
        if len(keys) == 1:
            with self._place.wrap_errors():
                row = self._lookup.select_newest_row(keys[0], run)
            return {} if row is None else {keys[0]: row}
        with self._read() as connection:
            return find_cached_calls(connection, keys, run)

    def find_outputs(self, keys: Sequence[str], runs: Sequence[str]) -> dict[str, Row]:
        """The newest output that a live variant made in one of some runs, by key."""
        with self._read() as connection:
            return find_made_outputs(connection, keys, runs)

    def list_outputs(self, run: str) -> Iterator[Row]:
        """All outputs of live variants that a run has, made or taken over."""
        return self._stream_rows(select_made_outputs(run))

    def labels(self, run: str) -> Iterator[Row]:
        """What people said of a run's outputs, by sample, variant, criterion and rater; "" is every variant."""
        return self._stream_rows(select_labels(run))

    def replace_labels(self, run: str, labels: Iterable[Mapping[str, object]]) -> None:
        """Keep labels (sample, variant, criterion, rater, exact score, at) of a run in place of all those before."""
        with self._write() as connection:
            replace_label_rows(connection, run, labels, self.shown)

    def load_columns(self, run: str) -> bytes | None:
        """What `save_columns` kept of a run; None where there is nothing, or the run was taken up since."""
        with self._read() as connection:
            found = connection.execute(select(COLUMNS.c.content).where(COLUMNS.c.run == run)).scalar()
        return None if found is None else bytes(found)

    def save_columns(self, run: str, content: bytes) -> None:
        """Keep a run's results in short, to be read instead of its rows; whoever takes the run up drops them."""
        with self._write() as connection:
            upsert_rows(connection, COLUMNS, [{"run": run, "content": content}])

    def list_baselines(self) -> list[Row]:
        """Every baseline as name, run and when it was set, by name."""
        with self._read() as connection:
            return list_baseline_rows(connection)

    def find_baseline(self, name: str) -> Row:
        """The baseline of a name, as name, run and when it was set."""
        with self._read() as connection:
            return find_baseline_row(connection, name, self.shown)

    def set_baseline(self, name: str, run: str, *, now: datetime | None = None) -> str | None:
        """Give a finished run a name, and say which run had it before."""
        with self._write() as connection:
            return set_baseline_row(connection, name, run, now or self._clock(), self.shown)

    def remove_baseline(self, name: str) -> str:
        """Take a name away and say which run had it; the run stays."""
        with self._write() as connection:
            return remove_baseline_row(connection, name, self.shown)

    def export_run(self, run: str, stream: BinaryIO) -> None:
        """Write a run with all that belongs to it as one portable file; a failure of `stream` stays an OSError."""
        write_exported_rows(self._export_lines(run), stream)

    def import_run(self, stream: BinaryIO) -> str:
        """Take in an exported run unchanged, and say its id; refused if it is cut off, changed, or here already."""
        with self._write() as connection:
            return insert_run_rows(connection, stream, self.shown)

    def delete_run(self, run: str, *, pinned: bool = False, now: datetime | None = None) -> None:
        """Remove a run with all that belongs to it; a baseline only if told so, and none that a process works on."""
        with self._write() as connection:
            row = find_run_row(connection, run, self.shown)
            delete_run_row(connection, row, now or self._clock(), self.shown, pinned=pinned)

    def collect_garbage(self, keep: timedelta = timedelta(days=30), *, now: datetime | None = None) -> CollectedRuns:
        """Remove runs that were never finished and have not moved for as long as `keep`, and give back their room."""
        with self._write() as connection:
            runs = delete_abandoned_run_rows(connection, keep, now or self._clock())
        with self._place.wrap_errors():
            return CollectedRuns(runs=runs, freed=vacuum_store(self._engine, self._place.file))

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        with self._place.wrap_errors(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        with self._place.wrap_errors(), self._writing.begin() as connection:
            yield connection

    def _stream_rows(self, query: Select[Any]) -> Iterator[Row]:
        with self._read() as connection:
            yield from stream_rows(connection, query)

    def _export_lines(self, run: str) -> Iterator[bytes]:
        with self._read() as connection:
            yield from export_run_lines(connection, find_run_row(connection, run, self.shown))
