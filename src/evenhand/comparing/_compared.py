"""Stored runs held against each other: chosen, paired, checked, decided, told as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.comparing._decided import Decided, decided
from evenhand.comparing._objections import (
    Objection,
    changed_samples,
    left_by_lot,
    missing_samples,
    other_layers,
    refuse,
    scored_otherwise,
    unfinished,
)
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
    by_lot = [left_by_lot(store, control, side, found) for side, found in zip(treatments, common, strict=True)]
    pairs = paired([side.member for side in sides])
    objections = [*unfinished(sides), *_between_runs(store, sides, common, by_lot), *other_layers(sides, pairs)]
    if not terms.force:
        refuse(objections)
    found = decided(store, sides, pairs, terms)
    return {
        "control": control.data(),
        "treatments": [side.data() for side in treatments],
        "samples": _samples_json(common, len(control.member.samples)),
        "notes": [*_notes(sides, common, by_lot, pairs), *found.notes],
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


def _between_runs(
    store: Store, sides: Sequence[Side], common: Sequence[Shared], by_lot: Sequence[bool]
) -> list[Objection]:
    control, *treatments = sides
    return [
        objection
        for side, found, lot in zip(treatments, common, by_lot, strict=True)
        if side.run["id"] != control.run["id"]
        for objection in (
            *scored_otherwise(control, side),
            *(() if lot else missing_samples(control, side, found)),
            *changed_samples(store, control, side, found),
        )
    ]


def _marked(decision: Json, objections: Sequence[Objection]) -> Json:
    """A decision that was forced says so wherever it is told, and passes nothing."""
    if not objections:
        return decision
    why = "; ".join(dict.fromkeys(objection.what for objection in objections))
    mend = "; ".join(dict.fromkeys(objection.hint.partition(":")[0] for objection in objections))
    doubt = "the difference may come from that" if decision["comparisons"] else "that may have made it what it is"
    marked = {**decision, "comparisons": [dict(one) for one in decision["comparisons"]], "exit_code": 1}
    for told in (marked, *marked["comparisons"]):
        told["headline"] = f"{told['headline'].removesuffix('.')} (forced: {why}; {doubt})."
        told["reasons"] = [*told["reasons"], f"It was forced although {why}: {doubt}."]
        told["next_step"] = f"Ship nothing by this: {mend}."
    return marked


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


def _notes(sides: Sequence[Side], common: Sequence[Shared], by_lot: Sequence[bool], pairs: Paired) -> list[str]:
    """What a reader should know that is no reason to refuse."""
    control, *treatments = sides
    notes = [
        f"the run of {side.name} was decided before it came to {len(found.only_first):,} of the samples of "
        f"{control.name}: left out by lot"
        for side, found, lot in zip(treatments, common, by_lot, strict=True)
        if lot
    ]
    notes += [
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
    notes += [f"the gates are those of {sides[-1].name}"] if len(gates) > 1 else []
    return [*notes, *_alone(sides)]


def _alone(sides: Sequence[Side]) -> list[str]:
    """One treatment picked from several of a run looks better than it is: nothing allows for the others."""
    tried = len(sides[0].frame.variants) - 1
    if len({side.run["id"] for side in sides}) > 1 or len(sides) != 2 or tried < 2:
        return []
    return [f"{sides[1].name} is one of {tried} treatments of its run: p is not adjusted for the others"]


def _power(found: Decided, sides: Sequence[Side], pairs: Paired) -> Json:
    control, smallest = found.columns[sides[0].name], float(sides[-1].frame.smallest_effect)
    return {
        one.treatment: power_json(control, found.columns[one.treatment], pairs.clusters, one.composite, smallest)
        for one in found.decision.comparisons
        if one.composite is not None
    }
