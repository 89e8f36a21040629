"""A run as columns, without the texts: what comparisons, audits and calibrations read, and the bytes that the
store keeps.
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
from hashlib import blake2b
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import StoreError
from evenhand.runs.run_record import RunEvalRecord, read_run_eval_record
from evenhand.runs.tally import parse_result_fraction
from evenhand.store.rows import Row
from evenhand.store.store import Store

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTable:
    """One row per result, by sample, variant and repeat; NaN is what nobody could score.

    `variant` and `sample` are places in `variants` and `samples`; samples of one `cluster` are not independent.
    `criteria` holds what counts for an output, `reviews` what each judge's answers came to, `judgments` each judge's
    answer on each criterion, `seats` the place at which a judge was shown the output among others: 1 is first.
    `texts` has one number per sample, equal where input, reference, context, tags and own assertions are.
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
    texts: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int64))


def load_run_table(store: Store, run: str) -> RunTable:
    """The columns of a run's results; `run` is an id as `Store.run` takes it.

    Those of a finished run are worked out once and kept: a hundred thousand rows take half a minute, columns a moment.
    """
    row = store.find_run(run)
    frame = read_run_eval_record(json.loads(row["setup"])["frame"])
    finished = row["state"] == "finished"
    kept = unpack_columns(store.load_columns(row["id"])) if finished else None
    if kept is None:
        columns = ColumnsBuilder(list(frame.variants))
        for one in store.results(row["id"]):
            columns.add(one, json.loads(one["content"]))
        content = columns.pack(store.samples(row["id"]))
        kept = unpack_columns(content)
        assert kept is not None
        if finished:
            with suppress(StoreError):  # Whoever may only read the store reads the rows each time.
                store.save_columns(row["id"], content)
    return _build_result_columns(row, frame, kept)


def _build_result_columns(row: Row, frame: RunEvalRecord, kept: PackedColumns) -> RunTable:
    values = kept.values
    return RunTable(
        run=row["id"],
        frame=frame,
        samples=kept.samples,
        variants=kept.variants,
        sample=kept.places["sample"],
        variant=kept.places["variant"],
        repeat=kept.places["repeat"],
        cluster=kept.places["cluster"],
        texts=kept.places["texts"],
        length=values[("length",)],
        score=values[("score",)],
        composite=values[("composite",)],
        layers=_columns_of_kind(values, "layers"),
        criteria=_columns_of_kind(values, "criteria"),
        reviews=_columns_of_kind(values, "reviews"),
        judgments={(key[1], key[2]): column for key, column in values.items() if key[0] == "judgments"},
        seats=_columns_of_kind(values, "seats"),
    )


def _columns_of_kind(values: Mapping[tuple[str, ...], Floats], kind: str) -> dict[str, Floats]:
    return {key[1]: column for key, column in values.items() if key[0] == kind}


COLUMNS_FORMAT = 1  # Columns of another format are worked out anew.
ColumnName = tuple[str, ...]  # What a column holds, then of whom.
# Of a sample, what decides how its outputs are made and judged.
SAMPLE_PARTS = ("input", "messages", "reference", "context", "tags", "assertions")


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedColumns:
    """All columns of a run by name: whole numbers in `places`, scores in `values`."""

    samples: tuple[str, ...]
    variants: tuple[str, ...]
    places: Mapping[str, NDArray[np.int64]]
    values: Mapping[ColumnName, NDArray[np.float64]]


