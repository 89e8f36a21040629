"""Samples of an eval, wherever they are: read as a stream, over and over, all of them or those that are selected."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Protocol, runtime_checkable

from evenhand.errors import (
    MOST_FAULTS_SHOWN,
    EvalError,
    Fault,
    FaultPath,
    InputError,
    RepeatedErrorFaults,
    format_error_path,
    join_repeated_faults,
    suggest_close_word_in_error,
    suggest_known_word_in_error,
)
from evenhand.evals.eval_schema import SAMPLE_FIELDS, SAMPLE_FORMATS, SAMPLES_FILE_FIELDS
from evenhand.evals.json_lines import (
    EvalSampleJsonLines,
    EvalSampleJsonList,
    explain_unreadable_eval_data,
    explain_unstorable_sample_value,
)
from evenhand.evals.sample import EvalSample, read_sample_entry
from evenhand.evals.sample_tables import (
    EvalSampleCsvRows,
    EvalSampleParquetRows,
    rename_sample_fields,
    require_parquet_for_samples,
    sample_field_path,
)
from evenhand.files.tree import (
    FieldReader,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    describe_node,
    is_null_node,
)

_FORMAT_ENDINGS = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet",
    ".pq": "parquet",
}  # fmt: skip
_WHOLE_NUMBER = re.compile(r"[-+]?(0|[1-9][0-9]{0,18})")
_DECIMAL_NUMBER = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?")
_TEXT_FIELDS = (
    "id", "input", "output", "reference", "context", "tags", "cluster", "author", "text", "content", "role", "rubric",
)  # fmt: skip
MOST_NAMES_HINTED = 10
LARGEST_LIMIT = 1_000_000_000
MOST_KEPT, LARGEST_KEPT_FILE = 5_000, 1_000_000  # Samples, and bytes of their file, that are not read twice.


class SampleSource(Protocol):
    """Samples in their order; every iteration starts over, and a wrong one raises an InputError."""

    @property
    def where(self) -> str:
        """Where they come from, for messages."""

    def __iter__(self) -> Iterator[EvalSample]: ...


@runtime_checkable
class NumberedSamples(SampleSource, Protocol):
    """Samples with numbers by which their places are found."""

    def iter_numbered(self, faults: list[Fault]) -> Iterator[tuple[int, EvalSample]]:
        """Every sample that is right, with its number; what is wrong with the others is noted with its place."""

    def locate(self, number: int) -> str:
        """Where a sample stands."""


def open_samples(node: TreeNode, folder: Path, faults: list[Fault], path: FaultPath) -> SampleSource:
    """Samples from a list, a file, or {file, format, fields}; a file is opened at the first iteration."""
    if isinstance(node, SequenceNode):
        return InlineSamples(read_inline_samples(node, faults, path), format_error_path(path))
    fields: dict[str, str] = {}
    if isinstance(node, ScalarNode) and node.text.strip() and not is_null_node(node):
        file, format = folder / node.text, None
    elif isinstance(node, MappingNode):
        given = FieldReader(node, SAMPLES_FILE_FIELDS, faults, path)
        name = given.text("file")
        if name is None:
            if "file" not in given:
                given.fault("samples need a file", "as in {file: samples.csv, fields: {input: question}}")
            return InlineSamples((), format_error_path(path))
        file, format = folder / name, given.choice("format", SAMPLE_FORMATS)
        fields, path = _read_sample_field_names(given), (*path, "file")
    else:
        hint = "as in samples: samples.jsonl"
        faults.append(Fault(f"samples are a list or a file, got {describe_node(node)}", hint, path))
        return InlineSamples((), format_error_path(path))
    format = format or _FORMAT_ENDINGS.get(file.suffix.lower())
    why = explain_unreadable_eval_data(file)
    if why is None and format is None:
        why = Fault("the name does not tell the format", "write {file: …, format: jsonl}, or json, csv, parquet")
    if why is not None:
        faults.append(Fault(f"{file}: {why.what}", why.hint, path))
        return InlineSamples((), str(file))
    if format == "parquet":
        try:
            require_parquet_for_samples(str(file))
        except EvalError as error:
            faults += [Fault(f"{fault.where}: {fault.what}", fault.hint, path) for fault in error.faults]
    if format in ("csv", "parquet"):
        return FileSamples(
            str(file), EvalSampleCsvRows(file, fields) if format == "csv" else EvalSampleParquetRows(file, fields)
        )
    return FileSamples(str(file), EvalSampleJsonList(file) if format == "json" else EvalSampleJsonLines(file), fields)


class SampleRows(Protocol):
    """Entries of a file, each with a number that its place is found by. An entry may be the Fault why it is none."""

    def __iter__(self) -> Iterator[tuple[int, object]]: ...

    def locate(self, number: int) -> str:
        """Where an entry stands."""


@dataclass(frozen=True)
class FileSamples:
    """Samples in a file; `fields` are names of ours with the names that they have there."""

    where: str
    rows: SampleRows
    fields: Mapping[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[EvalSample]:
        faults: list[Fault] = []
        for _, sample in self.iter_numbered(faults):
            if faults:
                break
            yield sample
        if faults:
            raise EvalError(*faults)

    def iter_numbered(self, faults: list[Fault]) -> Iterator[tuple[int, EvalSample]]:
        """Every sample that is right, with its number; what is wrong with the others is noted with its place."""
        ordinal = 0
        shared = RepeatedErrorFaults(faults)
        try:
            for number, entry in self.rows:
                ordinal += 1
                told = len(faults)
                entry = rename_sample_fields(entry, self.fields) if self.fields else entry  # noqa: PLW2901
                if isinstance(entry, Fault):
                    faults.append(entry)
                elif (sample := read_sample_entry(entry, ordinal, faults, in_file=True)) is not None:
                    yield number, sample
                if len(faults) > told:
                    place = self.rows.locate(number)
                    faults[told:] = [replace(one, where=one.where or place) for one in faults[told:]]
                    shared.locate_since(told, lambda fault: fault)
                    if len(faults) >= MOST_FAULTS_SHOWN:
                        return
        except InputError as error:
            faults += error.faults
        finally:
            if faults:
                shared.join_repeats(ordinal)

    def locate(self, number: int) -> str:
        """Where a sample stands."""
        return self.rows.locate(number)


@dataclass(frozen=True)
class InlineSamples:
    """Samples that stand in the eval file: few, read once, and already known to be right."""

    samples: tuple[EvalSample, ...]
    where: str
    locate: Callable[[FaultPath], str] | None = None  # The line of a path in the eval file.
    from_file: bool = False  # Whether they were read from a file of data, and outputs put to them.

    def __iter__(self) -> Iterator[EvalSample]:
        return iter(self.samples)


@dataclass(slots=True)
class KeptSamples:
    """The samples of a file as they were read first, if they are few: nobody has to read them again."""

    stamp: tuple[int, ...] | None  # Of the file, as it was before; None where there is none to look at.
    samples: list[EvalSample] = field(default_factory=list)
    is_complete: bool = True

    def add_sample(self, sample: EvalSample) -> None:
        """Keep one more, or none at all."""
        if self.is_complete and self.stamp is not None and len(self.samples) < MOST_KEPT:
            self.samples.append(sample)
        else:
            self.is_complete = False
            self.samples.clear()


def stamp_sample_file(source: SampleSource) -> tuple[int, ...] | None:
    """What changes when a small file of samples is written to; None where they are in none, or it is gone."""
    if isinstance(source, SelectedSamples):
        return stamp_sample_file(source.source)
    if not isinstance(source, FileSamples) or isinstance(source.rows, EvalSampleParquetRows):  # That is packed.
        return None
    try:
        found = Path(source.where).stat()
    except OSError:
        return None
    stamp = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
    return stamp if found.st_size <= LARGEST_KEPT_FILE else None


def are_samples_from_file(source: SampleSource) -> bool:
    """Whether samples come from a file of data, which may be anybody's, and not from the eval or a program."""
    if isinstance(source, SelectedSamples):
        return are_samples_from_file(source.source)
    return isinstance(source, FileSamples) or (isinstance(source, InlineSamples) and source.from_file)


