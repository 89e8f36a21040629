"""Equal enough, or not worse: whether an interval of the difference stays on the right side of a margin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats._arrays import Numbers, real
from evenhand.stats._difference import Difference, difference_of

_ON_IT = 1e-9  # An end this near to the margin, as a share of it, lies on it and not beyond.


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginTest:
    """Whether the interval keeps the margin; the level is the interval's: at 90 % each end errs in 1 of 20 cases."""

    holds: bool
    margin: float
    estimate: float
    low: float
    high: float
    level: float
    method: str
    n: int


def not_worse(differences: Numbers, *, by: float, rng: np.random.Generator, level: float = 0.90) -> MarginTest:
    """Non-inferiority: the treatment is not worse by `by` or more, as the whole interval lies above −`by`."""
    margin, found = _checked(by, "by"), difference_of(differences, rng=rng, level=level)
    return _told(found, margin, _beyond(found.low, -margin), f"not worse, {found.method}")


def equivalent(differences: Numbers, *, within: float, rng: np.random.Generator, level: float = 0.90) -> MarginTest:
    """Equivalence by two one-sided tests: the whole interval lies between −`within` and `within`."""
    margin, found = _checked(within, "within"), difference_of(differences, rng=rng, level=level)
    holds = _beyond(found.low, -margin) and _beyond(-found.high, -margin)
    return _told(found, margin, holds, f"two one-sided tests, {found.method}")


def _checked(margin: float, name: str) -> float:
    given = real(margin, name, "0.2 is a fifth of a point")
    if given <= 0:
        raise InputError(Fault(f"{name} must be above 0, got {given}", "0.2 is a fifth of a point"))
    return given


def _beyond(end: float, bound: float) -> bool:
    return end > bound * (1 - _ON_IT)


def _told(found: Difference, margin: float, holds: bool, method: str) -> MarginTest:
    return MarginTest(
        holds=holds,
        margin=margin,
        estimate=found.estimate,
        low=found.low,
        high=found.high,
        level=found.level,
        method=method,
        n=found.n,
    )
