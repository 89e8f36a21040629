"""A run as one file that another store takes in unchanged: lines of JSON, packed, counted, sealed by a checksum."""

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
from evenhand.runs.store._beside import labels_query
from evenhand.runs.store._reading import calls_query, first, made_query, results_query, samples_query, stream
from evenhand.runs.store._rows import Row, compact, fit
from evenhand.runs.store._tables import CALLS, LABELS, MADE, RESULTS, RUNS, SAMPLES

FORMAT = 2  # The first knew no labels; a run without labels is still written so, for whoever reads no other.
_PARTS = {1: (SAMPLES, RESULTS, CALLS, MADE), 2: (SAMPLES, RESULTS, CALLS, MADE, LABELS)}
_AT_ONCE = 500
_LONGEST = 1 << 28  # Bytes of one line: a file that unpacks without end fills no memory.
_JSON = ("setup", "summary", "content", "reply")
_TIMES = ("started", "ended", "at")
_ID = re.compile(r"(?!latest)[0-9A-Za-z][0-9A-Za-z._-]{0,79}")


def run_lines(connection: Connection, run: Row) -> Iterator[bytes]:
    """The lines of a run's file: what it is, the run, all that belongs to it, and the checksum of the lines before."""
    seal = sha256()
    for line in _rows(connection, run):
        seal.update(line)
        yield line
    yield _line({"sha256": seal.hexdigest()})


def pack(lines: Iterable[bytes], target: BinaryIO) -> None:
    """Write lines packed, the same bytes for the same run."""
    with gzip.GzipFile(fileobj=target, mode="wb", filename="", mtime=0, compresslevel=6) as packed:
        for line in lines:
            packed.write(line)


def import_run(connection: Connection, source: BinaryIO, where: str) -> str:
    """Take in a run from its file, and say its id."""
    lines = _Lines(source)
    counts = _header(lines)
    run = _row(RUNS, lines.entry("runs"))
    if not _ID.fullmatch(run["id"]):
        raise _wrong(f"has a run with the id {run['id']!r}")
    here = first(connection, select(RUNS).where(RUNS.c.id == run["id"]))
    if here is None:
        _add(connection, RUNS, [run])
    for table, count in counts.items():
        for rows in _several(lines, table, count, run["id"]):
            if here is None:
                _add(connection, table, rows)
    lines.end()
    if here is not None:
        raise StoreError(_already(connection, here, lines.seal, where))
    return str(run["id"])


def _rows(connection: Connection, run: Row) -> Iterator[bytes]:
    counts = {table.name: _count(connection, table, run["id"]) for table in _PARTS[FORMAT]}
    format = FORMAT if counts["labels"] else 1
    counts = {table.name: counts[table.name] for table in _PARTS[format]}
    yield _line({"evenhand": "run", "format": format, "counts": counts})
    yield _line({"runs": {name: value for name, value in run.items() if name != "holder"}})
    queries: dict[Table, Select[Any]] = {
        SAMPLES: samples_query(run["id"]),
        RESULTS: results_query(run["id"], None),
        CALLS: calls_query(run["id"]),
        MADE: made_query(run["id"]),
        LABELS: labels_query(run["id"]),
    }
    for table, query in queries.items():
        for row in stream(connection, query):
            del row["run"]
            yield _line({table.name: row})


def _count(connection: Connection, table: Table, run: str) -> int:
    return connection.execute(select(func.count()).select_from(table).where(table.c.run == run)).scalar_one()


def _line(value: object) -> bytes:
    return (compact(value) + "\n").encode()


