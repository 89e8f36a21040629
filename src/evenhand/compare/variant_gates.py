"""The gates of a variant: what it reached, what is not known of it, and which samples keep it from passing."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isnan

from evenhand.compare.cascade import CascadeKind, estimate_cascade_figure
from evenhand.compare.decision import PASS_RATE, REQUIRED_GATE, SCORED_GATE, GateSamples, GateState
from evenhand.compare.single_variant import LOWEST_COMPOSITE
from evenhand.runs.run_record import RunEvalRecord
from evenhand.runs.tally import MOST_REPEATS, RunTallyMean, VariantTally
from evenhand.stats.cascades import CascadeMean

SampleNames = Callable[[Collection[int]], Mapping[int, str]]  # Ids by position.
MOST_SAMPLES_NAMED = 3
MOST_CRITERIA_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedGate:
    """What the outputs of a variant came to against a gate; `passed` is None where that is open."""

    name: str
    least: Fraction
    mean: Fraction | None
    passed: bool | None
    unknown: int = 0  # Outputs of which it is not known.
    outputs: int = 0  # Outputs that are held to it one by one.


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
            reached.append(ReachedGate(name=SCORED_GATE, least=Fraction(1), mean=scored, passed=False))
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
        return ReachedGate(name=name, least=least, mean=share, passed=None if share is None else share >= least)
    found = _list_means_by_gate(tally).get(name)
    mean = found.exact if found else None
    kinds: dict[str, CascadeKind] = {"score": "score", "composite": "composite"}
    if name in kinds:
        mean = _correct_gate_mean(frame, tally, kinds[name], mean)
    if found is None or mean is None:
        return ReachedGate(name=name, least=least, mean=None, passed=None, unknown=total)
    # An output may have no score of its own and be complete: nothing asks for one.
    unknown = min(found.missing, total - tally.states["scored"]) if name == "score" else found.missing
    passed: bool | None = mean >= least
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
