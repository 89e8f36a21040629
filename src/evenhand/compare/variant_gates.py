"""The gates of a variant: what it reached, what is not known of it, which samples keep it from passing; and the
decision on a variant that stands alone.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isnan

import numpy as np
from numpy.typing import NDArray

from evenhand.compare.cascade import CascadeKind, estimate_cascade_figure
from evenhand.compare.decision import (
    PASS_RATE,
    REQUIRED_GATE,
    SCORED_GATE,
    CompareDecision,
    ForcedComparison,
    GateSamples,
    GateState,
    describe_gates_missed_by_variant,
    object_to_treatment_missing_gate,
)
from evenhand.compare.facts import GATE_TOLERANCE
from evenhand.runs.run_record import RunEvalRecord
from evenhand.runs.tally import MOST_REPEATS, RunTallyMean, VariantTally
from evenhand.stats.arrays import CountedPer
from evenhand.stats.cascades import CascadeMean
from evenhand.stats.means import mean_interval
from evenhand.wording import format_plural, format_score, join_names, round_number_for_json, word_gate

SampleNames = Callable[[Collection[int]], Mapping[int, str]]  # Ids by position.
MOST_SAMPLES_NAMED = 3
MOST_CRITERIA_NAMED = 3
LOWEST_COMPOSITE, HIGHEST_COMPOSITE = 1.0, 5.0  # The ends of the composite's scale: a mean is never off it.


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedGate:
    """What the outputs of a variant came to against a gate; `passed` is None where that is open."""

    name: str
    least: Fraction
    mean: Fraction | None
    passed: bool | None
    unknown: int = 0  # Outputs of which it is not known.
    outputs: int = 0  # Outputs that are held to it one by one.
    borderline: int = 0  # Outputs that are not counted as passed.


def hold_compared_variant_to_gates(
    frame: RunEvalRecord, tally: VariantTally, name_samples: SampleNames | None = None, but: Collection[str] = ()
) -> tuple[GateState, ...]:
    """Each gate that is written, `but` for some, with what was reached, and the samples that keep it from passing.

    Where no pass rate says how many outputs may fail, each must be known to pass every gate of its rubric; and where
    there is one variant, every output must have a score: between variants, rules of their own look at what was lost.
    """
    reached = [_reach_written_gate(frame, tally, name) for name in frame.gates if name not in but]
    if PASS_RATE not in frame.gates:
        total = sum(tally.states.values())
        if total and (tally.gated or tally.gates_unknown or any(rubric.get("gated") for rubric in frame.rubrics)):
            reached.append(_reach_required_gate(tally, total))
        if len(frame.variants) == 1 and tally.states["scored"] < total:
            scored = Fraction(tally.states["scored"], total)
            reached.append(ReachedGate(name=SCORED_GATE, least=Fraction(1), mean=scored, passed=False, outputs=total))
    states = []
    for one in reached:
        short = None
        if not one.passed:
            short = find_compared_samples_short_of_gate(
                tally,
                one.name,
                one.least,
                name_samples,
                count_borderline=frame.count_borderline,
                unknown=one.passed is None,
            )
        mean = None if one.mean is None else float(one.mean)
        states.append(
            GateState(
                gate=one.name,
                min=float(one.least),
                mean=mean,
                passed=one.passed,
                short=short,
                unknown=one.unknown,
                outputs=one.outputs,
                borderline=one.borderline,
            )
        )
    return tuple(states)


def _reach_written_gate(frame: RunEvalRecord, tally: VariantTally, name: str) -> ReachedGate:
    total, least = sum(tally.states.values()), frame.gates[name]
    if name == PASS_RATE and name not in tally.layers:
        # An incomplete scorecard never passes, and an output that failed has none.
        passing = tally.passed + (tally.borderline if frame.count_borderline else 0)
        share = Fraction(passing, total) if total else None
        share = _correct_gate_mean(frame, tally, "pass rate", share)
        passed = None if share is None else share >= least
        uncounted = 0 if frame.count_borderline or passed else tally.borderline
        return ReachedGate(name=name, least=least, mean=share, passed=passed, borderline=uncounted)
    found = _list_means_by_gate(tally).get(name)
    mean = found.exact if found else None
    kinds: dict[str, CascadeKind] = {"score": "score", "composite": "composite"}
    if name in kinds:
        mean = _correct_gate_mean(frame, tally, kinds[name], mean)
    if found is None or mean is None:
        return ReachedGate(name=name, least=least, mean=None, passed=None, unknown=total)
    # An output may have no score of its own and be complete: nothing asks for one.
    unknown = min(found.missing, total - tally.states["scored"]) if name == "score" else found.missing
    passed = mean >= least
    if passed and unknown:  # It is passed only where even the lowest answers would leave it so.
        low = _find_lowest_answer(frame, name)
        worst = None if low is None else (mean * found.n + low * unknown) / (found.n + unknown)
        passed = True if worst is not None and worst >= least else None
    return ReachedGate(name=name, least=least, mean=mean, passed=passed, unknown=unknown)


def _correct_gate_mean(
    frame: RunEvalRecord, tally: VariantTally, kind: CascadeKind, mean: Fraction | None
) -> Fraction | None:
    """The mean by the strong judge, where a cascade scored the outputs; else as it is."""
    found = estimate_cascade_figure(frame, tally, kind) if tally.cascade else None
    return Fraction(str(round(found.estimate, 9))) if isinstance(found, CascadeMean) else mean


def _find_lowest_answer(frame: RunEvalRecord, name: str) -> Fraction | None:
    """The lowest that an output which is not known could come to; None where there is no such end."""
    ends = [
        one["ends"][0]
        for rubric in frame.rubrics
        for one in rubric["criteria"]
        if one["id"] == name and one.get("ends")
    ]
    if name == "score" and frame.scale:
        ends = [frame.scale[0]]
    elif name == "composite" and frame.composite.standardise != "z":
        ends = [LOWEST_COMPOSITE]
    return Fraction(str(min(ends))) if ends else None


def _reach_required_gate(tally: VariantTally, total: int) -> ReachedGate:
    """The gate that every output is to pass: those of its rubric."""
    known = Fraction(total - tally.gated - tally.gates_unknown, total)
    passed = False if tally.gated else None if tally.gates_unknown else True
    return ReachedGate(
        name=REQUIRED_GATE, least=Fraction(1), mean=known, passed=passed, unknown=tally.gates_unknown, outputs=total
    )


def find_compared_samples_short_of_gate(
    tally: VariantTally,
    gate: str,
    least: float | Fraction,
    name_samples: SampleNames | None,
    *,
    count_borderline: bool = False,
    unknown: bool = False,
) -> GateSamples | None:
    """The samples below a gate, or, for a share of outputs, those not in it; None where nobody can name any.

    Where it is `unknown` whether the gate is passed, those of which it is.
    """
    if name_samples is None or (unknown and gate != REQUIRED_GATE):
        return None
    measured = _list_means_by_gate(tally)
    criteria: tuple[str, ...] = ()
    if gate in measured:
        lowest = _order_variant_samples_below_gate(tally, measured[gate], float(least))
        criteria = (gate,) if gate in tally.criteria and gate not in tally.layers else ()
    else:
        by_criterion = tally.open_gates if unknown else tally.failed_gates
        lowest = _list_compared_positions_left_out(tally, gate, count_borderline, by_criterion)
        failed = Counter({criterion: len(set(places)) for criterion, places in by_criterion.items()})
        criteria = tuple(criterion for criterion, _ in failed.most_common(MOST_CRITERIA_NAMED))
    if not lowest:
        return None
    names = name_samples(lowest[:MOST_SAMPLES_NAMED])
    shown = tuple(names[position] for position in lowest[:MOST_SAMPLES_NAMED] if position in names)
    return GateSamples(samples=shown, count=len(lowest), criteria=criteria)


def _list_means_by_gate(tally: VariantTally) -> dict[str, RunTallyMean]:
    return {**tally.criteria, **tally.layers, "score": tally.score, "composite": tally.composite}


def _list_compared_positions_left_out(
    tally: VariantTally, gate: str, count_borderline: bool, by_criterion: Mapping[str, array[int]]
) -> list[int]:
    """Samples whose outputs do not pass, fail a gate of their rubric, or have no score, as the gate asks."""
    if gate == REQUIRED_GATE:
        places = list(by_criterion.values())
    else:
        passing = {"borderline"} if count_borderline else set()
        passing |= {"borderline", "fail"} if gate == SCORED_GATE else set()
        places = [found for verdict, found in sorted(tally.not_passed.items(), reverse=True) if verdict not in passing]
    return list(dict.fromkeys(position for found in places for position in found))


def _order_variant_samples_below_gate(tally: VariantTally, mean: RunTallyMean, least: float) -> list[int]:
    """Positions of samples below a minimum, lowest first; of repeats the lowest counts."""
    low: dict[int, float] = {}
    for place, value in zip(tally.places, mean.values, strict=True):
        if not isnan(value) and value < least:
            position = place // MOST_REPEATS
            low[position] = min(value, low.get(position, value))
    return sorted(low, key=lambda position: (low[position], position))


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
