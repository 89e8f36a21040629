"""Win rates: how often one side is preferred, with what the place in the prompt did to it taken out and told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats._arrays import Numbers, checked_level, whole
from evenhand.stats._games import preferences_of
from evenhand.stats._groups import unit_means
from evenhand.stats._mean import mean_interval


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


def win_rate(wins: int, losses: int, ties: int = 0, *, level: float = 0.95) -> WinRate:
    """The win rate from counts, with Wilson's interval, or Tango's where there are ties."""
    checked_level(level)
    wins, losses, ties = whole(wins, "wins"), whole(losses, "losses"), whole(ties, "ties")
    if min(wins, losses, ties) < 0:
        raise InputError(Fault(f"{wins} wins, {losses} losses, {ties} ties", "a count cannot be below 0"))
    return _counted(float(wins), float(losses), wins + losses + ties, level)


def win_rate_of(preferences: Numbers, *, level: float = 0.95, clusters: Sequence[int] | None = None) -> WinRate:
    """The win rate from preferences between 0 and 1: as counts where all are 0, ½ or 1, by Student's t otherwise."""
    checked_level(level)
    units = np.sort(unit_means(preferences_of(preferences, "preferences"), clusters))
    n = len(units)
    if n and np.isin(units, (0.0, 0.5, 1.0)).all():
        return _counted(float((units == 1).sum()), float((units == 0).sum()), n, level)
    if n and np.ptp(units) == 0:
        # Student's interval would have no width, as if three answers of 0.7 were certain. Nothing between 0 and 1
        # varies more than wins and losses of the same mean, so that their interval is wide enough.
        return _counted(n * float(units[0]), n * float(1 - units[0]), n, level)
    found = mean_interval(units, level=level)
    return WinRate(
        estimate=found.estimate,
        standard_error=float(units.std(ddof=1)) / math.sqrt(n),
        low=max(0.0, found.low),
        high=min(1.0, found.high),
        level=level,
        method=found.method,
        n=n,
    )


def both_orders(
    shown_first: Numbers, shown_second: Numbers, *, level: float = 0.95, clusters: Sequence[int] | None = None
) -> BothOrders:
    """Join the preferences for one output when it was shown first and when it was shown second, pair by pair."""
    one, other = preferences_of(shown_first, "shown_first"), preferences_of(shown_second, "shown_second")
    if len(one) != len(other):
        what = f"{len(one)} answers with the output shown first, {len(other)} with it second"
        raise InputError(Fault(what, "give the pairs that were answered in both orders, and count the others"))
    flipped = (one - 0.5) * (other - 0.5) < 0
    joined = np.where(flipped, 0.5, (one + other) / 2)
    wins = win_rate_of(joined, level=level, clusters=clusters)
    return BothOrders(
        wins=wins,
        preferences=tuple(joined.tolist()),
        first=win_rate_of((one + (1 - other)) / 2, level=level, clusters=clusters),
        followed_place=win_rate_of(flipped.astype(np.float64), level=level, clusters=clusters),
        method=f"mean of both orders, a changed winner is a tie; {wins.method}",
        n=wins.n,
    )


def _counted(wins: float, losses: float, n: int, level: float) -> WinRate:
    if n < 2:
        raise InputError(Fault(f"a win rate needs at least 2 comparisons, got {n}", "compare more samples"))
    won, lost = wins / n, losses / n
    ahead = won - lost
    z = NormalDist().inv_cdf(1 - checked_level(level) / 2)
    # Of 0, ½ and 1 as values: the mean square less the squared mean, on n − 1.
    spread = max(0.0, (won + lost - ahead * ahead) / 4 * n / (n - 1))
    return WinRate(
        estimate=(1 + ahead) / 2,
        standard_error=math.sqrt(spread / n),
        low=(1 - _most_ahead(lost, won, z * z / n)) / 2,
        high=(1 + _most_ahead(won, lost, z * z / n)) / 2,
        level=level,
        method="Wilson" if wins + losses == n else "Tango's score interval (Wilson's, with ties)",
        n=n,
    )


def _most_ahead(won: float, lost: float, z2n: float) -> float:
    """The largest difference of the two shares that the score test does not reject (Tango 1998).

    The standard error is the one that the difference under test implies, so that data without spread are not certain.
    """
    low, high = won - lost, 1.0
    while low < (middle := (low + high) / 2) < high:
        rejected = (won - lost - middle) ** 2 > z2n * _variance(won, lost, middle)
        low, high = (low, middle) if rejected else (middle, high)
    return high


def _variance(won: float, lost: float, ahead: float) -> float:
    """Of one comparison, where the shares are the likeliest that differ by `ahead`."""
    linear = (2 - won + lost) * ahead - won - lost
    root = math.sqrt(max(0.0, linear**2 + 8 * lost * ahead * (1 - ahead)))
    likeliest = max(0.0, -ahead, (root - linear) / 4)
    return max(0.0, 2 * likeliest + ahead * (1 - ahead))
