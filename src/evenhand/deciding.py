"""From the rows of a run to its numbers and its decision: the verdict between variants, and every gate."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from math import isnan
from typing import Any

from evenhand.compare import WORST_FIRST, Column, Decision, decide, decision_json
from evenhand.errors import InputError
from evenhand.runs import (
    Columns,
    Frame,
    Summary,
    Tally,
    evaluations,
    first_positions,
    frame_from,
    gate_states,
    head_of,
    keep_table,
    summarise,
)
from evenhand.runs.store import Row, Store
from evenhand.stats import Looks, looks_after

Json = dict[str, Any]
UNDECIDED = "UNDECIDED"


def head_for(store: Store, run: Row) -> Json:
    """The head of a run's report, worked out from its rows; the columns of a finished one are kept on the way."""
    setup = json.loads(run["setup"])
    frame = frame_from(setup["frame"])
    columns = Columns(list(frame.variants)) if run["state"] == "finished" else None
    summary = summarise(list(frame.variants), store.results(run["id"]), store.call_facts(run["id"]), columns)
    if columns is not None:
        keep_table(store, run, columns)
        del columns  # A large run has many, and deciding takes room too.
    ids = store.sample_ids(run["id"], first_positions(summary))
    looks = looks_of(setup, summary.samples)
    early = looks is not None and looks.taken[-1] < looks.planned and _settled(run, setup)
    head = {
        "run": _run_json(run, frame, setup, summary.samples),
        "stopping": _stopping_json(looks, early=early),
        "decision": decision_of(frame, summary, looks, stopped_early=early),
        **head_of(frame, summary, ids),
    }
    return {**head, "consistency": _consistency(store, run, frame, head)}


def report_for(store: Store, id: str) -> tuple[Json, Iterator[Json]]:
    """The report of a run: as it was when it ended, or, where it has not, as far as it has come."""
    from evenhand.report import report_of  # noqa: PLC0415 - whoever decides only shows no texts

    run = store.run(id)
    if run["summary"] is not None and run["state"] != "running":
        return report_of(store, run, json.loads(run["summary"]))
    state = "running" if store.held(run) else "killed"
    return report_of(store, run, head_for(store, {**run, "state": state}))


def looks_of(setup: Json, samples: int) -> Looks | None:
    """The looks that a run of so many samples has had by its setup; None where it was to end with its last sample."""
    until = setup.get("until_decided")
    return looks_after(samples, until["looks"]) if until and samples else None


def _settled(run: Row, setup: Json) -> bool:
    """Whether a run that has not asked about all its samples came to its end; one scored anew was settled by others."""
    return run["state"] == "finished" and "rescored_from" not in setup


def decision_of(frame: Frame, summary: Summary, looks: Looks | None = None, *, stopped_early: bool = False) -> Json:
    """The decision as plain data. What cannot be compared is not: it says why, and nothing passes."""
    tallies = summary.tallies
    layers = _compared_layers(tallies)
    own = {name: gate_states(tally, frame.gates, but=layers) for name, tally in tallies.items()}
    try:
        decided = _decided(frame, tallies, layers, looks, stopped_early=stopped_early)
        decision = _with_looks(with_lead(decision_json(decided)), looks, early=stopped_early)
    except InputError as error:
        decision = _undecided(str(error))
    for name, states in own.items():
        decision["gates"].setdefault(name, []).extend(states)
    decision = with_own_gates(decision, own, frame.shipped)
    return _without_scores(decision, tallies) if not any(tally.composite.n for tally in tallies.values()) else decision


def _decided(
    frame: Frame, tallies: Mapping[str, Tally], layers: Collection[str], looks: Looks | None, *, stopped_early: bool
) -> Decision:
    rows = _common(tallies)
    return decide(
        {name: _column(tally, rows[name]) for name, tally in tallies.items()},
        control=frame.control,
        clusters=[tallies[frame.control].clusters[row] for row in rows[frame.control]],
        gates={name: float(least) for name, least in frame.gates.items() if name in layers},
        judges={name: _by_judge(tally, rows[name]) for name, tally in tallies.items()},
        smallest_effect=float(frame.smallest_effect),
        seed=frame.seed,
        stopped_early=stopped_early,
        looks=looks,
    )


def _compared_layers(tallies: Mapping[str, Tally]) -> set[str]:
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


def _common(tallies: Mapping[str, Tally]) -> dict[str, Sequence[int]]:
    """For each variant the rows of those samples and repeats that all variants have: a stopped run may lack some."""
    first = next(iter(tallies.values())).places
    if all(tally.places == first for tally in tallies.values()):
        return dict.fromkeys(tallies, range(len(first)))
    shared = set.intersection(*(set(tally.places) for tally in tallies.values()))
    return {name: [row for row, place in enumerate(tally.places) if place in shared] for name, tally in tallies.items()}


