"""The store of runs: one file at home, a server for a team; what is written once is never lost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial, partialmethod
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, Self

from sqlalchemy import Connection, Engine, Select, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from evenhand.errors import Fault, RunLostError, StoreError
from evenhand.files.private_files import create_private_file, make_private_folder
from evenhand.store import queries
from evenhand.store.contest_queues import StoredContestInbox, StoredOutbox
from evenhand.store.contest_store import ContestStore
from evenhand.store.database import (
    NO_RUNS,
    WRITE_OPTIONS,
    ServerClock,
    StoreClock,
    StoreLocation,
    create_store_engine,
    locate_store_database,
    overwrite_removed_texts,
    prepare_store_tables,
    read_store_clock,
    vacuum_store,
)
from evenhand.store.evaluation_store import EvaluationStore, LabellingStore, ProbeStore
from evenhand.store.queries import NEWEST_REPLY_OF_ALL, NEWEST_REPLY_OF_RUN, RUN_KIND, ResultPlace, StoredRowLookup
from evenhand.store.reply_claims import (
    BatchStore,
    StoredReplyClaims,
    claim_rows_of_unasked_replies,
    keep_first_reply_rows,
    keep_paid_rows,
    release_reply_claim_rows,
)
from evenhand.store.rows import (
    ALLOWED_VALUES,
    Row,
    RowBatch,
    fit_store_rows,
    storable_row_text,
    upsert_rows,
    write_row_batch,
)
from evenhand.store.run_export import export_stored_run_lines, insert_run_rows, pack_exported_store_rows
from evenhand.store.run_holds import (
    RunHold,
    beat_run_hold,
    explain_lost_run_hold,
    insert_run_hold,
    is_run_row_held,
    keep_run_hold_beating,
    release_stored_row,
    take_run_hold,
)
from evenhand.store.run_rows import (
    CollectedRuns,
    StoredRunRows,
    delete_named_run_rows,
    delete_stale_run_rows,
    remove_baseline_row,
    set_baseline_row,
)
from evenhand.store.service_store import StoredModelLimits, StoredServiceRequests, TokenStore
from evenhand.store.tables import CALLS, COLUMNS, RUNS


@dataclass(slots=True, eq=False, repr=False)
class Store(AbstractContextManager["Store"]):
    """Runs with their samples, results, calls and outputs. Every failure is a StoreError that names the store."""

    shown: str  # The store as messages name it: its file, or its address without the password.
    address: str | Path  # What opens this store again, from any folder; a password in it is not hidden.
    _place: StoreLocation
    _clock: StoreClock
    _engine: Engine
    _writing: Engine  # The same engine, for transactions that write.
    _lookup: StoredRowLookup
    _turn: AbstractContextManager[Any]  # Of threads that write to a file: SQLite has those wait by looking again.
    _transaction: Connection | None = None  # The one that all reads and writes are part of, within `begin_transaction`.

    @classmethod
    def open(
        cls,
        place: str | Path | None,
        environ: Mapping[str, str],
        *,
        create: bool = True,
        empty: str = NO_RUNS,
        clock: StoreClock = read_store_clock,
    ) -> Self:
        """The store at a folder or an address, else where the environment says; `empty` is the error where none is."""
        at = locate_store_database(place, environ)
        at = at if create else at.for_reading()
        if at.file is not None and not create and not at.file.exists():
            raise StoreError(Fault(empty, where=at.shown))
        with at.wrap_errors():
            if at.file is not None and create:
                make_private_folder(at.file.parent, ignored=True)
                create_private_file(at.file)  # What SQLite puts beside it has the same mode.
            engine = create_store_engine(at)
            try:
                prepare_store_tables(engine, at, create=create, empty=empty)
            except BaseException:
                engine.dispose()
                raise
        writing = engine.execution_options(**WRITE_OPTIONS[engine.dialect.name])
        address = at.url.render_as_string(hide_password=False) if at.file is None else at.file.absolute()
        clock = ServerClock(engine, at) if at.file is None and clock is read_store_clock else clock
        turn = nullcontext() if at.file is None else Lock()
        return cls(at.shown, address, at, clock, engine, writing, StoredRowLookup(engine), turn)

    @property
    def is_file(self) -> bool:
        """Whether it is a file of this machine: one writes at a time, and a lookup is answered at once."""
        return self._place.file is not None

    @property
    def contests(self) -> ContestStore:
        """The contests that are kept beside the runs."""
        return ContestStore(self._connect, partial(self._connect, writes="durably"), self.shown, self._clock)

    @property
    def claims(self) -> StoredReplyClaims:
        """The questions that runs are asking now."""
        return StoredReplyClaims(self._connect, partial(self._connect, writes=True), self.shown)

    @property
    def batches(self) -> BatchStore:
        """The questions that runs have handed to providers in batches."""
        return BatchStore(self._connect, partial(self._connect, writes=True), self.shown)

    @property
    def evaluations(self) -> EvaluationStore:
        """The evaluations of subjects that are kept beside the runs."""
        return EvaluationStore(self._connect, partial(self._connect, writes=True), self.shown)

    def now(self) -> datetime:
        """The time by the clock that this store goes by: a server's, where it is one, whatever the clock here says."""
        return self._clock()

    @property
    def inbox(self) -> StoredContestInbox:
        """What came for contests that a service plays."""
        return StoredContestInbox(self._connect, partial(self._connect, writes="durably"), self.shown, self._clock)

    @property
    def outbox(self) -> StoredOutbox:
        """What others are to be told."""
        return StoredOutbox(self._connect, partial(self._connect, writes=True), self.shown)

    @property
    def tokens(self) -> TokenStore:
        """Who may call a service."""
        return TokenStore(self._connect, partial(self._connect, writes=True), self.shown, self._look_up_row)

    @property
    def rows(self) -> StoredRunRows:
        """A few rows of a run, as pages show them."""
        return StoredRunRows(self._connect)

    @property
    def labelling(self) -> LabellingStore:
        """What people label on a page, answer by answer."""
        return LabellingStore(self._connect, partial(self._connect, writes=True), self.shown)

    @property
    def probes(self) -> ProbeStore:
        """Labelled samples that a judge is asked again and again."""
        return ProbeStore(self._connect, partial(self._connect, writes=True), self.shown)

    @property
    def limits(self) -> StoredModelLimits:
        """What has been handed out of the limits of models."""
        return StoredModelLimits(partial(self._connect, writes=True))

    @property
    def requests(self) -> StoredServiceRequests:
        """What a service was asked."""
        return StoredServiceRequests(self._connect, partial(self._connect, writes=True), self.shown)

    def close(self, *_: object) -> None:
        """Let go of the file or the server, as the end of a `with` does."""
        if self._lookup.connection is not None:
            self._lookup.close()
        self._engine.dispose()

    __exit__ = close

    @contextmanager
    def _connect(self, *, writes: bool | str = False) -> Iterator[Connection]:
        """A transaction: one that only reads sees one state of the store from beginning to end."""
        if self._transaction is not None:
            with self._place.wrap_errors():
                yield self._transaction
            return
        turn = self._turn if writes else nullcontext()
        writing = self._writing.execution_options(writes=writes) if writes == "durably" else self._writing
        with turn, self._place.wrap_errors(), writing.begin() if writes else self._engine.connect() as connection:
            yield connection

    def _look_up_row(self, query: Select[Any], bound: Mapping[str, object]) -> Row | None:
        with self._place.wrap_errors():
            return self._lookup.select_first(query, bound)

    @contextmanager
    def begin_transaction(self) -> Iterator[Self]:
        """The same store for one block: others see all that it does at the end, or nothing; they write afterwards."""
        with self._connect(writes="durably") as connection:
            yield replace(self, _transaction=connection)

    def _stream_rows(self, query: Select[Any], run: str) -> Generator[Row, None, None]:
        bound, options = {"of_run": run}, queries.STREAMED
        with self._connect() as connection, connection.execute(query, bound, execution_options=options) as found:
            names = tuple(found.keys())
            for some in found.partitions():
                yield from [dict(zip(names, row, strict=True)) for row in some]

    def begin_run(self, run: Mapping[str, object]) -> RunHold:
        """Write down a new run, held by whoever it names."""
        rows = fit_store_rows(RUNS, [run])
        with self._connect(writes=True) as connection:
            try:
                connection.execute(insert(RUNS), rows)
            except IntegrityError:
                raise StoreError(Fault(f"there is a run {run.get('id')!r} already", where=self.shown)) from None
            return insert_run_hold(connection, rows[0]["id"])

    def hold_run(self, id: str, holder: str, setup: str | None = None) -> RunHold:
        """Hold a run and set it running, with another setup if one is given; refused while another works on it."""
        with self._connect(writes=True) as connection:
            hold = take_run_hold(connection, id, holder, self.shown, setup)
            connection.execute(delete(COLUMNS).where(COLUMNS.c.run == id))  # Its results are about to change.
            return hold

    def beat_for_run(self, hold: RunHold, on_lost: Callable[[], object] = lambda: None) -> AbstractContextManager[None]:
        """A context in which a thread shows that the holder of a run lives, whatever judges and variants wait for.

        `on_lost` is called from that thread.
        """

        def beat() -> None:
            with self._connect(writes=True) as connection:
                beat_run_hold(connection, hold, self.shown)

        return keep_run_hold_beating(beat, on_lost)

    def release_run(self, id: str, state: str, ended: str, summary: str | None, *, hold: RunHold | None = None) -> None:
        """Let go of a run: stopped or finished, with its summary as JSON; with `hold`, only if that is still good."""
        with self._connect(writes=True) as connection:
            lost = None if hold is None else explain_lost_run_hold(connection, hold, self.shown)
            if lost is not None:
                raise RunLostError(lost)
            release_stored_row(connection, RUN_KIND, id, state, ended, summary)
            release_reply_claim_rows(connection, id)

    def is_run_held(self, run: Mapping[str, object]) -> bool:
        """Whether a process that may still live works on a run; a run that says running and is not held was killed."""
        with self._connect() as connection:
            return is_run_row_held(connection, run)

    def write_rows(self, batch: RowBatch, *, hold: RunHold | None = None, has_other_workers: bool = False) -> set[str]:
        """Write the rows of a batch, all of them or none; return what was claimed. Calls give up their claims.

        With `hold`, a RunLostError where the run is another's by now: only what was paid for is kept. Where the run
        `has_other_workers`, a reply that one of them has written stays, and the key of ours is returned too.
        """
        claimed: set[str] = set()
        with self._connect(writes=True) as connection:
            lost = None if hold is None else explain_lost_run_hold(connection, hold, self.shown)
            if lost is None:
                if hold is not None and batch.claims:
                    claimed = claim_rows_of_unasked_replies(connection, batch.claims, hold.run)
                if hold is not None and has_other_workers and batch.calls:
                    claimed |= keep_first_reply_rows(connection, batch.calls, hold.run)
                    write_row_batch(connection, replace(batch, calls=()))
                else:
                    write_row_batch(connection, batch)
                if hold is not None:
                    answered = [str(row["key"]) for row in batch.calls]
                    release_reply_claim_rows(connection, hold.run, [*answered, *batch.released])
            elif hold is not None and queries.fetch_first_row(connection, select(RUNS).where(RUNS.c.id == hold.run)):
                keep_paid_rows(connection, batch, hold.run)
        if lost is not None:
            raise RunLostError(lost)
        return claimed

    def list_runs(self, name: str | None = None) -> list[Row]:
        """All runs, or those of one eval, newest first."""
        query = select(RUNS).order_by(RUNS.c.id.desc())
        if name is not None:
            query = query.where(RUNS.c.name == storable_row_text(name))
        with self._connect() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def find_run(self, id: str) -> Row:
        """The run of an id, of the beginning of one, of "latest", of "latest:NAME" or of "baseline:NAME"."""
        with self._connect() as connection:
            return queries.find_run_row(connection, id, self.shown)

    # Rows of a run, each kind in an order that is the same in every database.
    samples = partialmethod(_stream_rows, queries.SAMPLES_OF_RUN)
    results = partialmethod(_stream_rows, queries.RESULTS_OF_RUN)
    calls = partialmethod(_stream_rows, queries.CALLS_OF_RUN)
    call_facts = partialmethod(_stream_rows, queries.CALL_FACTS_OF_RUN)  # Calls without their replies, to be counted.
    list_outputs = partialmethod(_stream_rows, queries.MADE_IN_RUN)  # Of live variants, made or taken over.
    labels = partialmethod(_stream_rows, queries.LABELS_OF_RUN)  # What people said; the variant "" is every one.

    def calls_by_key(self, run: str, keys: Sequence[str]) -> dict[str, Row]:
        """Some calls of a run."""
        query = queries.CALLS_OF_RUN.where(CALLS.c.key.in_(keys))
        return {row["key"]: row for row in self._stream_rows(query, run)}

    def finished_keys(
        self, run: str, *, states: Collection[str] = ALLOWED_VALUES["results"]["state"]
    ) -> Mapping[ResultPlace, str]:
        """The keys of the results that are there, by position, variant and repeat."""
        with self._connect() as connection:
            return queries.select_finished_row_keys(connection, run, states)

    def find_cached_replies(self, keys: Sequence[str], *, run: str | None = None) -> dict[str, Row]:
        """The newest reply as it came, by the key of its call; of all runs or of one."""
        if len(keys) == 1:
            query = NEWEST_REPLY_OF_ALL if run is None else NEWEST_REPLY_OF_RUN
            row = self._look_up_row(query, {"wanted": keys[0], "of_run": run})
            return {} if row is None else {keys[0]: row}
        with self._connect() as connection:
            return queries.select_cached_call_rows(connection, keys, run)

    def save_columns(self, run: str, content: bytes) -> None:
        """Keep a run's results in short, to be read instead of its rows; whoever takes the run up drops them."""
        with self._connect(writes=True) as connection:
            upsert_rows(connection, COLUMNS, [{"run": run, "content": content}])

    def find_baseline(self, name: str) -> Row:
        """The baseline of a name, as name, run and when it was set."""
        with self._connect() as connection:
            return queries.find_baseline_row(connection, name, self.shown)

    def set_baseline(self, name: str, run: str, *, now: datetime | None = None) -> str | None:
        """Give a finished run a name, and say which run had it before."""
        with self._connect(writes=True) as connection:
            return set_baseline_row(connection, name, run, now or self._clock(), self.shown)

    def remove_baseline(self, name: str) -> str:
        """Take a name away and say which run had it; the run stays."""
        with self._connect(writes=True) as connection:
            return remove_baseline_row(connection, name, self.shown)

    def export_run(self, run: str, stream: BinaryIO) -> None:
        """Write a run with all that belongs to it as one portable file; a failure of `stream` stays an OSError."""
        pack_exported_store_rows(self._export_lines(run), stream)

    def _export_lines(self, run: str) -> Iterator[bytes]:
        with self._connect() as connection:
            yield from export_stored_run_lines(connection, queries.find_run_row(connection, run, self.shown))

    def import_run(self, stream: BinaryIO, *, trust_replies: bool = False) -> str:
        """Take in an exported run as a guest, and say its id; other runs use its replies only if they are trusted."""
        with self._connect(writes=True) as connection:
            return insert_run_rows(connection, stream, self.shown, "trusted" if trust_replies else "guest")

    def replace_summary(self, run: str, summary: str | None) -> None:
        """Keep another summary, as JSON, of a run that is over."""
        with self._connect(writes=True) as connection:
            connection.execute(update(RUNS).where(RUNS.c.id == run).values(summary=summary))

    def delete_run(self, run: str, *, pinned: bool = False) -> None:
        """Remove a run with all that belongs to it; a baseline only if told so, and none that a process works on."""
        with self._connect(writes=True) as connection:
            delete_named_run_rows(connection, run, self.shown, pinned=pinned)
        self.overwrite_removed()

    def overwrite_removed(self) -> bool:
        """Leave nothing of what was removed in a file beside the store; False where others are in the way.

        It waits a second at most, and is then left to the next time, such as the sweep of a service.
        """
        file = self._place.file
        if file is None or self._place.read_only or self._transaction is not None:
            return file is None
        with self._place.wrap_errors():
            return overwrite_removed_texts(self._engine, file)

    def collect_garbage(self, keep: timedelta = timedelta(days=30), *, now: datetime | None = None) -> CollectedRuns:
        """Remove runs that were never finished and have not moved for as long as `keep`, and give back their room."""
        at = now or self._clock()
        with self._connect(writes=True) as connection:
            old = delete_stale_run_rows(connection, at - keep)
        with self._place.wrap_errors():
            return CollectedRuns(runs=old, freed=vacuum_store(self._engine, self._place.file))
