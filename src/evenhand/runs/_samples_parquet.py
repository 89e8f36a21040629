"""Samples out of Parquet, read in batches: columns with dotted names, or nested structures."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import EvalError, Fault
from evenhand.runs._samples_columns import Columns
from evenhand.runs._samples_lines import opened
from evenhand.runs._samples_sound import unsound

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile  # type: ignore[import-untyped]

_BATCH = 200


class ParquetRows:
    """The rows of a Parquet file as entries, counted from 1."""

    def __init__(self, path: Path, fields: Mapping[str, str]) -> None:
        self.where = str(path)
        self._path = path
        self._fields = fields

    def __iter__(self) -> Iterator[tuple[int, object]]:
        number = 0
        with self._opened() as file:
            columns = Columns(file.schema_arrow.names, self._fields)
            if columns.faults:
                raise EvalError(*(Fault(one.what, one.hint, where=self.where) for one in columns.faults))
            for rows in self._batches(file):
                for row in rows:
                    number += 1
                    values = [_plain(value) for value in row]
                    why = unsound(values)
                    yield number, Fault(why) if why else columns.entry(values)

    def place(self, number: int) -> str:
        """Where an entry stands."""
        return f"{self.where}: row {number}"

    def _opened(self) -> ParquetFile:
        parquet_missing(self.where)
        import pyarrow  # type: ignore[import-untyped]  # noqa: PLC0415 - most evals have no Parquet in them.
        import pyarrow.parquet  # noqa: PLC0415

        opened(self._path).close()
        try:
            return pyarrow.parquet.ParquetFile(self._path)
        except (pyarrow.ArrowException, OSError, ValueError) as problem:
            raise self._broken(problem) from None

    def _batches(self, file: ParquetFile) -> Iterator[list[tuple[object, ...]]]:
        import pyarrow  # noqa: PLC0415

        try:
            for batch in file.iter_batches(batch_size=_BATCH):
                yield list(zip(*(column.to_pylist() for column in batch.columns), strict=True))
        except (pyarrow.ArrowException, OSError, ValueError) as problem:
            raise self._broken(problem) from None

    def _broken(self, problem: Exception) -> EvalError:
        return EvalError(Fault(f"not valid Parquet: {str(problem).splitlines()[0][:200]}", where=self.where))


def parquet_missing(where: str) -> None:
    """An error that says what to install, where Parquet cannot be read."""
    try:
        import pyarrow.parquet  # noqa: F401, PLC0415
    except ImportError:
        raise EvalError(Fault("Parquet cannot be read here", "pip install 'evenhand[parquet]'", where=where)) from None


def _plain(value: object) -> object:
    """A value as JSON has it."""
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        parts = [_plain(part) for part in value]
        if parts and all(isinstance(part, tuple) for part in value):
            return dict(map(tuple, parts))  # type: ignore[arg-type] # Arrow gives a map as pairs.
        return parts
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value) if isinstance(value, (Decimal, datetime.timedelta)) else value
