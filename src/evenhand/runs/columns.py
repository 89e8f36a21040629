"""A run as columns, without the texts: what comparisons, audits and calibrations read, and the bytes that the
store keeps.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import StoreError
from evenhand.runs.run_record import RunEvalRecord, read_run_eval_record
from evenhand.runs.tally import COLUMNS_FORMAT, ColumnName, ColumnsBuilder
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
    values = kept.values
    mappings: dict[str, Any] = {
        kind: {key[1]: column for key, column in values.items() if key[0] == kind}
        for kind in ("layers", "criteria", "reviews", "seats")
    }
    judgments = {(key[1], key[2]): column for key, column in values.items() if key[0] == "judgments"}
    numbers: dict[str, Any] = {name: values[(name,)] for name in ("length", "score", "composite")}
    own: dict[str, Any] = {"run": row["id"], "frame": frame, "samples": kept.samples, "variants": kept.variants}
    return RunTable(**own, **kept.places, **numbers, **mappings, judgments=judgments)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedColumns:
    """All columns of a run by name: whole numbers in `places`, scores in `values`."""

    samples: tuple[str, ...]
    variants: tuple[str, ...]
    places: Mapping[str, Any]  # Integers.
    values: Mapping[ColumnName, NDArray[np.float64]]


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


def _read_run_column(packed: zipfile.ZipFile, name: str) -> Any:
    with packed.open(name) as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)
