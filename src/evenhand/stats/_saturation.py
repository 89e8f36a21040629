"""Whether more samples would still change the picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evenhand.stats._arrays import Numbers, finite
from evenhand.stats._difference import Difference, difference_of
from evenhand.stats._power import LEAST_NEEDED

# Of each of the last three tenths. Held against all three together nothing would ever be saturated: an interval that
# only obeys the square root of n narrows by 16 % over them, and by 5 to 7 % over each.
MOST_NARROWED = 0.10
MOST_MOVED = 0.5
_TENTHS = (5, 7, 8, 9, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Saturation:
    """What the last three tenths of the samples did to the interval.

    `narrowed` is the most that one of them narrowed it, as a share of the half-width before; `moved` is how far all
    three moved the estimate, as a share of the half-width now; None where there was no bound. `curve` holds 5, 7, 8, 9
    and 10 tenths of the samples, each with its half-width.
    """

    saturated: bool
    low_confidence: bool
    narrowed: float | None
    moved: float | None
    curve: tuple[tuple[int, float], ...]
    method: str
    n: int


def saturation(differences: Numbers, *, rng: np.random.Generator, level: float = 0.95) -> Saturation:
    """Half-widths over distinct samples in a random order that the generator fixes, whatever order they come in."""
    order = rng.permutation(np.sort(finite(differences, "differences")))
    sizes = [max(2, math.ceil(tenths * len(order) / 10)) for tenths in _TENTHS]
    reached = [difference_of(order[:size], rng=rng, level=level) for size in sizes]
    widths = [(one.high - one.low) / 2 for one in reached]
    narrowed, moved = _narrowed(widths[1:]), _moved(reached[1], reached[-1])
    saturated = narrowed is not None and narrowed < MOST_NARROWED and moved is not None and moved < MOST_MOVED
    return Saturation(
        saturated=saturated,
        low_confidence=len(order) < LEAST_NEEDED or not saturated,
        narrowed=narrowed,
        moved=moved,
        curve=tuple(zip(sizes, widths, strict=True)),
        method=f"half-widths of {reached[-1].method}",
        n=len(order),
    )


def _narrowed(widths: list[float]) -> float | None:
    if math.isinf(widths[0]):
        return None
    return max(1 - after / before if before else 0.0 for before, after in pairwise(widths))


def _moved(before: Difference, after: Difference) -> float | None:
    width = (after.high - after.low) / 2
    if math.isinf(width):
        return None
    step = abs(after.estimate - before.estimate)
    return step / width if width else 0.0 if step == 0 else math.inf
