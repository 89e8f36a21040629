"""Student's t where there is an effect: which true effects fit an observed t."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from evenhand.stats._arrays import Floats

_POINTS = 100
_FAR = 9.0  # Standard deviations beyond which nothing is left of a bell curve.


def noncentral_tail(t: float, df: int, centre: float) -> float:
    """The chance of a t above this one, for t ≥ 0, where the mean lies `centre` standard errors above 0.

    A t is (z + centre) / s, with z normal and s the measured spread by the true one: for every s that may come up, the
    chance that z is large enough. Below a certain s it surely is, above another surely not: only between is it asked.
    """
    reach = _FAR / math.sqrt(2 * df)
    least, most = max(0.0, 1 - reach), 1 + reach
    sure = min(max((centre - _FAR) / t, least), most) if t else least
    never = min(max((centre + _FAR) / t, least), most) if t else most
    always, _ = _weighed(least, sure, df)
    between, spreads = _weighed(sure, never, df)
    enough = [math.erfc((t * spread - centre) / math.sqrt(2)) / 2 for spread in spreads.tolist()]
    return math.fsum(always) + math.fsum(between * np.array(enough))


def centre_of(t: float, df: int, tail: float) -> float:
    """The centre from which a t above this one, for t ≥ 0, has this chance."""
    low, high, step = t, t, 1.0
    while noncentral_tail(t, df, low) > tail:
        low, step = low - step, 2 * step
    while noncentral_tail(t, df, high) < tail:
        high, step = high + step, 2 * step
    while high - low > 1e-10 * max(1.0, abs(low)):
        middle = (low + high) / 2
        low, high = (middle, high) if noncentral_tail(t, df, middle) < tail else (low, middle)
    return (low + high) / 2


def _weighed(start: float, end: float, df: int) -> tuple[Floats, Floats]:
    """Spreads between two, each with its share of the chance that a spread comes up there (Gauss and Legendre)."""
    nodes, shares = _legendre()
    spreads = start + (end - start) * nodes
    factor = math.log(2) + df / 2 * (math.log(df / 2) - 1) - math.lgamma(df / 2)
    density = np.exp(factor + (df - 1) * np.log(spreads) - df / 2 * (spreads**2 - 1)) if end > start else 0 * nodes
    return density * shares * (end - start), spreads


@cache
def _legendre() -> tuple[Floats, Floats]:
    nodes, shares = np.polynomial.legendre.leggauss(_POINTS)
    return (nodes + 1) / 2, shares / 2
