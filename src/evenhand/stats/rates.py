"""Rates: how often outputs pass (Wilson) or win (Tango), what their place did to it, and who lost more (McNemar)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats.arrays import (
    ClusterLabels,
    ClusterMeans,
    CountedPer,
    Floats,
    Numbers,
    compute_cluster_means,
    compute_interval_alpha,
    number_clusters_of_array,
    require_finite_array,
    require_statistic_count,
)
from evenhand.stats.distributions import compute_binomial_at_most, compute_fair_coin_tail
from evenhand.stats.means import clustered_mean_and_error, mean_interval

_HALVINGS = 50
POSITION_LEVEL = 0.025


@dataclass(frozen=True, slots=True, kw_only=True)
class RateInterval:
    """A share and where it may lie."""

    estimate: float
    low: float
    high: float
    level: float
    method: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mcnemar:
    """Whether one side lost significantly more; `n` counts the samples that exactly one side lost."""

    p: float
    lost_by_treatment: int
    lost_by_control: int
    method: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WinRate:
    """How often one side is preferred, a tie counting half; `n` counts independent comparisons."""

    estimate: float
    standard_error: float
    low: float
    high: float
    level: float
    method: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BothOrders:
    """Pairs asked in both orders: who wins without help of the place, and how far the place decided.

    `preferences` holds one number per pair, in the order given. `first` is how often the output shown first was
    preferred: 0.5 where places do not matter. `followed_place` is the share of pairs whose winner changed with the
    order.
    """

    wins: WinRate
    preferences: tuple[float, ...]
    first: WinRate
    followed_place: WinRate
    method: str
    n: int


def wilson(passed: int, n: int, level: float = 0.95) -> RateInterval:
    """The share that passed, with an interval that stays between 0 and 1."""
    alpha = compute_interval_alpha(level)
    passed, n = require_statistic_count(passed, "passed"), require_statistic_count(n, "n")
    if n < 1 or not 0 <= passed <= n:
        raise InputError(Fault(f"{passed} of {n} is not a share", "0 ≤ passed ≤ n, and n at least 1"))
    z = NormalDist().inv_cdf(1 - alpha / 2)
    share, weight = passed / n, 1 + z * z / n
    middle = (share + z * z / (2 * n)) / weight
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / weight
    low = 0.0 if passed == 0 else middle - reach
    high = 1.0 if passed == n else middle + reach
    return RateInterval(estimate=share, low=low, high=high, level=level, method="Wilson", n=n)


def bound_share_from_above(seen: int, n: int, level: float = 0.95) -> float:
    """The largest share that is still in keeping with so few of n, one-sided (Clopper and Pearson 1934)."""
    alpha = compute_interval_alpha(level)
    seen, n = require_statistic_count(seen, "seen"), require_statistic_count(n, "n")
    if n < 1 or not 0 <= seen <= n:
        raise InputError(Fault(f"{seen} of {n} is not a share", "0 ≤ seen ≤ n, and n at least 1"))
    return _solve_share_from_above(seen, n, alpha) if seen < n else 1.0


@lru_cache(maxsize=4096)  # A report of few samples asks for the same few bounds dozens of times each.
def _solve_share_from_above(seen: float, n: float, alpha: float) -> float:
    low, high = seen / n, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if compute_binomial_at_most(seen, n, middle) > alpha else (low, middle)
    return high


def exact_share_interval(
    hits: Numbers,
    *,
    level: float = 0.95,
    clusters: ClusterLabels | None = None,
    weights: Numbers | None = None,
) -> RateInterval:
    """The share of hits (1, else 0) with an interval that covers at least as often as it says (Clopper, Pearson 1934).

    Rows of one cluster are not independent: they count as fewer, by the spread of the clusters' means, and as one per
    cluster where all rows are alike and nothing tells how they hang together (after Korn and Graubard 1998). Rows that
    were drawn with unequal chances count by `weights`, and as fewer, by how far these differ.
    """
    alpha = compute_interval_alpha(level)
    values = _require_rates_between_zero_and_one(hits, "hits")
    if weights is not None:
        return _bound_weighted_share(values, require_finite_array(weights, "weights"), alpha, clusters)
    if not len(values):
        raise InputError(Fault("a share of nothing is not known", "give at least one hit or miss"))
    units = compute_cluster_means(values, clusters, None, "sample")
    rows, seen, groups = len(values), float(values.sum()), len(units.means)
    share, independent = seen / rows, float(rows)
    if groups < rows:
        independent = float(groups)
        if 0 < share < 1 and groups > 1:
            error = clustered_mean_and_error(units)[1]
            independent = min(float(rows), max(1.0, share * (1 - share) / error**2)) if error else float(groups)
    low = 1 - _solve_share_from_above(independent * (1 - share), independent, alpha / 2) if seen else 0.0
    high = _solve_share_from_above(independent * share, independent, alpha / 2) if seen < rows else 1.0
    method = "Clopper–Pearson" if groups == rows else "Clopper–Pearson, clustered"
    return RateInterval(estimate=share, low=low, high=high, level=level, method=method, n=rows)


def _bound_weighted_share(
    values: Floats, weights: Floats, alpha: float, clusters: ClusterLabels | None
) -> RateInterval:
    """The same with weights: never more independent rows than weights that differ like these leave (Kish 1965)."""
    rows = len(values)
    groups = np.arange(rows) if clusters is None else number_clusters_of_array(clusters, rows, "clusters")
    sizes = np.bincount(groups, weights=weights).astype(np.float64)
    units = ClusterMeans(np.bincount(groups, weights=weights * values) / sizes, sizes)
    share = min(1.0, float(weights @ values) / float(weights.sum()))
    independent = float(sizes.sum() ** 2 / (sizes @ sizes))
    if 0 < share < 1 and len(sizes) > 1 and (error := clustered_mean_and_error(units)[1]):
        independent = min(float(weights.sum() ** 2 / (weights @ weights)), max(1.0, share * (1 - share) / error**2))
    low = 1 - _solve_share_from_above(independent * (1 - share), independent, alpha / 2) if values.any() else 0.0
    high = _solve_share_from_above(independent * share, independent, alpha / 2) if not values.all() else 1.0
    return RateInterval(estimate=share, low=low, high=high, level=1 - alpha, method="Clopper–Pearson, weighted", n=rows)


def mcnemar_worse(lost_by_treatment: int, lost_by_control: int) -> Mcnemar:
    """The chance that a treatment that is no worse would lose this many or more of the samples that one side lost."""
    lost_by_treatment = require_statistic_count(lost_by_treatment, "lost_by_treatment")
    lost_by_control = require_statistic_count(lost_by_control, "lost_by_control")
    if lost_by_treatment < 0 or lost_by_control < 0:
        raise InputError(Fault(f"{lost_by_treatment} and {lost_by_control} lost", "a count cannot be below 0"))
    n = lost_by_treatment + lost_by_control
    return Mcnemar(
        p=min(1.0, compute_fair_coin_tail(lost_by_treatment, n)),
        lost_by_treatment=lost_by_treatment,
        lost_by_control=lost_by_control,
        method="McNemar, exact, one-sided",
        n=n,
    )


def picks_by_position(pairs: int, followed: int, first: int) -> bool:
    """Whether a judge that was asked in both orders follows the position more than chance would have it.

    Of `pairs`, it named the same position both times in `followed`, and in `first` of these the first one. A judge that
    tosses a coin does so in half of them, and favours no position; each of the two is tested at 2.5%.
    """
    second = followed - first
    lopsided = 2 * compute_fair_coin_tail(max(first, second), followed) if followed else 1.0
    often = compute_fair_coin_tail(followed, pairs) if pairs else 1.0
    return min(lopsided, often) <= POSITION_LEVEL


def win_rate_of(
    preferences: Numbers,
    *,
    level: float = 0.95,
    clusters: ClusterLabels | None = None,
    samples: ClusterLabels | None = None,
    per: CountedPer = "sample",
) -> WinRate:
    """The win rate from preferences between 0 and 1: as counts where all are 0, ½ or 1, by Student's t otherwise."""
    compute_interval_alpha(level)
    given = _require_rates_between_zero_and_one(preferences, "preferences")
    cells = compute_cluster_means(given, clusters, samples, per)
    units, n = np.sort(cells.means), len(cells.means)
    if n and cells.equal_sizes and np.isin(units, (0.0, 0.5, 1.0)).all():
        return _win_rate_confidence_interval(float((units == 1).sum()), float((units == 0).sum()), n, level)
    if n and np.ptp(units) == 0:
        # Student's interval would have no width, as if three answers of 0.7 were certain. Nothing between 0 and 1
        # varies more than wins and losses of the same mean, so that their interval is wide enough.
        return _win_rate_confidence_interval(n * float(units[0]), n * float(1 - units[0]), n, level)
    found = mean_interval(given, level=level, clusters=clusters, samples=samples, per=per)
    return WinRate(
        estimate=found.estimate,
        standard_error=clustered_mean_and_error(cells)[1],
        low=max(0.0, found.low),
        high=min(1.0, found.high),
        level=level,
        method=found.method,
        n=n,
    )


