"""A run as columns, without the texts: what comparisons, audits and calibrations read; and its variants paired, row by
row, with those of this or another run.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from json.encoder import encode_basestring_ascii
from math import nan
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import StoreError
from evenhand.evals.eval_schema import MOST_REPEATS
from evenhand.evals.eval_scoring import name_sample_rubric_criterion
from evenhand.files.parsing import decode_plain_json
from evenhand.runs.kept_texts import count_characters_of_run_output, number_run_output_text, number_texts_of_run_sample
from evenhand.runs.run_record import RunEvalRecord, read_run_eval_record
from evenhand.runs.tally import (
    VERDICT_NUMBERS,
    number_cascade_content,
    number_statement_answer,
    parse_result_ratio,
)
from evenhand.store.store import Store

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
ScoreColumn = tuple[float | None, ...]
COLUMNS_FORMAT = 3  # Columns of another format are worked out anew.
ColumnName = tuple[str, ...]  # What a column holds, then of whom.


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTable:
    """One row per result, by sample, variant and repeat; NaN is what nobody could score.

    `variant` and `sample` are places in `variants` and `samples`; samples of one `cluster` are not independent.
    `criteria` holds what counts for an output, `reviews` what each judge's answers came to, `judgments` each judge's
    answer on each criterion, `seats` the place at which a judge was shown the output among others: 1 is first.
    `marks` counts what failed of an output: its gates, its assertions, what guards found; and its verdict by number.
    `statements` holds each judge's answer on each red flag and bonus, by id and how often the id came before it: 1 is
    yes, −1 was asked and not answered. `authors` has 1 where an output is by that model.
    `cascade` holds its way through a cascade, where the run has one: whether it was passed on, and what the cheap judge
    alone came to.
    `texts` has one number per sample, equal where input, reference, context, tags and own assertions are; `output` one
    per row, equal where the texts of two outputs are, 0 where that is not known.
    """

    run: str
    frame: RunEvalRecord
    samples: tuple[str, ...]
    variants: tuple[str, ...]
    sample: Integers
    variant: Integers
    repeat: Integers
    cluster: Integers
    length: Floats
    score: Floats
    composite: Floats
    layers: Mapping[str, Floats]
    criteria: Mapping[str, Floats]
    reviews: Mapping[str, Floats]
    judgments: Mapping[tuple[str, str], Floats]
    seats: Mapping[str, Floats]
    marks: Mapping[str, Floats] = field(default_factory=dict)
    statements: Mapping[tuple[str, str, int], Floats] = field(default_factory=dict)
    authors: Mapping[str, Floats] = field(default_factory=dict)
    cascade: Mapping[str, Floats] = field(default_factory=dict)
    texts: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    output: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    imported: bool = False  # Made elsewhere: whatever is shown of it says so.


def load_run_columns(store: Store, run: str) -> RunTable:
    """The columns of a run's results; `run` is an id as `Store.run` takes it.

    Those of a finished run are worked out once and kept: a hundred thousand rows take half a minute, columns a moment.
    """
    row = store.find_run(run)
    frame = read_run_eval_record(json.loads(row["setup"])["frame"])
    finished = row["state"] == "finished"
    kept = unpack_run_columns(store.rows.load_columns(row["id"])) if finished else None
    if kept is None:
        columns = RunColumnsBuilder(list(frame.variants))
        for one in store.results(row["id"]):
            columns.add(one, json.loads(one["content"]))
        content = columns.pack(store.samples(row["id"]))
        kept = unpack_run_columns(content)
        assert kept is not None
        if finished:
            with suppress(StoreError):  # Whoever may only read the store reads the rows each time.
                store.save_columns(row["id"], content)
    values = kept.values
    mappings: dict[str, Any] = {
        kind: {key[1]: column for key, column in values.items() if key[0] == kind}
        for kind in ("layers", "criteria", "reviews", "seats", "marks", "authors", "cascade")
    }
    judgments = {(key[1], key[2]): column for key, column in values.items() if key[0] == "judgments"}
    statements = {(key[1], key[2], len(key) - 3): column for key, column in values.items() if key[0] == "statements"}
    numbers: dict[str, Any] = {name: values[(name,)] for name in ("length", "score", "composite")}
    own: dict[str, Any] = {"run": row["id"], "frame": frame, "samples": kept.samples, "variants": kept.variants}
    own["imported"] = row["imported"] is not None
    return RunTable(**own, **kept.places, **numbers, **mappings, judgments=judgments, statements=statements)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedColumns:
    """All columns of a run by name: whole numbers in `places`, scores in `values`."""

    samples: tuple[str, ...]
    variants: tuple[str, ...]
    places: Mapping[str, Any]  # Integers.
    values: Mapping[ColumnName, NDArray[np.float64]]


def unpack_run_columns(content: bytes | None) -> PackedColumns | None:
    """The columns in some bytes; None where there are none, or none that this version reads."""
    if content is None:
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            names = json.loads(packed.read("names"))
            if names["format"] != COLUMNS_FORMAT:
                return None
            places = ("sample", "variant", "repeat", "cluster", "output", "texts")
            return PackedColumns(
                samples=tuple(json.loads(packed.read("samples"))),
                variants=tuple(names["variants"]),
                places={name: _unpack_run_column(packed, name) for name in places},
                values={
                    tuple(key): _unpack_run_column(packed, f"v{number}") for number, key in enumerate(names["values"])
                },
            )
    except (ValueError, KeyError, EOFError, zlib.error, zipfile.BadZipFile):
        return None


def _unpack_run_column(packed: zipfile.ZipFile, name: str) -> Any:
    with packed.open(name) as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)


@dataclass(slots=True)
class RunColumnsBuilder:
    """Takes results in the order of the store, each in a few bytes."""

    variants: Sequence[str]
    _clusters: dict[str, int] = field(default_factory=dict)
    _places: dict[str, Any] = field(
        default_factory=lambda: {name: array("q") for name in ("position", "variant", "repeat", "cluster", "output")}
    )
    _values: dict[ColumnName, array[float]] = field(
        default_factory=lambda: {(name,): array("d") for name in ("length", "score", "composite")}
    )

    def add(self, row: Mapping[str, Any], content: Mapping[str, Any]) -> None:
        """Take one result; one of a variant that the eval does not name is none of it."""
        if row["variant"] not in self.variants:
            return
        variant = self.variants.index(row["variant"])
        own = content["cluster"]
        cluster = 0 if own is None else self._clusters.setdefault(own, -1 - len(self._clusters))
        before = len(self._places["position"])
        places = (row["position"], variant, row["repeat"], cluster, number_run_output_text(content))
        for name, place in zip(self._places, places, strict=True):
            self._places[name].append(place)
        columns = self._values
        for key, value in _list_result_numbers(row, content).items():
            column = columns.get(key)
            if column is None:
                column = columns[key] = array("d")
            if value is not None:
                if len(column) < before:
                    column.extend([nan] * (before - len(column)))
                ratio = parse_result_ratio(value) if isinstance(value, str) else (value, 1)
                assert ratio is not None
                column.append(ratio[0] / ratio[1])

    def pack(self, samples: Iterable[Mapping[str, Any]]) -> bytes:
        """The columns over these samples, which come by position, as compressed bytes; it can be done once.

        One column after the other, each let go when it is written: a run of any size has to fit beside what counts it.
        """
        positions, ids, texts = array("q"), bytearray(), array("q")
        for sample in samples:
            positions.append(sample["position"])
            ids += (b"," if ids else b"") + encode_basestring_ascii(sample["id"]).encode()
            texts.append(number_texts_of_run_sample(decode_plain_json(sample["content"])))
        place = np.searchsorted(np.array(positions, dtype=np.int64), self._places.pop("position"))
        own = np.array(self._places.pop("cluster"), dtype=np.int64)
        self._places |= {"sample": place, "cluster": np.where(own < 0, own, place), "texts": texts}
        names = json.dumps({"format": COLUMNS_FORMAT, "variants": [*self.variants], "values": [*self._values]})
        columns = chain(
            ((name, np.array(self._places.pop(name), dtype=np.int64)) for name in tuple(self._places)),
            # Results after the last that has such a number are missing too.
            (
                (f"v{number}", np.append(column, np.full(len(place) - len(column), nan)))
                for number, column in enumerate(self._values.pop(key) for key in tuple(self._values))
            ),
        )
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("names", names)
            packed.writestr("samples", b"[" + ids + b"]")
            for name, column in columns:
                with packed.open(name, "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, column, allow_pickle=False)
        return stream.getvalue()


def _list_result_numbers(row: Mapping[str, Any], content: Mapping[str, Any]) -> dict[ColumnName, str | float | None]:
    """Every number of a result by its name, exact ones as texts; None where there is none."""
    found: dict[ColumnName, str | float | None] = {
        ("length",): count_characters_of_run_output(content),
        ("score",): row["score"],
        ("composite",): row["composite"],
    }
    criteria = content["criteria"]
    for name, text in content["layers"].items():
        found["layers", name] = text
    for name, text in criteria.items():
        found["criteria", name] = text
    card = content["scorecard"] or {}
    for one in card.get("reviews") or ():
        found["reviews", one["judge"]] = one["score"]
    own_rubric = content.get("own_rubric", "")
    for one in content["judgments"]:
        id = name_sample_rubric_criterion(own_rubric, one["criterion"]) if own_rubric else one["criterion"]
        if id in criteria and ("judgments", one["judge"], id) not in found:
            found["judgments", one["judge"], id] = one["exact"]
        elif criteria and not own_rubric:  # Red flags and bonuses come after, some under the same ids.
            key: ColumnName = ("statements", one["judge"], one["criterion"])
            while key in found:
                key = (*key, "again")
            found[key] = number_statement_answer(one["exact"])
    if content["output"] and (author := content["output"].get("author")):  # Earlier versions did not keep it.
        found["authors", author] = 1
    for judge, seat in content.get("seats", {}).items():
        found["seats", judge] = seat
    if content.get("cascade"):
        for name, number in number_cascade_content(content).items():
            found["cascade", name] = number
    # What failed of an output; None where nothing did.
    found["marks", "gates"] = len(card.get("gates_failed") or ()) or None
    found["marks", "assertions"] = sum([one["passed"] is False for one in content["assertions"]]) or None
    found["marks", "findings"] = len(content["findings"]) or None
    found["marks", "unsafe"] = 1 if content.get("unsafe") else None
    found["marks", "verdict"] = VERDICT_NUMBERS.get(card.get("verdict") or "")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class RunVariantRows:
    """One variant of one run: its rows, and the ids of the samples that it has a row for with their places."""

    table: RunTable
    variant: str
    rows: Integers
    samples: Mapping[str, int]

    @classmethod
    def from_run_table(cls, table: RunTable, variant: str) -> Self:
        """A variant of a table."""
        rows = np.flatnonzero(table.variant == table.variants.index(variant))
        there = np.zeros(len(table.samples), dtype=np.bool_)
        there[table.sample[rows]] = True
        samples = {table.samples[place]: place for place in np.flatnonzero(there).tolist()}
        return cls(table=table, variant=variant, rows=rows, samples=samples)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSamples:
    """What the samples of two variants have in common, as ids; `changed` are those whose texts differ."""

    both: int
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    changed: tuple[str, ...]


def find_samples_in_both_runs(first: RunVariantRows, second: RunVariantRows) -> SharedSamples:
    """The samples that both have, those that one has, and those that both have with other texts."""
    ours, theirs = first.samples, second.samples
    both = [id for id in ours if id in theirs]
    one, other = first.table.texts, second.table.texts
    same = one[[ours[id] for id in both]] == other[[theirs[id] for id in both]]
    return SharedSamples(
        both=len(both),
        only_first=tuple(id for id in ours if id not in theirs),
        only_second=tuple(id for id in theirs if id not in ours),
        changed=tuple(both[place] for place in np.flatnonzero(~same).tolist()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedRunResults:
    """The rows of each member for the samples and repeats that all have, in one order; clusters are the first's."""

    members: tuple[RunVariantRows, ...]
    rows: tuple[Integers, ...]
    unpaired: tuple[int, ...]  # Per member: rows of samples that all have, but of repeats that some lack.

    @property
    def samples(self) -> list[int]:
        """Which rows are repeats of one sample."""
        found: list[int] = self.members[0].table.sample[self.rows[0]].tolist()
        return found

    @property
    def clusters(self) -> list[int]:
        """Which rows are not independent."""
        found: list[int] = self.members[0].table.cluster[self.rows[0]].tolist()
        return found

    def composite(self, place: int, layers: Sequence[str] | None = None) -> ScoreColumn:
        """What one member scored; with `layers`, the mean of these alone, as they weigh, wherever it scored at all."""
        table, rows = self.members[place].table, self.rows[place]
        values = table.composite[rows]
        if layers is not None:
            weights = table.frame.find_layer_weights()
            own = [float(weights.get(name, 1)) for name in layers]
            mean = np.average([table.layers[name][rows] for name in layers], axis=0, weights=own)
            values = np.where(np.isnan(values), np.nan, mean)
        return _result_scores_or_none(values)

    def layers(self, place: int) -> dict[str, ScoreColumn]:
        """Its layers."""
        return self._run_result_columns(place, "layers")

    def criteria(self, place: int) -> dict[str, ScoreColumn]:
        """Its criteria; those of other variants of the run are none of it."""
        found = self._run_result_columns(place, "criteria")
        return {id: scores for id, scores in found.items() if any(score is not None for score in scores)}

    def judges(self, place: int) -> dict[str, ScoreColumn]:
        """What each of its judges made of it."""
        return self._run_result_columns(place, "reviews")

    def cascade(self, place: int) -> dict[str, ScoreColumn]:
        """Its way through a cascade; empty where the run has none."""
        return self._run_result_columns(place, "cascade")

    def layer_sets(self, place: int) -> dict[tuple[str, ...], int]:
        """The sets of layers that its composites were computed from, and how many of each."""
        table, rows = self.members[place].table, self.rows[place]
        scored = rows[~np.isnan(table.composite[rows])]
        names = sorted(table.layers)
        kind = np.zeros(len(scored), dtype=np.int64)
        for place_of, name in enumerate(names):
            kind |= ~np.isnan(table.layers[name][scored]) << place_of
        kinds, counts = np.unique(kind, return_counts=True)
        return {
            tuple(name for place_of, name in enumerate(names) if one >> place_of & 1): count
            for one, count in zip(kinds.tolist(), counts.tolist(), strict=True)
        }

    def _run_result_columns(self, place: int, kind: str) -> dict[str, ScoreColumn]:
        rows = self.rows[place]
        return {
            name: _result_scores_or_none(column[rows])
            for name, column in getattr(self.members[place].table, kind).items()
        }


