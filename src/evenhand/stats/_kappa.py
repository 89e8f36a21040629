"""Agreement beyond chance on categories: Cohen's κ of two raters, plain or weighted, and Fleiss' κ of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats._agreement import Agreement, Undefined, agreement
from evenhand.stats._arrays import Floats, one_of, sequence
from evenhand.stats._ratings import Labels, coded, counted, distinct, silent
from evenhand.stats._resamples import RESAMPLES, Draws, Statistic, resampled

Weights = Literal["none", "linear", "quadratic"]

_MOST_CATEGORIES = 2_048  # Their distances from each other are held at once: 32 MB.


def cohen_kappa(
    first: Sequence[float | str | None],
    second: Sequence[float | str | None],
    *,
    weights: Weights = "none",
    categories: Sequence[float | str] | None = None,
    rng: np.random.Generator | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Agreement | Undefined:
    """Cohen's κ over what both rated; with `rng` also its interval.

    The weight of a disagreement is how far apart the two ratings are, or, where `categories` are given in order, how
    many places: a level that nobody chose still lies between its neighbours.
    """
    one_of(weights, get_args(Weights), "weights")
    if len(sequence(first, "first")) != len(sequence(second, "second")):
        raise InputError(Fault(f"{len(first)} ratings beside {len(second)}", "rate the same outputs"))
    if weights != "none" and categories is None and any(isinstance(label, str) for label in (*first, *second)):
        raise InputError(Fault(f"words have no distance for {weights} weights", "give categories in their order"))
    draws = Draws(rng=rng, level=level, resamples=resamples)
    method = "Cohen's κ" if weights == "none" else f"Cohen's κ, {weights} weights"
    table = coded([first, second], categories)
    both = table[:, ~np.isnan(table).any(axis=0)]
    n = both.shape[1]
    if not n:
        return Undefined(why=next(iter(silent(table)), "nothing was rated by both"), method=method, n=0)
    if (both == both[0, 0]).all():
        return Undefined(why="both gave one and the same rating throughout", method=method, n=n)
    cells, tallies = distinct(both.T)
    kappa = _cohen(cells, weights)
    value = float(kappa(tallies[None, :].astype(np.float64))[0])
    return agreement(value, resampled(kappa, tallies, value, draws), method=method, n=n, raters=2)


def fleiss_kappa(
    raters: Labels,
    *,
    rng: np.random.Generator | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Agreement | Undefined:
    """Fleiss' κ: every unit rated by equally many raters, not necessarily the same; with `rng` also its interval."""
    draws, method = Draws(rng=rng, level=level, resamples=resamples), "Fleiss' κ"
    table = coded(raters)
    often = (~np.isnan(table)).sum(axis=0)
    rated = table[:, often > 0]
    n = rated.shape[1]
    each = set(often[often > 0].tolist())
    if len(each) > 1:
        why = f"units have {min(each)} to {max(each)} ratings and must have equally many: Krippendorff's α need not"
        return Undefined(why=why, method=method, n=n)
    if not each or each == {1}:
        why = "nothing was rated by two raters" if len(table) > 1 else "it takes two raters"
        return Undefined(why=why, method=method, n=0)
    values, counts = counted(rated)
    if len(values) == 1:
        return Undefined(why="all ratings are the same", method=method, n=n)
    units, tallies = distinct(counts)
    kappa = _fleiss(units)
    value = float(kappa(tallies[None, :].astype(np.float64))[0])
    ends = resampled(kappa, tallies, value, draws)
    return agreement(value, ends, method=method, n=n, raters=len(table), skipped=silent(table))


def _cohen(cells: Floats, weights: Weights) -> Statistic:
    """κ as one less the weighted disagreement over the one by chance; `cells` are the pairs of ratings that occur."""
    values = np.unique(cells)
    if len(values) > _MOST_CATEGORIES:
        what = f"{len(values):,} different ratings are too many for κ"
        raise InputError(Fault(what, "round them, or take Krippendorff's α"))
    distances = _distances(values, weights)
    places = np.searchsorted(values, cells)
    ones = np.eye(len(values))
    first, second, apart = ones[places[:, 0]], ones[places[:, 1]], distances[places[:, 0], places[:, 1]]

    def kappa(drawn: Floats) -> Floats:
        by_chance = np.einsum("rc,rc->r", (drawn @ first) @ distances, drawn @ second) / drawn.sum(axis=1)
        return _beyond_chance(drawn @ apart, by_chance)

    return kappa


def _distances(values: Floats, weights: Weights) -> Floats:
    apart: Floats = np.abs(np.subtract.outer(values, values)) / (values[-1] - values[0])
    if weights == "none":
        return (apart > 0).astype(np.float64)
    return apart if weights == "linear" else apart**2


def _fleiss(units: Floats) -> Statistic:
    raters = units[0].sum()
    apart = 1 - ((units**2).sum(axis=1) - raters) / (raters * (raters - 1))

    def kappa(drawn: Floats) -> Floats:
        n = drawn.sum(axis=1)
        shares = (drawn @ units) / (n * raters)[:, None]
        return _beyond_chance(drawn @ apart, n * (1 - (shares**2).sum(axis=1)))

    return kappa


def _beyond_chance(apart: Floats, by_chance: Floats) -> Floats:
    """NaN where a resample holds one category only."""
    value = np.full(len(apart), np.nan)
    varied = by_chance > 1e-12
    value[varied] = 1 - apart[varied] / by_chance[varied]
    return value