def _column(tally: Tally, rows: Sequence[int]) -> Column:
    layers = {name: _values(mean.values, rows) for name, mean in tally.layers.items()}
    criteria = {id: _values(mean.values, rows) for id, mean in tally.criteria.items()}
    return Column(composite=_values(tally.composite.values, rows), layers=layers, criteria=criteria)


def _by_judge(tally: Tally, rows: Sequence[int]) -> list[tuple[float | None, ...]]:
    return [_values(mean.values, rows) for mean in tally.judges.values()]


def _values(values: Sequence[float], rows: Sequence[int]) -> tuple[float | None, ...]:
    same: dict[float, float] = {}  # An array gives a new number each time it is asked; most of them are equal.
    return tuple(None if isnan(values[row]) else same.setdefault(values[row], values[row]) for row in rows)


def with_lead(decision: Json) -> Json:
    """The reasons and the next step of the comparison that gave the headline its verdict."""
    decision["headline"] = decision["headline"].removeprefix(f"{decision['verdict']}: ")
    lead = next((one for one in decision["comparisons"] if one["verdict"] == decision["verdict"]), None)
    if lead is None:
        step = "Add a second variant to compare with, as in variants: {old: …, new: …}."
        return {**decision, "reasons": [], "next_step": step}
    return {**decision, "reasons": list(lead["reasons"]), "next_step": lead["next_step"]}


def _with_looks(decision: Json, looks: Looks | None, *, early: bool) -> Json:
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


def _stopping_json(looks: Looks | None, *, early: bool) -> Json | None:
    """How a run came to its end that could be stopped before it."""
    if looks is None:
        return None
    return {
        "planned": looks.planned,
        "used": looks.taken[-1],
        "look": len(looks.taken),
        "looks": list(looks.taken),
        "settled_early": early,
    }


def with_own_gates(decision: Json, own: Mapping[str, list[Json]], shipped: Sequence[str]) -> Json:
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
            _hold_back(one, missed[one["treatment"]])
    if decision["comparisons"]:
        return {**_led_anew(decision, before), "exit_code": 1}
    if decision["verdict"] != UNDECIDED:
        name, gate = next(iter(missed.items()))
        decision |= {"next_step": _mend(name, gate), "headline": f"{name} misses its gate {gate}."}
    return {**decision, "exit_code": 1}


def _hold_back(comparison: Json, gate: str) -> None:
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
    comparison["next_step"] = _mend(name, gate)


def _led_anew(decision: Json, before: Json) -> Json:
    """The decision by the worst of its comparisons as they are now; `before` is the one that led it."""
    comparisons = decision["comparisons"]
    lead = min(comparisons, key=lambda one: WORST_FIRST.index(one["verdict"]))
    better = [one for one in comparisons if one["verdict"] == "PROGRESS"]
    best = max(better, key=lambda one: one["composite"]["estimate"], default=None)
    rest = decision["headline"].removeprefix(_said(before))  # Where it was stopped, and the best of several.
    if best is None or best["treatment"] != decision["best"]:
        rest = re.sub(r" Best of \d+ treatments: .*? points\)\.", "", rest)
    gates = decision["reasons"][len(before["reasons"]) :]
    return {
        **decision,
        "verdict": lead["verdict"],
        "headline": _said(lead) + rest,
        "sure": lead["sure"],
        "next_step": lead["next_step"],
        "reasons": [*lead["reasons"], *gates],
        "best": best["treatment"] if best else None,
    }


def _said(comparison: Json) -> str:
    return str(comparison["headline"]).split(": ", 1)[1]


def _mend(name: str, gate: str) -> str:
    return f"Find out why {name} misses its gate {gate}, then run it again."


def _without_scores(decision: Json, tallies: Mapping[str, Tally]) -> Json:
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


def _undecided(why: str) -> Json:
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


def _run_json(run: Row, frame: Frame, setup: Json, samples: int) -> Json:
    seconds = None
    if run["ended"] is not None:
        spent = datetime.fromisoformat(run["ended"]) - datetime.fromisoformat(run["started"])
        seconds = round(spent.total_seconds(), 1)
    kept = ("id", "name", "state", "started", "ended", "fingerprint", "seed", "keep", "taken_from")
    return {
        **{name: run[name] for name in kept},
        "seconds": seconds,
        "fingerprints": dict(frame.fingerprints),
        "evenhand": setup["evenhand"],
        "python": setup["python"],
        "repeats": frame.repeats,
        "samples": samples,
        "planned": setup.get("samples"),
    }


def _consistency(store: Store, run: Row, frame: Frame, head: Json) -> list[Json]:
    """How each variant stands against its own history; it never changes a score. A part of a run is no evaluation."""
    if run["state"] != "finished":
        return []
    this = {**run, "state": "finished", "summary": json.dumps(head), "ended": run["ended"] or run["started"]}
    others = [one for one in store.runs(frame.name) if one["id"] < run["id"]]
    return [
        {"variant": name, "says": str(evaluations([*others, this], name)[-1].consistency)} for name in frame.variants
    ]
