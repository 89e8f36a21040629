"""Columns of a table, and fields under other names, as fields of a sample: outputs.new, metadata.topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.errors import Fault, nearest
from evenhand.runs._samples_entry import FIELDS
from evenhand.runs._samples_json import value_in
from evenhand.runs._samples_made import FACTS

Place = tuple[str, ...]

_STRUCTURED = frozenset(("metadata", "outputs", "trace", "assertions", "messages"))


def place_of(name: str) -> Place | None:
    """The way to a field by its dotted name; None where there is no such field."""
    if name in FIELDS:
        return (name,)
    head, _, rest = name.partition(".")
    if head == "metadata" and rest:
        return ("metadata", rest)
    if head not in ("output", "outputs") or not rest:
        return None
    variant, _, fact = rest.rpartition(".")  # The name of a variant may have points of its own: gpt-4.1.
    return ("outputs", variant, fact) if variant and fact in (*FACTS, "text") else ("outputs", rest, "text")


class Columns:
    """What the columns of a table mean; `fields` maps names of ours to names of theirs."""

    def __init__(self, names: Sequence[str], fields: Mapping[str, str]) -> None:
        ours = {theirs: name for name, theirs in fields.items()}
        self.faults: list[Fault] = []
        self._plan: list[tuple[int, Place]] = []
        taken: dict[Place, str] = {}
        for at, name in enumerate(names):
            place = place_of(ours.get(name, name))
            if place is None:
                known = [*FIELDS, "outputs.NAME", "metadata.NAME"]
                hint = f"{nearest(name[:40], known)}; a column of your own is called metadata.{name[:40]}"
                self.faults.append(Fault(f"unknown column {name[:60]!r}", hint))
            elif place in taken:
                self.faults.append(Fault(f"the columns {taken[place]!r} and {name!r} give the same field"))
            else:
                taken[place] = name
                self._plan.append((at, place))
        missing = [theirs for theirs in ours if theirs not in names]
        self.faults += [Fault(f"there is no column {name[:60]!r}", nearest(name[:40], names)) for name in missing]
        self._plan.sort(key=lambda one: len(one[1]))  # A whole object first, what belongs into it after.

    def entry(self, values: Sequence[object]) -> object:
        """The entry that a row is, or the Fault why it is none. Empty cells are absent."""
        entry: dict[str, Any] = {}
        for at, place in self._plan:
            value = values[at]
            if value is None or value == "":
                continue
            if isinstance(value, str) and _holds_json(place):
                value = value_in(value)
                if isinstance(value, Fault):
                    return Fault(f"{'.'.join(place)}: {value.what}", value.hint or "such a column holds JSON")
            _put(entry, place, value)
        return entry


def _holds_json(place: Place) -> bool:
    return place[0] in _STRUCTURED if len(place) == 1 else place[0] == "outputs" and place[-1] == "trace"


def renamed(entry: object, fields: Mapping[str, str]) -> object:
    """An object with fields under other names as one with ours, or the Fault why that cannot be."""
    if not fields or not isinstance(entry, dict):
        return entry
    theirs = set(fields.values())
    result = {name: value for name, value in entry.items() if name not in theirs}
    for ours, name in fields.items():
        place = place_of(ours)
        if name not in entry or place is None:
            continue
        if place == (ours,) and ours in result:
            return Fault(f"{ours!r} is given twice: as {name!r} and under its own name")
        _put(result, place, entry[name])
    return result


def _put(entry: dict[str, Any], place: Place, value: object) -> None:
    """Set a field. Where something else than an object is in the way, whoever reads the entry says what is wrong."""
    head, *rest = place
    if not rest:
        entry[head] = value
        return
    inner = entry.setdefault(head, {})
    if len(rest) == 2 and isinstance(inner, dict) and isinstance(inner.get(rest[0]), str):
        inner[rest[0]] = {"text": inner[rest[0]]}
    if isinstance(inner, dict):
        _put(inner, tuple(rest), value)