def iter_numbered_samples(source: SampleSource, faults: list[Fault]) -> Iterator[tuple[int, EvalSample]]:
    """Every sample that is right, with a number that `locate_sample` knows; faults of the others are noted."""
    return source.iter_numbered(faults) if isinstance(source, NumberedSamples) else enumerate(source)


def locate_sample(source: SampleSource, number: int) -> str:
    """Where a sample of a source stands."""
    return source.locate(number) if isinstance(source, NumberedSamples) else f"{source.where}[{number}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalSampleSelection:
    """Which samples a run is about: those of the ids and with one of the tags, of these the first so many."""

    limit: int | None = None
    only: tuple[str, ...] = ()  # Ids.
    tags: tuple[str, ...] = ()

    def includes_sample(self, sample: EvalSample) -> bool:
        """Whether its id and tags are among those that were asked for."""
        tagged = not self.tags or any(tag in self.tags for tag in sample.tags)
        return tagged and (not self.only or sample.id in self.only)

    def to_json(self) -> dict[str, object] | None:
        """As a run keeps it; None where nothing is left out."""
        if self.limit is None and not self.only and not self.tags:
            return None
        return {**asdict(self), "only": sorted(self.only), "tags": sorted(self.tags)}


@dataclass(frozen=True)
class SelectedSamples:
    """The samples of a source that are selected, in its order; what stands after the last of them is not read."""

    source: SampleSource
    selection: EvalSampleSelection

    @property
    def where(self) -> str:
        """Where they come from, for messages."""
        return self.source.where

    def __iter__(self) -> Iterator[EvalSample]:
        return islice(filter(self.selection.includes_sample, self.source), self.selection.limit)

    def iter_numbered(self, faults: list[Fault]) -> Iterator[tuple[int, EvalSample]]:
        """Those that are right, each with its number in the source; what is wrong with others before is noted."""
        numbered = iter_numbered_samples(self.source, faults)
        chosen = ((number, one) for number, one in numbered if self.selection.includes_sample(one))
        return islice(chosen, self.selection.limit)

    def locate(self, number: int) -> str:
        """Where a sample of the source stands."""
        return locate_sample(self.source, number)


