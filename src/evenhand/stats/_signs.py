"""The sign-flip test and its inversion: what mean difference would make the observed one unremarkable.

Under "the mean difference is δ" each d − δ could as well have had the other sign. Flipping the signs of a subset makes
the sum at least as large as the observed one exactly when the mean of that subset is at most δ. So the p-value at every
δ is a count of subset means, and the ends of the interval are two of them (Hartigan 1969, "Using subsample values as
typical values"): one test gives both, and they cannot disagree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evenhand.stats._arrays import Floats

MOST_SUBSETS = 1 << 16  # Sixteen different differences, or many more with ties.
MOST_UNITS = 200  # Beyond, the weights of the subsets cost more than they are worth.
DRAWN = 9_999
_MOST_BITS = 2_000
_ZERO = 1e-9  # Sums that cancel on paper leave this much at most, measured by the largest difference.


@dataclass(frozen=True, slots=True)
class SignFlips:
    """Subset means in order, and twice the share of sign flips on either side of each."""

    means: Floats
    at_most: Floats
    at_least: Floats
    always: float
    method: str

    def p_at_zero(self) -> float:
        """The two-sided p-value of "no difference"."""
        at_most = int(np.searchsorted(self.means, 0.0, side="right"))
        at_least = int(np.searchsorted(self.means, 0.0, side="left"))
        low = self.at_most[at_most - 1] if at_most else self.always
        high = self.at_least[at_least] if at_least < len(self.means) else self.always
        return float(min(1.0, low, high))

    def bounds(self, alpha: float) -> tuple[float, float]:
        """All differences that the test does not reject; without bound where there are too few pairs to reject any."""
        if self.always >= alpha:
            return -math.inf, math.inf
        low = self.means[np.argmax(self.at_most >= alpha)]
        high = self.means[len(self.means) - 1 - np.argmax(self.at_least[::-1] >= alpha)]
        return float(low), float(high)


def sign_flips(values: Floats, counts: Floats, rng: np.random.Generator) -> SignFlips:
    """All subsets where they can be counted, drawn ones where not; `values` are distinct and in order."""
    tallies = [int(count) for count in counts]
    exact = sum(tallies) <= MOST_UNITS and math.prod(tally + 1 for tally in tallies) <= MOST_SUBSETS
    sums, sizes, mass = _every_subset(values, tallies) if exact else _drawn_subsets(values, counts, rng)
    method = "sign flips, exact" if exact else f"sign flips, {DRAWN:,} drawn"
    return _ordered(sums, sizes, mass, float(np.abs(values).max()), method)


def _every_subset(values: Floats, tallies: list[int]) -> tuple[Floats, Floats, Floats]:
    """Subsets that differ only in which of several equal differences they hold are one, with their share as mass."""
    sums, sizes, mass = np.zeros(1), np.zeros(1), np.ones(1)
    for value, tally in zip(values, tallies, strict=True):
        held = np.arange(tally + 1.0)
        ways = np.array([math.comb(tally, one) / 2**tally for one in range(tally + 1)])
        sums = np.add.outer(sums, value * held).ravel()
        sizes = np.add.outer(sizes, held).ravel()
        mass = np.multiply.outer(mass, ways).ravel()
    return sums, sizes, mass


def _drawn_subsets(values: Floats, counts: Floats, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    single = counts == 1
    bits = rng.integers(0, 256, size=(DRAWN, -(-int(single.sum()) // 8)), dtype=np.uint8)
    once = np.unpackbits(bits, axis=1, count=int(single.sum())).astype(np.float64)  # Ten times as fast as binomials.
    often = np.empty((DRAWN, int((~single).sum())))
    for place, count in enumerate(counts[~single]):
        often[:, place] = _heads(int(count), rng)
    sums = once @ values[single] + often @ values[~single]
    sizes = once.sum(axis=1) + often.sum(axis=1)
    # The observed signs are one of the possible draws: without them a p-value could be 0.
    return np.append(sums, 0.0), np.append(sizes, 0.0), np.ones(DRAWN + 1)


def _heads(tosses: int, rng: np.random.Generator) -> Floats:
    """How many of so many fair coins fall heads, drawn: counted bits are far quicker than binomials, while few."""
    if tosses > _MOST_BITS:
        return rng.binomial(tosses, 0.5, size=DRAWN).astype(np.float64)
    whole, rest = divmod(tosses, 64)
    words = rng.integers(0, 1 << 64, size=(DRAWN, whole + (rest > 0)), dtype=np.uint64)
    if rest:
        words[:, -1] >>= np.uint64(64 - rest)
    heads: Floats = np.bitwise_count(words).sum(axis=1, dtype=np.float64)
    return heads


def _ordered(sums: Floats, sizes: Floats, mass: Floats, scale: float, method: str) -> SignFlips:
    held = sizes > 0  # Flipping nothing leaves the observed sum, which is as large as itself at every δ.
    total, always = mass.sum(), mass[~held].sum()
    means = sums[held] / sizes[held]
    means[np.abs(means) <= _ZERO * scale] = 0.0
    order = np.argsort(means, kind="stable")
    means, mass = means[order], mass[held][order]
    return SignFlips(
        means=means,
        at_most=2 * (always + np.cumsum(mass)) / total,
        at_least=2 * (always + np.cumsum(mass[::-1])[::-1]) / total,
        always=float(2 * always / total),
        method=method,
    )
