"""Probes in the store: each sealed set is a row that never changes, and each look at it another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select
from sqlalchemy.exc import IntegrityError

from evenhand.errors import Fault, StoreError, suggest_close_word_in_error
from evenhand.store.queries import fetch_first_row, stream_rows
from evenhand.store.rows import Row, fit_store_rows, repair_row_texts, storable_row_text
from evenhand.store.tables import PROBE_LOOKS, PROBES


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
                hint = "another name, or --force to seal it anew; its looks are then gone"
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
