"""Student's t, F and the binomial tail, all from the incomplete beta function."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from evenhand.errors import Fault, InputError
from evenhand.stats._arrays import real, whole

_MOST_TERMS = 20_000
_TINY = 1e-300


def student_tail(t: float, df: int) -> float:
    """The chance of a value above t, for t ≥ 0."""
    square = t * t
    return 0.5 * _beta(df / 2, 0.5, df / (df + square), square / (df + square))


def student_quantile(tail: float, df: int) -> float:
    """The t above which this share of the distribution lies, for a share of at most one half."""
    tail, df = real(tail, "tail"), whole(df, "df")
    if not (0 < tail <= 0.5 and df >= 1):
        what = f"no quantile for a tail of {tail:g} with {df} degrees of freedom"
        raise InputError(Fault(what, "a tail above 0 and at most 0.5, and 1 degree at least"))
    return _student_quantile(tail, df)


@lru_cache(1024)
def _student_quantile(tail: float, df: int) -> float:
    return _quantile(lambda t: student_tail(t, df), tail)


def f_tail(f: float, above: float, below: float) -> float:
    """The chance of a ratio of variances above f; the degrees of freedom of its upper and its lower part."""
    ratio = above * f
    return _beta(below / 2, above / 2, below / (below + ratio), ratio / (below + ratio))


def f_quantile(tail: float, above: float, below: float) -> float:
    """The ratio of variances above which this share of the distribution lies."""
    return _quantile(lambda f: f_tail(f, above, below), tail)


def fair_coin_tail(heads: int, tosses: int) -> float:
    """The chance of at least this many heads."""
    return 1.0 if heads <= 0 else _beta(heads, tosses - heads + 1, 0.5, 0.5)


def _quantile(tail_of: Callable[[float], float], tail: float) -> float:
    """Where a tail that falls from 0 on reaches this share, by halving."""
    low, high = 0.0, 1.0
    while tail_of(high) > tail:
        low, high = high, high * 2
    while (middle := (low + high) / 2) not in (low, high) and high - low > 1e-14 * high:
        low, high = (middle, high) if tail_of(middle) > tail else (low, middle)
    return (low + high) / 2


def _beta(a: float, b: float, x: float, y: float) -> float:
    """The regularised incomplete beta function at x, with y = 1 − x given apart so that no digits are lost."""
    if x <= 0 or y <= 0:
        return 0.0 if x <= 0 else 1.0
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(y)
    # The fraction converges fast below the mean of the distribution only: above, the other tail is computed.
    if x < (a + 1) / (a + b + 2):
        return math.exp(front) * _fraction(a, b, x) / a
    return 1 - math.exp(front) * _fraction(b, a, y) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Lentz's evaluation of the continued fraction (Numerical Recipes, 3rd ed., 6.4)."""
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _not_zero(1 + term * d)
            c = _not_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
