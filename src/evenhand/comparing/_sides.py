"""Who is compared with whom: runs by id, prefix, latest or baseline, and a variant of each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.errors import Fault, InputError, StoreError, nearest
from evenhand.runs import Frame, Member, frame_from, table_of
from evenhand.runs.store import Row, Store

BASELINE = "baseline:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One variant of one run, under the name that it is told by."""

    name: str
    run: Row
    member: Member

    @property
    def frame(self) -> Frame:
        """What its run keeps of the eval."""
        return self.member.table.frame

    def data(self) -> dict[str, Any]:
        """As plain data."""
        run = self.run
        return {
            "name": self.name,
            "run": run["id"],
            "variant": self.member.variant,
            "eval": run["name"],
            "state": run["state"],
            "ended": run["ended"],
            "fingerprint": run["fingerprint"],
            "samples": len(self.member.samples),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """A run as it was asked for, and the variant behind a colon if one was."""

    asked: str
    run: Row
    frame: Frame
    variant: str | None


def sides_of(store: Store, references: Sequence[str], control: str | None) -> list[Side]:
    """The control, then what is held against it."""
    if len(references) == 1:
        return _within(store, _named(store, references[0]), control)
    if control is not None:
        hint = "of two runs the first is the control: RUN:VARIANT names a variant of it"
        raise InputError(Fault("--control is for the variants of one run", hint))
    first, second = (_named(store, reference) for reference in references)
    return _between(store, first, second)


def _named(store: Store, reference: str) -> _Named:
    """The run that is meant as a whole; else the run before the last colon, and its variant behind it."""
    try:
        row, variant = store.run(reference), None
    except StoreError:
        before, colon, variant = reference.rpartition(":")
        if not colon or before == "baseline":
            raise
        row = store.run(before)
        frame = _frame(row)
        if variant not in frame.variants:
            what = f"run {row['id']} has no variant {variant!r}"
            if before == "latest":  # It may have been the name of an eval.
                what = f"no run of {variant!r} is here, and {what}"
            raise InputError(Fault(what, nearest(variant, frame.variants))) from None
        reference = before
    return _Named(asked=reference, run=_seen(store, row), frame=_frame(row), variant=variant)


def _seen(store: Store, row: Row) -> Row:
    """A run that says running while nobody works on it was killed."""
    return {**row, "state": "killed"} if row["state"] == "running" and not store.held(row) else row


def _frame(row: Row) -> Frame:
    return frame_from(json.loads(row["setup"])["frame"])


def _within(store: Store, named: _Named, control: str | None) -> list[Side]:
    """The variants of one run: all against the control, or one."""
    variants, base = list(named.frame.variants), control or named.frame.control
    if base not in variants:
        hint = nearest(base, variants)
        raise InputError(Fault(f"run {named.run['id']} has no variant {base!r} to be the control", hint))
    others = [name for name in variants if name != base] if named.variant is None else [named.variant]
    if base in others:
        hint = "name another variant, or another --control"
        raise InputError(Fault(f"{base!r} is the control: it cannot be compared with itself", hint))
    table = table_of(store, named.run["id"])
    return [Side(name=name, run=named.run, member=Member.of(table, name)) for name in (base, *others)]


def _between(store: Store, first: _Named, second: _Named) -> list[Side]:
    ours, theirs = _chosen(first, second), _chosen(second, first)
    if (first.run["id"], ours) == (second.run["id"], theirs):
        hint = "name two runs, or two variants: RUN:old RUN:new"
        raise InputError(Fault(f"run {first.run['id']} cannot be compared with itself", hint))
    names = (ours, theirs) if ours != theirs else (_told(first, ours), _told(second, theirs))
    if names[0] == names[1]:
        names = _by_run(first.run["id"], second.run["id"])
    return [
        Side(name=name, run=one.run, member=Member.of(table_of(store, one.run["id"]), variant))
        for name, one, variant in zip(names, (first, second), (ours, theirs), strict=True)
    ]


def _chosen(one: _Named, other: _Named) -> str:
    """The variant that was named, the only one there is, or the one that was named of the other run."""
    if one.variant is not None:
        return one.variant
    variants = list(one.frame.variants)
    if len(variants) == 1:
        return variants[0]
    wanted = other.variant or (next(iter(other.frame.variants)) if len(other.frame.variants) == 1 else None)
    if wanted in variants:
        return str(wanted)
    hint = f"say which: {', '.join(f'{one.asked}:{name}' for name in variants[:5])}"
    raise InputError(Fault(f"run {one.run['id']} has {len(variants)} variants", hint))


def _by_run(first: str, second: str) -> tuple[str, str]:
    """The ends of two ids, which are short enough for a sentence, where they tell the runs apart."""
    ends = first.rpartition("-")[2], second.rpartition("-")[2]
    return (f"run {ends[0]}", f"run {ends[1]}") if ends[0] != ends[1] else (first, second)


def _told(one: _Named, variant: str) -> str:
    return f"baseline {one.asked.removeprefix(BASELINE)}" if one.asked.startswith(BASELINE) else variant
