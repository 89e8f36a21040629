"""How many samples it takes to see a difference that matters, and how likely so many would see it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats._arrays import LARGEST, Numbers, checked_level, finite, real, whole
from evenhand.stats._noncentral import noncentral_tail
from evenhand.stats._student import student_quantile

LEAST_NEEDED = 20
MOST_NEEDED = 10_000_000
_LEVEL, _POWER = 0.95, 0.80


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerBand:
    """The number of samples at which a difference of `smallest_effect` is seen four times out of five."""

    needed: int
    sd: float
    smallest_effect: float
    power: float
    method: str


def power_band(sd: float, smallest_effect: float = 0.5) -> PowerBand:
    """Samples needed at this standard deviation of the differences; never less than 20."""
    sd, smallest_effect = _spread(sd), real(smallest_effect, "smallest_effect", "0.5 is half a point")
    if smallest_effect <= 0:
        raise InputError(Fault(f"smallest_effect must be above 0, got {smallest_effect}", "0.5 is half a point"))
    if sd / smallest_effect > LARGEST:
        raise InputError(Fault(f"no number of samples shows {smallest_effect:g} beside a spread of {sd:g}"))
    alarm, seen = NormalDist().inv_cdf((1 + _LEVEL) / 2), NormalDist().inv_cdf(_POWER)
    # Guenther (1981): half a squared quantile more makes the normal approximation right for Student's t.
    wanted = math.ceil(((alarm + seen) * sd / smallest_effect) ** 2 + alarm**2 / 2)
    return PowerBand(
        needed=max(LEAST_NEEDED, wanted),
        sd=sd,
        smallest_effect=smallest_effect,
        power=_POWER,
        method="paired t, two-sided 5 %",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """The chance that `n` pairs show a true difference of `effect` to be significant."""

    power: float
    effect: float
    sd: float
    level: float
    method: str
    n: int


def power_of(n: int, effect: float, sd: float, *, step: float = 0.0, level: float = 0.95) -> Power:
    """The chance that the paired test sees a difference.

    `step` is that of the differences where they are tied (see `step_of`). Sums of tied differences move in strides, and
    a test that holds its level on them has to wait for the next one: as if the effect were one step of one pair less.
    """
    alpha = checked_level(level)
    n = whole(n, "n")
    if n < 2:
        raise InputError(Fault(f"a difference needs at least 2 pairs, got {n}", "give the number of samples"))
    effect, step, sd = real(effect, "effect"), real(step, "step"), _spread(sd)
    if step < 0:
        raise InputError(Fault(f"differences have no steps of {step}", "0 or more"))
    seen = max(0.0, abs(effect) - step / n)
    if sd == 0:
        power = float(seen > 0)
    else:
        away, critical = math.sqrt(n) * seen / sd, student_quantile(alpha / 2, n - 1)
        power = noncentral_tail(critical, n - 1, away) + noncentral_tail(critical, n - 1, -away)
    method = "noncentral t" + (", less one step for ties" if step else "")
    return Power(power=min(1.0, power), effect=effect, sd=sd, level=level, method=method, n=n)


def needed_for(
    effect: float, sd: float, *, power: float = _POWER, step: float = 0.0, level: float = 0.95
) -> int | None:
    """The least number of pairs that sees a difference with this chance; None where ten million would not."""
    if not 0 < real(power, "power") < 1:
        raise InputError(Fault(f"power must be between 0 and 1, got {power}", "four times out of five is 0.8"))

    def enough(n: int) -> bool:
        return power_of(n, effect, sd, step=step, level=level).power >= power

    low, high = 2, 4
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST_NEEDED:
            return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low


def step_of(differences: Numbers) -> float:
    """The smallest gap between sizes of differences, where some are tied; 0 where none are."""
    sizes, counts = np.unique(np.abs(finite(differences, "differences")), return_counts=True)
    if not len(sizes) or counts.max() == 1:
        return 0.0
    gaps = np.diff(sizes, prepend=0.0)
    return float(min(gaps[gaps > 0], default=0.0))


def _spread(sd: float) -> float:
    given = real(sd, "sd", "0 or more")
    if given < 0:
        raise InputError(Fault(f"a standard deviation cannot be {given}", "0 or more"))
    return given
