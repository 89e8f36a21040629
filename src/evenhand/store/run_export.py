"""A run as one file that another store imports unchanged: lines of JSON, compressed and sealed by a checksum."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from datetime import datetime
from hashlib import sha256
from math import isfinite
from typing import Any, BinaryIO

from sqlalchemy import BigInteger, Column, Connection, Select, Table, func, insert, select
from sqlalchemy.exc import IntegrityError

from evenhand.errors import Fault, StoreError
from evenhand.store import queries
from evenhand.store.rows import Row, fit_store_rows, to_stored_json
from evenhand.store.tables import CALLS, LABELS, MADE, RESULTS, RUNS, SAMPLES

# The first knew no labels, the second not what a label is about. A run that needs no more is still written so, for
# whoever reads no other.
EXPORT_FORMAT = 3
_BOUND_LABEL_COLUMNS = ("output", "chance", "batch", "schema")  # Left out where a label does not have them.
_EXPORT_QUERIES: dict[Table, Select[Any]] = {
    SAMPLES: queries.SAMPLES_OF_RUN,
    RESULTS: queries.RESULTS_OF_RUN,
    CALLS: queries.CALLS_OF_RUN,
    MADE: queries.MADE_IN_RUN,
    LABELS: queries.LABELS_OF_RUN,
}
_EXPORTED_TABLES = {1: (SAMPLES, RESULTS, CALLS, MADE), **dict.fromkeys((2, 3), tuple(_EXPORT_QUERIES))}
_IMPORT_BATCH = 500
# A file that unpacks without end fills neither memory nor disk: a line is bounded, and so are the values in it, and
# all lines together by the size of the file. Exports unpack to some ten times their size.
_LONGEST_EXPORT_LINE = 1 << 25  # Bytes.
_MOST_JSON_VALUES = 2_000_000
_FREE_EXPANSION = 1 << 26  # Bytes that any file may unpack to; beyond them, so many for each of its own:
_MOST_EXPANSION = 200
_NOT_EXPORTED = ("holder", "imported")  # They belong to the store.
_JSON_COLUMNS = ("setup", "summary", "content", "reply")
_TIME_COLUMNS = ("started", "ended", "at")
_LONGEST_IMPORTED_TEXT = 10_000  # Characters of what is neither JSON nor the eval itself.
_UNBOUNDED_COLUMNS = (*_JSON_COLUMNS, "source")
_RUN_ID_PATTERN = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}")
_IMPORTED_SHAPES = {
    "taken_from": _RUN_ID_PATTERN,
    "cached_from": _RUN_ID_PATTERN,
    "key": re.compile(r"(?:[0-9a-f]{64}(?: [0-9T:.+Z-]{1,40})?)?"),
    "score": re.compile(r"-?[0-9]{1,400}(?:/0*[1-9][0-9]{0,399})?"),
    "composite": re.compile(r"-?[0-9]{1,400}(?:/0*[1-9][0-9]{0,399})?"),
    "chance": re.compile(r"[0-9]{1,400}(?:/0*[1-9][0-9]{0,399})?"),
    "output": re.compile(r"[0-9a-f]{16}"),
    "cost": re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,40})?(?:E[+-]?[0-9]{1,2})?"),
}
_LARGEST_PLACE = 10_000_000  # Positions and repeats beyond are not of a run that anybody made.


def export_stored_run_lines(connection: Connection, run: Row) -> Iterator[bytes]:
    """The lines of a run's file: what it is, the run, all that belongs to it, and the checksum of the lines before."""
    seal = sha256()
    for line in _unsealed_stored_run_lines(connection, run):
        seal.update(line)
        yield line
    yield _stored_row_line({"sha256": seal.hexdigest()})


def pack_exported_store_rows(lines: Iterable[bytes], target: BinaryIO) -> None:
    """Write lines packed, the same bytes for the same run."""
    with gzip.GzipFile(fileobj=target, mode="wb", filename="", mtime=0, compresslevel=6) as packed:
        for line in lines:
            packed.write(line)