def both_orders(
    shown_first: Numbers,
    shown_second: Numbers,
    *,
    level: float = 0.95,
    clusters: ClusterLabels | None = None,
    samples: ClusterLabels | None = None,
) -> BothOrders:
    """Join the preferences for one output when it was shown first and when it was shown second, pair by pair."""
    one, other = (
        _require_rates_between_zero_and_one(shown_first, "shown_first"),
        _require_rates_between_zero_and_one(shown_second, "shown_second"),
    )
    if len(one) != len(other):
        what = f"{len(one)} answers with the output shown first, {len(other)} with it second"
        raise InputError(Fault(what, "give the pairs that were answered in both orders, and count the others"))
    flipped = (one - 0.5) * (other - 0.5) < 0
    joined = np.where(flipped, 0.5, (one + other) / 2)
    wins = win_rate_of(joined, level=level, clusters=clusters, samples=samples)
    return BothOrders(
        wins=wins,
        preferences=tuple(joined.tolist()),
        first=win_rate_of((one + (1 - other)) / 2, level=level, clusters=clusters, samples=samples),
        followed_place=win_rate_of(flipped.astype(np.float64), level=level, clusters=clusters, samples=samples),
        method=f"mean of both orders, a changed winner is a tie; {wins.method}",
        n=wins.n,
    )


