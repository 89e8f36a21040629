"""Agreement beyond chance: Krippendorff's α of any raters, Cohen's κ of two, plain or weighted, Fleiss' κ of several.

Each is one less the disagreement that was observed over the disagreement that chance would give. Krippendorff 2011,
"Computing Krippendorff's Alpha-Reliability": with n ratings in all, m of them in one unit, and a distance δ² between
two ratings,

    α = 1 − (n − 1) · Σ_units (Σ_pairs in the unit δ²) / (m − 1)  ÷  Σ_pairs of all ratings δ²

Both sums are sums over units, or come from the counts of ratings, which are: a resample needs weights of units only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, get_args

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats.arrays import Floats, Undefined, require_array_sequence, require_statistic_choice
from evenhand.stats.ratings import (
    RESAMPLES,
    Agreement,
    RatingLabels,
    Resampling,
    Statistic,
    Tallies,
    bootstrap_ratings_statistic,
    build_categorical_rating_matrix,
    count_ratings_in_matrix,
    group_equal_units_of_matrix,
    list_empty_rating_arrays,
)

Metric = Literal["nominal", "ordinal", "interval", "ratio"]
KappaWeights = Literal["none", "linear", "quadratic"]

_CONSTANT = 1e-12  # Spread below this share of the largest rating is rounding, not spread.
_MOST_RATIOS = 4_096  # Distinct ratings whose distances from each other are held at once: 128 MB.
_MOST_CATEGORIES = 2_048  # The same for κ: 32 MB.


def krippendorff(
    raters: RatingLabels,
    metric: Metric = "interval",
    *,
    rng: np.random.Generator | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Agreement | Undefined:
    """Krippendorff's α for any number of raters, None where one said nothing; with `rng` also its interval."""
    require_statistic_choice(metric, get_args(Metric), "metric")
    resampling = Resampling(rng=rng, level=level, resamples=resamples)
    table, method = build_categorical_rating_matrix(raters), f"Krippendorff's α, {metric}"
    if metric != "nominal" and any(isinstance(label, str) for row in raters for label in row):
        raise InputError(Fault("ratings in words have no distance", "metric='nominal', or numbers in their place"))
    if metric == "ratio" and (table < 0).any():
        raise InputError(Fault("a rating below 0 has no ratio to others", "metric='interval'"))
    several = table[:, (~np.isnan(table)).sum(axis=0) > 1]
    n = several.shape[1]
    if not n:
        return Undefined(why=_explain_undefined_krippendorff(table), method=method, n=0)
    smallest, largest = np.nanmin(several), np.nanmax(several)
    if largest - smallest <= _CONSTANT * max(abs(smallest), abs(largest)):
        return Undefined(why="all ratings are the same", method=method, n=n)
    alpha, tallies = _PREPARE_ALPHA[metric](several)
    silent = list_empty_rating_arrays(table)
    return bootstrap_ratings_statistic(alpha, tallies, resampling, method=method, raters=len(table), skipped=silent)


