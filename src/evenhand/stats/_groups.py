"""Rows that belong together: repeats of one sample, outputs of one sample, samples of one prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import Fault, InputError
from evenhand.stats._arrays import Floats

Units = NDArray[np.int64]
Marks = Sequence[object] | NDArray[Any]  # What tells rows apart that belong together: names, ids or numbers.


def numbered(labels: Marks, rows: int, what: str) -> Units:
    """Labels as numbers from 0, one per row."""
    if len(labels) != rows:
        raise InputError(Fault(f"{len(labels)} {what} for {rows} scores", "one per score"))
    seen: dict[object, int] = {}
    return np.fromiter((seen.setdefault(label, len(seen)) for label in labels), dtype=np.int64, count=rows)


def centred(values: Floats, groups: Units) -> Floats:
    """The values less the mean of their group."""
    means = np.bincount(groups, weights=values) / np.bincount(groups)
    within: Floats = values - means[groups]
    return within
