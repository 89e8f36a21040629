"""Does the ranking of variants survive other weights, or the loss of a criterion or a judge; and the nearest flip."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from evenhand.compare.sensitivity_result import (
    RankingSurvival,
    Sensitivity,
    VariantWeightRanking,
    WeightedPart,
    WeightFlip,
    conclude_from_weight_sensitivity,
)
from evenhand.compare.weighted_scores import (
    LEVEL_TOLERANCE,
    ComparedWeightedScores,
    Floats,
    compared_means_and_wins_under_weights,
    compared_means_under_weights,
    variant_lead_errors_under_weights,
    weigh_compared_criteria,
    weigh_compared_layers,
)
from evenhand.errors import Fault, InputError
from evenhand.runs.columns import RunTable
from evenhand.runs.stored_judgments import RunRubric
from evenhand.stats.differences import difference_of, unit_differences

MOST_WEIGHT_DRAWS = 1_000_000
MOST_RANKED_VARIANTS = 50  # Beyond, the pairs of variants outgrow what a page can hold.


def measure_sensitivity(
    table: RunTable,
    rubrics: Mapping[str, Any],
    *,
    tags: Sequence[str] = (),
    asked: Mapping[str, RunRubric] | None = None,
    draws: int = 10_000,
    seed: int = 0,
    spread: float = 0.2,
) -> Sensitivity:
    """Rank the variants of a run under random weights, without each criterion, layer and judge.

    `rubrics` are the run's, by tag, as it keeps them; where there are several, `tags` says by sample which of them it
    was scored under. `asked` says who judged by each. `spread` is how far near weights vary: each weight w has a
    standard deviation of spread · √(w(1 − w)).
    """
    _check_variants_for_sensitivity(table, draws, spread)
    weighed = [
        one
        for one in (weigh_compared_criteria(table, rubrics, tags, asked), weigh_compared_layers(table))
        if one is not None
    ]
    if not weighed:
        what = "the run has one criterion and one layer at most: there are no weights to change"
        raise InputError(Fault(what, "it takes two criteria in the rubric, or assertions beside it"))
    whole = [one for one in weighed if len(one.values)]
    if not whole:
        raise InputError(Fault("no sample has all scores of every variant", "score the same samples with all variants"))
    rankings = tuple(compare_variants_under_weights(one, draws, seed, spread) for one in whole)
    without = compare_variants_without_each_judge(table)
    headline, next_step = conclude_from_weight_sensitivity(rankings, without)
    return Sensitivity(
        run=table.run,
        headline=headline,
        next_step=next_step,
        draws=draws,
        seed=seed,
        spread=spread,
        rankings=rankings,
        without_judge=without,
        imported=table.imported,
    )


def _check_variants_for_sensitivity(table: RunTable, draws: int, spread: float) -> None:
    if len(table.variants) < 2:
        raise InputError(Fault("the run has one variant: there is no ranking", "run it with a second variant"))
    if len(table.variants) > MOST_RANKED_VARIANTS:
        raise InputError(Fault(f"{len(table.variants)} variants are too many", f"at most {MOST_RANKED_VARIANTS}"))
    if not 1 <= draws <= MOST_WEIGHT_DRAWS:
        raise InputError(
            Fault(f"draws must be 1 to {MOST_WEIGHT_DRAWS:,}, got {draws:,}", "10000 is enough for two digits")
        )
    if not 0 < spread < 1:
        raise InputError(
            Fault(f"spread must be between 0 and 1, got {spread}", "0.2 varies the weights a little, 0.5 much")
        )


MOST_NOISE_DRAWS = 1_000  # Weightings for which the noise of the samples is worked out: a mean over them needs no more.


def compare_variants_under_weights(
    weighed: ComparedWeightedScores, draws: int, seed: int, spread: float
) -> VariantWeightRanking:
    """What becomes of one ranking under drawn weights."""
    own = compared_means_under_weights(weighed, weighed.weights[None])
    order = _order_compared_variants_by_mean(own[0], weighed.variants)
    lead = (weighed.variants.index(order[0]), weighed.variants.index(order[1]))
    rng = np.random.default_rng(seed)
    drawn = draw_compare_weights_near(weighed.weights, spread, draws, rng)
    near, won = compared_means_and_wins_under_weights(weighed, drawn)
    far = compared_means_under_weights(weighed, draw_sensitivity_weights(len(weighed.parts), draws, rng))
    # How far the first is ahead of the second in every part, and in what is no matter of weights.
    gaps = _average_compared_gaps(weighed, lead)
    rest = float(weighed.shares @ (weighed.rest[:, lead[0]] - weighed.rest[:, lead[1]]))
    parts = tuple(_measure_part_of_compared_lead(weighed, place, gaps, rest) for place in range(len(weighed.parts)))
    stays, turned = _measure_compared_lead_sureness(weighed, drawn[:MOST_NOISE_DRAWS], near[:MOST_NOISE_DRAWS], lead)
    own_wins = compared_means_and_wins_under_weights(weighed, weighed.weights[None])[1]
    low, high = np.quantile(won[:, lead[0]], [0.025, 0.975])
    first, second = weighed.scores[:, lead[0]], weighed.scores[:, lead[1]]
    ahead = unit_differences(first, second, weighed.cluster, weighed.sample, weighed.per)
    return VariantWeightRanking(
        of=weighed.of,
        variants=weighed.variants,
        means={name: float(own[0, place]) for place, name in enumerate(weighed.variants)},
        order=order,
        parts=parts,
        near=_measure_comparison_survival(near, own, weighed),
        anywhere=_measure_comparison_survival(far, own, weighed),
        won=(float(own_wins[0, lead[0]]), float(low), float(high)),
        flip=find_smallest_weights_levelling_comparison(weighed.weights, gaps, rest)
        if weighed.linear
        else _find_nearest_verdict_flip(weighed, drawn, near, lead, gaps),
        gap=difference_of(ahead.means, sizes=ahead.sizes, rng=np.random.default_rng(seed))
        if len(ahead.means) > 1
        else None,
        with_noise=stays if len(ahead.means) > 1 else None,
        turned=turned if len(ahead.means) > 1 else None,
        samples=len(np.unique(weighed.sample)),
        left_out=weighed.left_out,
        linear=weighed.linear,
        note=weighed.note,
    )


def _average_compared_gaps(weighed: ComparedWeightedScores, lead: tuple[int, int]) -> Floats:
    """Over the rows of which a part is known: an output may have a score for the whole alone."""
    ahead = weighed.values[:, lead[0]] - weighed.values[:, lead[1]]
    shares = weighed.shares[:, None] * ~np.isnan(ahead)
    return np.asarray(np.nansum(shares * ahead, axis=0) / np.maximum(shares.sum(axis=0), 1e-300))


def compare_variants_without_each_judge(table: RunTable) -> dict[str, tuple[str, ...]]:
    """The order of the variants by the mean of the other judges' scores, without each judge."""
    judges = [name for name, column in table.reviews.items() if not np.isnan(column).all()]
    if len(judges) < 2:
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for judge in judges:
        rest = np.stack([table.reviews[name] for name in judges if name != judge])
        means = _mean_compared_reviews(rest, table)
        if means is not None:
            found[judge] = _order_compared_variants_by_mean(means, table.variants)
    return found


