"""The decision on a variant that stands alone: the state of its gates, and how sure its mean is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.compare.decision import (
    CompareDecision,
    ForcedComparison,
    GateSamples,
    GateState,
    describe_gates_missed_by_variant,
    object_to_treatment_missing_gate,
)
from evenhand.compare.facts import GATE_TOLERANCE
from evenhand.stats.arrays import CountedPer
from evenhand.stats.cascades import CascadeMean
from evenhand.stats.means import mean_interval
from evenhand.wording import format_plural, format_score, join_names, round_number_for_json, word_gate

LOWEST_COMPOSITE, HIGHEST_COMPOSITE = 1.0, 5.0  # The ends of the composite's scale: a mean is never off it.


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleVariant:
    """A variant with nothing to compare it with: composites by row, NaN where one is missing, and all its gates."""

    name: str
    composites: NDArray[np.float64]
    clusters: NDArray[np.int64]
    samples: NDArray[np.int64]
    per: CountedPer
    layer_means: Mapping[str, float | None]
    layer_gates: tuple[GateState, ...]
    other_gates: tuple[GateState, ...]  # Those beside the layers.
    estimate: CascadeMean | None = None  # The composite by the strong judge of a cascade.


def decide_single_variant(one: SingleVariant, forced: ForcedComparison | None = None) -> CompareDecision:
    """SOLO: the state of the gates, and nothing to compare with."""
    mark, doubts, advice = describe_forced_comparison(forced) if forced else ("", (), "")
    scored = not bool(np.isnan(one.composites).all())
    gates, short = (*one.layer_gates, *one.other_gates), [state for state in one.other_gates if not state.passed]
    missed = object_to_treatment_missing_gate(one.name, short) if short else None
    failed = [
        f"{word_gate(state.gate)} ({format_score(one.layer_means[state.gate], beside=state.min)}, "
        f"gate {format_score(state.min, beside=state.min)})"
        for state in one.layer_gates
        if not state.passed
    ]
    passed = (
        f"All gates passed: {join_names(map(word_gate, one.layer_means))}" if one.layer_means else "It has no gates"
    )
    held = f"Below the gate: {join_names(failed)}" if failed else passed
    said = missed.says if missed else held
    alone = f"{one.name} stands alone. {said if scored else 'Nothing could be scored'}"
    second = "Add a second variant to compare with, as in variants: {old: …, new: …}."
    low = [word_gate(state.gate) for state in one.layer_gates if not state.passed]
    step = f"Raise {join_names(low)} above the gate, then run it again." if failed and scored else second
    told = [*(state for state in one.layer_gates if state.short), *short]
    return CompareDecision(
        verdict="SOLO",
        exit_code=0 if scored and all(state.passed for state in gates) and not forced else 1,
        headline=f"{alone}{mark}.",
        sure=_describe_single_variant_mean(one),
        control=one.name,
        best=None,
        gates={one.name: gates},
        comparisons=(),
        reasons=(*(describe_gates_missed_by_variant(one.name, told) if told else ()), *doubts),
        next_step=advice or (missed.next_step if missed else step),
    )


def hold_single_variant_to_gates(
    means: Mapping[str, float | None], gates: Mapping[str, float], short: Mapping[str, GateSamples | None]
) -> tuple[GateState, ...]:
    """The gate of each layer, with the samples in `short` where its mean does not reach it."""
    states = []
    for layer, mean in means.items():
        passed = None if mean is None else mean >= gates[layer] - GATE_TOLERANCE
        below = None if passed else short.get(layer)
        states.append(
            GateState(gate=layer, min=gates[layer], mean=round_number_for_json(mean), passed=passed, short=below)
        )
    return tuple(states)


def describe_forced_comparison(forced: ForcedComparison) -> tuple[str, tuple[str, ...], str]:
    """What a forced decision says at the end of its headline, among its reasons and as the next step."""
    mark = f" (forced: {forced.why}; {forced.doubt})"
    return mark, (f"It was forced although {forced.why}: {forced.doubt}.",), f"Ship nothing by this: {forced.fix}."


def _describe_single_variant_mean(one: SingleVariant) -> str:
    if one.estimate is not None:
        ends = f"{format_score(one.estimate.low)} to {format_score(one.estimate.high)}"
        return (
            f"There is nothing to compare it with; its mean composite over these samples is "
            f"{format_score(one.estimate.estimate)} by the strong judge, 95% interval {ends}, which saw "
            f"{one.estimate.near + one.estimate.drawn:,} of {format_plural(one.estimate.n, 'sample')}."
        )
    there = ~np.isnan(one.composites)
    clusters, samples = one.clusters[there], one.samples[there]
    if len(np.unique(clusters)) < 2:
        return "There is nothing to compare it with, and too few samples to say how sure its mean is."
    mean = mean_interval(one.composites[there], clusters=clusters, samples=samples, per=one.per)
    counted, n = format_plural(len(np.unique(samples)), "sample"), mean.n
    within = f" in {format_plural(n, 'cluster')}" if n < len(np.unique(samples)) else ""
    low, high = max(LOWEST_COMPOSITE, mean.low), min(HIGHEST_COMPOSITE, mean.high)
    return (
        f"There is nothing to compare it with; its mean composite is {format_score(mean.estimate)}, 95% interval "
        f"{format_score(low)} to {format_score(high)}, from {counted}{within}."
    )
