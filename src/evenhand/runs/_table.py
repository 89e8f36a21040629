"""A run as columns: what comparisons, audits and calibrations read, without the texts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import StoreError
from evenhand.runs._columns import Columns, Packed, unpacked
from evenhand.runs._frame import Frame, frame_from
from evenhand.runs.store import Row, Store

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One row per result, by sample, variant and repeat; NaN is what nobody could score.

    `variant` and `sample` are places in `variants` and `samples`; samples of one `cluster` are not independent.
    `criteria` holds what counts for an output, `reviews` what each judge's answers came to, `judgments` each judge's
    answer on each criterion, `seats` the place at which a judge was shown the output among others: 1 is first.
    `texts` has one number per sample, equal where input, reference, context, tags and own assertions are.
    """

    run: str
    frame: Frame
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


def table_of(store: Store, run: str) -> Table:
    """The columns of a run's results; `run` is an id as `Store.run` takes it.

    Those of a finished run are worked out once and kept: a hundred thousand rows take half a minute, columns a moment.
    """
    row = store.run(run)
    frame = frame_from(json.loads(row["setup"])["frame"])
    finished = row["state"] == "finished"
    kept = unpacked(store.columns(row["id"])) if finished else None
    if kept is None:
        columns = Columns(list(frame.variants))
        for one in store.results(row["id"]):
            columns.add(one, json.loads(one["content"]))
        content = columns.packed(store.samples(row["id"]))
        kept = unpacked(content)
        assert kept is not None
        if finished:
            with suppress(StoreError):  # Whoever may only read the store reads the rows each time.
                store.keep_columns(row["id"], content)
    return _table(row, frame, kept)


def keep_table(store: Store, run: Row, columns: Columns) -> None:
    """Keep the columns of a run that has just been summed up."""
    store.keep_columns(run["id"], columns.packed(store.samples(run["id"])))


def _table(row: Row, frame: Frame, kept: Packed) -> Table:
    values = kept.values
    return Table(
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
        layers=_named(values, "layers"),
        criteria=_named(values, "criteria"),
        reviews=_named(values, "reviews"),
        judgments={(key[1], key[2]): column for key, column in values.items() if key[0] == "judgments"},
        seats=_named(values, "seats"),
    )


def _named(values: Mapping[tuple[str, ...], Floats], kind: str) -> dict[str, Floats]:
    return {key[1]: column for key, column in values.items() if key[0] == kind}
