"""A run as one file that another store imports unchanged: lines of JSON, compressed and sealed by a checksum."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from datetime import datetime
from hashlib import sha256
from typing import Any, BinaryIO

from sqlalchemy import Connection, Select, Table, func, insert, select
from sqlalchemy.exc import IntegrityError

from evenhand.errors import Fault, StoreError
from evenhand.store import queries
from evenhand.store.rows import Row, fit_store_rows, to_stored_json
from evenhand.store.tables import CALLS, LABELS, MADE, RESULTS, RUNS, SAMPLES

EXPORT_FORMAT = 2  # The first knew no labels; a run without labels is still written so, for whoever reads no other.
_EXPORT_QUERIES: dict[Table, Select[Any]] = {
    SAMPLES: queries.SAMPLES_OF_RUN,
    RESULTS: queries.RESULTS_OF_RUN,
    CALLS: queries.CALLS_OF_RUN,
    MADE: queries.MADE_IN_RUN,
    LABELS: queries.LABELS_OF_RUN,
}
_EXPORTED_TABLES = {1: (SAMPLES, RESULTS, CALLS, MADE), 2: tuple(_EXPORT_QUERIES)}
_IMPORT_BATCH = 500
_LONGEST_EXPORT_LINE = 1 << 28  # Bytes of one line: a file that unpacks without end fills no memory.
_JSON_COLUMNS = ("setup", "summary", "content", "reply")
_TIME_COLUMNS = ("started", "ended", "at")
_RUN_ID_PATTERN = re.compile(r"(?!latest)[0-9A-Za-z][0-9A-Za-z._-]{0,79}")


def export_run_lines(connection: Connection, run: Row) -> Iterator[bytes]:
    """The lines of a run's file: what it is, the run, all that belongs to it, and the checksum of the lines before."""
    seal = sha256()
    for line in _unsealed_export_lines(connection, run):
        seal.update(line)
        yield line
    yield _export_line({"sha256": seal.hexdigest()})


def pack_exported_store_rows(lines: Iterable[bytes], target: BinaryIO) -> None:
    """Write lines packed, the same bytes for the same run."""
    with gzip.GzipFile(fileobj=target, mode="wb", filename="", mtime=0, compresslevel=6) as packed:
        for line in lines:
            packed.write(line)


def insert_run_rows(connection: Connection, source: BinaryIO, where: str) -> str:
    """Take in a run from its file, and say its id."""
    lines = _ImportedLines(source)
    counts = _read_export_header(lines)
    run = _check_imported_row(RUNS, lines.read_entry("runs"))
    if not _RUN_ID_PATTERN.fullmatch(run["id"]):
        raise _store_import_error(f"has a run with the id {run['id']!r}")
    here = queries.fetch_first_row(connection, select(RUNS).where(RUNS.c.id == run["id"]))
    if here is None:
        _insert_imported_rows(connection, RUNS, [run])
    for table, count in counts.items():
        for start in range(0, count, _IMPORT_BATCH):
            rows = [
                {**_check_imported_row(table, lines.read_entry(table.name)), "run": run["id"]}
                for _ in range(min(_IMPORT_BATCH, count - start))
            ]
            if here is None:
                _insert_imported_rows(connection, table, rows)
    lines.check_seal()
    if here is not None:
        raise StoreError(_run_exists_fault(connection, here, lines.seal, where))
    return str(run["id"])


def _unsealed_export_lines(connection: Connection, run: Row) -> Iterator[bytes]:
    counts = {}
    for table in _EXPORT_QUERIES:
        query = select(func.count()).select_from(table).where(table.c.run == run["id"])
        counts[table.name] = connection.execute(query).scalar_one()
    format = EXPORT_FORMAT if counts["labels"] else 1
    counts = {table.name: counts[table.name] for table in _EXPORTED_TABLES[format]}
    yield _export_line({"evenhand": "run", "format": format, "counts": counts})
    yield _export_line({"runs": {name: value for name, value in run.items() if name != "holder"}})
    for table, query in _EXPORT_QUERIES.items():
        for row in queries.stream_rows(connection, query, run["id"]):
            del row["run"]
            yield _export_line({table.name: row})


def _export_line(value: object) -> bytes:
    return (to_stored_json(value) + "\n").encode()


