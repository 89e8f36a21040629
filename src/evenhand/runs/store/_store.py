"""The store of runs: one file at home, a server for a team; what is written once is never lost."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO, Self

from sqlalchemy import Connection, Engine, Select, func, insert, select
from sqlalchemy.exc import IntegrityError

from evenhand.errors import Fault, StoreError
from evenhand.runs.store._beside import (
    drop_columns,
    kept_columns,
    labels_query,
    pin,
    unpin,
    write_columns,
    write_labels,
)
from evenhand.runs.store._collect import Collected, collect, delete_run, give_back
from evenhand.runs.store._contests import Contests
from evenhand.runs.store._finished import Finished, Unit
from evenhand.runs.store._holding import hold, is_held, let_go
from evenhand.runs.store._lookup import Lookup
from evenhand.runs.store._migrate import NO_RUNS, make_ready
from evenhand.runs.store._places import Place, engine_of, place_of, reading, writing
from evenhand.runs.store._portable import import_run, pack, run_lines
from evenhand.runs.store._reading import (
    RUN,
    all_baselines,
    cached_calls,
    call_facts_query,
    calls_by_key_query,
    calls_query,
    made_outputs,
    made_query,
    newest_first,
    one_baseline,
    one_run,
    results_query,
    sample_ids_query,
    samples_query,
    stream,
)
from evenhand.runs.store._rows import ALLOWED, Batch, Row, fit
from evenhand.runs.store._tables import RESULTS, RUNS
from evenhand.runs.store._writing import write_batch


class Store:
    """Runs with their samples, results, calls and outputs. Every failure is a StoreError that names the store."""

    def __init__(self, place: Place, engine: Engine) -> None:
        self._place = place
        self._engine = engine
        self._reading = reading(engine)
        self._writing = writing(engine)
        self._lookup = Lookup(engine)

    @classmethod
    def open(
        cls, place: str | Path | None, environ: Mapping[str, str], *, create: bool = True, empty: str = NO_RUNS
    ) -> Self:
        """The store at a folder or an address, else at EVENHAND_DATABASE_URL, else in the folder .evenhand.

        Where there is none and none may be made, the error says `empty`.
        """
        at = place_of(place, environ)
        if at.file is not None and not create and not at.file.exists():
            raise StoreError(Fault(empty, where=at.shown))
        with at.told():
            if at.file is not None and create:
                at.file.parent.mkdir(parents=True, exist_ok=True)
            engine = engine_of(at)
            try:
                make_ready(engine, at, create=create, empty=empty)
            except BaseException:
                engine.dispose()
                raise
        return cls(at, engine)

    @property
    def shown(self) -> str:
        """The store as messages name it: its file, or its address without the password."""
        return self._place.shown

    @property
    def contests(self) -> Contests:
        """The contests that are kept beside the runs."""
        return Contests(self._read, self._write, self.shown)

    def close(self) -> None:
        """Let go of the file or the server."""
        self._lookup.close()
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self, run: Mapping[str, object]) -> None:
        """Write down a new run."""
        rows = fit(RUNS, [run])
        with self._write() as connection:
            try:
                connection.execute(insert(RUNS), rows)
            except IntegrityError:
                raise StoreError(Fault(f"there is a run {run.get('id')!r} already", where=self.shown)) from None

    def take(self, id: str, holder: str, *, now: datetime | None = None) -> None:
        """Hold a run and set it running; refused while another process works on it."""
        at = now or datetime.now(UTC)
        with self._write() as connection:
            hold(connection, RUN, id, holder, lambda run: is_held(connection, run, at), self.shown)
            drop_columns(connection, id)

    def release(self, id: str, state: str, ended: str, summary: str | None) -> None:
        """Let go of a run: stopped or finished, with its summary as JSON."""
        with self._write() as connection:
            let_go(connection, RUN, id, state, ended, summary)

    def held(self, run: Mapping[str, object], *, now: datetime | None = None) -> bool:
        """Whether a process that may still live works on a run; a run that says running and is not held was killed."""
        with self._read() as connection:
            return is_held(connection, run, now or datetime.now(UTC))

    def write(self, batch: Batch) -> None:
        """Write the rows of a batch, all of them or none."""
        with self._write() as connection:
            write_batch(connection, batch)

    def runs(self, name: str | None = None) -> list[Row]:
        """All runs, or those of one eval, newest first."""
        with self._read() as connection:
            return newest_first(connection, RUN, name)

    def run(self, id: str) -> Row:
        """The run of an id, of the beginning of one, of "latest", of "latest:NAME" or of "baseline:NAME"."""
        with self._read() as connection:
            return one_run(connection, id, self.shown)

    def samples(self, run: str) -> Iterator[Row]:
        """The samples of a run by position."""
        return self._stream(samples_query(run))

    def results(self, run: str, *, after: Unit | None = None) -> Iterator[Row]:
        """The results of a run by position, variant and repeat, from behind a given one."""
        return self._stream(results_query(run, after))

    def calls(self, run: str, position: int | None = None) -> Iterator[Row]:
        """The calls of a run by position, or those about one sample."""
        return self._stream(calls_query(run, position))

    def call_facts(self, run: str) -> Iterator[Row]:
        """The calls of a run without their replies, to be counted."""
        return self._stream(call_facts_query(run))

    def calls_by_key(self, run: str, keys: Sequence[str]) -> dict[str, Row]:
        """Some calls of a run."""
        return {row["key"]: row for row in self._stream(calls_by_key_query(run, keys))}

    def sample_ids(self, run: str, positions: Collection[int]) -> dict[int, str]:
        """The ids of some samples of a run."""
        return {row["position"]: row["id"] for row in self._stream(sample_ids_query(run, sorted(positions)))}

    def finished_keys(self, run: str, *, states: Collection[str] = ALLOWED["results"]["state"]) -> Finished:
        """The keys of the results that are there, by position, variant and repeat."""
        of_run = RESULTS.c.run == run
        unit = (RESULTS.c.position, RESULTS.c.variant, RESULTS.c.repeat)
        with self._read() as connection:
            variants = connection.execute(select(RESULTS.c.variant).where(of_run).distinct()).scalars().all()
            most = connection.execute(select(func.max(RESULTS.c.repeat)).where(of_run)).scalar()
            query = select(*unit, RESULTS.c.key).where(of_run, RESULTS.c.state.in_(states)).order_by(*unit)
            with connection.execute(query, execution_options={"yield_per": 1000}) as rows:
                return Finished(rows, sorted(variants), (most or 0) + 1)

    def cached(self, keys: Sequence[str], *, run: str | None = None) -> dict[str, Row]:
        """The newest reply as it came, by the key of its call; of all runs or of one."""
        if len(keys) == 1:
            with self._place.told():
                row = self._lookup.newest(keys[0], run)
            return {} if row is None else {keys[0]: row}
        with self._read() as connection:
            return cached_calls(connection, keys, run)

    def made(self, keys: Sequence[str], runs: Sequence[str]) -> dict[str, Row]:
        """The newest output that a live variant made in one of some runs, by key."""
        with self._read() as connection:
            return made_outputs(connection, keys, runs)

    def made_in(self, run: str) -> Iterator[Row]:
        """All outputs of live variants that a run has, made or taken over."""
        return self._stream(made_query(run))

    def labels(self, run: str) -> Iterator[Row]:
        """What people said of a run's outputs, by sample, variant, criterion and rater; "" is every variant."""
        return self._stream(labels_query(run))

    def keep_labels(self, run: str, labels: Iterable[Mapping[str, object]]) -> None:
        """Keep labels (sample, variant, criterion, rater, exact score, at) of a run in place of all those before."""
        with self._write() as connection:
            write_labels(connection, run, labels, self.shown)

    def columns(self, run: str) -> bytes | None:
        """What `keep_columns` kept of a run; None where there is nothing, or the run was taken up since."""
        with self._read() as connection:
            return kept_columns(connection, run)

    def keep_columns(self, run: str, content: bytes) -> None:
        """Keep a run's results in short, to be read instead of its rows; whoever takes the run up drops them."""
        with self._write() as connection:
            write_columns(connection, run, content)

    def baselines(self) -> list[Row]:
        """Every baseline as name, run and when it was set, by name."""
        with self._read() as connection:
            return all_baselines(connection)

    def baseline(self, name: str) -> Row:
        """The baseline of a name, as name, run and when it was set."""
        with self._read() as connection:
            return one_baseline(connection, name, self.shown)

    def set_baseline(self, name: str, run: str, *, now: datetime | None = None) -> str | None:
        """Give a finished run a name, and say which run had it before."""
        with self._write() as connection:
            return pin(connection, name, run, now or datetime.now(UTC), self.shown)

    def remove_baseline(self, name: str) -> str:
        """Take a name away and say which run had it; the run stays."""
        with self._write() as connection:
            return unpin(connection, name, self.shown)

    def export(self, run: str, stream: BinaryIO) -> None:
        """Write a run with all that belongs to it as one portable file; a failure of `stream` stays an OSError."""
        pack(self._lines(run), stream)

    def import_(self, stream: BinaryIO) -> str:
        """Take in an exported run unchanged, and say its id; refused if it is cut off, changed, or here already."""
        with self._write() as connection:
            return import_run(connection, stream, self.shown)

    def delete(self, run: str, *, pinned: bool = False, now: datetime | None = None) -> None:
        """Remove a run with all that belongs to it; a baseline only if told so, and none that a process works on."""
        with self._write() as connection:
            row = one_run(connection, run, self.shown)
            delete_run(connection, row, now or datetime.now(UTC), self.shown, pinned=pinned)

    def gc(self, keep: timedelta = timedelta(days=30), *, now: datetime | None = None) -> Collected:
        """Remove runs that were never finished and have not moved for as long as `keep`, and give back their room."""
        with self._write() as connection:
            runs = collect(connection, keep, now or datetime.now(UTC))
        with self._place.told():
            return Collected(runs=runs, freed=give_back(self._engine, self._place.file))

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        with self._place.told(), self._reading.connect() as connection:
            yield connection

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        with self._place.told(), self._writing.begin() as connection:
            yield connection

    def _stream(self, query: Select[Any]) -> Iterator[Row]:
        with self._read() as connection:
            yield from stream(connection, query)

    def _lines(self, run: str) -> Iterator[bytes]:
        with self._read() as connection:
            yield from run_lines(connection, one_run(connection, run, self.shown))
