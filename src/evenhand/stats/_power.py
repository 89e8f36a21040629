"""How many samples it takes to see a difference that matters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from evenhand.errors import Fault, InputError

LEAST_NEEDED = 20
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
    if not (math.isfinite(sd) and sd >= 0):
        raise InputError(Fault(f"a standard deviation cannot be {sd}", "0 or more"))
    if not (math.isfinite(smallest_effect) and smallest_effect > 0):
        raise InputError(Fault(f"smallest_effect must be above 0, got {smallest_effect}", "0.5 is half a point"))
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
