"""Samples of an eval, wherever they are: read as a stream, over and over, and checked before anything is paid for."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from evenhand import errors
from evenhand.errors import MOST_TOLD, EvalError, Fault, InputError, nearest
from evenhand.loading import _tree
from evenhand.loading._fields import Fields, described, is_null
from evenhand.runs._sample import RunSample
from evenhand.runs._samples_columns import place_of, renamed
from evenhand.runs._samples_csv import CsvRows
from evenhand.runs._samples_entry import FIELDS, read_entry
from evenhand.runs._samples_inline import read_inline
from evenhand.runs._samples_json import JsonLines, JsonList
from evenhand.runs._samples_lines import unreadable
from evenhand.runs._samples_parquet import ParquetRows, parquet_missing

FORMATS = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet",
    ".pq": "parquet",
}  # fmt: skip

Check = Callable[[RunSample, list[Fault]], None]


class SampleSource(Protocol):
    """Samples in their order; every iteration starts over, and a wrong one raises an InputError."""

    @property
    def where(self) -> str:
        """Where they come from, for messages."""

    def __iter__(self) -> Iterator[RunSample]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What a pass over all samples found: how many, how many have each tag and each output, and a name for them all."""

    samples: int
    tags: Mapping[str, int]
    variants: Mapping[str, int]
    digest: str
    questions: tuple[str, ...] = ()  # Kinds of assertions in them that judges have to answer.
    mixed: str = ""  # Why they can be scored and not compared, where they have different sets of layers.


def open_samples(node: _tree.Node, folder: Path, faults: list[Fault], path: errors.Path) -> SampleSource:
    """Samples from a list, a file, or {file, format, fields}; a file is opened at the first iteration."""
    if isinstance(node, _tree.Sequence):
        return InlineSamples(read_inline(node, faults, path), errors.dotted(path))
    if isinstance(node, _tree.Scalar) and node.text.strip() and not is_null(node):
        return _file(folder / node.text, None, {}, faults, path)
    if not isinstance(node, _tree.Mapping):
        hint = "as in samples: samples.jsonl"
        faults.append(Fault(f"samples are a list or a file, got {described(node)}", hint, path))
        return InlineSamples((), errors.dotted(path))
    fields = Fields(node, ("file", "format", "fields"), faults, path)
    file = fields.text("file")
    if file is None:
        if "file" not in fields:
            fields.fault("samples need a file", "as in {file: samples.csv, fields: {input: question}}")
        return InlineSamples((), errors.dotted(path))
    format = fields.choice("format", sorted(set(FORMATS.values())))
    return _file(folder / file, format, _renaming(fields), faults, (*path, "file"))


def checked(source: SampleSource, also: Check | None = None) -> Counted:
    """One pass over all samples: an InputError with every fault, or what there is. `also` looks for further faults."""
    faults: list[Fault] = []
    tags: Counter[str] = Counter()
    variants: Counter[str] = Counter()
    whole = Mark()
    seen: set[int] = set()
    twice: set[int] = set()
    for place, sample in _placed(source, faults):
        mark = hash(sample.id)  # A hash in place of the id keeps memory flat; equal ones are compared in full below.
        (twice if mark in seen else seen).add(mark)
        whole.add(sample)
        for tag in sample.tags:
            tags[tag] += 1
        for variant in sample.outputs:
            variants[variant] += 1
        if also is not None:
            _look_also(source, place, sample, also, faults)
            if len(faults) >= MOST_TOLD:
                break
    if twice and len(faults) < MOST_TOLD:
        faults += _used_twice(source, twice)
    if not whole.count and not faults:
        faults.append(Fault("there are no samples", "a run needs one at least", where=source.where))
    if faults:
        raise EvalError(*sorted(faults[:MOST_TOLD], key=_number))
    return Counted(samples=whole.count, tags=dict(tags), variants=dict(variants), digest=whole.digest)


class Mark:
    """How many samples went by, and a name for them all in their order."""

    def __init__(self) -> None:
        self.count = 0
        self._whole = hashlib.sha256()

    def add(self, sample: RunSample) -> None:
        """Count one more."""
        self.count += 1
        self._whole.update(f"{sample.digest()} {sample.cluster!r}\n".encode())

    @property
    def digest(self) -> str:
        """The name of those that went by so far."""
        return self._whole.hexdigest()


class SecondPass:
    """Samples that were counted before; `changed` says at the end that they are not what they were."""

    def __init__(self, source: SampleSource, counted: Counted) -> None:
        self._source = source
        self._counted = counted
        self.changed = False

    def __iter__(self) -> Iterator[RunSample]:
        mark = Mark()
        try:
            for sample in self._source:
                mark.add(sample)
                if mark.count > self._counted.samples:
                    break
                yield sample
        except InputError:  # They were right, and are not any more.
            self.changed = True
        self.changed = self.changed or mark.digest != self._counted.digest


