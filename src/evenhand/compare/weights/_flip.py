"""The smallest change of weights that turns the first two around, solved exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evenhand.compare.weights._weighed import Floats

_TIED = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """Weights under which the first two are level, and how far they lie from the rubric's: Σ|new − old|, at most 2.

    `exact` says that no nearer ones exist; otherwise they are the nearest of those that were drawn.
    """

    distance: float
    weights: tuple[float, ...]
    exact: bool


def smallest_flip(weights: Floats, gaps: Floats, rest: float = 0.0) -> Flip | None:
    """The nearest weights at which `weights · gaps + rest` is 0; None where no weights bring it there.

    Weight that is moved from one part to another costs twice itself, and gains the difference of their gaps. So all of
    it goes to the part with the lowest gap, and comes from those with the highest first.
    """
    left = float(weights @ gaps) + rest
    lowest = int(np.argmin(gaps))
    moved = weights.astype(np.float64).copy()
    if gaps[lowest] + rest > _TIED * max(1.0, float(np.abs(gaps).max())):
        return None
    for part in np.argsort(-gaps, kind="stable"):
        gain = float(gaps[part] - gaps[lowest])
        if left <= 0 or gain <= 0:
            break
        taken = min(float(moved[part]), left / gain)
        moved[part] -= taken
        moved[lowest] += taken
        left -= taken * gain
    distance = math.fsum(np.abs(moved - weights))
    return Flip(distance=distance, weights=tuple(map(float, moved)), exact=True)


def flip_at(weights: Floats, gaps: Floats, part: int, rest: float = 0.0) -> float | None:
    """The weight of one part at which the first two are level, the others keeping their proportions."""
    others = 1 - float(weights[part])
    if others <= 0:
        return None
    elsewhere = (float(weights @ gaps) - float(weights[part] * gaps[part])) / others
    slope = elsewhere - float(gaps[part])
    if abs(slope) <= _TIED:
        return None
    found = (elsewhere + rest) / slope
    return found if 0 <= found <= 1 else None