def insert_run_rows(connection: Connection, source: BinaryIO, where: str, imported: str) -> str:
    """Take in a run from its file, marked as imported, and say its id."""
    lines = _ImportedStoreRows(source)
    counts = _read_stored_run_header(lines)
    run = _check_imported_row(RUNS, lines.read_entry("runs"))
    if not _RUN_ID_PATTERN.fullmatch(run["id"]):
        raise _store_import_error(f"has a run with the id {run['id'][:80]!r}")
    _refuse_circular_imported_row(connection, run)
    lines.content.update(_stored_run_content_line(run))
    here = queries.fetch_first_row(connection, select(RUNS).where(RUNS.c.id == run["id"]))
    if here is None:
        _insert_imported_rows(connection, RUNS, [{**run, "imported": imported}])
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
        raise StoreError(_run_already_stored_fault(connection, here, lines.content.hexdigest(), where))
    return str(run["id"])


def _unsealed_stored_run_lines(connection: Connection, run: Row) -> Iterator[bytes]:
    counts = {}
    for table in _EXPORT_QUERIES:
        query = select(func.count()).select_from(table).where(table.c.run == run["id"])
        counts[table.name] = connection.execute(query).scalar_one()
    bound = select(func.count()).where(LABELS.c.run == run["id"], LABELS.c.schema.is_not(None))
    format = 1 if not counts["labels"] else EXPORT_FORMAT if connection.execute(bound).scalar_one() else 2
    counts = {table.name: counts[table.name] for table in _EXPORTED_TABLES[format]}
    yield _stored_row_line({"evenhand": "run", "format": format, "counts": counts})
    yield _stored_row_line({"runs": {name: value for name, value in run.items() if name not in _NOT_EXPORTED}})
    yield from _belonging_stored_row_lines(connection, run)


def _belonging_stored_row_lines(connection: Connection, run: Row) -> Iterator[bytes]:
    for table, query in _EXPORT_QUERIES.items():
        for row in queries.stream_rows(connection, query, run["id"]):
            del row["run"]
            if table is LABELS:
                unknown = [name for name in _BOUND_LABEL_COLUMNS if row[name] is None]
                for name in unknown:
                    del row[name]
            yield _stored_row_line({table.name: row})


def _stored_run_content_line(run: Row) -> bytes:
    """The line of a run but for its summary, which is worked out anew where it is imported."""
    return _stored_row_line({name: value for name, value in run.items() if name not in (*_NOT_EXPORTED, "summary")})


def _stored_row_line(value: object) -> bytes:
    return (to_stored_json(value) + "\n").encode()


class _ImportedStoreRows:
    """The lines of a file, read one by one and never trusted."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = _ImportedStoreBytes(source)
        self._packed = gzip.GzipFile(fileobj=self._source)  # type: ignore[call-overload]
        self._unpacked = 0
        self._seal = sha256()
        self.content = sha256()  # Of the rows, without what a store adds or changes.

    def read_entry(self, kind: str) -> Row:
        """The next line, which must hold one entry of a kind."""
        value = self.read_sealed_line()
        entry = value.get(kind)
        if len(value) != 1 or not isinstance(entry, dict):
            raise _store_import_error(f"has no {kind!r} where they should be")
        if kind != RUNS.name:
            self.content.update(_stored_row_line(value))
        return entry

    def read_sealed_line(self) -> Row:
        """The next line, taken into the checksum."""
        line = self._next_line()
        self._seal.update(line)
        return _parse_exported_row_json(line)

    def check_seal(self) -> None:
        """The checksum, and nothing after it."""
        if _parse_exported_row_json(self._next_line()) != {"sha256": self._seal.hexdigest()}:
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
            line: bytes = self._packed.readline(_LONGEST_EXPORT_LINE)
        except EOFError:
            raise _store_import_error("is cut off") from None
        except (OSError, zlib.error) as error:
            raise _store_import_error(f"cannot be read: {error}") from None
        self._unpacked += len(line)
        if self._unpacked > _FREE_EXPANSION + _MOST_EXPANSION * self._source.count:
            raise _store_import_error("unpacks to far more than its size")
        return line


class _ImportedStoreBytes:
    """A file that counts what is read of it."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        found = self._source.read(size)
        self.count += len(found)
        return found


