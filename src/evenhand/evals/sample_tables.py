"""Samples out of CSV and Parquet: the columns of a table as fields of a sample, such as outputs.new and
metadata.topic.
"""

from __future__ import annotations

import csv
import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.errors import EvalError, Fault, suggest_known_word_in_error
from evenhand.evals.eval_schema import OUTPUT_FACTS, SAMPLE_FIELDS
from evenhand.evals.json_lines import (
    LINE_TOO_LONG,
    LONGEST_LINE,
    NOT_UTF8_FAULT,
    NUL_CHARACTER,
    explain_unstorable_sample_value,
    open_eval_sample_file,
    parse_sample_json,
    read_eval_sample_lines,
)
from evenhand.evals.sample import suggest_sample_field

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile  # type: ignore[import-untyped]


_CSV_SEPARATORS = ",;\t"


@dataclass(frozen=True)
class EvalSampleCsvRows:
    """The rows of a CSV file as entries, each with its first line; empty rows are skipped."""

    path: Path
    fields: Mapping[str, str]

    def __iter__(self) -> Iterator[tuple[int, object]]:
        csv.field_size_limit(LONGEST_LINE)  # There is one limit for all readers; the lines are bounded already.
        odd: list[tuple[int, Fault]] = []
        texts = _decode_sample_csv_lines(self.path, odd)
        first = next(texts, "")
        bare = "".join(first.split('"')[::2])  # What stands outside of quotation marks tells the separator.
        reader = csv.reader(chain([first], texts), delimiter=max(_CSV_SEPARATORS, key=bare.count), strict=True)
        columns: EvalSampleColumns | None = None
        width, begins = 0, 1
        while True:
            try:
                row = next(reader, None)
            except csv.Error as problem:
                yield begins, _explain_sample_csv_error(problem)
                return
            if odd:
                yield from odd
                if columns is None:
                    return
                odd.clear()
            elif row is None:
                break
            elif columns is None:
                columns, width = EvalSampleColumns([name.strip() for name in row], self.fields), len(row)
                if columns.faults:
                    raise EvalError(*(Fault(one.what, one.hint, where=f"{self.path}:1") for one in columns.faults))
            elif len(row) not in (0, width):
                hint = "a cell with the separator in it stands in quotation marks"
                yield begins, Fault(f"{len(row)} cells where the header has {width}", hint)
            elif any(row):
                yield begins, columns.read_sample_row(row)
            begins = reader.line_num + 1

    def locate(self, number: int) -> str:
        """Where an entry stands."""
        return f"{self.path}:{number}"


def _decode_sample_csv_lines(path: Path, odd: list[tuple[int, Fault]]) -> Iterator[str]:
    """The lines as text; what cannot be one is noted, and the reading goes on."""
    for number, line in read_eval_sample_lines(path):
        text = (line or b"").decode("utf-8", "replace")
        if line is None:
            odd.append((number, Fault(LINE_TOO_LONG)))
        elif "\ufffd" in text and text.encode() != line:
            odd.append((number, NOT_UTF8_FAULT))
        elif "\0" in text:
            odd.append((number, Fault(NUL_CHARACTER)))
        yield text


def _explain_sample_csv_error(problem: csv.Error) -> Fault:
    said = str(problem)
    if "field larger" in said or "unexpected end" in said:
        return Fault("a cell that does not end", "is a quotation mark not closed?")
    if "new-line" in said:
        return Fault("lines end in a way that CSV does not", "save the file with line breaks of Windows or Unix")
    return Fault(f"not valid CSV: {said}", 'inside quotation marks write "" for "')


_PARQUET_BATCH = 200


@dataclass(frozen=True)
class EvalSampleParquetRows:
    """The rows of a Parquet file as entries, counted from 1."""

    path: Path
    fields: Mapping[str, str]

    def __iter__(self) -> Iterator[tuple[int, object]]:
        number = 0
        with self._open_parquet() as file:
            columns = EvalSampleColumns(file.schema_arrow.names, self.fields)
            if columns.faults:
                raise EvalError(*(Fault(one.what, one.hint, where=str(self.path)) for one in columns.faults))
            for rows in self._read_parquet_batches(file):
                for row in rows:
                    number += 1
                    values = [_sample_parquet_value_data(value) for value in row]
                    why = explain_unstorable_sample_value(values)
                    yield number, Fault(why) if why else columns.read_sample_row(values)

    def locate(self, number: int) -> str:
        """Where an entry stands."""
        return f"{self.path}: row {number}"

    def _open_parquet(self) -> ParquetFile:
        require_parquet_for_samples(str(self.path))
        import pyarrow  # type: ignore[import-untyped]  # most evals have no Parquet in them.
        import pyarrow.parquet

        open_eval_sample_file(self.path).close()
        try:
            return pyarrow.parquet.ParquetFile(self.path)
        except (pyarrow.ArrowException, OSError, ValueError) as problem:
            raise self._parquet_error(problem) from None

    def _read_parquet_batches(self, file: ParquetFile) -> Iterator[list[tuple[object, ...]]]:
        import pyarrow

        try:
            for batch in file.iter_batches(batch_size=_PARQUET_BATCH):
                yield list(zip(*(column.to_pylist() for column in batch.columns), strict=True))
        except (pyarrow.ArrowException, OSError, ValueError) as problem:
            raise self._parquet_error(problem) from None

    def _parquet_error(self, problem: Exception) -> EvalError:
        return EvalError(Fault(f"not valid Parquet: {str(problem).splitlines()[0][:200]}", where=str(self.path)))


