"""The gates of a variant: what it reached, what is not known of it, which samples keep it from passing; and the
decision on a variant that stands alone.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isnan

import numpy as np
from numpy.typing import NDArray

from evenhand.compare.cascade import CascadeKind, estimate_variant_through_cascade
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
from evenhand.compare.facts import GATE_TOLERANCE, ReachedLayer
from evenhand.evals.eval_schema import MOST_REPEATS
from evenhand.runs.run_record import RunEvalRecord
from evenhand.runs.tally import RunTallyMean, RunVariantTally
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
    frame: RunEvalRecord, tally: RunVariantTally, name_samples: SampleNames | None = None, but: Collection[str] = ()
) -> tuple[GateState, ...]:
    """Each gate that is written, `but` for some, with what was reached, and the samples that keep it from passing.

    Where no pass rate says how many outputs may fail, each must be known to pass every gate of its rubric; and where
    there is one variant, every output must have a score: between variants, rules of their own look at what was lost.
    """
    reached = [_does_variant_reach_written_gate(frame, tally, name) for name in frame.gates if name not in but]
    if PASS_RATE not in frame.gates:
        total = sum(tally.states.values())
        if total and (tally.gated or tally.gates_unknown or any(rubric.get("gated") for rubric in frame.rubrics)):
            reached.append(  # Every output is to pass the gates of its rubric.
                ReachedGate(
                    name=REQUIRED_GATE,
                    least=Fraction(1),
                    mean=Fraction(total - tally.gated - tally.gates_unknown, total),
                    passed=False if tally.gated else None if tally.gates_unknown else True,
                    unknown=tally.gates_unknown,
                    outputs=total,
                )
            )
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


def _does_variant_reach_written_gate(frame: RunEvalRecord, tally: RunVariantTally, name: str) -> ReachedGate:
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
    reached: bool | None = mean >= least
    if reached and found.missing:  # It is passed only where even the lowest answers would leave it so.
        low = _find_lowest_answer_of_variant(frame, name, tally)
        shift = float(mean - (found.exact or 0))  # What the strong judge of a cascade corrects.
        worst = None if low is None else _average_with_lowest_answers(tally, found, float(low), shift)
        reached = True if worst is not None and worst >= float(least) - GATE_TOLERANCE else None
    return ReachedGate(name=name, least=least, mean=mean, passed=reached, unknown=found.missing)


def reach_layer_of_variant(tally: RunVariantTally, mean: RunTallyMean) -> ReachedLayer:
    """What a layer of a variant came to over all of its outputs."""
    exact = None if mean.exact is None else float(mean.exact)
    lowest = exact if exact is None else _average_with_lowest_answers(tally, mean, LOWEST_COMPOSITE)
    return ReachedLayer(mean=exact, lowest=lowest, missing=mean.missing)


def _average_with_lowest_answers(tally: RunVariantTally, mean: RunTallyMean, low: float, shift: float = 0.0) -> float:
    """The mean if every missing answer were the lowest; the answers that there are may be shifted."""
    values = np.array(mean.values) + shift
    values[np.array(mean.gaps, np.int64)] = low
    there = ~np.isnan(values)
    counted = np.array(tally.clusters if tally.per == "cluster" else tally.samples)[there]
    units = np.unique(counted, return_inverse=True)[1]
    return float((np.bincount(units, values[there]) / np.bincount(units)).mean())


def _correct_gate_mean(
    frame: RunEvalRecord, tally: RunVariantTally, kind: CascadeKind, mean: Fraction | None
) -> Fraction | None:
    """The mean by the strong judge, where a cascade scored the outputs; else as it is."""
    found = estimate_variant_through_cascade(frame, tally, kind) if tally.cascade else None
    return Fraction(str(round(found.estimate, 9))) if isinstance(found, CascadeMean) else mean


def _find_lowest_answer_of_variant(frame: RunEvalRecord, name: str, tally: RunVariantTally) -> Fraction | None:
    """The lowest that an output which is not known could come to; None where there is no such end."""
    ends = [
        one["ends"][0]
        for rubric in frame.rubrics
        for one in rubric["criteria"]
        if one["id"] == name and one.get("ends")
    ]
    if name == "score" and frame.scale:
        ends = [frame.scale[0]]
    elif name in tally.layers or (name == "composite" and frame.composite.standardise != "z"):
        ends = [LOWEST_COMPOSITE]
    return Fraction(str(min(ends))) if ends else None


def find_compared_samples_short_of_gate(
    tally: RunVariantTally,
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
        if gate == SCORED_GATE:  # What has no score lacks an answer, whatever else fails.
            by_criterion = tally.missing_criteria
        lowest = _list_compared_positions_left_out(tally, gate, count_borderline, by_criterion)
        failed = Counter({criterion: len(set(places)) for criterion, places in by_criterion.items()})
        criteria = tuple(criterion for criterion, _ in failed.most_common(MOST_CRITERIA_NAMED))
    if not lowest:
        return None
    names = name_samples(lowest[:MOST_SAMPLES_NAMED])
    shown = tuple(names[position] for position in lowest[:MOST_SAMPLES_NAMED] if position in names)
    return GateSamples(samples=shown, count=len(lowest), criteria=criteria)


def _list_means_by_gate(tally: RunVariantTally) -> dict[str, RunTallyMean]:
    return {**tally.criteria, **tally.layers, "score": tally.score, "composite": tally.composite}


def _list_compared_positions_left_out(
    tally: RunVariantTally, gate: str, count_borderline: bool, by_criterion: Mapping[str, array[int]]
) -> list[int]:
    """Samples whose outputs do not pass, fail a gate of their rubric, or have no score, as the gate asks."""
    if gate == REQUIRED_GATE:
        places = list(by_criterion.values())
    else:
        passing = {"borderline"} if count_borderline else set()
        passing |= {"borderline", "fail"} if gate == SCORED_GATE else set()
        places = [found for verdict, found in sorted(tally.not_passed.items(), reverse=True) if verdict not in passing]
    return list(dict.fromkeys(position for found in places for position in found))


def _order_variant_samples_below_gate(tally: RunVariantTally, mean: RunTallyMean, least: float) -> list[int]:
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
    layer_gates: tuple[GateState, ...]
    other_gates: tuple[GateState, ...]  # Those beside the layers.
    estimate: CascadeMean | None = None  # The composite by the strong judge of a cascade.


def decide_single_variant(one: SingleVariant, forced: ForcedComparison | None = None) -> CompareDecision:
    """SOLO: the state of the gates, and nothing to compare with."""
    mark, doubts, advice = describe_forced_comparison(forced) if forced else ("", (), "")
    scored = not bool(np.isnan(one.composites).all())
    gates, short = (*one.layer_gates, *one.other_gates), [state for state in one.other_gates if not state.passed]
    missed = object_to_treatment_missing_gate(one.name, short) if short else None
    said = missed.says if missed else _describe_layer_gates_of_single_variant(one.layer_gates)
    alone = f"{one.name} stands alone. {said if scored else 'Nothing could be scored'}"
    second = "Add a second variant to compare with, as in variants: {old: …, new: …}."
    low = [word_gate(state.gate) for state in one.layer_gates if state.passed is False]
    step = f"Raise {join_names(low)} above the gate, then run it again." if low and scored else second
    if scored and not low and any(state.passed is None for state in one.layer_gates):
        step = f"Get a score for every output of {one.name}, then run it again."
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


def _describe_layer_gates_of_single_variant(states: Sequence[GateState]) -> str:
    if not states:
        return "It has no gates"
    parts = []
    for passed, says in ((False, "Below the gate"), (None, "Not known to pass the gate")):
        named = []
        for state in (state for state in states if state.passed is passed):
            mean, gate = (format_score(one, beside=state.min) for one in (state.mean, state.min))
            without = f", {format_plural(state.unknown, 'output')} without an answer" if passed is None else ""
            named.append(f"{word_gate(state.gate)} ({mean}, gate {gate}{without})")
        parts += [f"{says}: {join_names(named)}"] if named else []
    return ". ".join(parts) or f"All gates passed: {join_names(word_gate(state.gate) for state in states)}"


def hold_single_variant_to_gates(
    reached: Mapping[str, ReachedLayer], gates: Mapping[str, float], short: Mapping[str, GateSamples | None]
) -> tuple[GateState, ...]:
    """The gate of each layer, with the samples in `short` where its mean does not reach it."""
    states = []
    for layer, found in reached.items():
        passed = found.passes_gate(gates[layer])
        states.append(
            GateState(
                gate=layer,
                min=gates[layer],
                mean=round_number_for_json(found.mean),
                passed=passed,
                short=None if passed else short.get(layer),
                unknown=found.missing,
            )
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
    scale = (LOWEST_COMPOSITE, HIGHEST_COMPOSITE)
    mean = mean_interval(one.composites[there], clusters=clusters, samples=samples, per=one.per, scale=scale)
    counted, n = format_plural(len(np.unique(samples)), "sample"), mean.n
    within = f" in {format_plural(n, 'cluster')}" if n < len(np.unique(samples)) else ""
    return (
        f"There is nothing to compare it with; its mean composite is {format_score(mean.estimate)}, 95% interval "
        f"{format_score(mean.low)} to {format_score(mean.high)}, from {counted}{within}."
    )
