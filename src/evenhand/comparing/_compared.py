"""Stored runs held against each other: chosen, paired, checked, decided, told as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.comparing._decided import Decided, decided
from evenhand.comparing._objections import Objection, other_layers, other_samples, refuse, scored_otherwise, unfinished
from evenhand.comparing._power import power_json
from evenhand.comparing._sides import Side, sides_of
from evenhand.comparing._terms import Terms
from evenhand.errors import Fault, InputError
from evenhand.runs import Paired, Shared, paired, shared
from evenhand.runs.store import Store

Json = dict[str, Any]
FIRST = 5  # Ids that are named of samples that only one run has; all are counted.


def compare_runs(store: Store, *runs: str, terms: Terms = Terms()) -> Json:  # noqa: B008 - frozen
    """The decision between two runs, the first being the control, or between the variants of one.

    A run is given as `Store.run` takes it, with ":VARIANT" behind it where it has several.
    """
    sides = sides_of(store, runs, terms.control)
    control, *treatments = sides
    common = [shared(control.member, side.member) for side in treatments]
    _refuse_strangers(control, treatments, common)
    pairs = paired([side.member for side in sides])
    objections = [*unfinished(sides), *_between_runs(store, sides, common), *other_layers(sides, pairs)]
    if not terms.force:
        refuse(objections)
    found = decided(store, sides, pairs, terms)
    return {
        "control": control.data(),
        "treatments": [side.data() for side in treatments],
        "samples": _samples_json(common, len(control.member.samples)),
        "notes": [*_notes(sides, common, pairs), *found.notes],
        "forced": [part for objection in objections for part in objection.parts],
        "decision": _marked(found.told, objections),
        "power": _power(found, sides, pairs) if terms.power else None,
        "scales": {one["id"]: one["ends"] for rubric in control.frame.rubrics for one in rubric["criteria"]},
    }


def _refuse_strangers(control: Side, treatments: Sequence[Side], common: Sequence[Shared]) -> None:
    """Without one sample in common there is nothing that could be forced."""
    for side, found in zip(treatments, common, strict=True):
        if not found.both:
            hint = "samples are paired by their ids: are these runs of the same eval?"
            raise InputError(Fault(f"{control.name} and {side.name} have no sample in common", hint))


def _between_runs(store: Store, sides: Sequence[Side], common: Sequence[Shared]) -> list[Objection]:
    control, *treatments = sides
    return [
        objection
        for side, found in zip(treatments, common, strict=True)
        if side.run["id"] != control.run["id"]
        for objection in (*scored_otherwise(control, side), *other_samples(store, control, side, found))
    ]


def _marked(decision: Json, objections: Sequence[Objection]) -> Json:
    """A decision that was forced says so wherever it is told."""
    if not objections:
        return decision
    why = "; ".join(dict.fromkeys(objection.what for objection in objections))
    return {**decision, "headline": f"{decision['headline'].removesuffix('.')} (forced: {why})."}


def _samples_json(common: Sequence[Shared], own: int) -> Json:
    """Over all treatments: what is in all of them is paired."""
    lost = dict.fromkeys(id for found in common for id in found.only_first)
    more = dict.fromkeys(id for found in common for id in found.only_second)
    changed = dict.fromkeys(id for found in common for id in found.changed)
    return {
        "both": own - len(lost),
        **{
            name: {"count": len(ids), "first": list(ids)[:FIRST]}
            for name, ids in (("only_control", lost), ("only_treatment", more), ("changed", changed))
        },
    }


def _notes(sides: Sequence[Side], common: Sequence[Shared], pairs: Paired) -> list[str]:
    """What a reader should know that is no reason to refuse."""
    control, *treatments = sides
    notes = [
        f"{len(found.only_second):,} of the samples of {side.name} are not in {control.name}, and left out"
        for side, found in zip(treatments, common, strict=True)
        if found.only_second
    ]
    notes += [
        f"{count:,} outputs of {side.name} are repeats that the other has not, and left out"
        for side, count in zip(sides, pairs.unpaired, strict=True)
        if count
    ]
    gates = {tuple(sorted(side.frame.gates.items())) for side in sides}
    return [*notes, *([f"the gates are those of {sides[-1].name}"] if len(gates) > 1 else [])]


def _power(found: Decided, sides: Sequence[Side], pairs: Paired) -> Json:
    control, smallest = found.columns[sides[0].name], float(sides[-1].frame.smallest_effect)
    return {
        one.treatment: power_json(control, found.columns[one.treatment], pairs.clusters, one.composite, smallest)
        for one in found.decision.comparisons
        if one.composite is not None
    }
