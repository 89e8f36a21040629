"""Evaluations of subjects, sealed probes and their looks, and labelling in the store, beside runs and contests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from sqlalchemy import Connection, Table, and_, delete, insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql.elements import ColumnElement

from evenhand.errors import Fault, StoreError, suggest_close_word_in_error
from evenhand.store.queries import fetch_first_row, replace_label_rows, select_output_rows, stream_rows
from evenhand.store.rows import Row, fit_store_rows, repair_row_texts, storable_row_text, upsert_rows
from evenhand.store.tables import EVALUATIONS, LABEL_ANSWERS, LABEL_BATCHES, LABELS, PROBE_LOOKS, PROBES


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


@dataclass(frozen=True, slots=True)
class ProbeStore:
    """The probes of a store, reached by `store.probes`. Every failure is a StoreError naming the store."""

    _read: Callable[[], AbstractContextManager[Connection]]
    _write: Callable[[], AbstractContextManager[Connection]]
    _shown: str

    def add_probe(self, probe: Mapping[str, object], *, replace: bool = False) -> None:
        """Seal a probe (name, at, judge, content); one of that name is there already only to be replaced."""
        rows = [repair_row_texts(row) for row in fit_store_rows(PROBES, [probe])]
        with self._write() as connection:
            if replace:
                connection.execute(delete(PROBE_LOOKS).where(PROBE_LOOKS.c.probe == rows[0]["name"]))
                connection.execute(delete(PROBES).where(PROBES.c.name == rows[0]["name"]))
            try:
                connection.execute(insert(PROBES), rows)
            except IntegrityError:
                what = f"there is a probe {probe.get('name')!r} already"
                hint = "another name, or --force to seal it again; its earlier looks are deleted"
                raise StoreError(Fault(what, hint, where=self._shown)) from None

    def list_probes(self) -> list[Row]:
        """All probes, by name."""
        with self._read() as connection:
            return list(stream_rows(connection, select(PROBES).order_by(PROBES.c.name)))

    def find_probe(self, name: str) -> Row:
        """The probe of a name."""
        with self._read() as connection:
            row = fetch_first_row(connection, select(PROBES).where(PROBES.c.name == storable_row_text(name)))
        if row is None:
            known = [one["name"] for one in self.list_probes()]
            hint = suggest_close_word_in_error(name, known) or "evenhand probe set NAME --labels FILE RUN seals one"
            raise StoreError(Fault(f"no probe {name!r}", hint, where=self._shown))
        return row

    def has_probe(self, name: str) -> bool:
        """Whether there is a probe of that name."""
        return any(one["name"] == name for one in self.list_probes())

    def list_looks(self, name: str) -> list[Row]:
        """The looks at a probe, in their order."""
        query = select(PROBE_LOOKS).where(PROBE_LOOKS.c.probe == name).order_by(PROBE_LOOKS.c.number)
        with self._read() as connection:
            return list(stream_rows(connection, query))

    def add_look(self, look: Mapping[str, object]) -> None:
        """Write down a look (probe, number, at, content); refused where another process took the same one."""
        rows = fit_store_rows(PROBE_LOOKS, [look])
        with self._write() as connection:
            try:
                connection.execute(insert(PROBE_LOOKS), rows)
            except IntegrityError:
                what = f"look {look.get('number')} at probe {look.get('probe')!r} was taken meanwhile"
                raise StoreError(Fault(what, "evenhand probe show says what it found", where=self._shown)) from None


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

    def write_answer(self, answer: Mapping[str, object], labels: Sequence[Mapping[str, object]] | None) -> bool:
        """Write an answer with its labels, where None leaves labels as they are.

        The first answer stays: False where this person has given another one to the same output.
        """
        places = [LABEL_ANSWERS.c[name] == answer[name] for name in ("batch", "place", "round")]
        with self._write() as connection:
            known = select(LABEL_ANSWERS).where(_match_output_row(LABEL_ANSWERS, answer), *places)
            given = fetch_first_row(connection, known)
            if given is not None:
                return bool(given["content"] == answer["content"])
            upsert_rows(connection, LABEL_ANSWERS, [answer])
            if labels is not None:
                connection.execute(delete(LABELS).where(_match_output_row(LABELS, answer)))
                if labels:
                    upsert_rows(connection, LABELS, labels)
        return True

    def remove_answer(self, answer: Mapping[str, object], *, with_labels: bool) -> None:
        """Take an answer back, and its labels where it has any."""
        places = [LABEL_ANSWERS.c[name] == answer[name] for name in ("batch", "place", "round")]
        with self._write() as connection:
            connection.execute(delete(LABEL_ANSWERS).where(_match_output_row(LABEL_ANSWERS, answer), *places))
            if with_labels:
                connection.execute(delete(LABELS).where(_match_output_row(LABELS, answer)))


def _match_output_row(table: Table, answer: Mapping[str, object]) -> ColumnElement[bool]:
    """The rows of one person about one output."""
    same = [table.c[name] == storable_row_text(str(answer[name])) for name in ("run", "sample", "variant", "rater")]
    return and_(*same)
