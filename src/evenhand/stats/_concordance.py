"""Several raters over the same units: Kendall's W of their ranks, and the intraclass correlation of their ratings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from evenhand.stats._agreement import Agreement, Ends, Undefined, agreement
from evenhand.stats._arrays import Floats, checked_level, one_of
from evenhand.stats._ratings import Ratings, distinct, silent, table_of
from evenhand.stats._resamples import RESAMPLES, Draws, Statistic, resampled
from evenhand.stats._student import f_quantile

IccForm = Literal["1,1", "2,1", "3,1", "1,k", "2,k", "3,k"]

_CONSTANT = 1e-12  # Spread below this share of the largest rating is rounding, not spread.


def kendall_w(
    raters: Ratings,
    *,
    rng: np.random.Generator | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Agreement | Undefined:
    """Kendall's W, corrected for ties, over the units that all rated; with `rng` also its interval.

    A rater who gave one rating throughout ranks nothing: it is left out and named.
    """
    draws, method = Draws(rng=rng, level=level, resamples=resamples), "Kendall's W"
    table, skipped = _complete(table_of(raters))
    constant = np.array([_constant(row) for row in table], dtype=np.bool_)
    if isinstance(skipped, str) or (~constant).sum() < 2:
        why = skipped if isinstance(skipped, str) else "it takes two raters who did not rate all the same"
        return Undefined(why=why, method=method, n=table.shape[1])
    skipped += tuple(f"rater {place + 1} gave the same rating throughout" for place in np.flatnonzero(constant))
    units, tallies = distinct(table[~constant].T)
    w = _kendall_w(units.T)
    value = float(w(tallies[None, :].astype(np.float64))[0])
    ends = resampled(w, tallies, value, draws, least=0.0)
    return agreement(value, ends, method=method, n=table.shape[1], raters=int((~constant).sum()), skipped=skipped)


def icc(raters: Ratings, form: IccForm = "2,1", *, level: float = 0.95) -> Agreement | Undefined:
    """The intraclass correlation of Shrout and Fleiss (1979), with its F interval, over the units that all rated.

    The first part of the form is the model: 1 each unit has raters of its own, 2 the raters stand for others like
    them, 3 these raters and no others (harshness does not count). The second is what it speaks of: 1 a single rating,
    k the mean of all raters.
    """
    one_of(form, get_args(IccForm), "form")
    alpha, method = checked_level(level), f"ICC({form})"
    table, skipped = _complete(table_of(raters))
    n = table.shape[1]
    if isinstance(skipped, str):
        return Undefined(why=skipped, method=method, n=n)
    if _constant(table):
        return Undefined(why="all ratings are the same", method=method, n=n)
    squares = _mean_squares(table)
    value = _icc(squares, form)
    if value is None:
        return Undefined(why="the raters' means of the units do not differ", method=method, n=n)
    ends = _icc_ends(squares, form, alpha)
    return agreement(value, ends, method=method, n=n, raters=len(table), skipped=skipped)


def _complete(table: Floats) -> tuple[Floats, tuple[str, ...] | str]:
    """The units that all rated, with a word on those left out; or why they are not enough."""
    whole = table[:, ~np.isnan(table).any(axis=0)] if len(table) else table
    n, left_out = whole.shape[1], table.shape[1] - whole.shape[1]
    if len(table) < 2:
        return whole, "it takes two raters"
    if n < 2:
        return whole, next(iter(silent(table)), f"{n} units were rated by all: it takes 2")
    return whole, (f"{left_out} units that not every rater rated",) if left_out else ()


def _constant(values: Floats) -> bool:
    return bool(values.size == 0 or np.ptp(values) <= _CONSTANT * np.abs(values).max())


def _kendall_w(table: Floats) -> Statistic:
    """W as the spread of the summed ranks over the most it could be, with the ranks of each resample."""
    orders = [np.argsort(row, kind="stable") for row in table]
    starts = [np.flatnonzero(np.diff(row[order], prepend=-np.inf)) for row, order in zip(table, orders, strict=True)]

    def w(weights: Floats) -> Floats:
        n = weights.sum(axis=1)
        summed, most, ranking = np.zeros_like(weights), np.zeros(len(weights)), np.zeros(len(weights))
        for order, start in zip(orders, starts, strict=True):
            often = np.add.reduceat(weights[:, order], start, axis=1)
            ranks = np.cumsum(often, axis=1) - often / 2 - n[:, None] / 2
            spread = np.einsum("rc,rc,rc->r", often, ranks, ranks)
            summed[:, order] += np.repeat(ranks, np.diff(start, append=len(order)), axis=1)
            most += spread
            ranking += spread > 0
        spread = np.einsum("ru,ru,ru->r", weights, summed, summed)
        value: Floats = np.divide(spread, ranking * most, out=np.full(len(weights), np.nan), where=ranking > 1)
        return value

    return w


@dataclass(frozen=True, slots=True)
class _Squares:
    """Mean squares of the two-way layout: between units, between raters, left over, and within units."""

    units: float
    raters: float
    left: float
    within: float
    n: int
    k: int


def _mean_squares(table: Floats) -> _Squares:
    k, n = table.shape
    centred = table - table.mean()
    centred /= np.abs(centred).max()
    by_unit, by_rater = centred.mean(axis=0), centred.mean(axis=1)
    units = k * math.fsum(by_unit**2) / (n - 1)
    raters = n * math.fsum(by_rater**2) / (k - 1)
    within = math.fsum(((centred - by_unit) ** 2).ravel()) / (n * (k - 1))
    left = math.fsum(((centred - by_unit - by_rater[:, None]) ** 2).ravel()) / ((n - 1) * (k - 1))
    units, raters, left, within = (0.0 if one < _CONSTANT**2 else one for one in (units, raters, left, within))
    return _Squares(units, raters, left, within, n, k)


def _icc(found: _Squares, form: IccForm) -> float | None:
    """None where the units do not differ in a way that the form could take a share of."""
    noise = found.within if form[0] == "1" else found.left
    harshness = found.k * (found.raters - found.left) / found.n if form[0] == "2" else 0.0
    single = form.endswith("1")
    whole = found.units + ((found.k - 1) * noise + harshness if single else harshness / found.k)
    return (found.units - noise) / whole if whole > 0 else None


def _icc_ends(found: _Squares, form: IccForm, alpha: float) -> Ends:
    noise = found.within if form[0] == "1" else found.left
    if noise == 0:
        return Ends(no_interval="without any disagreement there is nothing to measure an interval by")
    low, high = _absolute(found, alpha) if form[0] == "2" else _by_ratio(found, form, alpha)
    if form.endswith("k"):
        low, high = (_of_means(end, found.k) for end in (low, high))
    if not (math.isfinite(low) and math.isfinite(high)):
        return Ends(no_interval="an interval of single ratings reaches too low to be turned into one of means")
    return Ends(low=low, high=high, level=round(1 - alpha, 12), interval="F")


def _by_ratio(found: _Squares, form: IccForm, alpha: float) -> tuple[float, float]:
    """Of a single rating, in models 1 and 3."""
    noise, apart = (
        (found.within, found.n * (found.k - 1)) if form[0] == "1" else (found.left, (found.n - 1) * (found.k - 1))
    )
    ratio = found.units / noise
    low = ratio / f_quantile(alpha / 2, found.n - 1, apart)
    high = ratio * f_quantile(alpha / 2, apart, found.n - 1)
    return (low - 1) / (low + found.k - 1), (high - 1) / (high + found.k - 1)


def _absolute(found: _Squares, alpha: float) -> tuple[float, float]:
    """Of a single rating in model 2, with degrees of freedom after Satterthwaite (Shrout and Fleiss 1979, p. 424)."""
    n, k = found.n, found.k
    share = _icc(found, "2,1") or 0.0
    harsh = found.raters / found.left
    rest = n * (1 + (k - 1) * share) - k * share
    degrees = (k - 1) * (n - 1) * (k * share * harsh + rest) ** 2
    degrees /= (n - 1) * k**2 * share**2 * harsh**2 + rest**2
    above, below = f_quantile(alpha / 2, n - 1, degrees), f_quantile(alpha / 2, degrees, n - 1)
    others = k * found.raters + (k * n - k - n) * found.left
    low = n * (found.units - above * found.left) / (above * others + n * found.units)
    high = n * (below * found.units - found.left) / (others + n * below * found.units)
    return low, high


def _of_means(single: float, k: int) -> float:
    """Spearman and Brown: what holds of one rating, for the mean of k."""
    whole = 1 + (k - 1) * single
    return k * single / whole if whole > 0 else -math.inf
