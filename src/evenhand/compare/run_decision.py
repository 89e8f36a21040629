"""The decision of a whole run: the verdict between its variants, held to every gate of its eval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import isnan
from typing import Any

from evenhand.compare.decide import decide_comparison
from evenhand.compare.decision import CompareDecision, GateState, VariantColumn
from evenhand.compare.objections import describe_missed_gates
from evenhand.errors import InputError
from evenhand.runs.run_record import RunEvalRecord
from evenhand.runs.summary import RunSummary
from evenhand.runs.tally import VariantTally
from evenhand.stats.sequential import Looks, looks_after

GatesByVariant = Mapping[str, tuple[GateState, ...]]


def read_run_looks(setup: Mapping[str, Any], samples: int) -> Looks | None:
    """The looks that a run of so many samples has had by its setup; None where it was to end with its last sample."""
    until = setup.get("until_decided")
    return looks_after(samples, until["looks"]) if until and samples else None


def decide_run(
    frame: RunEvalRecord, summary: RunSummary, looks: Looks | None = None, *, stopped_early: bool = False
) -> CompareDecision:
    """What cannot be compared is not: the decision says why, and nothing passes."""
    tallies = summary.tallies
    # The layers that variants are compared by: some output with a composite has a score of it.
    layers = {
        layer
        for tally in tallies.values()
        for layer, mean in tally.layers.items()
        if any(
            not isnan(one) and not isnan(whole) for one, whole in zip(mean.values, tally.composite.values, strict=True)
        )
    }
    gates = {name: check_run_gates(tally, frame.gates, but=layers) for name, tally in tallies.items()}
    try:
        rows = _rows_in_all_variants(tallies)
        decision = decide_comparison(
            {name: _compared_variant_column(tally, rows[name]) for name, tally in tallies.items()},
            control=frame.control,
            clusters=[tallies[frame.control].clusters[row] for row in rows[frame.control]],
            gates={name: float(least) for name, least in frame.gates.items() if name in layers},
            other_gates=gates,
            judges={
                name: [_select_compared_values(mean.values, rows[name]) for mean in tally.judges.values()]
                for name, tally in tallies.items()
            },
            smallest_effect=float(frame.smallest_effect),
            seed=frame.seed,
            stopped_early=stopped_early,
            looks=looks,
            tell_looks=True,
        )
    except InputError as error:
        decision = _leave_verdict_undecided(str(error), gates, frame.shippable_variants)
    return (
        decision
        if any(tally.composite.n for tally in tallies.values())
        else _explain_unscored_verdict(decision, tallies, frame.shippable_variants)
    )


def _leave_verdict_undecided(why: str, gates: GatesByVariant, shippable: Sequence[str]) -> CompareDecision:
    return CompareDecision(
        verdict="UNDECIDED",
        exit_code=1,
        headline=f"Not decided: {why}",
        sure="",
        control=None,
        best=None,
        gates=gates,
        comparisons=(),
        reasons=tuple(reason for name in shippable for reason in describe_missed_gates(name, gates[name])),
        next_step="Give every sample the same kinds of checks, or run them as two evals.",
    )


def _explain_unscored_verdict(
    decision: CompareDecision, tallies: Mapping[str, VariantTally], shippable: Sequence[str]
) -> CompareDecision:
    """Nothing has a score: that, and what to do about it, comes before anything that a comparison would say."""
    failures: Counter[tuple[str, str]] = sum((tally.failures for tally in tallies.values()), Counter())
    kinds: Counter[str] = Counter()
    for (kind, _), count in failures.items():
        kinds[kind] += count
    # Each output that could not be made failed once; one that could not be judged may fail on every criterion.
    unmade = sum(tally.states["failed"] for tally in tallies.values())
    every = sum(sum(tally.states.values()) for tally in tallies.values())
    kind = (
        "output"
        if unmade == every
        else max((one for one in kinds if one != "output"), key=kinds.__getitem__, default="")
    )
    (_, why), _ = next((one for one in failures.most_common() if one[0][0] == kind), (("", ""), 0))
    what, step = _UNSCORED.get(kind, ("scored", "Fix what failed (see the failures), then run it again."))
    return replace(
        decision,
        verdict=decision.verdict if decision.verdict == "SOLO" else "UNDECIDED",
        headline=f"No output could be {what}{': ' if why else ''}{why.rstrip('.')}.",
        sure="",
        reasons=tuple(reason for name in shippable for reason in describe_missed_gates(name, decision.gates[name])),
        comparisons=(),
        next_step=step,
        exit_code=1,
    )


_UNSCORED = {  # What could not be done where a kind of failure is the commonest, and what to do about it.
    "output": ("made", "Fix what makes the outputs (see the failures), then run it again."),
    "abstention": (
        "judged",
        "Name a judge that can answer these criteria, or ask yes/no questions about what the output says.",
    ),
    "judge": ("judged", "Fix what failed (see the failures), then run it again."),
}


def _rows_in_all_variants(tallies: Mapping[str, VariantTally]) -> dict[str, Sequence[int]]:
    """For each variant the rows of those samples and repeats that all variants have: a stopped run may lack some."""
    first = next(iter(tallies.values())).places
    if all(tally.places == first for tally in tallies.values()):
        return dict.fromkeys(tallies, range(len(first)))
    shared = set.intersection(*(set(tally.places) for tally in tallies.values()))
    return {name: [row for row, place in enumerate(tally.places) if place in shared] for name, tally in tallies.items()}


def _compared_variant_column(tally: VariantTally, rows: Sequence[int]) -> VariantColumn:
    return VariantColumn(
        composite=_select_compared_values(tally.composite.values, rows),
        layers={name: _select_compared_values(mean.values, rows) for name, mean in tally.layers.items()},
        criteria={id: _select_compared_values(mean.values, rows) for id, mean in tally.criteria.items()},
    )


def _select_compared_values(values: Sequence[float], rows: Sequence[int]) -> tuple[float | None, ...]:
    same: dict[float, float] = {}  # An array gives a new number each time it is asked; most of them are equal.
    return tuple(None if isnan(values[row]) else same.setdefault(values[row], values[row]) for row in rows)


PASS_RATE = "pass_rate"


def check_run_gates(
    tally: VariantTally, gates: Mapping[str, Fraction], but: Collection[str] = ()
) -> tuple[GateState, ...]:
    """Each gate with what was reached, `but` for some. Every output must pass, unless a pass rate says otherwise."""
    asked = {name: least for name, least in gates.items() if name not in but}
    asked.setdefault(PASS_RATE, Fraction(1))
    reached = {name: _gate_mean(tally, name) for name in asked}
    return tuple(
        GateState(
            gate=name,
            min=float(asked[name]),
            mean=None if mean is None else float(mean),
            passed=None if mean is None else mean >= asked[name],
        )
        for name, mean in reached.items()
    )


def _gate_mean(tally: VariantTally, name: str) -> Fraction | None:
    if name in ("score", "composite"):
        return (tally.score if name == "score" else tally.composite).exact
    if name in tally.layers:
        return tally.layers[name].exact
    if name == PASS_RATE:  # An incomplete scorecard never passes, and an output that failed has none.
        total = sum(tally.states.values())
        return Fraction(tally.passed, total) if total else None
    mean = tally.criteria.get(name)
    return mean.exact if mean else None