class Rows(Protocol):
    """Entries of a file, each with a number that its place is found by. An entry may be the Fault why it is none."""

    where: str

    def __iter__(self) -> Iterator[tuple[int, object]]: ...

    def place(self, number: int) -> str:
        """Where an entry stands."""


class FileSamples:
    """Samples in a file."""

    def __init__(self, rows: Rows, fields: Mapping[str, str]) -> None:
        self.where = rows.where
        self.rows = rows
        self._fields = fields

    def __iter__(self) -> Iterator[RunSample]:
        faults: list[Fault] = []
        for _, sample in self.placed(faults):
            if faults:
                break
            yield sample
        if faults:
            raise EvalError(*faults)

    def placed(self, faults: list[Fault]) -> Iterator[tuple[int, RunSample]]:
        """Every sample that is right, with its number; what is wrong with the others is noted with its place."""
        ordinal = 0
        try:
            for number, entry in self.rows:
                ordinal += 1
                told = len(faults)
                entry = renamed(entry, self._fields) if self._fields else entry  # noqa: PLW2901
                if isinstance(entry, Fault):
                    faults.append(entry)
                elif (sample := read_entry(entry, ordinal, faults)) is not None:
                    yield number, sample
                if len(faults) > told:
                    faults[told:] = [replace(fault, where=self.rows.place(number)) for fault in faults[told:]]
                    if len(faults) >= MOST_TOLD:
                        return
        except InputError as error:
            faults += error.faults


class InlineSamples:
    """Samples that stand in the eval file: few, read once, and already known to be right."""

    def __init__(self, samples: tuple[RunSample, ...], where: str) -> None:
        self.where = where
        self._samples = samples

    def __iter__(self) -> Iterator[RunSample]:
        return iter(self._samples)


def _placed(source: SampleSource, faults: list[Fault]) -> Iterator[tuple[int, RunSample]]:
    return source.placed(faults) if isinstance(source, FileSamples) else enumerate(source)


def _place(source: SampleSource, number: int) -> str:
    return source.rows.place(number) if isinstance(source, FileSamples) else f"{source.where}[{number}]"


def _look_also(source: SampleSource, number: int, sample: RunSample, also: Check, faults: list[Fault]) -> None:
    told = len(faults)
    also(sample, faults)
    faults[told:] = [replace(fault, where=_place(source, number)) for fault in faults[told:]]


def _used_twice(source: SampleSource, marks: set[int]) -> Iterator[Fault]:
    """A second pass over a file in which ids seem to come twice, to name both places."""
    first: dict[str, int] = {}
    for number, sample in _placed(source, []):
        if hash(sample.id) in marks and first.setdefault(sample.id, number) != number:
            what = f"the id {sample.id[:60]!r} is used twice, first in {_place(source, first[sample.id])}"
            yield Fault(what, "each id is unique", where=_place(source, number))


def _number(fault: Fault) -> int:
    """The line or row that a fault is in."""
    return int("0" + "".join(filter(str.isdigit, fault.where.rpartition(":")[2])))


def _file(
    file: Path, format: str | None, fields: Mapping[str, str], faults: list[Fault], path: errors.Path
) -> SampleSource:
    format = format or FORMATS.get(file.suffix.lower())
    why = unreadable(file)
    if why is not None:
        faults.append(Fault(f"{file}: {why.what}", why.hint, path))
    elif format is None:
        hint = "write {file: …, format: jsonl}, or json, csv, parquet"
        faults.append(Fault(f"{file}: the format cannot be told from the name", hint, path))
    if why is not None or format is None:
        return InlineSamples((), str(file))
    if format == "parquet":
        try:
            parquet_missing(str(file))
        except EvalError as error:
            faults += [Fault(f"{fault.where}: {fault.what}", fault.hint, path) for fault in error.faults]
        return FileSamples(ParquetRows(file, fields), {})
    if format == "csv":
        return FileSamples(CsvRows(file, fields), {})
    return FileSamples(JsonList(file) if format == "json" else JsonLines(file), fields)


def _renaming(fields: Fields) -> dict[str, str]:
    """Names of ours to names of theirs."""
    renaming: dict[str, str] = {}
    for ours, node, path in fields.pairs("fields"):
        if place_of(ours) is None:
            hint = nearest(ours[:40], [*FIELDS, "outputs.NAME", "metadata.NAME"])
            fields.faults.append(Fault(f"a sample has no field {ours[:60]!r}", hint, path))
        elif not isinstance(node, _tree.Scalar) or not node.text:
            fields.faults.append(Fault(f"expected the name of a column, got {described(node)}", "", path))
        elif node.text in renaming.values():
            fields.faults.append(Fault(f"{node.text!r} is given for two fields", "", path))
        else:
            renaming[ours] = node.text
    return renaming
