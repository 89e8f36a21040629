"""The decision between a control and its treatments: check, measure, rule, conclude; and the decision as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from evenhand.compare.decision import (
    Badge,
    CompareDecision,
    Comparison,
    RowScores,
    VariantColumn,
    check_layer_gates,
    check_not_worse_margin,
    check_variant_columns,
)
from evenhand.wording import round_for_json

if TYPE_CHECKING:
    from evenhand.compare.facts import DifferenceHistogram, NotWorseResult
    from evenhand.stats.arrays import Undefined
    from evenhand.stats.differences import Difference
    from evenhand.stats.power import PowerBand, Saturation
    from evenhand.stats.ratings import Agreement
    from evenhand.stats.sequential import Looks


DEFAULT_LAYER_GATE = 3.5


def decide_comparison(  # noqa: PLR0913 - each is a fact about the run that no other holds.
    columns: Mapping[str, VariantColumn],
    *,
    control: str,
    clusters: Sequence[int],
    seed: int,
    gates: Mapping[str, float] | None = None,
    judges: Mapping[str, Sequence[RowScores]] | None = None,
    aligned: Agreement | Undefined | None = None,
    smallest_effect: float = 0.5,
    not_worse_by: float | None = None,
    stopped_early: bool = False,
    looks: Looks | None = None,
) -> CompareDecision:
    """The verdict of every treatment against the control. Layers without a gate of their own are held to 3.5.

    `clusters` names the sample of each row: repeats share it. `judges` holds, per variant, one row of scores per judge;
    `aligned` is how far the panel agrees with people. With `not_worse_by`, a treatment that cannot be told from the
    control passes where it is surely not worse by more than that. With `looks`, intervals and p-values hold although
    the run was looked at while it came in; it `stopped_early` where one of them settled it.
    """
    # Whoever shows a decision needs no NumPy.
    from evenhand.compare.conclude import conclude_decision, conclude_solo_decision
    from evenhand.compare.measure import (
        DecisionSettings,
        measure_gate_states,
        measure_treatments,
        measure_variant_agreement,
    )

    layers = check_variant_columns(columns, control, clusters)
    check_layer_gates(gates or {}, layers)
    check_not_worse_margin(not_worse_by)
    least = {layer: (gates or {}).get(layer, DEFAULT_LAYER_GATE) for layer in layers}
    setting = DecisionSettings(
        control=control,
        layers=layers,
        gates={name: measure_gate_states(column, clusters, layers, least) for name, column in columns.items()},
        agreed=measure_variant_agreement(judges or {}, tuple(columns), len(clusters)),
        aligned=aligned,
        smallest_effect=smallest_effect,
        not_worse_by=not_worse_by,
        treatments=max(1, len(columns) - 1),
        seed=seed,
        stopped_early=stopped_early,
        looks=looks,
    )
    facts = measure_treatments(columns, clusters, setting)
    return conclude_decision(facts, setting) if facts else conclude_solo_decision(columns[control], clusters, setting)


def decision_json(decision: CompareDecision) -> dict[str, Any]:
    """Plain data for files and programs; null is an end without a bound, or a number that there is not."""
    return {
        "verdict": decision.verdict,
        "exit_code": decision.exit_code,
        "headline": decision.headline,
        "sure": decision.sure,
        "control": decision.control,
        "best": decision.best,
        "gates": {
            variant: [{**asdict(state), "mean": round_for_json(state.mean)} for state in states]
            for variant, states in decision.gates.items()
        },
        "comparisons": [_comparison_json(comparison) for comparison in decision.comparisons],
    }


def _comparison_json(comparison: Comparison) -> dict[str, Any]:
    return {
        "treatment": comparison.treatment,
        "control": comparison.control,
        "verdict": comparison.verdict,
        "headline": comparison.headline,
        "sure": comparison.sure,
        "rule": comparison.rule,
        "reasons": list(comparison.reasons),
        "next_step": comparison.next_step,
        "composite": _difference_json(comparison.composite),
        "p": _round_significant_digits(comparison.p),
        "layers": {name: _difference_json(found) for name, found in comparison.layers.items()},
        "layer_verdicts": {
            name: {**asdict(found), "reasons": list(found.reasons)} for name, found in comparison.layer_verdicts.items()
        },
        "criteria": {name: _difference_json(found) for name, found in comparison.criteria.items()},
        "distribution": _difference_histogram_json(comparison.spread),
        "not_worse": _not_worse_json(comparison.not_worse),
        "pairs": comparison.pairs,
        "lost_by_treatment": comparison.lost_by_treatment,
        "lost_by_control": comparison.lost_by_control,
        "wins": comparison.wins,
        "ties": comparison.ties,
        "losses": comparison.losses,
        "power": _power_band_json(comparison.power),
        "saturation": _saturation_json(comparison.saturation),
        "badges": [_badge_json(badge) for badge in comparison.badges],
    }


def human_aligned_badge_json(found: Agreement | Undefined | None) -> dict[str, Any]:
    """The badge of people alone, for a run that was labelled after it was decided."""
    from evenhand.compare.conclude import build_human_aligned_badge  # the statistics behind it need NumPy

    return _badge_json(build_human_aligned_badge(found))


def _badge_json(badge: Badge) -> dict[str, Any]:
    return {
        "badge": badge.name,
        "state": badge.colour,
        "value": _round_significant_digits(badge.value),
        "says": badge.says,
        "advice": badge.advice,
    }


def _difference_json(found: Difference | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "estimate": round_for_json(found.estimate),
        "low": round_for_json(found.low),
        "high": round_for_json(found.high),
        "level": found.level,
        "p": _round_significant_digits(found.p),
        "sd": round_for_json(found.sd),
        "method": found.method,
        "n": found.n,
    }


def _power_band_json(found: PowerBand | None) -> dict[str, Any] | None:
    return None if found is None else {**asdict(found), "sd": round_for_json(found.sd)}


def _saturation_json(found: Saturation | None) -> dict[str, Any] | None:
    if found is None:
        return None
    curve = [
        {"n": one.n, "estimate": round_for_json(one.estimate), "half_width": round_for_json(one.half_width)}
        for one in found.curve
    ]
    return {
        **asdict(found),
        "changed": round_for_json(found.changed),
        "moved": round_for_json(found.moved),
        "curve": curve,
    }


def _difference_histogram_json(found: DifferenceHistogram | None) -> dict[str, Any] | None:
    if found is None:
        return None
    edges = [round_for_json(edge) for edge in found.edges]
    return {"edges": edges, "counts": list(found.counts), "mean": round_for_json(found.mean)}


def _not_worse_json(found: NotWorseResult | None) -> dict[str, Any] | None:
    return None if found is None else {**asdict(found), "low": round_for_json(found.low)}


def _round_significant_digits(value: float | None) -> float | None:
    """Four digits, so that a small p-value is not rounded away."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.4g}")
