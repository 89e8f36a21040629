"""Ratings as a table of raters by units, where a rater may have said nothing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import Fault, InputError
from evenhand.stats._arrays import LARGEST, Floats, floats, sequence, told

Ratings = Sequence[Sequence[float | None]]
Labels = Sequence[Sequence[float | str | None]]

MOST_CELLS = 1 << 25  # Units times different ratings: 256 MB of counts.


def table_of(raters: Ratings) -> Floats:
    """Raters by units, NaN where a rater said nothing; the NaN does not leave this package."""
    _check_rows(raters)
    if len({len(row) for row in raters}) > 1:
        raise InputError(Fault("the raters have rows of different length", "one entry per output, None where missing"))
    rows = [_row(row, number) for number, row in enumerate(raters, 1)]
    return np.array(rows) if rows else np.empty((0, 0))


def coded(raters: Labels, categories: Sequence[float | str] | None = None) -> Floats:
    """The same for words, or for categories in a given order: each rating as its place among them."""
    _check_rows(raters)
    try:
        given = set(chain.from_iterable(raters)) - {None}
        named = set() if categories is None else set(sequence(categories, "categories"))
    except TypeError:
        raise InputError(Fault("a rating must be a number or a word", "None where missing")) from None
    words = {label for label in given if isinstance(label, str)}
    if categories is None and not words:
        return table_of(raters)  # type: ignore[arg-type]  # No words among them, so they are numbers or are refused.
    if categories is None and words != given:
        raise InputError(Fault("some ratings are words and some are numbers", "rate all with the same categories"))
    places = {label: float(place) for place, label in enumerate(sorted(words) if categories is None else categories)}
    if categories is not None and len(named) != len(categories):
        raise InputError(Fault(f"a category is named twice: {', '.join(map(told, categories))}"))
    unknown = [label for label in given if label not in places]
    if unknown:
        raise InputError(Fault(f"{told(unknown[0])} is no category", f"known: {', '.join(map(_label, places))}"))
    return table_of([[None if label is None else places[label] for label in row] for row in raters])


def silent(table: Floats) -> tuple[str, ...]:
    """The raters who rated nothing."""
    nothing = np.isnan(table).all(axis=1) if table.shape[1] else np.ones(len(table), dtype=np.bool_)
    return tuple(f"rater {place + 1} gave no rating" for place in np.flatnonzero(nothing))


def counted(table: Floats) -> tuple[Floats, Floats]:
    """The different ratings in order, and how often each unit was given each of them."""
    rated = ~np.isnan(table)
    values, places = np.unique(table[rated], return_inverse=True)
    units = table.shape[1]
    if units * len(values) > MOST_CELLS:
        what = f"{len(values):,} different ratings of {units:,} units are too many to count"
        raise InputError(Fault(what, "round the ratings, or take the interval metric"))
    cells = np.nonzero(rated)[1] * len(values) + places
    counts = np.bincount(cells, minlength=units * len(values)).reshape(units, len(values))
    return values, counts.astype(np.float64)


def distinct(units: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Units that are alike as one, in an order that does not depend on theirs, and how often each occurs."""
    rows, often = np.unique(units, axis=0, return_counts=True)
    return rows, often.astype(np.int64)


def _check_rows(raters: Labels) -> None:
    for number, row in enumerate(sequence(raters, "raters", "one row of ratings per rater"), 1):
        sequence(row, f"rater {number}", "one row of ratings per rater")


def _label(label: object) -> str:
    return label if isinstance(label, str) else told(label)


def _row(given: Sequence[float | None], number: int) -> Floats:
    hint = "None where missing"
    row = floats(given, f"the ratings of rater {number}")
    missing = np.isnan(row)
    if np.isinf(row).any() or any(given[place] is not None for place in np.flatnonzero(missing).tolist()):
        raise InputError(Fault(f"rater {number} has a rating that is no finite number", hint))
    if (np.abs(row[~missing]) > LARGEST).any():
        raise InputError(Fault(f"rater {number} has a rating that is too large to compare"))
    return row
