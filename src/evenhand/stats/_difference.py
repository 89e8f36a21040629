"""Paired differences: the interval and the p-value come from one test, so they always say the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats._arrays import Floats, Numbers, checked_level, finite, generator, on_grid, size_of
from evenhand.stats._groups import unit_means
from evenhand.stats._signs import sign_flips
from evenhand.stats._student import student_quantile, student_tail

# With more different values than this the sign flips of so many differences are a t distribution for all purposes.
MOST_VALUES = 256
# With five pairs even five equal signs come up in 1 of 16 comparisons: sign flips alone could not reject at 5 %.
SMALLEST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Treatment minus control. An end is infinite where there are too few pairs for the test to set a bound."""

    estimate: float
    low: float
    high: float
    level: float
    p: float
    sd: float
    method: str
    n: int
    looks: int = 0  # At how many looks it may have been stopped, where p and interval allow for that.

    def __post_init__(self) -> None:
        if not (self.low <= self.estimate <= self.high and 0 <= self.p <= 1 and self.sd >= 0 and self.n >= 2):
            raise InputError(Fault(f"not a difference: {self}", "low ≤ estimate ≤ high, 0 ≤ p ≤ 1, n ≥ 2"))

    @property
    def bounded(self) -> bool:
        """Whether the interval has two ends."""
        return math.isfinite(self.low) and math.isfinite(self.high)


def paired_difference(
    treatment: Numbers,
    control: Numbers,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    clusters: Sequence[int] | None = None,
) -> Difference:
    """How much higher the treatment scored than the control on the same samples; `n` counts clusters."""
    return difference_of(unit_differences(treatment, control, clusters), rng=rng, level=level)


def unit_differences(treatment: Numbers, control: Numbers, clusters: Sequence[int] | None = None) -> Floats:
    """Treatment minus control, one number per independent unit: per cluster its mean."""
    ours, theirs = finite(treatment, "treatment"), finite(control, "control")
    if len(ours) != len(theirs):
        what = f"{len(ours)} scores of the treatment for {len(theirs)} of the control"
        raise InputError(Fault(what, "give the samples that both have, in the same order"))
    if not len(ours):
        return ours
    scale = float(max(np.abs(ours).max(), np.abs(theirs).max()))
    return on_grid(unit_means(ours - theirs, clusters), scale)


def difference_of(differences: Numbers, *, rng: np.random.Generator, level: float = 0.95) -> Difference:
    """The same for differences that are already one per independent unit."""
    alpha = checked_level(level)
    given = finite(differences, "differences")
    size = size_of(given)
    pairs = _Pairs.of(given / size)
    low, high, p, method = _tested(pairs, alpha, generator(rng))
    low, high = min(low, pairs.mean), max(high, pairs.mean)  # Sums of binary fractions may end one digit beside it.
    estimate, low, high, sd = (size * one for one in (pairs.mean, low, high, pairs.sd))
    return Difference(estimate=estimate, low=low, high=high, level=level, p=p, sd=sd, method=method, n=pairs.n)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The different differences in order, how often each was seen, and what they come to."""

    values: Floats
    counts: Floats
    n: int
    mean: float
    sd: float

    @classmethod
    def of(cls, differences: Floats) -> _Pairs:
        n = len(differences)
        if n < 2:
            raise InputError(Fault(f"a difference needs at least 2 pairs, got {n}", "score more samples with both"))
        values, counts = np.unique(differences, return_counts=True)
        mean = math.fsum(values * counts) / n
        sd = math.sqrt(math.fsum(counts * (values - mean) ** 2) / (n - 1))
        return cls(values, counts.astype(np.float64), n, mean, sd)

    @property
    def untied(self) -> bool:
        """No two differences have the same size."""
        return len(np.unique(np.abs(self.values))) == self.n


_Ends = tuple[float, float, float, str]


def _tested(pairs: _Pairs, alpha: float, rng: np.random.Generator) -> _Ends:
    """Sign flips, Student's t, or, where differences are equal, what neither of the two rejects.

    Sign flips need no bell curve, but take zeros for certainty: where most differences are 0, as at the top of a scale,
    their interval is too short. Student's is not, but on a handful of equal differences it rejects too soon.
    """
    if len(pairs.values) > MOST_VALUES or (pairs.n == SMALLEST and pairs.untied):
        return _by_t(pairs, alpha)
    by_signs = _by_signs(pairs.values, pairs.counts, alpha, rng)
    return by_signs if pairs.sd == 0 or pairs.untied else _by_both(by_signs, _by_t(pairs, alpha))


def _by_both(signs: _Ends, t: _Ends) -> _Ends:
    """Rejected is what both reject: of two tests that hold their level this one does."""
    return min(signs[0], t[0]), max(signs[1], t[1]), max(signs[2], t[2]), f"{signs[3]}, and t"


def _by_signs(values: Floats, counts: Floats, alpha: float, rng: np.random.Generator) -> _Ends:
    mirrored = -values[::-1] + 0.0, counts[::-1]
    # Of the two ways round always the same one is tested, so that swapping the sides swaps the interval and no more.
    turned = [mirrored[0].tolist(), mirrored[1].tolist()] < [values.tolist(), counts.tolist()]
    flips = sign_flips(*(mirrored if turned else (values, counts)), rng)
    low, high = flips.bounds(alpha)
    return (-high, -low, flips.p_at_zero(), flips.method) if turned else (low, high, flips.p_at_zero(), flips.method)


def _by_t(pairs: _Pairs, alpha: float) -> _Ends:
    error, df = pairs.sd / math.sqrt(pairs.n), pairs.n - 1
    reach = student_quantile(alpha / 2, df) * error
    p = min(1.0, 2 * student_tail(abs(pairs.mean) / error, df))
    return pairs.mean - reach, pairs.mean + reach, p, "paired t"