def cohen_kappa(
    first: Sequence[float | str | None],
    second: Sequence[float | str | None],
    *,
    weights: KappaWeights = "none",
    categories: Sequence[float | str] | None = None,
    rng: np.random.Generator | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Agreement | Undefined:
    """Cohen's κ over what both rated; with `rng` also its interval.

    The weight of a disagreement is how far apart the two ratings are, or, where `categories` are given in order, how
    many places: a level that nobody chose still lies between its neighbours.
    """
    require_statistic_choice(weights, get_args(KappaWeights), "weights")
    if len(require_array_sequence(first, "first")) != len(require_array_sequence(second, "second")):
        raise InputError(Fault(f"{len(first)} ratings beside {len(second)}", "rate the same outputs"))
    if weights != "none" and categories is None and any(isinstance(label, str) for label in (*first, *second)):
        raise InputError(Fault(f"words have no distance for {weights} weights", "give categories in their order"))
    resampling = Resampling(rng=rng, level=level, resamples=resamples)
    method = "Cohen's κ" if weights == "none" else f"Cohen's κ, {weights} weights"
    table = build_categorical_rating_matrix([first, second], categories)
    both = table[:, ~np.isnan(table).any(axis=0)]
    n = both.shape[1]
    if not n:
        return Undefined(
            why=next(iter(list_empty_rating_arrays(table)), "nothing was rated by both"), method=method, n=0
        )
    if (both == both[0, 0]).all():
        return Undefined(why="both gave the same rating throughout", method=method, n=n)
    cells, tallies = group_equal_units_of_matrix(both.T)
    return bootstrap_ratings_statistic(
        _prepare_cohen_kappa_statistic(cells, weights), tallies, resampling, method=method, raters=2
    )


def fleiss_kappa(
    raters: RatingLabels, *, rng: np.random.Generator | None = None, level: float = 0.95, resamples: int = RESAMPLES
) -> Agreement | Undefined:
    """Fleiss' κ: every unit rated by equally many raters, not necessarily the same; with `rng` also its interval."""
    resampling, method = Resampling(rng=rng, level=level, resamples=resamples), "Fleiss' κ"
    table = build_categorical_rating_matrix(raters)
    times = (~np.isnan(table)).sum(axis=0)
    rated = table[:, times > 0]
    n = rated.shape[1]
    each = set(times[times > 0].tolist())
    if len(each) > 1:
        why = f"units have {min(each)} to {max(each)} ratings and must have equally many: Krippendorff's α need not"
        return Undefined(why=why, method=method, n=n)
    if not each or each == {1}:
        return Undefined(why=_explain_undefined_krippendorff(table), method=method, n=0)
    values, counts = count_ratings_in_matrix(rated)
    if len(values) == 1:
        return Undefined(why="all ratings are the same", method=method, n=n)
    units, tallies = group_equal_units_of_matrix(counts)
    silent = list_empty_rating_arrays(table)
    return bootstrap_ratings_statistic(
        _prepare_fleiss_kappa(units), tallies, resampling, method=method, raters=len(table), skipped=silent
    )


def _explain_undefined_krippendorff(table: Floats) -> str:
    return "nothing was rated by two raters" if len(table) > 1 else "it takes two raters"


def _prepare_nominal_alpha(table: Floats) -> tuple[Statistic, Tallies]:
    counts, tallies = group_equal_units_of_matrix(count_ratings_in_matrix(table)[1])
    times = counts.sum(axis=1)
    apart = (times**2 - (counts**2).sum(axis=1)) / (times - 1)

    def alpha(weights: Floats) -> Floats:
        ratings = weights @ counts
        total = ratings.sum(axis=1)
        return _compute_krippendorff(weights @ apart, total**2 - (ratings**2).sum(axis=1), total)

    return alpha, tallies


def _prepare_ordinal_alpha(table: Floats) -> tuple[Statistic, Tallies]:
    """The distance of two ratings is that of their middle ranks, and ranks depend on the resample."""
    counts, tallies = group_equal_units_of_matrix(count_ratings_in_matrix(table)[1])
    times = counts.sum(axis=1)
    per_pair = 2 / (times - 1)
    turned = np.ascontiguousarray(counts.T)

    def alpha(weights: Floats) -> Floats:
        ratings = weights @ counts
        total = ratings.sum(axis=1)
        ranks = np.cumsum(ratings, axis=1) - ratings / 2 - total[:, None] / 2
        squares = ranks**2
        apart = (times * (squares @ turned) - (ranks @ turned) ** 2) * per_pair
        within, between = np.einsum("ru,ru->r", weights, apart), 2 * total * np.einsum("rc,rc->r", ratings, squares)
        return _compute_krippendorff(within, between, total)

    return alpha, tallies


def _prepare_interval_alpha(table: Floats) -> tuple[Statistic, Tallies]:
    rated = ~np.isnan(table)
    centred = np.where(rated, table - table[rated].mean(), 0.0)
    centred /= np.abs(centred).max()  # To size 1, so that neither tiny nor huge ratings are lost when squared.
    times, sums, squares = rated.sum(axis=0).astype(np.float64), centred.sum(axis=0), (centred**2).sum(axis=0)
    units, tallies = group_equal_units_of_matrix(np.stack([times, sums, squares], axis=1))
    apart = 2 * (units[:, 0] * units[:, 2] - units[:, 1] ** 2) / (units[:, 0] - 1)
    units = np.concatenate([units, apart[:, None]], axis=1)

    def alpha(weights: Floats) -> Floats:
        total, sums, squares, within = (weights @ units).T
        between = 2 * (total * squares - sums**2)
        between[between <= _CONSTANT * total * squares] = 0.0
        return _compute_krippendorff(within, between, total)

    return alpha, tallies


def _prepare_ratio_alpha(table: Floats) -> tuple[Statistic, Tallies]:
    values, counts = count_ratings_in_matrix(table)
    if len(values) > _MOST_RATIOS:
        raise InputError(Fault(f"{len(values):,} different ratings are too many for the ratio metric", "round them"))
    sums = np.add.outer(values, values)
    shares = np.divide(np.subtract.outer(values, values), sums, out=np.zeros_like(sums), where=sums > 0)
    distances = shares**2
    counts, tallies = group_equal_units_of_matrix(counts)
    apart = np.einsum("uc,uc->u", counts @ distances, counts) / (counts.sum(axis=1) - 1)

    def alpha(weights: Floats) -> Floats:
        ratings = weights @ counts
        between = np.einsum("rc,rc->r", ratings @ distances, ratings)
        return _compute_krippendorff(weights @ apart, between, ratings.sum(axis=1))

    return alpha, tallies


def _compute_krippendorff(within: Floats, between: Floats, ratings: Floats) -> Floats:
    """Return α of each resample, NaN where it holds one rating only."""
    value = np.full(len(between), np.nan)
    varied = between > 0
    value[varied] = 1 - (ratings[varied] - 1) * within[varied] / between[varied]
    return value


_PREPARE_ALPHA: dict[str, Callable[[Floats], tuple[Statistic, Tallies]]] = {
    "nominal": _prepare_nominal_alpha,
    "ordinal": _prepare_ordinal_alpha,
    "interval": _prepare_interval_alpha,
    "ratio": _prepare_ratio_alpha,
}


def _prepare_cohen_kappa_statistic(cells: Floats, weights: KappaWeights) -> Statistic:
    """Return κ as a function of the weights of `cells`, the pairs of ratings that occur."""
    values = np.unique(cells)
    if len(values) > _MOST_CATEGORIES:
        what = f"{len(values):,} different ratings are too many for κ"
        raise InputError(Fault(what, "round them, or take Krippendorff's α"))
    distances: Floats = np.abs(np.subtract.outer(values, values)) / (values[-1] - values[0])
    if weights != "linear":
        distances = distances**2 if weights == "quadratic" else (distances > 0).astype(np.float64)
    places = np.searchsorted(values, cells)
    ones = np.eye(len(values))
    first, second, apart = ones[places[:, 0]], ones[places[:, 1]], distances[places[:, 0], places[:, 1]]

    def kappa(drawn: Floats) -> Floats:
        by_chance = np.einsum("rc,rc->r", (drawn @ first) @ distances, drawn @ second) / drawn.sum(axis=1)
        return _compute_kappa(drawn @ apart, by_chance)

    return kappa


def _prepare_fleiss_kappa(units: Floats) -> Statistic:
    raters = units[0].sum()
    apart = 1 - ((units**2).sum(axis=1) - raters) / (raters * (raters - 1))

    def kappa(drawn: Floats) -> Floats:
        n = drawn.sum(axis=1)
        shares = (drawn @ units) / (n * raters)[:, None]
        return _compute_kappa(drawn @ apart, n * (1 - (shares**2).sum(axis=1)))

    return kappa


def _compute_kappa(apart: Floats, by_chance: Floats) -> Floats:
    """Return κ of each resample, NaN where it holds one category only."""
    value = np.full(len(apart), np.nan)
    varied = by_chance > 1e-12
    value[varied] = 1 - apart[varied] / by_chance[varied]
    return value