def select_samples(source: SampleSource, selection: EvalSampleSelection) -> SampleSource:
    """The selected samples of a source; an EvalError names an id or a tag that none of them has."""
    if selection.limit is not None and not 1 <= selection.limit <= LARGEST_LIMIT:
        raise EvalError(Fault(f"a limit must be from 1 to {LARGEST_LIMIT:,}", "leave it out to run all samples"))
    if selection.only or selection.tags:
        ids: dict[str, None] = {}
        tags: dict[str, None] = {}
        wrong: list[Fault] = []  # They are told of, with all others, when the samples are counted.
        both = 0
        for _, sample in iter_numbered_samples(source, wrong):
            ids[sample.id] = None
            tags |= dict.fromkeys(sample.tags)
            both += selection.includes_sample(sample)
        faults = [
            *_find_unknown_sample_names("no sample has the id", selection.only, ids, source.where),
            *_find_unknown_sample_names("no sample has the tag", selection.tags, tags, source.where),
        ]
        if not faults and not both:
            faults.append(Fault("no sample that --only names has a tag that --tag names", where=source.where))
        if faults and not wrong:
            raise EvalError(*faults)
    return SelectedSamples(source, selection)


def _find_unknown_sample_names(
    what: str, names: Collection[str], known: Collection[str], where: str
) -> Iterator[Fault]:
    for name in names:
        if name not in known:
            more = ", …" if len(known) > MOST_NAMES_HINTED else ""
            some = f"known: {', '.join(islice(known, MOST_NAMES_HINTED))}{more}" if known else "the samples have none"
            yield Fault(f"{what} {name[:60]!r}", suggest_close_word_in_error(name, known) or some, where=where)


