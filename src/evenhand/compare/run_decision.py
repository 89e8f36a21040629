"""The decision of a whole run as plain data: the verdict between its variants, held to every gate."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import isnan
from typing import Any

from evenhand.compare.decide import decide_comparison, decision_json
from evenhand.compare.decision import VERDICTS_WORST_FIRST, CompareDecision, VariantColumn
from evenhand.errors import InputError
from evenhand.runs.run_head import check_run_gates
from evenhand.runs.run_record import EvalSnapshot
from evenhand.runs.summary import RunSummary
from evenhand.runs.tally import VariantTally
from evenhand.stats.sequential import Looks, looks_after

Json = dict[str, Any]
UNDECIDED = "UNDECIDED"


def read_run_looks(setup: Json, samples: int) -> Looks | None:
    """The looks that a run of so many samples has had by its setup; None where it was to end with its last sample."""
    until = setup.get("until_decided")
    return looks_after(samples, until["looks"]) if until and samples else None


def decide_run(
    frame: EvalSnapshot, summary: RunSummary, looks: Looks | None = None, *, stopped_early: bool = False
) -> Json:
    """The decision as plain data. What cannot be compared is not: it says why, and nothing passes."""
    tallies = summary.tallies
    layers = _layers_with_scores(tallies)
    own = {name: check_run_gates(tally, frame.gates, but=layers) for name, tally in tallies.items()}
    try:
        decided = _decide_tallies(frame, tallies, layers, looks, stopped_early=stopped_early)
        decision = _mention_looks(add_lead_reasons(decision_json(decided)), looks, early=stopped_early)
    except InputError as error:
        decision = _undecided_decision(str(error))
    for name, states in own.items():
        decision["gates"].setdefault(name, []).extend(states)
    decision = apply_own_gates(decision, own, frame.shippable_variants)
    return (
        _unscored_decision(decision, tallies) if not any(tally.composite.n for tally in tallies.values()) else decision
    )


def _decide_tallies(
    frame: EvalSnapshot,
    tallies: Mapping[str, VariantTally],
    layers: Collection[str],
    looks: Looks | None,
    *,
    stopped_early: bool,
) -> CompareDecision:
    rows = _rows_in_all_variants(tallies)
    return decide_comparison(
        {name: _tally_column(tally, rows[name]) for name, tally in tallies.items()},
        control=frame.control,
        clusters=[tallies[frame.control].clusters[row] for row in rows[frame.control]],
        gates={name: float(least) for name, least in frame.gates.items() if name in layers},
        judges={name: _tally_judge_columns(tally, rows[name]) for name, tally in tallies.items()},
        smallest_effect=float(frame.smallest_effect),
        seed=frame.seed,
        stopped_early=stopped_early,
        looks=looks,
    )


def _layers_with_scores(tallies: Mapping[str, VariantTally]) -> set[str]:
    """The layers of which some output with a composite has a score: those that variants are compared by."""
    return {
        layer
        for tally in tallies.values()
        for layer, mean in tally.layers.items()
        if any(
            not isnan(value)
            for value, whole in zip(mean.values, tally.composite.values, strict=True)
            if not isnan(whole)
        )
    }


def _rows_in_all_variants(tallies: Mapping[str, VariantTally]) -> dict[str, Sequence[int]]:
    """For each variant the rows of those samples and repeats that all variants have: a stopped run may lack some."""
    first = next(iter(tallies.values())).places
    if all(tally.places == first for tally in tallies.values()):
        return dict.fromkeys(tallies, range(len(first)))
    shared = set.intersection(*(set(tally.places) for tally in tallies.values()))
    return {name: [row for row, place in enumerate(tally.places) if place in shared] for name, tally in tallies.items()}


def _tally_column(tally: VariantTally, rows: Sequence[int]) -> VariantColumn:
    layers = {name: _present_column_values(mean.values, rows) for name, mean in tally.layers.items()}
    criteria = {id: _present_column_values(mean.values, rows) for id, mean in tally.criteria.items()}
    return VariantColumn(
        composite=_present_column_values(tally.composite.values, rows), layers=layers, criteria=criteria
    )


def _tally_judge_columns(tally: VariantTally, rows: Sequence[int]) -> list[tuple[float | None, ...]]:
    return [_present_column_values(mean.values, rows) for mean in tally.judges.values()]


def _present_column_values(values: Sequence[float], rows: Sequence[int]) -> tuple[float | None, ...]:
    same: dict[float, float] = {}  # An array gives a new number each time it is asked; most of them are equal.
    return tuple(None if isnan(values[row]) else same.setdefault(values[row], values[row]) for row in rows)


def add_lead_reasons(decision: Json) -> Json:
    """The reasons and the next step of the comparison that gave the headline its verdict."""
    decision["headline"] = decision["headline"].removeprefix(f"{decision['verdict']}: ")
    lead = next((one for one in decision["comparisons"] if one["verdict"] == decision["verdict"]), None)
    if lead is None:
        step = "Add a second variant to compare with, as in variants: {old: …, new: …}."
        return {**decision, "reasons": [], "next_step": step}
    return {**decision, "reasons": list(lead["reasons"]), "next_step": lead["next_step"]}


def _mention_looks(decision: Json, looks: Looks | None, *, early: bool) -> Json:
    """Say that the run was looked at while it came in, and where that ended it."""
    if looks is None or not decision["comparisons"]:
        return decision
    used, planned = looks.taken[-1], looks.planned
    if early:
        decision["headline"] += f" Stopped after {used:,} of {planned:,} samples: settled."
    times = "once," if len(looks.taken) == 1 else f"{len(looks.taken)} times, last"
    decision["reasons"].append(
        f"The run was looked at {times} after {used:,} of {planned:,} samples; intervals and p allow for that."
    )
    return decision


def apply_own_gates(decision: Json, own: Mapping[str, list[Json]], shipped: Sequence[str]) -> Json:
    """Failed gates beyond the layers: nothing ships, however much better it is."""
    failed = [(name, state) for name in shipped for state in own[name] if state["passed"] is not True]
    for name, state in failed:
        reached = "not known" if state["mean"] is None else f"{state['mean']:.4g}"
        demand = f"at least {state['min']:g} is asked for"
        decision["reasons"].append(f"{name}: the gate {state['gate']} is {reached}, {demand}.")
    if not failed:
        return decision
    missed = {name: state["gate"] for name, state in reversed(failed)}  # Of several the first is told.
    before = dict(next((one for one in decision["comparisons"] if one["verdict"] == decision["verdict"]), {}))
    for one in decision["comparisons"]:
        if one["treatment"] in missed:
            _hold_back_comparison(one, missed[one["treatment"]])
    if decision["comparisons"]:
        return {**_choose_new_lead(decision, before), "exit_code": 1}
    if decision["verdict"] != UNDECIDED:
        name, gate = next(iter(missed.items()))
        decision |= {"next_step": _missed_gate_next_step(name, gate), "headline": f"{name} misses its gate {gate}."}
    return {**decision, "exit_code": 1}


def _hold_back_comparison(comparison: Json, gate: str) -> None:
    """What would pass but for a gate beyond the layers; what does not pass has a worse reason."""
    not_worse = comparison["not_worse"]
    if comparison["verdict"] == "PROGRESS":
        rule = comparison["rule"].replace("and nothing speaks against it", "but a gate is missed")
        headline = comparison["headline"].replace("PROGRESS", "CAUTIOUS", 1)
        comparison |= {"verdict": "CAUTIOUS", "rule": rule, "headline": headline}
    elif not (not_worse and not_worse["holds"]):
        return
    name = comparison["treatment"]
    comparison["headline"] = f"{comparison['headline'].removesuffix('.')}, but {name} misses its gate {gate}."
    comparison["next_step"] = _missed_gate_next_step(name, gate)


def _choose_new_lead(decision: Json, before: Json) -> Json:
    """The decision by the worst of its comparisons as they are now; `before` is the one that led it."""
    comparisons = decision["comparisons"]
    lead = min(comparisons, key=lambda one: VERDICTS_WORST_FIRST.index(one["verdict"]))
    better = [one for one in comparisons if one["verdict"] == "PROGRESS"]
    best = max(better, key=lambda one: one["composite"]["estimate"], default=None)
    rest = decision["headline"].removeprefix(
        _headline_after_verdict(before)
    )  # Where it was stopped, and the best of several.
    if best is None or best["treatment"] != decision["best"]:
        rest = re.sub(r" Best of \d+ treatments: .*? points\)\.", "", rest)
    gates = decision["reasons"][len(before["reasons"]) :]
    return {
        **decision,
        "verdict": lead["verdict"],
        "headline": _headline_after_verdict(lead) + rest,
        "sure": lead["sure"],
        "next_step": lead["next_step"],
        "reasons": [*lead["reasons"], *gates],
        "best": best["treatment"] if best else None,
    }


def _headline_after_verdict(comparison: Json) -> str:
    return str(comparison["headline"]).split(": ", 1)[1]


def _missed_gate_next_step(name: str, gate: str) -> str:
    return f"Find out why {name} misses its gate {gate}, then run it again."


def _unscored_decision(decision: Json, tallies: Mapping[str, VariantTally]) -> Json:
    """Nothing has a score: what to do about that comes before anything else."""
    reasons: Counter[tuple[str, str]] = Counter()
    for tally in tallies.values():
        reasons.update(tally.failures)
    why = f": {reasons.most_common(1)[0][0][1]}" if reasons else ""
    return {
        **decision,
        "headline": f"No output could be scored{why}".rstrip(".") + ".",
        "sure": "",
        "next_step": "Mend what failed (see the failures), then run it again.",
        "exit_code": 1,
    }


def _undecided_decision(why: str) -> Json:
    return {
        "verdict": UNDECIDED,
        "headline": f"Not decided: {why}",
        "sure": "",
        "next_step": "Give every sample the same kinds of checks, or run them as two evals.",
        "reasons": [],
        "exit_code": 1,
        "best": None,
        "gates": {},
        "comparisons": [],
    }