def require_parquet_for_samples(where: str) -> None:
    """An error that says what to install, where Parquet cannot be read."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise EvalError(
            Fault("Parquet cannot be read here", "pip install '/path/to/evenhand[parquet]'", where=where)
        ) from None


def _sample_parquet_value_data(value: object) -> object:
    """A value as JSON has it."""
    if isinstance(value, Mapping):
        return {str(name): _sample_parquet_value_data(part) for name, part in value.items()}
    if isinstance(value, list):
        parts = [_sample_parquet_value_data(part) for part in value]
        if parts and all(isinstance(part, tuple) for part in value):
            return dict(map(tuple, parts))  # type: ignore[arg-type] # Arrow gives a map as pairs.
        return parts
    if isinstance(value, tuple):
        return [_sample_parquet_value_data(part) for part in value]
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value) if isinstance(value, (Decimal, datetime.timedelta)) else value


FieldPath = tuple[str, ...]

_JSON_FIELDS = frozenset(("metadata", "outputs", "trace", "assertions", "messages", "rubrics"))


def sample_field_path(name: str) -> FieldPath | None:
    """The way to a field by its dotted name; None where there is no such field."""
    if name in SAMPLE_FIELDS:
        return (name,)
    head, _, rest = name.partition(".")
    if head == "metadata" and rest:
        return ("metadata", rest)
    if head not in ("output", "outputs") or not rest:
        return None
    variant, _, fact = rest.rpartition(".")  # The name of a variant may have points of its own: gpt-4.1.
    return ("outputs", variant, fact) if variant and fact in (*OUTPUT_FACTS, "text") else ("outputs", rest, "text")


class EvalSampleColumns:
    """What the columns of a table mean; `fields` maps names of ours to names of theirs."""

    def __init__(self, names: Sequence[str], fields: Mapping[str, str]) -> None:
        ours = {theirs: name for name, theirs in fields.items()}
        self.faults: list[Fault] = []
        self._plan: list[tuple[int, FieldPath]] = []
        taken: dict[FieldPath, str] = {}
        for at, name in enumerate(names):
            place = sample_field_path(ours.get(name, name))
            if place is None:
                own = f"a column of your own is called metadata.{name[:40]}, one with outputs outputs.{name[:40]}"
                hint = suggest_sample_field(name, own, in_file=True, given=[ours.get(one, one) for one in names])
                self.faults.append(Fault(f"unknown column {name[:60]!r}", hint))
            elif place in taken:
                self.faults.append(Fault(f"the columns {taken[place]!r} and {name!r} give the same field"))
            else:
                taken[place] = name
                self._plan.append((at, place))
        for name in (one for one in ours if one not in names):
            hint = suggest_known_word_in_error(name[:40], names)
            self.faults.append(Fault(f"there is no column {name[:60]!r}", hint))
        self._plan.sort(key=lambda one: len(one[1]))  # A whole object first, what belongs into it after.

    def read_sample_row(self, values: Sequence[object]) -> object:
        """The entry that a row is, or the Fault why it is none. Empty cells are absent."""
        entry: dict[str, Any] = {}
        for at, place in self._plan:
            value = values[at]
            if value is None or value == "":
                continue
            is_json = place[0] in _JSON_FIELDS if len(place) == 1 else place[0] == "outputs" and place[-1] == "trace"
            is_json = is_json or (place == ("rubric",) and str(value).lstrip().startswith("{"))
            if isinstance(value, str) and is_json:
                value = parse_sample_json(value)
                if isinstance(value, Fault):
                    return Fault(f"{'.'.join(place)}: {value.what}", value.hint or "such a column holds JSON")
            _set_sample_field(entry, place, value)
        return entry


def rename_sample_fields(entry: object, fields: Mapping[str, str]) -> object:
    """An object with fields under other names as one with ours, or the Fault why that cannot be."""
    if not fields or not isinstance(entry, dict):
        return entry
    theirs = set(fields.values())
    result = {name: value for name, value in entry.items() if name not in theirs}
    for ours, name in fields.items():
        place = sample_field_path(ours)
        if name not in entry or place is None:
            continue
        if place == (ours,) and ours in result:
            return Fault(f"{ours!r} is given twice: as {name!r} and under its own name")
        _set_sample_field(result, place, entry[name])
    return result


def _set_sample_field(entry: dict[str, Any], place: FieldPath, value: object) -> None:
    """Set a field. Where something else than an object is in the way, whoever reads the entry says what is wrong."""
    head, *rest = place
    if not rest:
        entry[head] = value
        return
    inner = entry.setdefault(head, {})
    if len(rest) == 2 and isinstance(inner, dict) and isinstance(inner.get(rest[0]), str):
        inner[rest[0]] = {"text": inner[rest[0]]}
    if isinstance(inner, dict):
        _set_sample_field(inner, tuple(rest), value)
