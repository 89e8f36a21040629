"""Samples drawn with unequal chances: the chances, the draw, and how many others each drawn one stands for.

1. Horvitz, Thompson. A generalization of sampling without replacement from a finite universe. JASA 47, 1952.
2. Madow. On the theory of systematic sampling, II. 1949. Fixed size, each sample with exactly its chance.
3. Farquhar, Gal, Rainforth. On statistical bias in active learning. 2021. Batches drawn one after the other from what
   is left, weighted so that batches drawn at random give equal weights.
"""

from __future__ import annotations

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats.arrays import Floats, Numbers, UnitNumbers, require_finite_array


def spread_chances(priorities: Numbers, count: int) -> Floats:
    """Chances in proportion to priorities, 1 at most, that add up to `count`."""
    wanted = require_finite_array(priorities, "priorities")
    if not 0 <= count <= len(wanted) or (wanted <= 0).any():
        what = f"{count} cannot be drawn from {len(wanted)} with these priorities"
        raise InputError(Fault(what, "priorities above 0, and no more than there are"))
    chances, certain = np.ones(len(wanted)), np.zeros(len(wanted), dtype=np.bool_)
    while not certain.all():
        left = ~certain
        chances[left] = (count - certain.sum()) * wanted[left] / wanted[left].sum()
        if not (beyond := left & (chances >= 1)).any():
            break
        chances[beyond] = 1.0
        certain |= beyond
    return chances


def draw_by_chance(chances: Floats, rng: np.random.Generator) -> UnitNumbers:
    """The places that are drawn, each with its chance, as many as the chances add up to: in random order, each step."""
    order = rng.permutation(len(chances))
    ends = np.cumsum(chances[order])
    count = round(float(ends[-1])) if len(ends) else 0
    points = rng.random() + np.arange(count)
    # Rounding must not lose the last one.
    places = np.minimum(np.searchsorted(ends, points, side="right"), len(ends) - 1)
    return np.sort(order[places])


def weigh_drawn_samples(batches: UnitNumbers, chances: Floats, population: int) -> Floats:
    """How many of a population each labelled sample stands for; together they stand for all.

    Batches were drawn one after the other, by their numbers, each from what was left, every sample with its chance.
    Within a batch a sample counts by the inverse of its chance; chances need only be right in proportion, so that
    labels which nobody gave take nothing away. Where all chances are equal, so are the weights.
    """
    numbers, sizes = np.unique(batches, return_counts=True)
    labelled = int(sizes.sum())
    if labelled > population or (chances <= 0).any():
        raise InputError(Fault(f"{labelled} drawn from {population}", "chances above 0, and no more than there are"))
    weights = np.empty(labelled)
    left, later = population - labelled, 0.0
    for number, size in zip(numbers[::-1], sizes[::-1], strict=True):
        own = batches == number
        left += int(size)  # Those among which it was drawn.
        whole = (population / labelled - later) * size
        weights[own] = whole / chances[own] / (1 / chances[own]).sum() + later
        later += whole / left
    return weights
