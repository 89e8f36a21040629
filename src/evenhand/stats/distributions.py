"""Tails and quantiles of Student's t, F, the binomial and the noncentral t, without SciPy.

The first three come from the incomplete beta function, the last from one integral; the tests hold them against SciPy.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats.arrays import Floats, require_statistic_count, require_statistic_number

_MOST_TERMS = 20_000
_TINY = 1e-300
_NODES = 100
_FAR = 9.0  # Standard deviations beyond which nothing is left of a normal distribution.


def student_quantile(tail: float, df: int) -> float:
    """The t above which this share of Student's distribution lies, for a share of at most one half."""
    tail, df = require_statistic_number(tail, "tail"), require_statistic_count(df, "df")
    if not (0 < tail <= 0.5 and df >= 1):
        what = f"no quantile for a tail of {tail:g} with {df} degrees of freedom"
        raise InputError(Fault(what, "a tail above 0 and at most 0.5, and 1 degree at least"))
    return _solve_t_quantile(tail, df)


@lru_cache(1024)
def _solve_t_quantile(tail: float, df: int) -> float:
    low, high = 0.0, 1.0
    while compute_t_tail(high, df) > tail:
        low, high = high, high * 2
    while (middle := (low + high) / 2) not in (low, high) and high - low > 1e-14 * high:
        low, high = (middle, high) if compute_t_tail(middle, df) > tail else (low, middle)
    return (low + high) / 2


def compute_t_tail(t: float, df: int) -> float:
    """Return the chance of a value above t, for t ≥ 0."""
    square = t * t
    return 0.5 * _compute_incomplete_beta(df / 2, 0.5, df / (df + square), square / (df + square))


def compute_f_tail(f: float, above: float, below: float) -> float:
    """Return the chance of an F above f, with these degrees of freedom above and below the fraction bar."""
    ratio = above * f
    return _compute_incomplete_beta(below / 2, above / 2, below / (below + ratio), ratio / (below + ratio))


def compute_fair_coin_tail(heads: int, tosses: int) -> float:
    """Return the chance of at least this many heads."""
    return 1.0 if heads <= 0 else _compute_incomplete_beta(heads, tosses - heads + 1, 0.5, 0.5)


def compute_noncentral_t_tail(t: float, df: int, centre: float) -> float:
    """Return the chance of a t above this one, for t ≥ 0, where the mean lies `centre` standard errors above 0.

    A t is (z + centre) / s, with z normal and s the measured spread over the true one. The chance that z is large
    enough is integrated over s: below some s it is certain, above another impossible, and only between is it computed.
    """
    reach = _FAR / math.sqrt(2 * df)
    least, most = max(0.0, 1 - reach), 1 + reach
    sure = min(max((centre - _FAR) / t, least), most) if t else least
    never = min(max((centre + _FAR) / t, least), most) if t else most
    always, _ = _weigh_quadrature_nodes(least, sure, df)
    between, spreads = _weigh_quadrature_nodes(sure, never, df)
    enough = [math.erfc((t * spread - centre) / math.sqrt(2)) / 2 for spread in spreads.tolist()]
    return math.fsum(always) + math.fsum(between * np.array(enough))


def compute_binomial_at_most(seen: float, n: float, share: float) -> float:
    """Return the chance of so many or fewer among n that each come up with this share; counts may be fractions."""
    return 1.0 if seen >= n else _compute_incomplete_beta(n - seen, seen + 1, 1 - share, share)


def _compute_incomplete_beta(a: float, b: float, x: float, y: float) -> float:
    """Return the regularised incomplete beta function at x; y = 1 − x is given too, so that no digits are lost."""
    if x <= 0 or y <= 0:
        return 0.0 if x <= 0 else 1.0
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(y)
    # The fraction converges fast only below the mean of the distribution: above, the other tail is computed.
    if x < (a + 1) / (a + b + 2):
        return math.exp(front) * _evaluate_beta_fraction(a, b, x) / a
    return 1 - math.exp(front) * _evaluate_beta_fraction(b, a, y) / b


def _evaluate_beta_fraction(a: float, b: float, x: float) -> float:
    """Evaluate the continued fraction by Lentz's method (Numerical Recipes, 3rd ed., 6.4)."""
    c, d = 1.0, 1 / _keep_continued_fraction_off_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _keep_continued_fraction_off_zero(1 + term * d)
            c = _keep_continued_fraction_off_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


def _keep_continued_fraction_off_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def _weigh_quadrature_nodes(start: float, end: float, df: int) -> tuple[Floats, Floats]:
    """Return the probability mass at each node between two spreads, and the nodes (Gauss–Legendre)."""
    nodes, shares = _get_legendre_nodes()
    spreads = start + (end - start) * nodes
    factor = math.log(2) + df / 2 * (math.log(df / 2) - 1) - math.lgamma(df / 2)
    density = np.exp(factor + (df - 1) * np.log(spreads) - df / 2 * (spreads**2 - 1)) if end > start else 0 * nodes
    return density * shares * (end - start), spreads


@cache
def _get_legendre_nodes() -> tuple[Floats, Floats]:
    nodes, shares = np.polynomial.legendre.leggauss(_NODES)
    return (nodes + 1) / 2, shares / 2