class ColumnsBuilder:
    """Takes results in the order of the store, each in a few bytes."""

    def __init__(self, variants: Sequence[str]) -> None:
        self._variants = {name: place for place, name in enumerate(variants)}
        self._clusters: dict[str, int] = {}
        self._places = {name: array("q") for name in ("position", "variant", "repeat", "cluster")}
        self._values: dict[ColumnName, array[float]] = {
            (name,): array("d") for name in ("length", "score", "composite")
        }

    def add(self, row: Mapping[str, Any], content: Mapping[str, Any]) -> None:
        """Take one result; one of a variant that the eval does not name is none of it."""
        variant = self._variants.get(row["variant"])
        if variant is None:
            return
        own = content["cluster"]
        places = {
            "position": row["position"],
            "variant": variant,
            "repeat": row["repeat"],
            "cluster": 0 if own is None else self._clusters.setdefault(own, -1 - len(self._clusters)),
        }
        before = len(self._places["position"])
        for name, place in places.items():
            self._places[name].append(place)
        for key, value in _result_row_numbers(row, content).items():
            column = self._values.setdefault(key, array("d"))
            if value is not None:
                column.extend([nan] * (before - len(column)))
                column.append(value)

    def pack(self, samples: Iterable[Mapping[str, Any]]) -> bytes:
        """The columns over these samples, which come by position, as compressed bytes; it can be done once.

        One column after the other, each let go when it is written: a run of any size has to fit beside what counts it.
        """
        positions, ids, texts = array("q"), bytearray(), array("q")
        for sample in samples:
            positions.append(sample["position"])
            ids += (b"," if ids else b"") + json.dumps(sample["id"]).encode()
            texts.append(_hash_run_sample(json.loads(sample["content"])))
        place = np.searchsorted(np.array(positions, dtype=np.int64), self._places.pop("position"))
        own = np.array(self._places.pop("cluster"), dtype=np.int64)
        written = {"sample": place, "cluster": np.where(own < 0, own, place), "texts": np.array(texts, dtype=np.int64)}
        names = json.dumps({"format": COLUMNS_FORMAT, "variants": [*self._variants], "values": [*self._values]})
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("names", names)
            packed.writestr("samples", b"[" + ids + b"]")
            for name, places in written.items():
                _write_run_column(packed, name, places)
            for name in tuple(self._places):
                _write_run_column(packed, name, np.array(self._places.pop(name), dtype=np.int64))
            for number, key in enumerate(tuple(self._values)):
                column = self._values.pop(key)
                padded = np.full(len(place), nan)  # Results after the last that has such a number are missing too.
                padded[: len(column)] = column
                _write_run_column(packed, f"v{number}", padded)
        return stream.getvalue()


def unpack_columns(content: bytes | None) -> PackedColumns | None:
    """The columns in some bytes; None where there are none, or none that this version reads."""
    if content is None:
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            names = json.loads(packed.read("names"))
            if names["format"] != COLUMNS_FORMAT:
                return None
            places = ("sample", "variant", "repeat", "cluster", "texts")
            return PackedColumns(
                samples=tuple(json.loads(packed.read("samples"))),
                variants=tuple(names["variants"]),
                places={name: _read_run_column(packed, name) for name in places},
                values={
                    tuple(key): _read_run_column(packed, f"v{number}") for number, key in enumerate(names["values"])
                },
            )
    except (ValueError, KeyError, EOFError, zlib.error, zipfile.BadZipFile):
        return None


def _write_run_column(packed: zipfile.ZipFile, name: str, column: NDArray[Any]) -> None:
    with packed.open(name, "w", force_zip64=True) as stream:
        np.lib.format.write_array(stream, column, allow_pickle=False)


def _read_run_column(packed: zipfile.ZipFile, name: str) -> Any:
    with packed.open(name) as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)


def _result_row_numbers(row: Mapping[str, Any], content: Mapping[str, Any]) -> dict[ColumnName, float | None]:
    """Every number of a result by its name; None where there is none."""
    found: dict[ColumnName, float | None] = {
        ("length",): len(content["output"]["text"]) if content["output"] else None,
        ("score",): _parse_result_number(row["score"]),
        ("composite",): _parse_result_number(row["composite"]),
    }
    for kind in ("layers", "criteria"):
        found |= {(kind, name): _parse_result_number(text) for name, text in content[kind].items()}
    for one in (content["scorecard"]["reviews"] or ()) if content["scorecard"] else ():
        found["reviews", one["judge"]] = one["score"]
    for one in content["judgments"]:
        if one["criterion"] in content["criteria"]:  # Red flags and bonuses come after, some under the same ids.
            found.setdefault(("judgments", one["judge"], one["criterion"]), _parse_result_number(one["exact"]))
    return found | {("seats", judge): seat for judge, seat in content.get("seats", {}).items()}


def _parse_result_number(text: str | None) -> float | None:
    found = parse_result_fraction(text)
    return None if found is None else found.numerator / found.denominator


def _hash_run_sample(sample: Mapping[str, Any]) -> int:
    """A number that is the same where outputs are asked for and judged by the same."""
    told = json.dumps([sample.get(name) or "" for name in SAMPLE_PARTS], sort_keys=True)
    return int.from_bytes(blake2b(told.encode(), digest_size=8).digest(), "big", signed=True)
