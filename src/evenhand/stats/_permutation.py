"""The sign-flip test alone, for any number of paired differences: no bell curve, and no interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats._arrays import Floats, Numbers, finite, generator
from evenhand.stats._signs import DRAWN, sign_flips

# With more different values than this all flips at once would fill the memory: eight signs are drawn at a time.
MOST_VALUES = 256
_ZERO = 1e-9  # Sums that cancel on paper leave this much at most, measured by the largest difference.


@dataclass(frozen=True, slots=True, kw_only=True)
class SignFlipTest:
    """The two-sided chance of a mean difference this far from 0 where each could as well have had the other sign."""

    p: float
    method: str
    n: int


def sign_flip_test(differences: Numbers, *, rng: np.random.Generator) -> SignFlipTest:
    """All sign flips where they can be counted, drawn ones where not; one difference per independent unit."""
    given = finite(differences, "differences")
    n = len(given)
    if n < 2:
        raise InputError(Fault(f"sign flips need at least 2 pairs, got {n}", "score more samples with both"))
    generator(rng)
    values, counts = np.unique(given, return_counts=True)
    if len(values) > MOST_VALUES:
        p = _drawn_p(np.sort(np.abs(given)), math.fsum(given), rng)
        return SignFlipTest(p=p, method=f"sign flips, {DRAWN:,} drawn", n=n)
    mirrored = -values[::-1] + 0.0, counts[::-1]
    # Of the two ways round always the same one is tested, so that swapping the sides changes nothing.
    turned = [mirrored[0].tolist(), mirrored[1].tolist()] < [values.tolist(), counts.tolist()]
    chosen, tallies = mirrored if turned else (values, counts)
    flips = sign_flips(chosen, tallies.astype(np.float64), rng)
    return SignFlipTest(p=flips.p_at_zero(), method=flips.method, n=n)


_SIGNS = 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1) - 1.0


def _drawn_p(sizes: Floats, observed: float, rng: np.random.Generator) -> float:
    """Twice the share of flips whose sum is at least as far out on one side; the observed signs are one of them."""
    scale = sizes.max()
    sums = np.zeros(DRAWN)
    for start in range(0, len(sizes), 8):
        piece = sizes[start : start + 8] / scale
        sums += (_SIGNS[:, : len(piece)] @ piece)[rng.integers(0, 256, size=DRAWN, dtype=np.uint8)]
    as_far = int((sums >= abs(observed) / scale - _ZERO).sum())
    return min(1.0, 2 * (as_far + 1) / (DRAWN + 1))
