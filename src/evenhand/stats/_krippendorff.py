"""Krippendorff's α: one less the disagreement within units over the disagreement that chance would give.

Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability". With n ratings in all, m of them in one unit, and a
distance δ² between two ratings,

    α = 1 − (n − 1) · Σ_units (Σ_pairs in the unit δ²) / (m − 1)  ÷  Σ_pairs of all ratings δ²

Both sums are sums over units, or come from the counts of ratings, which are: α of a resample needs weights only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats._agreement import Agreement, Undefined, agreement
from evenhand.stats._arrays import Floats, one_of
from evenhand.stats._ratings import Labels, coded, counted, distinct, silent
from evenhand.stats._resamples import RESAMPLES, Draws, Statistic, Tallies, resampled

Metric = Literal["nominal", "ordinal", "interval", "ratio"]

_CONSTANT = 1e-12  # Spread below this share of the largest rating is rounding, not spread.
_MOST_RATIOS = 4_096  # Different ratings whose distances from each other are held at once: 128 MB.


def krippendorff(
    raters: Labels,
    metric: Metric = "interval",
    *,
    rng: np.random.Generator | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Agreement | Undefined:
    """Krippendorff's α for any number of raters, None where one said nothing; with `rng` also its interval."""
    one_of(metric, get_args(Metric), "metric")
    draws = Draws(rng=rng, level=level, resamples=resamples)
    table, method = _checked(raters, metric), f"Krippendorff's α, {metric}"
    several = table[:, (~np.isnan(table)).sum(axis=0) > 1]
    n = several.shape[1]
    if not n:
        return Undefined(why=_why_nothing(table), method=method, n=0)
    smallest, largest = np.nanmin(several), np.nanmax(several)
    if largest - smallest <= _CONSTANT * max(abs(smallest), abs(largest)):
        return Undefined(why="all ratings are the same", method=method, n=n)
    alpha, tallies = _ALPHAS[metric](several)
    value = float(alpha(tallies[None, :].astype(np.float64))[0])
    ends = resampled(alpha, tallies, value, draws)
    return agreement(value, ends, method=method, n=n, raters=len(table), skipped=silent(table))


def _checked(raters: Labels, metric: Metric) -> Floats:
    table = coded(raters)
    if metric != "nominal" and any(isinstance(label, str) for row in raters for label in row):
        raise InputError(Fault("ratings in words have no distance", "metric='nominal', or numbers in their place"))
    if metric == "ratio" and (table < 0).any():
        raise InputError(Fault("a rating below 0 has no ratio to others", "metric='interval'"))
    return table


def _why_nothing(table: Floats) -> str:
    return "nothing was rated by two raters" if len(table) > 1 else "it takes two raters"


def _alpha(within: Floats, between: Floats, ratings: Floats) -> Floats:
    """NaN where a resample holds one rating only."""
    value = np.full(len(between), np.nan)
    varied = between > 0
    value[varied] = 1 - (ratings[varied] - 1) * within[varied] / between[varied]
    return value


def _nominal(table: Floats) -> tuple[Statistic, Tallies]:
    counts, tallies = distinct(counted(table)[1])
    often = counts.sum(axis=1)
    apart = (often**2 - (counts**2).sum(axis=1)) / (often - 1)

    def alpha(weights: Floats) -> Floats:
        ratings = weights @ counts
        total = ratings.sum(axis=1)
        return _alpha(weights @ apart, total**2 - (ratings**2).sum(axis=1), total)

    return alpha, tallies


def _ordinal(table: Floats) -> tuple[Statistic, Tallies]:
    """The distance of two ratings is that of their middle ranks, and ranks depend on the resample."""
    counts, tallies = distinct(counted(table)[1])
    often = counts.sum(axis=1)
    per_pair = 2 / (often - 1)
    turned = np.ascontiguousarray(counts.T)

    def alpha(weights: Floats) -> Floats:
        ratings = weights @ counts
        total = ratings.sum(axis=1)
        ranks = np.cumsum(ratings, axis=1) - ratings / 2 - total[:, None] / 2
        squares = ranks**2
        apart = (often * (squares @ turned) - (ranks @ turned) ** 2) * per_pair
        return _alpha(np.einsum("ru,ru->r", weights, apart), 2 * total * np.einsum("rc,rc->r", ratings, squares), total)

    return alpha, tallies


def _interval(table: Floats) -> tuple[Statistic, Tallies]:
    rated = ~np.isnan(table)
    centred = np.where(rated, table - table[rated].mean(), 0.0)
    centred /= np.abs(centred).max()  # To size 1, so that neither tiny nor huge ratings are lost when squared.
    often, sums, squares = rated.sum(axis=0).astype(np.float64), centred.sum(axis=0), (centred**2).sum(axis=0)
    units, tallies = distinct(np.stack([often, sums, squares], axis=1))
    apart = 2 * (units[:, 0] * units[:, 2] - units[:, 1] ** 2) / (units[:, 0] - 1)
    units = np.concatenate([units, apart[:, None]], axis=1)

    def alpha(weights: Floats) -> Floats:
        total, sums, squares, within = (weights @ units).T
        between = 2 * (total * squares - sums**2)
        between[between <= _CONSTANT * total * squares] = 0.0
        return _alpha(within, between, total)

    return alpha, tallies


def _ratio(table: Floats) -> tuple[Statistic, Tallies]:
    values, counts = counted(table)
    if len(values) > _MOST_RATIOS:
        raise InputError(Fault(f"{len(values):,} different ratings are too many for the ratio metric", "round them"))
    sums = np.add.outer(values, values)
    shares = np.divide(np.subtract.outer(values, values), sums, out=np.zeros_like(sums), where=sums > 0)
    distances = shares**2
    counts, tallies = distinct(counts)
    apart = np.einsum("uc,uc->u", counts @ distances, counts) / (counts.sum(axis=1) - 1)

    def alpha(weights: Floats) -> Floats:
        ratings = weights @ counts
        between = np.einsum("rc,rc->r", ratings @ distances, ratings)
        return _alpha(weights @ apart, between, ratings.sum(axis=1))

    return alpha, tallies


_ALPHAS: dict[str, Callable[[Floats], tuple[Statistic, Tallies]]] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
    "ratio": _ratio,
}
