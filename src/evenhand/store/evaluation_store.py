"""Evaluations of subjects in the store: one row for each, kept beside runs and contests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.exc import IntegrityError

from evenhand.errors import Fault, StoreError
from evenhand.store.queries import stream_rows
from evenhand.store.rows import Row, fit_store_rows, repair_row_texts, storable_row_text
from evenhand.store.tables import EVALUATIONS


@dataclass(frozen=True, slots=True)
class EvaluationStore:
    """The evaluations of a store, reached by `store.evaluations`. Every failure is a StoreError naming the store."""

    _read: Callable[[], AbstractContextManager[Connection]]
    _write: Callable[[], AbstractContextManager[Connection]]
    _shown: str

    def add_evaluation(self, evaluation: Mapping[str, object]) -> None:
        """Write down an evaluation; refused where its id is taken."""
        rows = [repair_row_texts(row) for row in fit_store_rows(EVALUATIONS, [evaluation])]
        with self._write() as connection:
            try:
                connection.execute(insert(EVALUATIONS), rows)
            except IntegrityError:
                what = f"there is an evaluation {evaluation.get('id')!r} already"
                raise StoreError(Fault(what, where=self._shown)) from None

    def list_evaluations(self, subject: str | None = None) -> list[Row]:
        """All evaluations, or those of one subject, oldest first."""
        query = select(EVALUATIONS).order_by(EVALUATIONS.c.at, EVALUATIONS.c.id)
        if subject is not None:
            query = query.where(EVALUATIONS.c.subject == storable_row_text(subject))
        with self._read() as connection:
            return list(stream_rows(connection, query))

    def delete_evaluations(self, subject: str, id: str | None = None) -> int:
        """Remove all evaluations of a subject, or one of them, and say how many are gone."""
        removal = delete(EVALUATIONS).where(EVALUATIONS.c.subject == storable_row_text(subject))
        if id is not None:
            removal = removal.where(EVALUATIONS.c.id == id)
        with self._write() as connection:
            return connection.execute(removal).rowcount
