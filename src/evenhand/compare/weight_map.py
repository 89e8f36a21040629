"""Over which weights of two criteria each variant has the highest mean: a triangle of cells, each a rescore."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evenhand.compare.weighted_scores import ComparedWeightedScores, Floats, compared_means_under_weights

MOST_CELLS_ALONG = 24
FEWEST_CELLS_ALONG = 8
MOST_MAPPED_SCORES = 12_000_000  # Scores of judges that one map may take: about half a second.
_DECIMALS = 9  # Means that differ by less are level, and the first variant is named.


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightMap:
    """Who wins under which weights of two criteria; the others share the rest as they do in the rubric.

    `cells` are places (column, row) with the winner's number, worked out for the weights in the middle of each.
    """

    across: str
    up: str
    variants: tuple[str, ...]
    side: int
    cells: tuple[tuple[int, int, int], ...]
    shares: Mapping[str, float]  # Of the map, by winner.
    others: tuple[str, ...]


def map_variant_wins_over_weights(weighed: ComparedWeightedScores, across: str = "", up: str = "") -> WeightMap:
    """Over which weights of two criteria, the heaviest unless they are named, each variant wins."""
    x, y = choose_map_axes(weighed, across, up)
    rest = [at for at in range(len(weighed.parts)) if at not in (x, y)]
    side = _choose_cells_along(weighed)
    places = [(i, j) for i in range(side) for j in range(side) if i + j < side]
    weights = weigh_map_places((np.array(places) + 0.5) / side, weighed.weights, x, y)
    winners = compared_means_under_weights(weighed, weights).round(_DECIMALS).argmax(axis=1)
    counts = np.bincount(winners, minlength=len(weighed.variants)) / len(winners)
    return WeightMap(
        across=weighed.parts[x],
        up=weighed.parts[y],
        variants=weighed.variants,
        side=side,
        cells=tuple((i, j, int(winner)) for (i, j), winner in zip(places, winners, strict=True)),
        shares={name: float(counts[at]) for at, name in enumerate(weighed.variants)},
        others=tuple(weighed.parts[at] for at in rest),
    )


def choose_map_axes(weighed: ComparedWeightedScores, across: str, up: str) -> tuple[int, int]:
    """The places of the two criteria that are named, or of the heaviest."""
    heaviest = sorted(range(len(weighed.parts)), key=lambda at: -weighed.weights[at])
    x = weighed.parts.index(across) if across in weighed.parts else heaviest[0]
    y = weighed.parts.index(up) if up in weighed.parts and weighed.parts.index(up) != x else -1
    return x, y if y >= 0 else next(at for at in heaviest if at != x)


def weigh_map_places(places: Floats, own: Floats, x: int, y: int) -> Floats:
    """The weights at places of the map: two are given, and the others share the rest in proportion."""
    weights = np.zeros((len(places), len(own)))
    weights[:, x], weights[:, y] = places[:, 0], places[:, 1]
    rest = [at for at in range(len(own)) if at not in (x, y)]
    if rest:
        left = np.maximum(0.0, 1 - places.sum(axis=1))
        weights[:, rest] = left[:, None] * own[rest] / own[rest].sum()
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _choose_cells_along(weighed: ComparedWeightedScores) -> int:
    """Fewer, larger cells where there are many scores to work out: each is still what a rescore says."""
    each = weighed.rest.size * (len(weighed.panel.judged.reviews) if weighed.panel else 1)
    if weighed.panel is None and weighed.decimals is None:
        return MOST_CELLS_ALONG
    side = int((2 * MOST_MAPPED_SCORES / max(1, each)) ** 0.5)
    return max(FEWEST_CELLS_ALONG, min(MOST_CELLS_ALONG, side))