def _require_rates_between_zero_and_one(values: Numbers, what: str) -> Floats:
    array = require_finite_array(values, what)
    wrong = np.flatnonzero((array < 0) | (array > 1))
    if len(wrong):
        hint = "1 for the first, 0 for the second, 0.5 for a tie"
        raise InputError(Fault(f"{what}[{wrong[0]}] is {array[wrong[0]]:g}, not between 0 and 1", hint))
    return array


def _win_rate_confidence_interval(wins: float, losses: float, n: int, level: float) -> WinRate:
    if n < 2:
        raise InputError(Fault(f"a win rate needs at least 2 comparisons, got {n}", "compare more samples"))
    won, lost = wins / n, losses / n
    lead = won - lost
    z = NormalDist().inv_cdf(1 - compute_interval_alpha(level) / 2)
    # Of 0, ½ and 1 as values: the mean square less the squared mean, on n − 1.
    spread = max(0.0, (won + lost - lead * lead) / 4 * n / (n - 1))
    return WinRate(
        estimate=(1 + lead) / 2,
        standard_error=math.sqrt(spread / n),
        low=(1 - _score_interval_upper_end(lost, won, z * z / n)) / 2,
        high=(1 + _score_interval_upper_end(won, lost, z * z / n)) / 2,
        level=level,
        method="Wilson" if wins + losses == n else "Tango's score interval (Wilson's, with ties)",
        n=n,
    )


def _score_interval_upper_end(won: float, lost: float, z2n: float) -> float:
    """Return the largest difference of the two shares that the score test does not reject (Tango 1998).

    The standard error is the one that the difference under test implies, so that data without spread are not certain.
    """
    low, high = won - lost, 1.0
    while low < (middle := (low + high) / 2) < high:
        # The variance of one comparison, under the likeliest shares that differ by this lead.
        linear = (2 - won + lost) * middle - won - lost
        root = math.sqrt(max(0.0, linear**2 + 8 * lost * middle * (1 - middle)))
        likeliest = max(0.0, -middle, (root - linear) / 4)
        variance = max(0.0, 2 * likeliest + middle * (1 - middle))
        rejected = (won - lost - middle) ** 2 > z2n * variance
        low, high = (low, middle) if rejected else (middle, high)
    return high
