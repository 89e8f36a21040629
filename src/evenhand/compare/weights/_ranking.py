"""One ranking under drawn weights, without each of its parts, and without each judge."""

from __future__ import annotations

import math

import numpy as np

from evenhand.compare.weights._draws import (
    anywhere,
    around,
    errors_under,
    first_places,
    means_and_won,
    means_under,
    signs,
)
from evenhand.compare.weights._flip import Flip, flip_at, smallest_flip
from evenhand.compare.weights._found import Part, Ranking, Survival
from evenhand.compare.weights._weighed import Floats, Weighed
from evenhand.runs import Table
from evenhand.stats import Difference, difference_of, unit_differences

MOST_ERRORS = 1_000  # Weightings for which the noise of the samples is worked out: a mean over them needs no more.


def ranking(weighed: Weighed, draws: int, seed: int, spread: float) -> Ranking:
    """What becomes of one ranking under drawn weights."""
    own = means_under(weighed, weighed.weights[None])
    order = _order(own[0], weighed.variants)
    lead = (weighed.variants.index(order[0]), weighed.variants.index(order[1]))
    rng = np.random.default_rng(seed)
    drawn = around(weighed.weights, spread, draws, rng)
    near, won = means_and_won(weighed, drawn)
    far = means_under(weighed, anywhere(len(weighed.parts), draws, rng))
    gaps, rest = _gaps(weighed, lead)
    parts = tuple(_part(weighed, place, gaps, rest) for place in range(len(weighed.parts)))
    stays, turned = _sureness(weighed, drawn[:MOST_ERRORS], near[:MOST_ERRORS], lead)
    return Ranking(
        of=weighed.of,
        variants=weighed.variants,
        means={name: float(own[0, place]) for place, name in enumerate(weighed.variants)},
        order=order,
        parts=parts,
        near=_survival(near, own, weighed),
        anywhere=_survival(far, own, weighed),
        won=_won(weighed, won[:, lead[0]], lead[0]),
        flip=smallest_flip(weighed.weights, gaps, rest) if weighed.linear else _nearest(weighed, drawn, near, lead),
        gap=_gap(weighed, lead, seed),
        with_noise=stays,
        turned=turned,
        samples=len(np.unique(weighed.cluster)),
        left_out=weighed.left_out,
        linear=weighed.linear,
        note=weighed.note,
    )


def without_judge(table: Table) -> dict[str, tuple[str, ...]]:
    """The order of the variants by the mean of the other judges' scores, without each judge."""
    judges = [name for name, column in table.reviews.items() if not np.isnan(column).all()]
    if len(judges) < 2:
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for judge in judges:
        rest = np.stack([table.reviews[name] for name in judges if name != judge])
        means = _variant_means(rest, table)
        if means is not None:
            found[judge] = _order(means, table.variants)
    return found


def _order(means: Floats, variants: tuple[str, ...]) -> tuple[str, ...]:
    """Highest first; those that are level by name, so that the order of the file decides nothing."""
    return tuple(sorted(variants, key=lambda name: (-round(float(means[variants.index(name)]), 9), name)))


def _survival(means: Floats, own: Floats, weighed: Weighed) -> Survival:
    places, before = first_places(means, weighed.span), first_places(own, weighed.span)
    order = (signs(means, weighed.span) == signs(own, weighed.span)).all(axis=1)
    return Survival(
        draws=len(means),
        same_winner=float((places == before).all(axis=1).mean()),
        same_order=float(order.mean()),
        wins={name: float(places[:, place].mean()) for place, name in enumerate(weighed.variants)},
    )


def _gaps(weighed: Weighed, lead: tuple[int, int]) -> tuple[Floats, float]:
    """How far the first is ahead of the second in every part, and in what is no matter of weights."""
    shares = weighed.shares
    gaps: Floats = shares @ (weighed.values[:, lead[0]] - weighed.values[:, lead[1]])
    return gaps, float(shares @ (weighed.rest[:, lead[0]] - weighed.rest[:, lead[1]]))


def _part(weighed: Weighed, place: int, gaps: Floats, rest: float) -> Part:
    weights = weighed.weights
    without = weights * (np.arange(len(weights)) != place)
    left = means_under(weighed, without[None] / without.sum())[0] if without.sum() > 0 else None
    return Part(
        name=weighed.parts[place],
        weight=float(weights[place]),
        gap=float(gaps[place]),
        contribution=float(weights[place] * gaps[place]),
        flip_at=flip_at(weights, gaps, place, rest) if weighed.linear else None,
        without=() if left is None else _order(left, weighed.variants),
    )


def _won(weighed: Weighed, near: Floats, first: int) -> tuple[float, float, float]:
    _, own = means_and_won(weighed, weighed.weights[None])
    low, high = np.quantile(near, [0.025, 0.975])
    return float(own[0, first]), float(low), float(high)


def _sureness(weighed: Weighed, drawn: Floats, means: Floats, lead: tuple[int, int]) -> tuple[float, float]:
    """By the normal approximation of the mean: with the noise of samples, and turned beyond it."""
    ahead, error = means[:, lead[0]] - means[:, lead[1]], errors_under(weighed, drawn, lead)
    z = np.divide(ahead, error, out=np.sign(ahead) * 40.0, where=error > 0)
    stays = math.fsum(0.5 * math.erfc(-one / math.sqrt(2)) for one in z.tolist()) / len(z)
    return stays, float((z < -1.96).mean())


def _nearest(weighed: Weighed, drawn: Floats, near: Floats, lead: tuple[int, int]) -> Flip | None:
    """The nearest of the drawn weights under which the second is not behind."""
    flipped = near[:, lead[0]] <= near[:, lead[1]]
    if not flipped.any():
        return None
    distances = np.abs(drawn - weighed.weights).sum(axis=1)
    place = int(np.argmin(np.where(flipped, distances, np.inf)))
    return Flip(distance=float(distances[place]), weights=tuple(map(float, drawn[place])), exact=False)


def _gap(weighed: Weighed, lead: tuple[int, int], seed: int) -> Difference | None:
    """The paired difference of the first two under the weights as they are."""
    first, second = weighed.scores[:, lead[0]], weighed.scores[:, lead[1]]
    gaps = unit_differences(first, second, weighed.cluster.tolist())
    return difference_of(gaps, rng=np.random.default_rng(seed)) if len(gaps) > 1 else None


def _variant_means(reviews: Floats, table: Table) -> Floats | None:
    """Over the outputs that each has a score of some judge for; None where a variant has none."""
    given = ~np.isnan(reviews)
    heard = given.any(axis=0)
    scores = np.where(given, reviews, 0.0).sum(axis=0)[heard] / given.sum(axis=0)[heard]
    variant = table.variant[heard]
    count = np.bincount(variant, minlength=len(table.variants))
    if not count.all():
        return None
    means: Floats = np.bincount(variant, weights=scores, minlength=len(table.variants)) / count
    return means