class _ImportedLines:
    """The lines of a file, read one by one and never trusted."""

    def __init__(self, source: BinaryIO) -> None:
        self._packed = gzip.GzipFile(fileobj=source)
        self._seal = sha256()
        self.seal = ""

    def read_entry(self, kind: str) -> Row:
        """The next line, which must hold one entry of a kind."""
        value = self.read_sealed_line()
        entry = value.get(kind)
        if len(value) != 1 or not isinstance(entry, dict):
            raise _store_import_error(f"has no {kind!r} where they should be")
        return entry

    def read_sealed_line(self) -> Row:
        """The next line, taken into the checksum."""
        line = self._next_line()
        self._seal.update(line)
        return _parse_export_json(line)

    def check_seal(self) -> None:
        """The checksum, and nothing after it."""
        self.seal = self._seal.hexdigest()
        if _parse_export_json(self._next_line()) != {"sha256": self.seal}:
            raise _store_import_error("does not match its checksum")
        if self._read_line():
            raise _store_import_error("goes on after its end")

    def _next_line(self) -> bytes:
        line = self._read_line()
        if not line.endswith(b"\n"):
            raise _store_import_error("has a line without end" if len(line) >= _LONGEST_EXPORT_LINE else "is cut off")
        return line

    def _read_line(self) -> bytes:
        try:
            return self._packed.readline(_LONGEST_EXPORT_LINE)
        except EOFError:
            raise _store_import_error("is cut off") from None
        except (OSError, zlib.error) as error:
            raise _store_import_error(f"cannot be read: {error}") from None


def _read_export_header(lines: _ImportedLines) -> dict[Table, int]:
    head = lines.read_sealed_line()
    if head.get("evenhand") != "run":
        raise _store_import_error("is not a run that Evenhand exported")
    format = head.get("format")
    if type(format) is not int or format not in _EXPORTED_TABLES:
        what = f"was written by a newer Evenhand (format {format}, this one knows {EXPORT_FORMAT})"
        raise StoreError(Fault(what, "upgrade Evenhand", where="the file"))
    counts = head.get("counts")
    tables = {table.name: table for table in _EXPORTED_TABLES[format]}
    if (
        not isinstance(counts, dict)
        or counts.keys() != tables.keys()
        or not all(type(count) is int and count >= 0 for count in counts.values())
    ):
        raise _store_import_error("does not say what is in it")
    return {table: counts[name] for name, table in tables.items()}


def _check_imported_row(table: Table, entry: Row) -> Row:
    """An entry whose every field is a column of the table, and of its kind."""
    columns = {column.name: column for column in table.columns if column.name not in ("run", "holder")}
    if entry.keys() != columns.keys():
        raise _store_import_error(f"has other fields in its {table.name}")
    for name, value in entry.items():
        column = columns[name]
        if value is None and column.nullable:
            continue
        kinds = {str: (str,), int: (int,), float: (int, float)}[column.type.python_type]
        if type(value) not in kinds:
            raise _store_import_error(f"has a {name} in its {table.name} that cannot be")
        if name in _JSON_COLUMNS:
            _parse_export_json(value, whole=False)
        if name in _TIME_COLUMNS:
            try:
                datetime.fromisoformat(value)
            except ValueError:
                raise _store_import_error(f"has a time {value[:40]!r}") from None
    return entry


def _insert_imported_rows(connection: Connection, table: Table, rows: list[Row]) -> None:
    try:
        fitted = fit_store_rows(table, rows)
    except StoreError as error:
        raise _store_import_error(f"has what cannot be: {error}") from None
    try:
        connection.execute(insert(table), fitted)
    except IntegrityError:
        raise _store_import_error(f"has the same twice in its {table.name}") from None


def _run_exists_fault(connection: Connection, here: Row, seal: str, where: str) -> Fault:
    own = sha256()
    for line in _unsealed_export_lines(connection, here):
        own.update(line)
    if own.hexdigest() == seal:
        return Fault(f"run {here['id']} is here already", "nothing was changed", where=where)
    hint = "nothing was changed; delete it first, or import into another store"
    return Fault(f"a different run {here['id']} is here", hint, where=where)


def _parse_export_json(text: str | bytes, *, whole: bool = True) -> Row:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise _store_import_error("has a line that is not JSON") from None
    if whole and not isinstance(value, dict):
        raise _store_import_error("has a line that is not an entry")
    return value  # type: ignore[no-any-return]


def _store_import_error(what: str) -> StoreError:
    return StoreError(Fault(what, "export the run again; nothing was changed here", where="the file"))
