"""A ranking under other weights, and how it is told: headline, decisive criterion, next step, JSON; no NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evenhand.compare.decision import encode_decision_value, treatment_difference_interval_text
from evenhand.wording import format_percent_below_whole, format_rounded, join_names, word_layers_in_sentence

if TYPE_CHECKING:
    from evenhand.stats.differences import Difference


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingSurvival:
    """How much of the ranking stays under random weights; `wins` is each variant's share of first places."""

    draws: int = field(metadata={"json": None})
    same_winner: float = field(metadata={"json": "share_same_winner"})
    same_order: float = field(metadata={"json": "share_same_order"})
    wins: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedPart:
    """One criterion or layer: its weight, how far the first is ahead in it, what that gives, and where it would flip.

    `flip_at` is the weight at which the first two are level, the others keeping their proportions; `without` is the
    order of the variants when it is left out, and `level_without` those that share the first place then.
    """

    name: str = field(metadata={"json": "criterion"})
    weight: float
    gap: float
    contribution: float
    flip_at: float | None
    without: tuple[str, ...] = field(metadata={"json": None})
    level_without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightFlip:
    """Weights under which the first two are level, and how far they lie from the rubric's: Σ|new − old|, at most 2.

    `exact` says that no nearer ones exist; otherwise they are the nearest of those that were drawn.
    """

    distance: float
    weights: tuple[float, ...]
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantWeightRanking:
    """The ranking by criteria or by layers, under the weights it has and under others.

    `near` draws weights around them, `anywhere` all weights alike. `won` is the share of samples that the first wins
    and between what it lies under 95 of 100 near weightings. `with_noise` is the chance that the first stays first
    under near weights and another set of samples; `turned` is the share of near weightings under which the second is
    ahead of the first by more than the noise of the samples.
    """

    of: str
    variants: tuple[str, ...]
    means: Mapping[str, float]
    order: tuple[str, ...]
    parts: tuple[WeightedPart, ...]
    near: RankingSurvival
    anywhere: RankingSurvival
    won: tuple[float, float, float]
    flip: WeightFlip | None
    gap: Difference | None
    with_noise: float | None  # None where one sample, or one cluster of them, is all there is.
    turned: float | None
    samples: int
    left_out: int
    linear: bool
    note: str

    @property
    def tied(self) -> bool:
        """Whether the first two are level under the weights as they are."""
        return abs(self.means[self.order[0]] - self.means[self.order[1]]) <= 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """What becomes of a ranking under other weights, and what to do about it."""

    run: str
    headline: str
    next_step: str
    draws: int
    seed: int
    spread: float
    rankings: tuple[VariantWeightRanking, ...]
    without_judge: Mapping[str, tuple[str, ...]]
    imported: bool = False  # Whether the run was made elsewhere.


_SURVIVES_SHARE, _MOSTLY_SURVIVES_SHARE = 0.95, 0.80


def conclude_from_weight_sensitivity(
    rankings: Sequence[VariantWeightRanking], without_judge: Mapping[str, tuple[str, ...]]
) -> tuple[str, str]:
    """The headline and the next step; the ranking that gives way most easily speaks for all."""
    weakest = min(rankings, key=lambda one: one.near.same_winner)
    first, second = weakest.order[:2]
    if weakest.tied:
        headline = f"{first} and {second} are level: no weights are needed to turn them around."
        return headline, "Add samples, or decide by something else than this score."
    share = format_percent_below_whole(weakest.near.same_winner)
    if weakest.gap is None:
        says = f"{_name_only_compared_sample(weakest)} says nothing about others"
        headline = f"{says}: on it, {first} stays first under {share} of the weights near the ones used."
        return headline, "Add samples before you decide: with one, a lead cannot be told from noise."
    what = {"criteria": "weights of the criteria", "layers": "weights of the layers"}[weakest.of]
    if weakest.near.same_winner >= _MOSTLY_SURVIVES_SHARE:
        word = "survives" if weakest.near.same_winner >= _SURVIVES_SHARE else "mostly survives"
        headline = f"The ranking {word} other {what}: {first} stays first under {share} of those near the ones used."
    else:
        headline = f"The ranking hangs on the {what}: {first} stays first under only {share} of those near them."
    return headline, _next_step_by_weight_sensitivity(weakest, without_judge)


def find_part_deciding_variant_comparison(ranking: VariantWeightRanking) -> WeightedPart:
    """The criterion or layer that gives the first most of its lead."""
    return max(ranking.parts, key=lambda one: one.contribution)