def _read_stored_run_header(lines: _ImportedStoreRows) -> dict[Table, int]:
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
    columns = {column.name: column for column in table.columns if column.name not in ("run", *_NOT_EXPORTED)}
    optional = {*_BOUND_LABEL_COLUMNS} if table is LABELS else set()
    if entry.keys() | optional != columns.keys() | optional or not entry.keys() <= columns.keys():
        raise _store_import_error(f"has other fields in its {table.name}")
    for name, value in entry.items():
        column = columns[name]
        if value is None and column.nullable:
            continue
        kinds = {str: (str,), int: (int,), float: (int, float)}[column.type.python_type]
        if type(value) not in kinds:
            raise _store_import_error(f"has a {name} in its {table.name} that cannot be")
        _refuse_imported_number_beyond_column(column, value)
        if name in _JSON_COLUMNS:
            _parse_exported_row_json(value)
        if name in _TIME_COLUMNS and not _is_stored_time(value):
            raise _store_import_error(f"has a time {value[:40]!r}")
        if not _fits_imported_row_column(name, value):
            raise _store_import_error(f"has a {name} in its {table.name} that cannot be")
    return entry


def _refuse_imported_number_beyond_column(column: Column[Any], value: object) -> None:
    """A whole number that the databases cannot hold is refused here: each of them would say so in its own way."""
    bits = 1023 if column.type.python_type is float else 63 if isinstance(column.type, BigInteger) else 31
    if isinstance(value, int) and not -(1 << bits) <= value < 1 << bits:
        what = f"has a {column.name} in its {column.table.name} that no database holds: {str(value)[:80]}"
        hint = f"whole numbers from -2**{bits} to 2**{bits} - 1; nothing was changed here"
        raise StoreError(Fault(what, hint, where="the file"))


def _fits_imported_row_column(name: str, value: str | float) -> bool:
    """Whether a value is one that a run of ours could have there."""
    if name in _IMPORTED_SHAPES:
        return _IMPORTED_SHAPES[name].fullmatch(str(value)) is not None
    if isinstance(value, str):
        return name in _UNBOUNDED_COLUMNS or len(value) <= _LONGEST_IMPORTED_TEXT
    if name in ("position", "repeat"):
        return 0 <= value < _LARGEST_PLACE
    return isfinite(value) and (name in ("seed", "number") or value >= 0)


def _is_stored_time(text: str) -> bool:
    """Whether it is a time with its zone, as all that are stored."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


def _refuse_circular_imported_row(connection: Connection, run: Row) -> None:
    """A run never took anything over from itself, by way of whatever others."""
    earlier, seen = run["taken_from"], {run["id"]}
    while earlier is not None:
        if earlier in seen:
            raise _store_import_error("has a run that was taken over from itself")
        seen.add(earlier)
        earlier = connection.execute(select(RUNS.c.taken_from).where(RUNS.c.id == earlier)).scalar()


def _insert_imported_rows(connection: Connection, table: Table, rows: list[Row]) -> None:
    try:
        fitted = fit_store_rows(table, rows)
    except StoreError as error:
        raise _store_import_error(f"has what cannot be: {error}") from None
    try:
        connection.execute(insert(table), fitted)
    except IntegrityError:
        raise _store_import_error(f"has the same twice in its {table.name}") from None


def _run_already_stored_fault(connection: Connection, here: Row, content: str, where: str) -> Fault:
    own = sha256(_stored_run_content_line(here))
    for line in _belonging_stored_row_lines(connection, here):
        own.update(line)
    if own.hexdigest() == content:
        return Fault(f"run {here['id']} is here already", "nothing was changed", where=where)
    hint = "nothing was changed; delete it first, or import into another store"
    return Fault(f"a different run {here['id']} is here", hint, where=where)


def _parse_exported_row_json(text: str | bytes) -> Row:
    text = text if isinstance(text, str) else text.decode("utf-8", "replace")
    if sum(map(text.count, ",[{")) > _MOST_JSON_VALUES:
        raise _store_import_error("has a line with more values than any run has")
    try:
        value = json.loads(text, parse_constant=_refuse_exported_json_constant)
    except (ValueError, RecursionError):
        raise _store_import_error("has a line that is not JSON") from None
    if not isinstance(value, dict):
        raise _store_import_error("has a line that is not an entry")
    return value


def _refuse_exported_json_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _store_import_error(what: str) -> StoreError:
    return StoreError(Fault(what, "export the run again; nothing was changed here", where="the file"))
