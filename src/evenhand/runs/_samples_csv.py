"""Samples out of CSV: commas, semicolons or tabs, cells of several lines, with the line of every fault."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from evenhand.errors import EvalError, Fault
from evenhand.runs._samples_columns import Columns
from evenhand.runs._samples_lines import LONGEST, NOT_UTF8, TOO_LONG, lines
from evenhand.runs._samples_sound import NUL

_SEPARATORS = ",;\t"


class CsvRows:
    """The rows of a CSV file as entries, each with its first line; empty rows are passed over."""

    def __init__(self, path: Path, fields: Mapping[str, str]) -> None:
        self.where = str(path)
        self._path = path
        self._fields = fields

    def __iter__(self) -> Iterator[tuple[int, object]]:
        csv.field_size_limit(LONGEST)  # There is one limit for all readers; the lines are bounded already.
        odd: list[tuple[int, Fault]] = []
        texts = _texts(self._path, odd)
        first = next(texts, "")
        reader = csv.reader(chain([first], texts), delimiter=_separator(first), strict=True)
        columns: Columns | None = None
        width, begins = 0, 1
        while True:
            try:
                row = next(reader, None)
            except csv.Error as problem:
                yield begins, _fault_of(problem)
                return
            if odd:
                yield from odd
                if columns is None:
                    return
                odd.clear()
            elif row is None:
                break
            elif columns is None:
                columns, width = self._columns(row), len(row)
            elif len(row) not in (0, width):
                hint = "a cell with the separator in it stands in quotation marks"
                yield begins, Fault(f"{len(row)} cells where the header has {width}", hint)
            elif any(row):
                yield begins, columns.entry(row)
            begins = reader.line_num + 1

    def place(self, number: int) -> str:
        """Where an entry stands."""
        return f"{self.where}:{number}"

    def _columns(self, header: list[str]) -> Columns:
        columns = Columns([name.strip() for name in header], self._fields)
        if columns.faults:
            raise EvalError(*(Fault(one.what, one.hint, where=f"{self.where}:1") for one in columns.faults))
        return columns


def _texts(path: Path, odd: list[tuple[int, Fault]]) -> Iterator[str]:
    """The lines as text; what cannot be one is noted, and the reading goes on."""
    for number, line in lines(path):
        text = (line or b"").decode("utf-8", "replace")
        if line is None:
            odd.append((number, Fault(TOO_LONG)))
        elif "\ufffd" in text and not _is_utf8(line):
            odd.append((number, NOT_UTF8))
        elif "\0" in text:
            odd.append((number, Fault(NUL)))
        yield text


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _separator(header: str) -> str:
    """The one that occurs most outside of quotation marks."""
    bare = "".join(header.split('"')[::2])
    return max(_SEPARATORS, key=bare.count)


def _fault_of(problem: csv.Error) -> Fault:
    said = str(problem)
    if "field larger" in said or "unexpected end" in said:
        return Fault("a cell that does not end", "is a quotation mark not closed?")
    if "new-line" in said:
        return Fault("lines end in a way that CSV does not", "save the file with line breaks of Windows or Unix")
    return Fault(f"not valid CSV: {said}", 'inside quotation marks write "" for "')
