"""How large a paired difference is, whatever the scale: in standard deviations, and in samples won."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats._agreement import Undefined
from evenhand.stats._arrays import Numbers, checked_level, finite
from evenhand.stats._noncentral import centre_of
from evenhand.stats._rates import rate_difference

_CONSTANT = 1e-12  # Spread below this share of the largest difference is rounding, not spread.


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectSize:
    """A size without a unit, and where it may lie."""

    estimate: float
    low: float
    high: float
    level: float
    method: str
    n: int


def hedges_g(differences: Numbers, *, level: float = 0.95) -> EffectSize | Undefined:
    """Cohen's d_z, the mean difference in its own standard deviations, less what it overstates on few samples.

    The interval holds the true effects that fit the observed t (noncentral t): it leaves out 0 exactly when Student's
    paired test is significant. Undefined where all differences are equal.
    """
    alpha, method = checked_level(level), "Cohen's d_z, Hedges' correction"
    given = finite(differences, "differences")
    n = len(given)
    if n < 3:
        raise InputError(Fault(f"an effect size needs at least 3 pairs, got {n}", "score more samples with both"))
    largest = float(np.abs(given).max())
    if largest == 0 or np.ptp(given / largest) <= _CONSTANT:
        return Undefined(why=f"all {n} differences are equal: there is no spread to measure by", method=method, n=n)
    scaled = given / largest  # So that neither tiny nor huge scores get lost when squared.
    mean = math.fsum(scaled) / n
    t = mean / math.sqrt(math.fsum((scaled - mean) ** 2) / (n - 1) / n)
    estimate = _hedges(n - 1) * t / math.sqrt(n)
    side = math.copysign(1.0, t)
    ends = [side * centre_of(abs(t), n - 1, tail) / math.sqrt(n) for tail in (alpha / 2, 1 - alpha / 2)]
    low, high = min(*ends, estimate), max(*ends, estimate)  # At a level of a few per cent the ends may miss it.
    return EffectSize(estimate=estimate, low=low, high=high, level=level, method=method, n=n)


def cliffs_delta(differences: Numbers, *, level: float = 0.95) -> EffectSize:
    """The share of samples the treatment won less the share it lost: −1 to 1, with Tango's score interval."""
    given = finite(differences, "differences")
    n = len(given)
    if n < 2:
        raise InputError(Fault(f"an effect size needs at least 2 pairs, got {n}", "score more samples with both"))
    found = rate_difference(int((given > 0).sum()), int((given < 0).sum()), n, level=level)
    return EffectSize(
        estimate=found.estimate, low=found.low, high=found.high, level=level, method="Cliff's δ, paired, Tango", n=n
    )


def superiority(differences: Numbers, *, level: float = 0.95) -> EffectSize:
    """The chance that the treatment scores higher on a sample, a tie counting half: Cliff's δ on a scale of 0 to 1."""
    found = cliffs_delta(differences, level=level)
    low, estimate, high = ((1 + one) / 2 for one in (found.low, found.estimate, found.high))
    method = "probability of superiority, paired, Tango"
    return EffectSize(estimate=estimate, low=low, high=high, level=level, method=method, n=found.n)


def _hedges(df: int) -> float:
    """Hedges (1981): a d from so few degrees of freedom overstates the effect by one over this."""
    return math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)
