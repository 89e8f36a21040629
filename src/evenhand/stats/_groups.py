"""Rows that belong together: repeats of one sample, outputs of one sample, samples of one prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import Fault, InputError
from evenhand.stats._arrays import Floats, sequence

Units = NDArray[np.int64]
Marks = Sequence[object] | NDArray[Any]  # What tells rows apart that belong together: names, ids or numbers.


def numbered(labels: Marks, rows: int, what: str) -> Units:
    """Labels as numbers from 0, one per row."""
    marks = sequence(labels, what, "one per score")
    if len(marks) != rows:
        raise InputError(Fault(f"{len(marks)} {what} for {rows} scores", "one per score"))
    marks = marks.tolist() if isinstance(marks, np.ndarray) else marks
    try:
        seen = {mark: number for number, mark in enumerate(dict.fromkeys(marks))}
    except TypeError:
        raise InputError(Fault(f"{what} must be names or numbers", "one per score")) from None
    if any(mark is None or mark != mark for mark in seen):  # noqa: PLR0124  # NaN is not itself.
        raise InputError(Fault(f"one of the {what} is missing", "give every score one"))
    return np.fromiter(map(seen.__getitem__, marks), dtype=np.int64, count=rows)


def unit_means(values: Floats, clusters: Marks | None) -> Floats:
    """One value per independent unit: repeats of one sample are not independent, so each cluster is its mean."""
    if clusters is None:
        return values
    unit = numbered(clusters, len(values), "clusters")
    means: Floats = np.bincount(unit, weights=values) / np.bincount(unit)
    return means


def centred(values: Floats, groups: Units) -> Floats:
    """The values less the mean of their group."""
    means = np.bincount(groups, weights=values) / np.bincount(groups)
    within: Floats = values - means[groups]
    return within