def _order_compared_variants_by_mean(means: Floats, variants: tuple[str, ...]) -> tuple[str, ...]:
    """Highest first; those that are level by name, so that the order of the file decides nothing."""
    return tuple(sorted(variants, key=lambda name: (-round(float(means[variants.index(name)]), 9), name)))


def _measure_comparison_survival(means: Floats, own: Floats, weighed: ComparedWeightedScores) -> RankingSurvival:
    places, before = (
        compared_first_places_under_weights(means, weighed.span),
        compared_first_places_under_weights(own, weighed.span),
    )
    order = (
        compared_order_signs_under_weights(means, weighed.span) == compared_order_signs_under_weights(own, weighed.span)
    ).all(axis=1)
    return RankingSurvival(
        draws=len(means),
        same_winner=float((places == before).all(axis=1).mean()),
        same_order=float(order.mean()),
        wins={name: float(places[:, place].mean()) for place, name in enumerate(weighed.variants)},
    )


def _measure_part_of_compared_lead(
    weighed: ComparedWeightedScores, place: int, gaps: Floats, rest: float
) -> WeightedPart:
    weights = weighed.weights
    without = weights * (np.arange(len(weights)) != place)
    left = compared_means_under_weights(weighed, without[None] / without.sum())[0] if without.sum() > 0 else None
    order = () if left is None else _order_compared_variants_by_mean(left, weighed.variants)
    level = (
        [] if left is None else [name for name in order if abs(left[weighed.variants.index(name)] - left.max()) <= 1e-9]
    )
    return WeightedPart(
        name=weighed.parts[place],
        weight=float(weights[place]),
        gap=float(gaps[place]),
        contribution=float(weights[place] * gaps[place]),
        flip_at=find_weight_levelling_comparison(weights, gaps, place, rest) if weighed.linear else None,
        without=order,
        level_without=tuple(level) if len(level) > 1 else (),
    )


def _measure_compared_lead_sureness(
    weighed: ComparedWeightedScores, drawn: Floats, means: Floats, lead: tuple[int, int]
) -> tuple[float, float]:
    """By the normal approximation of the mean: with the noise of samples, and turned beyond it."""
    ahead, error = means[:, lead[0]] - means[:, lead[1]], variant_lead_errors_under_weights(weighed, drawn, lead)
    z = np.divide(ahead, error, out=np.sign(ahead) * 40.0, where=error > 0)
    stays = math.fsum(0.5 * math.erfc(-one / math.sqrt(2)) for one in z.tolist()) / len(z)
    return stays, float((z < -1.96).mean())


