"""Shares and losses: intervals for a rate and for a difference of two, McNemar's exact test for who lost more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from evenhand.errors import Fault, InputError
from evenhand.stats._arrays import checked_level, whole
from evenhand.stats._student import fair_coin_tail


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
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
class RateDifference:
    """The treatment's share less the control's on the same samples, and where it may lie."""

    estimate: float
    low: float
    high: float
    level: float
    method: str
    n: int


def wilson(passed: int, n: int, level: float = 0.95) -> Rate:
    """The share that passed, with an interval that stays between 0 and 1."""
    alpha = checked_level(level)
    passed, n = whole(passed, "passed"), whole(n, "n")
    if n < 1 or not 0 <= passed <= n:
        raise InputError(Fault(f"{passed} of {n} is not a share", "0 ≤ passed ≤ n, and n at least 1"))
    z = NormalDist().inv_cdf(1 - alpha / 2)
    share, weight = passed / n, 1 + z * z / n
    middle = (share + z * z / (2 * n)) / weight
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / weight
    low = 0.0 if passed == 0 else middle - reach
    high = 1.0 if passed == n else middle + reach
    return Rate(estimate=share, low=low, high=high, level=level, method="Wilson", n=n)


def rate_difference(only_treatment: int, only_control: int, n: int, level: float = 0.95) -> RateDifference:
    """How much more often the treatment passed, from the samples that it alone passed and those the control alone did.

    Tango's score interval (1998): it stays between −1 and 1, does not shrink to a point where nothing differs, and is
    Wilson's where every sample differs.
    """
    alpha = checked_level(level)
    only_treatment, only_control = whole(only_treatment, "only_treatment"), whole(only_control, "only_control")
    n = whole(n, "n")
    if n < 1 or min(only_treatment, only_control) < 0 or only_treatment + only_control > n:
        what = f"{only_treatment} and {only_control} of {n} are no shares"
        raise InputError(Fault(what, "0 or more each, together at most n, and n at least 1"))
    z = NormalDist().inv_cdf(1 - alpha / 2)
    return RateDifference(
        estimate=(only_treatment - only_control) / n,
        low=_tango_low(only_treatment, only_control, n, z),
        high=-_tango_low(only_control, only_treatment, n, z),
        level=level,
        method="Tango",
        n=n,
    )


def mcnemar(lost_by_treatment: int, lost_by_control: int) -> Mcnemar:
    """The chance that two equal sides would share the samples that one side lost this unevenly or more so."""
    return _mcnemar(lost_by_treatment, lost_by_control, 2)


def mcnemar_worse(lost_by_treatment: int, lost_by_control: int) -> Mcnemar:
    """The chance that a treatment that is no worse would lose this many or more of the samples that one side lost."""
    return _mcnemar(lost_by_treatment, lost_by_control, 1)


def _mcnemar(lost_by_treatment: int, lost_by_control: int, sides: int) -> Mcnemar:
    lost_by_treatment = whole(lost_by_treatment, "lost_by_treatment")
    lost_by_control = whole(lost_by_control, "lost_by_control")
    if lost_by_treatment < 0 or lost_by_control < 0:
        raise InputError(Fault(f"{lost_by_treatment} and {lost_by_control} lost", "a count cannot be below 0"))
    n = lost_by_treatment + lost_by_control
    heads = lost_by_treatment if sides == 1 else max(lost_by_treatment, lost_by_control)
    return Mcnemar(
        p=min(1.0, sides * fair_coin_tail(heads, n)),
        lost_by_treatment=lost_by_treatment,
        lost_by_control=lost_by_control,
        method=f"McNemar, exact, {'one' if sides == 1 else 'two'}-sided",
        n=n,
    )


def _tango_low(won: int, lost: int, n: int, z: float) -> float:
    """The lowest difference that the observed one is at most z standard errors above, by halving."""
    low, high = -1.0, (won - lost) / n
    if low == high:
        return low
    while (middle := (low + high) / 2) not in (low, high) and high - low > 1e-15:
        # The share lost that fits best where the difference is `middle`: the root of a quadratic.
        linear = (2 * n - won + lost) * middle - won - lost
        constant = lost * middle * (1 - middle)
        root = (math.sqrt(max(0.0, linear**2 + 8 * n * constant)) - linear) / (4 * n)
        error = math.sqrt(max(0.0, n * (2 * root + middle * (1 - middle))))
        low, high = (middle, high) if won - lost - n * middle > z * error else (low, middle)
    return high