def sample_fault_line(fault: Fault) -> int:
    """The line or row that a fault is in."""
    return int("0" + "".join(filter(str.isdigit, fault.where.rpartition(":")[2])))


def _read_sample_field_names(fields: FieldReader) -> dict[str, str]:
    """Names of ours to names of theirs."""
    renaming: dict[str, str] = {}
    for ours, node, path in fields.pairs("fields"):
        if sample_field_path(ours) is None:
            hint = suggest_known_word_in_error(ours[:40], [*SAMPLE_FIELDS, "outputs.NAME", "metadata.NAME"])
            fields.faults.append(Fault(f"a sample has no field {ours[:60]!r}", hint, path))
        elif not isinstance(node, ScalarNode) or not node.text:
            fields.faults.append(Fault(f"expected the name of a column, got {describe_node(node)}", "", path))
        elif node.text in renaming.values():
            fields.faults.append(Fault(f"{node.text!r} is given for two fields", "", path))
        else:
            renaming[ours] = node.text
    return renaming


def read_inline_samples(node: SequenceNode, faults: list[Fault], path: FaultPath) -> tuple[EvalSample, ...]:
    """The samples of a list; faults have their paths, so that the door can name their lines."""
    samples: list[EvalSample] = []
    places: dict[str, int] = {}
    told = len(faults)
    for at, item in enumerate(node.items):
        found: list[Fault] = []
        entry = _inline_sample_data(item)
        why = explain_unstorable_sample_value(entry)
        sample = None if why else read_sample_entry(entry, at + 1, found)
        faults += [Fault(why, path=(*path, at))] if why else [fault.within(*path, at) for fault in found]
        if sample is None:
            continue
        first = places.setdefault(sample.id, at)
        if first != at:
            what = f"the id {sample.id!r} is used twice, first by the sample {first + 1} of the list"
            faults.append(Fault(what, "each id is unique", (*path, at, "id")))
        samples.append(sample)
    counts = Counter((fault.what, fault.hint) for fault in faults[told:])
    faults[told:] = list(join_repeated_faults(faults[told:], counts, len(node.items)))
    return tuple(samples)


def _inline_sample_data(node: TreeNode) -> object:
    """A sample as plain data. What is a text stays as it is written: a reference of 1.50 is no number."""
    if not isinstance(node, MappingNode):
        return sample_node_data(node)
    return {key.text: _inline_sample_field_data(key.text, value) for key, value in node.items}


def _inline_sample_field_data(name: str, node: TreeNode) -> object:
    if isinstance(node, ScalarNode):
        return node.text if name in _TEXT_FIELDS and not is_null_node(node) else sample_node_data(node)
    if name == "outputs" and isinstance(node, MappingNode):
        return {key.text: _inline_sample_field_data("output", value) for key, value in node.items}
    if name in ("tags", "context") and isinstance(node, SequenceNode):
        return [_inline_sample_field_data("text", item) for item in node.items]
    if name in ("input", "messages") and isinstance(node, SequenceNode):
        return [_inline_sample_data(item) for item in node.items]
    return _inline_sample_data(node) if name == "output" else sample_node_data(node)


def sample_node_data(node: TreeNode) -> object:
    """A node as the plain data that JSON would give."""
    if isinstance(node, MappingNode):
        return {key.text: sample_node_data(value) for key, value in node.items}
    if isinstance(node, SequenceNode):
        return [sample_node_data(item) for item in node.items]
    if node.quoted:
        return node.text
    if is_null_node(node):
        return None
    if node.text in ("true", "false"):
        return node.text == "true"
    if _WHOLE_NUMBER.fullmatch(node.text):
        return int(node.text)
    return float(node.text) if _DECIMAL_NUMBER.fullmatch(node.text) else node.text
