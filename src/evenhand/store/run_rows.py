"""A few rows of a run at a time, as pages show them: never all, and never a long column that is not shown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from sqlalchemy import Connection, Table, func, select

from evenhand.store.baselines import list_baseline_rows
from evenhand.store.queries import select_made_output_rows, select_named_sample_rows
from evenhand.store.rows import Row, storable_row_text
from evenhand.store.tables import CALLS, COLUMNS, RESULTS, RUNS, SAMPLES

HEAD_COLUMNS = ("id", "name", "state", "started", "ended", "fingerprint", "holder", "imported")
ROW_ORDERS = {
    SAMPLES: ("position",),
    RESULTS: ("position", "variant", "repeat"),
    CALLS: ("position", "variant", "repeat", "judge", "key"),
}


@dataclass(frozen=True, slots=True)
class RunRows:
    """Rows of runs, reached by `store.rows`."""

    _read: Callable[[], AbstractContextManager[Connection]]

    def list_run_heads(self) -> list[Row]:
        """Every run without its texts and numbers, the newest first."""
        query = select(*(RUNS.c[name] for name in HEAD_COLUMNS)).order_by(RUNS.c.id.desc())
        with self._read() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def list_eval_runs(self, name: str, most: int) -> list[Row]:
        """The newest runs of an eval, the newest first."""
        query = select(RUNS).where(RUNS.c.name == storable_row_text(name)).order_by(RUNS.c.id.desc()).limit(most)
        with self._read() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def load_columns(self, run: str) -> bytes | None:
        """What `save_columns` kept of a run; None where there is nothing, or the run was taken up since."""
        with self._read() as connection:
            found = connection.execute(select(COLUMNS.c.content).where(COLUMNS.c.run == run)).scalar()
        return None if found is None else bytes(found)

    def list_baselines(self) -> list[Row]:
        """Every baseline as name, run and when it was set, by name."""
        with self._read() as connection:
            return list_baseline_rows(connection)

    def sample_ids(self, run: str, positions: Collection[int]) -> dict[int, str]:
        """The ids of some samples of a run."""
        which = (SAMPLES.c.run == run, SAMPLES.c.position.in_(sorted(positions)))
        with self._read() as connection:
            rows = connection.execute(select(SAMPLES.c.position, SAMPLES.c.id).where(*which))
            return {row.position: row.id for row in rows}

    def find_outputs(self, keys: Sequence[str], runs: Sequence[str]) -> dict[str, Row]:
        """The newest output that a live variant made in one of some runs, by key."""
        with self._read() as connection:
            return select_made_output_rows(connection, keys, runs)

    def find_sample_position(self, run: str, id: str) -> int | None:
        """The place of the first sample of an id in its run."""
        of_id = (SAMPLES.c.run == run) & (SAMPLES.c.id == storable_row_text(id))
        with self._read() as connection:
            return connection.execute(select(func.min(SAMPLES.c.position)).where(of_id)).scalar()

    def list_positions(self, run: str) -> list[int]:
        """The places of all samples of a run, in order."""
        query = select(SAMPLES.c.position).where(SAMPLES.c.run == run).order_by(SAMPLES.c.position)
        with self._read() as connection:
            return list(connection.execute(query).scalars())

    def find_positions(self, run: str, text: str) -> list[int]:
        """The places of the samples of a run that have a text in their id or in what they were asked."""
        wanted = storable_row_text(text)
        has = SAMPLES.c.id.icontains(wanted, autoescape=True) | SAMPLES.c.content.icontains(wanted, autoescape=True)
        with self._read() as connection:
            return list(connection.execute(select(SAMPLES.c.position).where(SAMPLES.c.run == run, has)).scalars())

    def list_samples_at(self, run: str, positions: Collection[int]) -> list[Row]:
        """Some samples of a run, by position."""
        return self._list_rows_at(SAMPLES, run, positions)

    def list_results_at(self, run: str, positions: Collection[int]) -> list[Row]:
        """The results of some samples of a run, by position, variant and repeat."""
        return self._list_rows_at(RESULTS, run, positions)

    def list_calls_at(self, run: str, positions: Collection[int]) -> list[Row]:
        """The calls about some samples of a run, by position, variant, repeat and judge."""
        return self._list_rows_at(CALLS, run, positions)

    def load_named_samples(self, run: str, ids: Collection[str]) -> tuple[list[Row], list[Row]]:
        """Some samples of a run by their ids, and their results."""
        with self._read() as connection:
            return select_named_sample_rows(connection, run, ids)

    def count_result_states(self, run: str) -> dict[tuple[str, str], int]:
        """How many results there are of each variant in each state."""
        kinds = (RESULTS.c.variant, RESULTS.c.state)
        query = select(*kinds, func.count()).where(RESULTS.c.run == run).group_by(*kinds)
        with self._read() as connection:
            return {(variant, state): count for variant, state, count in connection.execute(query)}

    def list_unscored_results(self, run: str, most: int) -> list[Row]:
        """Some results of a run that have no score."""
        without = (RESULTS.c.run == run) & (RESULTS.c.state != "scored")
        query = select(RESULTS).where(without).order_by(RESULTS.c.position).limit(most)
        with self._read() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def _list_rows_at(self, table: Table, run: str, positions: Collection[int]) -> list[Row]:
        some = (table.c.run == run) & table.c.position.in_(sorted(positions))
        query = select(table).where(some).order_by(*(table.c[name] for name in ROW_ORDERS[table]))
        with self._read() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]
