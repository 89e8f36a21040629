"""Shares and losses: Wilson's interval for a rate, McNemar's exact test for who lost more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from evenhand.errors import Fault, InputError
from evenhand.stats._arrays import checked_level
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


def wilson(passed: int, n: int, level: float = 0.95) -> Rate:
    """The share that passed, with an interval that stays between 0 and 1."""
    alpha = checked_level(level)
    if n < 1 or not 0 <= passed <= n:
        raise InputError(Fault(f"{passed} of {n} is not a share", "0 ≤ passed ≤ n, and n at least 1"))
    z = NormalDist().inv_cdf(1 - alpha / 2)
    share, weight = passed / n, 1 + z * z / n
    middle = (share + z * z / (2 * n)) / weight
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / weight
    low = 0.0 if passed == 0 else middle - reach
    high = 1.0 if passed == n else middle + reach
    return Rate(estimate=share, low=low, high=high, level=level, method="Wilson", n=n)


def mcnemar_worse(lost_by_treatment: int, lost_by_control: int) -> Mcnemar:
    """The chance that a treatment that is no worse would lose this many or more of the samples that one side lost."""
    if lost_by_treatment < 0 or lost_by_control < 0:
        raise InputError(Fault(f"{lost_by_treatment} and {lost_by_control} lost", "a count cannot be below 0"))
    n = lost_by_treatment + lost_by_control
    return Mcnemar(
        p=min(1.0, fair_coin_tail(lost_by_treatment, n)),
        lost_by_treatment=lost_by_treatment,
        lost_by_control=lost_by_control,
        method="McNemar, exact, one-sided",
        n=n,
    )
