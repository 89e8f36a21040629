"""Whether more samples would still change the picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evenhand.stats._arrays import Floats, Numbers, finite, generator
from evenhand.stats._difference import difference_of
from evenhand.stats._power import LEAST_NEEDED

# Of each of the last three tenths. Held against all three together nothing would ever be saturated: an interval that
# only obeys the square root of n narrows by 16 % over them, and by 5 to 7 % over each.
MOST_CHANGED = 0.10
MOST_MOVED = 0.5
_TENTHS = range(1, 11)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """The estimate after the first `n` samples, and half the width of its interval; infinite where it has no bound."""

    n: int
    estimate: float
    half_width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Saturation:
    """What the last three tenths of the samples did to the interval.

    `changed` is the most that one of them changed its width, as a share of the width before; `moved` is how far all
    three moved the estimate, as a share of the half-width now; None where there was no bound. `curve` holds what was
    reached after each tenth of the samples.
    """

    saturated: bool
    low_confidence: bool
    changed: float | None
    moved: float | None
    curve: tuple[Reached, ...]
    method: str
    n: int


def saturation(differences: Numbers, *, rng: np.random.Generator, level: float = 0.95) -> Saturation:
    """Half-widths over distinct samples in a random order that the generator fixes, whatever order they come in."""
    order = generator(rng).permutation(np.sort(finite(differences, "differences")))
    curve = tuple(_reached(order[: max(2, math.ceil(tenths * len(order) / 10))], rng, level) for tenths in _TENTHS)
    last = curve[-4:]
    changed, moved = _changed([one.half_width for one in last]), _moved(last[0], last[-1])
    saturated = changed is not None and changed < MOST_CHANGED and moved is not None and moved < MOST_MOVED
    return Saturation(
        saturated=saturated,
        low_confidence=len(order) < LEAST_NEEDED or not saturated,
        changed=changed,
        moved=moved,
        curve=curve,
        method="half-widths after each tenth of the samples",
        n=len(order),
    )


def _reached(differences: Floats, rng: np.random.Generator, level: float) -> Reached:
    found = difference_of(differences, rng=rng, level=level)
    return Reached(n=found.n, estimate=found.estimate, half_width=(found.high - found.low) / 2)


def _changed(widths: list[float]) -> float | None:
    if math.isinf(widths[0]):
        return None
    return max(abs(1 - after / before) if before else float(after > 0) for before, after in pairwise(widths))


def _moved(before: Reached, after: Reached) -> float | None:
    if math.isinf(after.half_width):
        return None
    step = abs(after.estimate - before.estimate)
    return step / after.half_width if after.half_width else 0.0 if step == 0 else math.inf
