"""Labelling in the store: the draws that people work through, and each answer, written together with its labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from sqlalchemy import Connection, Table, and_, delete, select
from sqlalchemy.sql.elements import ColumnElement

from evenhand.store.queries import fetch_first_row, replace_label_rows, select_output_rows, stream_rows
from evenhand.store.rows import Row, storable_row_text, upsert_rows
from evenhand.store.tables import LABEL_ANSWERS, LABEL_BATCHES, LABELS


@dataclass(frozen=True, slots=True)
class LabellingStore:
    """What people label on a page, reached by `store.labelling`. An answer is there or not, its labels with it."""

    _read: Callable[[], AbstractContextManager[Connection]]
    _write: Callable[[], AbstractContextManager[Connection]]
    _shown: str

    def replace_labels(self, run: str, labels: Iterable[Mapping[str, object]]) -> None:
        """Keep labels of a run in place of all those before: who said what (exact) of which output, and when."""
        with self._write() as connection:
            replace_label_rows(connection, run, labels, self._shown)

    def find_output_rows(self, run: str, samples: Sequence[str]) -> list[Row]:
        """The results of some samples, by their ids, each with `id` and `sample`, the content of its sample."""
        with self._read() as connection:
            return select_output_rows(connection, run, samples)

    def add_batch(self, batch: Mapping[str, object]) -> None:
        """Write down a draw; where there is one of this number, that one stays: people work on it."""
        with self._write() as connection:
            wanted = select(LABEL_BATCHES).where(
                LABEL_BATCHES.c.run == batch["run"], LABEL_BATCHES.c.batch == batch["batch"]
            )
            if fetch_first_row(connection, wanted) is None:
                upsert_rows(connection, LABEL_BATCHES, [batch])

    def list_batches(self, run: str) -> list[Row]:
        """The draws of a run, oldest first."""
        with self._read() as connection:
            query = select(LABEL_BATCHES).where(LABEL_BATCHES.c.run == run).order_by(LABEL_BATCHES.c.batch)
            return list(stream_rows(connection, query))

    def list_answers(self, run: str, rater: str | None = None) -> list[Row]:
        """The answers of a run, or of one person, oldest first."""
        query = select(LABEL_ANSWERS).where(LABEL_ANSWERS.c.run == run).order_by(LABEL_ANSWERS.c.at)
        if rater is not None:
            query = query.where(LABEL_ANSWERS.c.rater == storable_row_text(rater))
        with self._read() as connection:
            return list(stream_rows(connection, query))

    def write_answer(self, answer: Mapping[str, object], labels: Sequence[Mapping[str, object]] | None) -> None:
        """Write an answer, in place of the same person's before, with its labels; None leaves labels as they are."""
        with self._write() as connection:
            upsert_rows(connection, LABEL_ANSWERS, [answer])
            if labels is not None:
                connection.execute(delete(LABELS).where(_match_output(LABELS, answer)))
                if labels:
                    upsert_rows(connection, LABELS, labels)

    def remove_answer(self, answer: Mapping[str, object], *, with_labels: bool) -> None:
        """Take an answer back, and its labels where it has any."""
        places = [LABEL_ANSWERS.c[name] == answer[name] for name in ("batch", "place", "round")]
        with self._write() as connection:
            connection.execute(delete(LABEL_ANSWERS).where(_match_output(LABEL_ANSWERS, answer), *places))
            if with_labels:
                connection.execute(delete(LABELS).where(_match_output(LABELS, answer)))


def _match_output(table: Table, answer: Mapping[str, object]) -> ColumnElement[bool]:
    """The rows of one person about one output."""
    same = [table.c[name] == storable_row_text(str(answer[name])) for name in ("run", "sample", "variant", "rater")]
    return and_(*same)
