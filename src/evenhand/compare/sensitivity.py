"""Does the ranking of variants survive other weights, or the loss of a judge; and the answer as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evenhand.compare.decision import encode_decision_value
from evenhand.compare.sensitivity_result import (
    Sensitivity,
    VariantWeightRanking,
    conclude_from_weight_sensitivity,
    find_part_deciding_variant_comparison,
    variant_lead_against_noise,
)
from evenhand.errors import Fault, InputError

if TYPE_CHECKING:
    from evenhand.runs.columns import RunTable


MOST_WEIGHT_DRAWS = 1_000_000
MOST_RANKED_VARIANTS = 50  # Beyond, the pairs of variants outgrow what a page can hold.


def measure_sensitivity(
    table: RunTable, rubrics: Mapping[str, Any], *, draws: int = 10_000, seed: int = 0, spread: float = 0.2
) -> Sensitivity:
    """Rank the variants of a run under random weights, without each criterion, layer and judge.

    `rubrics` are the run's, by tag, as it keeps them. `spread` is how far near weights stray: each weight w has a
    standard deviation of spread · √(w(1 − w)).
    """
    # Whoever shows a ranking needs no NumPy.
    from evenhand.compare.weight_ranking import compare_variants_under_weights, compare_variants_without_each_judge
    from evenhand.compare.weighted_scores import weigh_compared_criteria, weigh_compared_layers

    _check_variants_for_sensitivity(table, draws, spread)
    weighed = [
        one for one in (weigh_compared_criteria(table, rubrics), weigh_compared_layers(table)) if one is not None
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
        raise InputError(Fault(f"spread must be between 0 and 1, got {spread}", "0.2 strays a little, 0.5 far"))


Json = dict[str, Any]
MOST_PARTS = 60  # Criteria that are listed; those that weigh least are counted only.


def encode_compared_weight_sensitivity(found: Sensitivity) -> Json:
    """Plain data for files, programs and plots; the ranking by criteria comes first, layers beside it."""
    first, *others = found.rankings
    beside = {one.of: _encode_compared_variant_ranking(one) for one in others}
    return {
        "run": found.run,
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