def variant_lead_against_noise(ranking: VariantWeightRanking) -> str:
    """How the lead compares with the noise of the samples."""
    first, second = ranking.order[:2]
    if ranking.gap is None:
        return (
            f"{_name_only_compared_sample(ranking)} cannot say whether {first} is ahead of {second} by more than noise."
        )
    if ranking.tied:
        return f"{first} and {second} are level, {treatment_difference_interval_text(ranking.gap)}."
    lead = f"{first} is ahead of {second} by {format_rounded(ranking.gap.estimate, 2)}"
    interval = treatment_difference_interval_text(ranking.gap)
    return f"{lead}, {interval}: {'no more' if ranking.gap.p >= 0.05 else 'more'} than the noise of the samples."


def _name_only_compared_sample(ranking: VariantWeightRanking) -> str:
    return "One sample" if ranking.samples == 1 else "One cluster of samples"


def _next_step_by_weight_sensitivity(
    ranking: VariantWeightRanking, without_judge: Mapping[str, tuple[str, ...]]
) -> str:
    first, part = ranking.order[0], find_part_deciding_variant_comparison(ranking)
    if ranking.gap is not None and ranking.gap.p >= 0.05:
        return "Add samples first: the lead is no more than noise, whatever the weights."
    if ranking.near.same_winner < _SURVIVES_SHARE:
        name = word_layers_in_sentence([part.name]) if ranking.of == "layers" else part.name
        return f"Agree on the weight of {name}, which gives {first} most of its lead, before deciding."
    lost = [judge for judge, order in without_judge.items() if order[0] != first]
    if lost:
        it = "it" if len(lost) == 1 else "one of them"
        return f"Look at what {join_names(lost)} said: without {it} {first} is not first."
    if first in part.level_without:
        return f"Nothing about the weights: {first} leads by {part.name} alone, whatever it weighs."
    return "Nothing: the weights do not decide this."


Json = dict[str, Any]
MOST_PARTS = 60  # Criteria that are listed; those that weigh least are counted only.


def encode_compared_weight_sensitivity(found: Sensitivity) -> Json:
    """Plain data for files, programs and plots; the ranking by criteria comes first, layers beside it."""
    first, *others = found.rankings
    beside = {one.of: _encode_compared_variant_ranking(one) for one in others}
    return {
        "run": found.run,
        **({"imported": True} if found.imported else {}),
        "headline": found.headline,
        "next_step": found.next_step,
        "draws": found.draws,
        "seed": found.seed,
        "spread": found.spread,
        **_encode_compared_variant_ranking(first),
        "layers": beside.get("layers"),
        "without_judge": [
            {"judge": judge, "order": list(order), "same_winner": order[0] == first.order[0]}
            for judge, order in found.without_judge.items()
        ],
    }


def _encode_compared_variant_ranking(one: VariantWeightRanking) -> Json:
    heaviest = sorted(one.parts, key=lambda part: -part.weight)[:MOST_PARTS]
    listed = [part for part in one.parts if len(one.parts) <= MOST_PARTS or part in heaviest]
    gap: Json | None = encode_decision_value(one.gap)
    flip: Json | None = None
    if one.flip is not None:
        weights = {
            part.name: weight for part, weight in zip(one.parts, one.flip.weights, strict=True) if part in listed
        }
        distance = encode_decision_value(one.flip.distance)
        flip = {"distance": distance, "exact": one.flip.exact, "weights": encode_decision_value(weights)}
    return {
        "of": one.of,
        "variants": list(one.variants),
        "means": encode_decision_value(one.means),
        "order": list(one.order),
        "tied": one.tied,
        **encode_decision_value(one.near),
        "anywhere": encode_decision_value(one.anywhere),
        "by_weight": [
            {
                **encode_decision_value(part),
                "winner_without": part.without[0] if part.without else None,
                "same_order_without": part.without == one.order,
            }
            for part in listed
        ],
        "not_listed": len(one.parts) - len(listed),
        "decides": find_part_deciding_variant_comparison(one).name,
        "flip": flip,
        "won": dict(zip(("share", "low", "high"), encode_decision_value(one.won), strict=True)),
        "gap": gap and {name: value for name, value in gap.items() if name != "sd"},
        "noise": variant_lead_against_noise(one),
        "share_with_noise": encode_decision_value(one.with_noise),
        "share_turned": encode_decision_value(one.turned),
        "samples": one.samples,
        "left_out": one.left_out,
        "exact": one.linear,
        "note": one.note,
    }