def _find_nearest_verdict_flip(
    weighed: ComparedWeightedScores, drawn: Floats, near: Floats, lead: tuple[int, int], gaps: Floats
) -> WeightFlip | None:
    """The nearest weights under which the second is not behind, of those drawn and of those a little beyond a solution.

    The solution is that of a plain weighting, which limits may bend; so it is tried as all others are.
    """
    own = weighed.weights
    ahead = np.subtract(*compared_means_under_weights(weighed, own[None])[0, list(lead)])
    solved = find_smallest_weights_levelling_comparison(own, gaps, float(ahead - own @ gaps))
    if solved is not None:
        tried = own + np.array([[1.0], [1.01], [1.05], [1.2]]) * (np.array(solved.weights) - own)
        tried = tried[(tried >= 0).all(axis=1)]
        drawn = np.concatenate([drawn, tried])
        near = np.concatenate([near, compared_means_under_weights(weighed, tried)])
    flipped = near[:, lead[0]] <= near[:, lead[1]]
    if not flipped.any():
        return None
    distances = np.abs(drawn - own).sum(axis=1)
    place = int(np.argmin(np.where(flipped, distances, np.inf)))
    return WeightFlip(distance=float(distances[place]), weights=tuple(map(float, drawn[place])), exact=False)


def _mean_compared_reviews(reviews: Floats, table: RunTable) -> Floats | None:
    """Over the outputs that each has a score of some judge for; None where a variant has none."""
    given = ~np.isnan(reviews)
    heard = given.any(axis=0)
    scores = np.where(given, reviews, 0.0).sum(axis=0)[heard] / given.sum(axis=0)[heard]
    variant = table.variant[heard]
    count = np.bincount(variant, minlength=len(table.variants))
    if not count.all():
        return None
    return np.bincount(variant, weights=scores, minlength=len(table.variants)) / count


_TIE_TOLERANCE = 1e-12


def find_smallest_weights_levelling_comparison(weights: Floats, gaps: Floats, rest: float = 0.0) -> WeightFlip | None:
    """The nearest weights at which `weights · gaps + rest` is 0; None where no weights bring it there.

    Weight that is moved from one part to another costs twice itself, and gains the difference of their gaps. So all of
    it goes to the part with the lowest gap, and comes from those with the highest first.
    """
    left = float(weights @ gaps) + rest
    lowest = int(np.argmin(gaps))
    moved = weights.astype(np.float64).copy()
    if gaps[lowest] + rest > _TIE_TOLERANCE * max(1.0, float(np.abs(gaps).max())):
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
    return WeightFlip(distance=distance, weights=tuple(map(float, moved)), exact=True)


def find_weight_levelling_comparison(weights: Floats, gaps: Floats, part: int, rest: float = 0.0) -> float | None:
    """The weight of one part at which the first two are level, the others keeping their proportions."""
    others = 1 - float(weights[part])
    if others <= 0:
        return None
    elsewhere = (float(weights @ gaps) - float(weights[part] * gaps[part])) / others
    slope = elsewhere - float(gaps[part])
    if abs(slope) <= _TIE_TOLERANCE:
        return None
    found = (elsewhere + rest) / slope
    # Where the others are level, binary fractions leave a hair on either side of 0.
    return min(max(found, 0.0), 1.0) if -_TIE_TOLERANCE <= found <= 1 + _TIE_TOLERANCE else None


def draw_compare_weights_near(weights: Floats, spread: float, draws: int, rng: np.random.Generator) -> Floats:
    """Weightings near these: Dirichlet, each weight w with a standard deviation of spread · √(w(1 − w))."""
    return rng.dirichlet(np.maximum(weights, 1e-9) * (1 / spread**2 - 1), size=draws)


def draw_sensitivity_weights(parts: int, draws: int, rng: np.random.Generator) -> Floats:
    """Weightings of every kind, all equally likely."""
    return rng.dirichlet(np.ones(parts), size=draws)


def compared_order_signs_under_weights(means: Floats, span: float) -> Floats:
    """Of each two variants, in order, which is ahead: 1, 0 or −1 per weighting."""
    pairs = list(combinations(range(means.shape[1]), 2))
    gaps = np.stack([means[:, one] - means[:, other] for one, other in pairs], axis=1)
    return np.where(np.abs(gaps) <= LEVEL_TOLERANCE * span, 0.0, np.sign(gaps))


def compared_first_places_under_weights(means: Floats, span: float) -> Floats:
    """Each variant's share of the first place under each weighting: 1, or less where it is shared."""
    first = means >= means.max(axis=1, keepdims=True) - LEVEL_TOLERANCE * span
    shared: Floats = first / first.sum(axis=1, keepdims=True)
    return shared