class _Lines:
    """The lines of a file, read one by one and never trusted."""

    def __init__(self, source: BinaryIO) -> None:
        self._packed = gzip.GzipFile(fileobj=source)
        self._seal = sha256()
        self.seal = ""

    def entry(self, kind: str) -> Row:
        """The next line, which must hold one entry of a kind."""
        line = self._next()
        value = _parsed(line)
        self._seal.update(line)
        entry = value.get(kind)
        if len(value) != 1 or not isinstance(entry, dict):
            raise _wrong(f"has no {kind!r} where they should be")
        return entry

    def first(self) -> Row:
        """The line that says what the file is."""
        line = self._next()
        self._seal.update(line)
        return _parsed(line)

    def end(self) -> None:
        """The checksum, and nothing after it."""
        self.seal = self._seal.hexdigest()
        if _parsed(self._next()) != {"sha256": self.seal}:
            raise _wrong("does not match its checksum")
        if self._read():
            raise _wrong("goes on after its end")

    def _next(self) -> bytes:
        line = self._read()
        if not line.endswith(b"\n"):
            raise _wrong("has a line without end" if len(line) >= _LONGEST else "is cut off")
        return line

    def _read(self) -> bytes:
        try:
            return self._packed.readline(_LONGEST)
        except EOFError:
            raise _wrong("is cut off") from None
        except (OSError, zlib.error) as error:
            raise _wrong(f"cannot be read: {error}") from None


def _header(lines: _Lines) -> dict[Table, int]:
    head = lines.first()
    if head.get("evenhand") != "run":
        raise _wrong("is not a run that Evenhand exported")
    format = head.get("format")
    if type(format) is not int or format not in _PARTS:
        what = f"was written by a newer Evenhand (format {format}, this one knows {FORMAT})"
        raise StoreError(Fault(what, "upgrade Evenhand", where="the file"))
    counts = head.get("counts")
    tables = {table.name: table for table in _PARTS[format]}
    if not isinstance(counts, dict) or counts.keys() != tables.keys() or not all(map(_whole, counts.values())):
        raise _wrong("does not say what is in it")
    return {table: counts[name] for name, table in tables.items()}


def _several(lines: _Lines, table: Table, count: int, run: str) -> Iterator[list[Row]]:
    for start in range(0, count, _AT_ONCE):
        size = min(_AT_ONCE, count - start)
        yield [{**_row(table, lines.entry(table.name)), "run": run} for _ in range(size)]


def _row(table: Table, entry: Row) -> Row:
    """An entry whose every field is a column of the table, and of its kind."""
    columns = {column.name: column for column in table.columns if column.name not in ("run", "holder")}
    if entry.keys() != columns.keys():
        raise _wrong(f"has other fields in its {table.name}")
    for name, value in entry.items():
        column = columns[name]
        if value is None and column.nullable:
            continue
        kinds = {str: (str,), int: (int,), float: (int, float)}[column.type.python_type]
        if type(value) not in kinds:
            raise _wrong(f"has a {name} in its {table.name} that cannot be")
        if name in _JSON:
            _parsed(value, whole=False)
        if name in _TIMES:
            _time(value)
    return entry


def _add(connection: Connection, table: Table, rows: list[Row]) -> None:
    try:
        fitted = fit(table, rows)
    except StoreError as error:
        raise _wrong(f"has what cannot be: {error}") from None
    try:
        connection.execute(insert(table), fitted)
    except IntegrityError:
        raise _wrong(f"has the same twice in its {table.name}") from None


def _already(connection: Connection, here: Row, seal: str, where: str) -> Fault:
    own = sha256()
    for line in _rows(connection, here):
        own.update(line)
    if own.hexdigest() == seal:
        return Fault(f"run {here['id']} is here already", "nothing was changed", where=where)
    hint = "nothing was changed; delete it first, or import into another store"
    return Fault(f"a different run {here['id']} is here", hint, where=where)


def _parsed(text: str | bytes, *, whole: bool = True) -> Row:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise _wrong("has a line that is not JSON") from None
    if whole and not isinstance(value, dict):
        raise _wrong("has a line that is not an entry")
    return value  # type: ignore[no-any-return]


def _time(text: str) -> None:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise _wrong(f"has a time {text[:40]!r}") from None


def _whole(value: object) -> bool:
    return type(value) is int and value >= 0


def _wrong(what: str) -> StoreError:
    return StoreError(Fault(what, "export the run again; nothing was changed here", where="the file"))
