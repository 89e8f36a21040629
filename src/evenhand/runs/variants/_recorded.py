"""Outputs that exist: with the samples, or in a file of their own of which only an index is kept in memory."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path

from evenhand.errors import MOST_TOLD, EvalError, Fault, OutputError
from evenhand.model import Made
from evenhand.runs._sample import RunSample
from evenhand.runs._samples_json import line_value
from evenhand.runs._samples_lines import LONGEST, TOO_LONG, lines, opened
from evenhand.runs._samples_made import kind, read_made

_BOM = b"\xef\xbb\xbf"


class WithSamples:
    """The outputs that the samples bring with them under the name of the variant."""

    def __init__(self, name: str) -> None:
        self._name = name

    async def make(self, sample: RunSample, repeat: int) -> Made:
        """The output, the same for every repeat, or an OutputError where there is none."""
        made = sample.outputs.get(self._name)
        if made is None:
            raise OutputError(f"no output is recorded for {self._name!r}")
        return made


class OutputsFile:
    """A JSONL file of {id, text, …}: checked as a whole when it is opened, read line by line when asked."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._marks, self._offsets = _index(path)
        self._file = opened(path)

    async def make(self, sample: RunSample, repeat: int) -> Made:
        """The output, or an OutputError where there is none."""
        for offset in self._places(sample.id):
            self._file.seek(offset)
            id, made = _read(self._file.readline(LONGEST + 1), [])
            if id == sample.id and made is not None:
                return made
        raise OutputError(f"no output is recorded for the sample {sample.id[:60]!r} in {self._path.name}")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _places(self, id: str) -> Iterator[int]:
        mark = _mark(id)
        at = bisect_left(self._marks, mark)
        while at < len(self._marks) and self._marks[at] == mark:
            yield self._offsets[at]
            at += 1


def _index(path: Path) -> tuple[array[int], array[int]]:
    """The hashes of all ids in order, and where each stands in the file; 16 bytes for an output."""
    faults: list[Fault] = []
    marks, offsets = array("q"), array("q")
    offset = _bom(path)
    for number, line in lines(path):
        told = len(faults)
        if line is None:
            raise EvalError(*faults, Fault(TOO_LONG, where=f"{path}:{number}"))
        id = None if line.isspace() else _read(line, faults)[0]
        if id is not None:
            marks.append(_mark(id))
            offsets.append(offset)
        offset += len(line)
        faults[told:] = [Fault(one.what, one.hint, where=f"{path}:{number}") for one in faults[told:]]
        if len(faults) >= MOST_TOLD:
            break
    order = sorted(range(len(marks)), key=marks.__getitem__)
    marks, offsets = array("q", (marks[at] for at in order)), array("q", (offsets[at] for at in order))
    faults += _twice(path, marks)
    if faults:
        raise EvalError(*faults)
    return marks, offsets


def _mark(id: str) -> int:
    return hash(id)


def _bom(path: Path) -> int:
    with opened(path) as file:
        return len(_BOM) if file.read(len(_BOM)) == _BOM else 0


def _read(line: bytes, faults: list[Fault]) -> tuple[str | None, Made | None]:
    """The id of a line and its output, as far as they are there."""
    value = line_value(line)
    if isinstance(value, Fault):
        faults.append(value)
        return None, None
    if not isinstance(value, dict):
        faults.append(Fault(f"expected an object with id and text, got {kind(value)}"))
        return None, None
    id = value.pop("id", None)
    if isinstance(id, int) and not isinstance(id, bool):
        id = str(id)
    if not isinstance(id, str) or not id:
        faults.append(Fault("an output needs the id of its sample", 'as in {"id": "a", "text": "…"}'))
        return None, None
    return id, read_made(value, (), faults)


def _twice(path: Path, marks: array[int]) -> Iterator[Fault]:
    """A second pass, only where two hashes are equal."""
    equal = {mark for at, mark in enumerate(marks) if at and mark == marks[at - 1]}
    first: dict[str, int] = {}
    for number, line in lines(path) if equal else ():
        id = _read(line or b"", [])[0]
        if id is not None and _mark(id) in equal and first.setdefault(id, number) != number:
            what = f"a second output for the sample {id[:60]!r}, first in line {first[id]}"
            yield Fault(what, "keep one of them", where=f"{path}:{number}")
