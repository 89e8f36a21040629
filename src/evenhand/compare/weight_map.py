"""A map of two weights: which variant wins where, the other weights sharing the rest as they do now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evenhand.compare.weight_changes import compared_means_under_weights
from evenhand.compare.weighted_scores import ComparedWeightedScores

MAP_CELLS = 24  # Along a side.


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightMap:
    """Who wins under which weights of two criteria; the others share the rest as they do now.

    `cells` are places (column, row) with the winner's number.
    """

    across: str
    up: str
    variants: tuple[str, ...]
    side: int
    cells: tuple[tuple[int, int, int], ...]
    shares: Mapping[str, float]  # Of the map, by winner.
    others: tuple[str, ...]


def map_variant_wins(weighed: ComparedWeightedScores, across: str = "", up: str = "") -> WeightMap:
    """Over which weights of two criteria, the heaviest unless they are named, each variant wins."""
    heaviest = sorted(range(len(weighed.parts)), key=lambda at: -weighed.weights[at])
    x = weighed.parts.index(across) if across in weighed.parts else heaviest[0]
    y = weighed.parts.index(up) if up in weighed.parts and weighed.parts.index(up) != x else -1
    y = y if y >= 0 else next(at for at in heaviest if at != x)
    rest = [at for at in range(len(weighed.parts)) if at not in (x, y)]
    places = [(i, j) for i in range(MAP_CELLS) for j in range(MAP_CELLS) if i + j < MAP_CELLS]
    weights = np.zeros((len(places), len(weighed.parts)))
    middle = (np.array(places) + 0.5) / MAP_CELLS
    weights[:, x], weights[:, y] = middle[:, 0], middle[:, 1]
    left = np.maximum(0.0, 1 - middle.sum(axis=1))
    if rest:
        own = weighed.weights[rest]
        weights[:, rest] = left[:, None] * own / own.sum()
    weights /= weights.sum(axis=1, keepdims=True)
    winners = compared_means_under_weights(weighed, weights).argmax(axis=1)
    counts = np.bincount(winners, minlength=len(weighed.variants)) / len(winners)
    return WeightMap(
        across=weighed.parts[x],
        up=weighed.parts[y],
        variants=weighed.variants,
        side=MAP_CELLS,
        cells=tuple((i, j, int(winner)) for (i, j), winner in zip(places, winners, strict=True)),
        shares={name: float(counts[at]) for at, name in enumerate(weighed.variants)},
        others=tuple(weighed.parts[at] for at in rest),
    )
