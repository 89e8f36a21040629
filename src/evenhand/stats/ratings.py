"""Ratings by several raters: the table they are read into, and the results that measures of agreement return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import Fault, InputError
from evenhand.stats.arrays import (
    LARGEST_NUMBER,
    Floats,
    convert_to_floats,
    quote_statistic_argument,
    require_array_sequence,
    require_finite_float,
)

Ratings = Sequence[Sequence[float | None]]
RatingLabels = Sequence[Sequence[float | str | None]]

AGREED = 0.667  # Krippendorff (2004): from this α on, agreement can be relied on.
_TENTATIVE = 0.4  # Some agreement beyond chance, and too little to rely on.
_NEARLY = 1e-9  # An α that is on a limit on paper counts as reaching it.
_MOST_CELLS = 1 << 25  # Units times distinct ratings: 256 MB of counts.


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """How far two rise and fall together: -1 to 1.

    `low`, `high` and `level` are None where there is no interval, and `no_interval` says why; `interval` names how it
    was found.
    """

    value: float
    method: str
    n: int
    low: float | None = None
    high: float | None = None
    level: float | None = None
    interval: str = ""
    no_interval: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far several raters agree; `n` counts the units that were used, `pairs` the pairs of raters.

    `skipped` names what was left out. `low`, `high` and `level` are None where there is no interval, and `no_interval`
    says why; `interval` names how it was found.
    """

    value: float
    method: str
    n: int
    pairs: int
    skipped: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    level: float | None = None
    interval: str = ""
    no_interval: str = ""


class IntervalFields(TypedDict, total=False):
    """The fields of an interval in a result: low, high, level and how it was found, or only why there is none."""

    low: float
    high: float
    level: float
    interval: str
    no_interval: str


def band(alpha: float) -> Literal["green", "amber", "red"]:
    """Green where agreement can be relied on, amber where it is tentative, red below."""
    alpha = require_finite_float(alpha, "alpha")
    return "green" if alpha >= AGREED - _NEARLY else "amber" if alpha >= _TENTATIVE - _NEARLY else "red"


def widen_interval_to_estimate(ends: IntervalFields, value: float) -> IntervalFields:
    """Move an end to the value where rounding left the value a digit outside."""
    if "low" not in ends:
        return ends
    return {**ends, "low": min(ends["low"], value), "high": max(ends["high"], value)}


def tabulate_ratings(raters: Ratings) -> Floats:
    """Return raters by units, NaN where a rater said nothing; the NaN does not leave this package."""
    _check_rows(raters)
    if len({len(row) for row in raters}) > 1:
        raise InputError(Fault("the raters have rows of different length", "one entry per output, None where missing"))
    rows = [_convert_ratings_row_to_array(row, number) for number, row in enumerate(raters, 1)]
    return np.array(rows) if rows else np.empty((0, 0))


def tabulate_categorical_ratings(raters: RatingLabels, categories: Sequence[float | str] | None = None) -> Floats:
    """Return the same for words, or for categories in a given order: each rating as its place among them."""
    _check_rows(raters)
    try:
        given = set(chain.from_iterable(raters)) - {None}
        named = set() if categories is None else set(require_array_sequence(categories, "categories"))
    except TypeError:
        raise InputError(Fault("a rating must be a number or a word", "None where missing")) from None
    words = {label for label in given if isinstance(label, str)}
    if categories is None and not words:
        return tabulate_ratings(raters)  # type: ignore[arg-type]  # No words: numbers, or refused there.
    if categories is None and words != given:
        raise InputError(Fault("some ratings are words and some are numbers", "rate all with the same categories"))
    places = {label: float(place) for place, label in enumerate(sorted(words) if categories is None else categories)}
    if categories is not None and len(named) != len(categories):
        raise InputError(Fault(f"a category is named twice: {', '.join(map(quote_statistic_argument, categories))}"))
    unknown = [label for label in given if label not in places]
    if unknown:
        known = ", ".join(label if isinstance(label, str) else quote_statistic_argument(label) for label in places)
        raise InputError(Fault(f"{quote_statistic_argument(unknown[0])} is no category", f"known: {known}"))
    return tabulate_ratings([[None if label is None else places[label] for label in row] for row in raters])


def list_empty_rating_rows(table: Floats) -> tuple[str, ...]:
    """Name the raters who rated nothing."""
    nothing = np.isnan(table).all(axis=1) if table.shape[1] else np.ones(len(table), dtype=np.bool_)
    return tuple(f"rater {place + 1} gave no rating" for place in np.flatnonzero(nothing))


def count_ratings(table: Floats) -> tuple[Floats, Floats]:
    """Return the distinct ratings in order, and how often each unit was given each of them."""
    rated = ~np.isnan(table)
    values, places = np.unique(table[rated], return_inverse=True)
    units = table.shape[1]
    if units * len(values) > _MOST_CELLS:
        what = f"{len(values):,} different ratings of {units:,} units are too many to count"
        raise InputError(Fault(what, "round the ratings, or take the interval metric"))
    cells = np.nonzero(rated)[1] * len(values) + places
    counts = np.bincount(cells, minlength=units * len(values)).reshape(units, len(values))
    return values, counts.astype(np.float64)


def group_equal_units(units: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Return the distinct units, sorted so that their order in the data does not matter, and how often each occurs."""
    rows, tallies = np.unique(units, axis=0, return_counts=True)
    return rows, tallies.astype(np.int64)


def _check_rows(raters: RatingLabels) -> None:
    for number, row in enumerate(require_array_sequence(raters, "raters", "one row of ratings per rater"), 1):
        require_array_sequence(row, f"rater {number}", "one row of ratings per rater")


def _convert_ratings_row_to_array(given: Sequence[float | None], number: int) -> Floats:
    row = convert_to_floats(given, f"the ratings of rater {number}")
    missing = np.isnan(row)
    if np.isinf(row).any() or any(given[place] is not None for place in np.flatnonzero(missing).tolist()):
        raise InputError(Fault(f"rater {number} has a rating that is no finite number", "None where missing"))
    if (np.abs(row[~missing]) > LARGEST_NUMBER).any():
        raise InputError(Fault(f"rater {number} has a rating that is too large to compare"))
    return row
