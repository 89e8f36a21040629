"""What a variant scored over the samples, and the refusal of columns that cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

from evenhand.errors import Fault, InputError, nearest

Scores = Sequence[float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One variant's scores, one row per sample and repeat; None where there is no score."""

    composite: Scores
    layers: Mapping[str, Scores] = field(default_factory=dict)
    criteria: Mapping[str, Scores] = field(default_factory=dict)  # Shown beside the layers; no rule looks at them.

    def __post_init__(self) -> None:
        object.__setattr__(self, "composite", _scores(self.composite, "composite"))
        for kind, rows in (("layer", self.layers), ("criterion", self.criteria)):
            field_name = "layers" if kind == "layer" else "criteria"
            checked = {name: _scores(row, f"{kind} {name!r}") for name, row in rows.items()}
            object.__setattr__(self, field_name, checked)
            for name, row in checked.items():
                if len(row) != len(self.composite):
                    what = f"{len(row)} rows of {kind} {name!r} for {len(self.composite)} of the composite"
                    raise InputError(Fault(what, "one row per sample and repeat, None where there is no score"))


def check_columns(columns: Mapping[str, Column], control: str, clusters: Sequence[int]) -> tuple[str, ...]:
    """The layers that every composite was computed from, or a refusal that says what differs."""
    if control not in columns:
        raise InputError(Fault(f"control {control!r} is not among the variants", nearest(control, columns)))
    for name, column in columns.items():
        if len(column.composite) != len(clusters):
            what = f"variant {name!r} has {len(column.composite)} rows for {len(clusters)} clusters"
            raise InputError(Fault(what, "every variant has one row per sample and repeat, None where it failed"))
    present = {name: _layers_of(name, column) for name, column in columns.items()}
    known = {name: layers for name, layers in present.items() if layers is not None}
    first = control if control in known else next(iter(known), control)
    for name, layers in known.items():
        if layers != known[first]:
            raise InputError(_differ(f"variant {name!r}", layers, f"variant {first!r}", known[first]))
    return known.get(first, ())


def check_gates(gates: Mapping[str, float], layers: Sequence[str]) -> None:
    """Refuse a gate on a layer that is not there, or one that no mean can be held against."""
    for name, least in gates.items():
        if name not in layers:
            raise InputError(Fault(f"gate on unknown layer {name!r}", nearest(name, layers)))
        if not isfinite(least):
            raise InputError(Fault(f"gate {name!r} must be a number, got {least}"))


def check_margin(by: float | None) -> None:
    """Refuse a margin that nothing could be held against."""
    if by is not None and not (isfinite(by) and by > 0):
        raise InputError(Fault(f"not worse by {by} points", "a margin above 0, such as 0.2"))


def _scores(row: Scores, what: str) -> tuple[float | None, ...]:
    try:
        wrong = next((place for place, one in enumerate(row) if one is not None and not isfinite(one)), None)
    except TypeError:
        raise InputError(Fault(f"{what} holds something that is no number", "None where there is no score")) from None
    if wrong is not None:
        raise InputError(Fault(f"{what}[{wrong}] is {row[wrong]}", "None where there is no score"))
    return tuple(row)


def _layers_of(name: str, column: Column) -> tuple[str, ...] | None:
    """The layers behind every composite of a variant; None where it has no composite at all."""
    found: tuple[str, ...] | None = None
    rows = zip(*column.layers.values(), strict=True) if column.layers else iter(() for _ in column.composite)
    kinds: dict[tuple[bool, ...], int] = {}
    for place, (score, row) in enumerate(zip(column.composite, rows, strict=True)):
        if score is not None:
            kinds.setdefault(tuple([one is not None for one in row]), place)
    for kind, place in kinds.items():
        layers = tuple(sorted(layer for layer, there in zip(column.layers, kind, strict=True) if there))
        if found is not None and layers != found:
            first = next(iter(kinds.values()))
            raise InputError(_differ(f"variant {name!r}, row {place}", layers, f"row {first}", found))
        found = layers
    return found


def _differ(one: str, ours: Sequence[str], other: str, theirs: Sequence[str]) -> Fault:
    what = f"{one} was scored from {_named(ours)}, {other} from {_named(theirs)}"
    return Fault(what, "composites over different layers cannot be compared: configure the same layers for all")


def _named(layers: Sequence[str]) -> str:
    return " + ".join(layers) or "no layers"
