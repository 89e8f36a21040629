"""What speaks against a comparison: refused, or, where somebody insists, marked on all that comes of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.comparing._setups import differences
from evenhand.comparing._sides import Side
from evenhand.errors import Fault, InputError
from evenhand.runs import SAMPLE_PARTS, Paired, Shared
from evenhand.runs.store import Store

ANYWAY = "--force compares them all the same"


@dataclass(frozen=True, slots=True, kw_only=True)
class Objection:
    """One reason why two variants should not be compared: all that belongs to it, and what would help."""

    what: str
    parts: tuple[str, ...]
    hint: str

    def fault(self) -> Fault:
        """As an error tells it."""
        return Fault(f"{self.what}: {'; '.join(self.parts)}", f"{self.hint}; {ANYWAY}")


def refuse(objections: Sequence[Objection]) -> None:
    """All that speaks against it, at once."""
    if objections:
        raise InputError(*(objection.fault() for objection in objections))


def unfinished(sides: Sequence[Side]) -> Iterator[Objection]:
    """Runs that may still change, or never came to their end."""
    for run in {side.run["id"]: side.run for side in sides}.values():
        if run["state"] != "finished":
            part = f"{run['id']} ({run['state']})"
            hint = "wait for its end" if run["state"] == "running" else "evenhand run EVAL --resume finishes it"
            yield Objection(what="a run is not finished", parts=(part,), hint=hint)


def scored_otherwise(control: Side, treatment: Side) -> Iterator[Objection]:
    """Fingerprints that differ, with what is behind them."""
    ours, theirs = control.run, treatment.run
    if ours["fingerprint"] != theirs["fingerprint"]:
        setups = json.loads(ours["setup"]), json.loads(theirs["setup"])
        parts = differences(*setups) or [f"fingerprint {ours['fingerprint']} → {theirs['fingerprint']}"]
        hint = "run one of them again as the other was"
        yield Objection(what="the runs were not scored alike", parts=tuple(parts), hint=hint)


def missing_samples(control: Side, treatment: Side, found: Shared) -> Iterator[Objection]:
    """Samples that the treatment never had."""
    if found.only_first and found.both:
        part = f"{treatment.name} lacks {_several(len(found.only_first))} of {control.name}"
        hint = "run it on all samples: what is left out may be what it is bad at"
        yield Objection(what="samples are missing", parts=(f"{part}, first {found.only_first[0]!r}",), hint=hint)


def changed_samples(store: Store, control: Side, treatment: Side, found: Shared) -> Iterator[Objection]:
    """Samples that are not the same under one id."""
    if found.changed:
        fields = _what_changed(store, control, treatment, found.changed[0])
        told = f"{_several(len(found.changed))} of one id, first {found.changed[0]!r}" + (
            f" ({fields})" if fields else ""
        )
        hint = "give changed samples new ids, or run both on the same ones"
        yield Objection(what="samples differ", parts=(told,), hint=hint)


def left_by_lot(store: Store, control: Side, treatment: Side, found: Shared) -> bool:
    """Whether the treatment lacks samples only because it was decided before it had asked about all of them.

    It asks in a random order of positions, so what is missing must be at positions that it planned and did not come to.
    A file that lost a sample has others in its place and in those behind it, and one of them gives it away.
    """
    setup = json.loads(treatment.run["setup"])
    if not found.only_first or treatment.run["state"] != "finished" or not setup.get("until_decided"):
        return False
    asked = {row["position"] for row in store.samples(treatment.run["id"])}
    ours = {row["id"]: row["position"] for row in store.samples(control.run["id"])}
    return all(ours[id] < setup["samples"] and ours[id] not in asked for id in found.only_first)


def other_layers(sides: Sequence[Side], pairs: Paired) -> Iterator[Objection]:
    """Composites that are means of different things."""
    sets = [pairs.layer_sets(place) for place in range(len(sides))]
    if len({layers for found in sets for layers in found}) <= 1:
        return
    parts = [
        f"{side.name} by {' and '.join(f'{_named(layers)} ({_several(count)})' for layers, count in found.items())}"
        for side, found in zip(sides, sets, strict=True)
        if found
    ]
    hint = "configure the same checks for all samples of both"
    yield Objection(what="composites are of different layers", parts=tuple(parts), hint=hint)


def _what_changed(store: Store, control: Side, treatment: Side, id: str) -> str:
    one, other = (_content(store, side, id) for side in (control, treatment))
    return ", ".join(name for name in SAMPLE_PARTS if one.get(name) != other.get(name))


def _content(store: Store, side: Side, id: str) -> dict[str, Any]:
    found = next(row for row in store.samples(side.run["id"]) if row["id"] == id)
    content: dict[str, Any] = json.loads(found["content"])
    return content


def _named(layers: Sequence[str]) -> str:
    return " + ".join(layers) or "no layers"


def _several(count: int) -> str:
    return "1 sample" if count == 1 else f"{count:,} samples"
