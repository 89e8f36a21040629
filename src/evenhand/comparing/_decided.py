"""The decision between paired variants, by the engine of every verdict and all gates of their runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.compare import Column, Decision, decide, decision_json
from evenhand.comparing._aligned import alignment
from evenhand.comparing._sides import Side
from evenhand.comparing._terms import Terms
from evenhand.deciding import looks_of, report_for, with_lead, with_own_gates
from evenhand.errors import Fault, InputError
from evenhand.runs import Paired
from evenhand.runs.store import Store
from evenhand.stats import Looks

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A decision, what it was decided by, and the same as plain data; `notes` are for its reader."""

    decision: Decision
    columns: Mapping[str, Column]
    told: Json
    notes: tuple[str, ...]


def decided(store: Store, sides: Sequence[Side], pairs: Paired, terms: Terms) -> Decided:
    """Held to the gates, the smallest effect and the seed of whoever may be shipped."""
    frame = sides[-1].frame
    layers, others = _layers(pairs)
    columns = {side.name: _column(pairs, place, layers, others) for place, side in enumerate(sides)}
    heads = {side.run["id"]: _head(store, side) for side in sides}
    looked = next((side for side in reversed(sides) if _looks(side) is not None), None)
    stopping = heads[looked.run["id"]].get("stopping") if looked else None
    decision = decide(
        columns,
        control=sides[0].name,
        clusters=pairs.clusters,
        gates={name: float(least) for name, least in frame.gates.items() if name in layers},
        judges={side.name: pairs.judges(place) for place, side in enumerate(sides)},
        aligned=alignment(store, sides),
        smallest_effect=float(frame.smallest_effect),
        not_worse_by=terms.not_worse_by,
        seed=frame.seed,
        # Settled was the run's own comparison; one with another run has to have samples enough.
        stopped_early=bool(stopping and stopping["settled_early"]) and len(heads) == 1,
        looks=_looks(looked) if looked else None,
    )
    note = f"the run of {looked.name} was looked at while it came in: intervals and p allow for that" if looked else ""
    return Decided(
        decision=decision,
        columns=columns,
        told=_told(sides, decision, heads),
        notes=(note,) if note and decision.comparisons else (),
    )


def _layers(pairs: Paired) -> tuple[tuple[str, ...], bool]:
    """The layers that every composite was computed from, and whether some were computed from others too."""
    sets = {layers for place in range(len(pairs.members)) for layers in pairs.layer_sets(place)}
    every = tuple(sorted(set.intersection(*map(set, sets)))) if sets else ()
    if len(sets) > 1 and not every:
        what = "no layer is behind all composites: there is nothing to compare by"
        raise InputError(Fault(what, "configure the same checks for all samples of both"))
    return every, len(sets) > 1


def _column(pairs: Paired, place: int, layers: Sequence[str], others: bool) -> Column:
    """What one scored. Where layers differ, by those that all have: means of different things are no match."""
    own = pairs.layers(place)
    return Column(
        composite=pairs.composite(place, layers if others else None),
        layers={name: own[name] for name in layers} if others else own,
        criteria=pairs.criteria(place),
    )


def _head(store: Store, side: Side) -> Json:
    """What a run came to when it ended; of one that has not, what it has come to."""
    if side.run["summary"] is None:
        return report_for(store, side.run["id"])[0]
    head: Json = json.loads(side.run["summary"])
    return head


def _looks(side: Side) -> Looks | None:
    return looks_of(json.loads(side.run["setup"]), len(side.member.samples))


def _told(sides: Sequence[Side], decision: Decision, heads: Mapping[str, Json]) -> Json:
    """As plain data, held also to the gates beyond the layers that each run was held to."""
    told = with_lead(decision_json(decision))
    layers = {state.gate for states in decision.gates.values() for state in states}
    own = {}
    for side in sides:
        states = heads[side.run["id"]]["decision"]["gates"].get(side.member.variant, ())
        own[side.name] = [state for state in states if state["gate"] not in layers]
        told["gates"].setdefault(side.name, []).extend(own[side.name])
    return with_own_gates(told, own, [side.name for side in sides[1:]] or [sides[0].name])