def join_run_result_rows(members: Sequence[RunVariantRows]) -> JoinedRunResults:
    """The rows that all members have, by sample id and repeat, in the order of the first."""
    # For each row its sample, as a place among the first one's, and its repeat in one number; below 0 for others.
    keys: list[Integers] = []
    for member in members:
        own = np.full(len(member.table.samples), -1, dtype=np.int64)
        own[list(member.samples.values())] = [members[0].samples.get(id, -1) for id in member.samples]
        keys.append(own[member.table.sample[member.rows]] * MOST_REPEATS + member.table.repeat[member.rows])
    common = keys[0]
    for key in keys[1:]:
        common = np.intersect1d(common, key[key >= 0])
    rows = []
    for member, key in zip(members, keys, strict=True):
        order = np.argsort(key, kind="stable")
        rows.append(member.rows[order[np.searchsorted(key[order], common)]])
    kept = np.unique(common // MOST_REPEATS)
    unpaired = [int(np.isin(key[key >= 0] // MOST_REPEATS, kept).sum()) - len(common) for key in keys]
    return JoinedRunResults(members=tuple(members), rows=tuple(rows), unpaired=tuple(unpaired))


def _result_scores_or_none(values: Floats) -> ScoreColumn:
    """None for NaN: nobody outside takes a missing score for a number."""
    told = values.astype(object)
    told[np.isnan(values)] = None
    return tuple(told)
