"""What a comparison came to, the columns it is made from, and differences in words; no NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Literal

from evenhand.errors import Fault, InputError, suggest_known_word_in_error
from evenhand.wording import (
    describe_p_value,
    format_p_value,
    format_plural,
    format_signed,
    format_signed_beside,
    join_names,
)

if TYPE_CHECKING:
    from evenhand.compare.facts import ComparedClusters, ComparedLayersTogether, DifferenceHistogram, NotWorseResult
    from evenhand.stats.differences import Difference
    from evenhand.stats.power import PowerBand, Saturation


CompareVerdict = Literal["PROGRESS", "CAUTIOUS", "REGRESS", "NOISE", "UNDERPOWERED", "SOLO", "UNDECIDED"]
# Gates that count outputs instead of taking a mean: those that pass, that fail no gate of their rubric, have a score.
PASS_RATE, REQUIRED_GATE, SCORED_GATE = "pass_rate", "required", "scored"
BadgeColour = Literal["green", "amber", "red", "grey"]

VERDICTS_WORST_FIRST: tuple[CompareVerdict, ...] = ("REGRESS", "CAUTIOUS", "UNDERPOWERED", "NOISE", "PROGRESS", "SOLO")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSamples:
    """The samples that fall short of a gate: how many, the first few by name, and the criteria that it is about."""

    samples: tuple[str, ...]
    count: int
    criteria: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GateState:
    """What was reached against its minimum, as it is told; `passed` is None where there is no mean.

    `short` has the samples that fall short, where the gate is missed and they are known.
    """

    gate: str
    min: float
    mean: float | None
    passed: bool | None
    short: GateSamples | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """One conclusion about the method, with its number and what would turn it green."""

    name: str = field(metadata={"json": "badge"})
    colour: BadgeColour = field(metadata={"json": "state"})
    value: float | None
    says: str
    advice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerVerdict:
    """What the rules say of one layer alone."""

    verdict: CompareVerdict
    rule: str
    reasons: tuple[str, ...]
    next_step: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A treatment against the control.

    `p` is the composite's, adjusted by Holm where there are several treatments. `pairs`, wins, ties and losses count
    samples: repeats of one sample are one. Lost outputs of one cluster are one.
    """

    treatment: str
    control: str
    verdict: CompareVerdict
    headline: str
    sure: str
    rule: str
    reasons: tuple[str, ...]
    next_step: str
    composite: Difference | None
    p: float | None
    layers: Mapping[str, Difference | None]
    layer_verdicts: Mapping[str, LayerVerdict]
    criteria: Mapping[str, Difference | None]
    spread: DifferenceHistogram | None = field(metadata={"json": "distribution"})
    not_worse: NotWorseResult | None
    pairs: int
    lost_by_treatment: int
    lost_by_control: int
    wins: int
    ties: int
    losses: int
    power: PowerBand | None
    saturation: Saturation | None
    badges: tuple[Badge, ...]
    together: ComparedLayersTogether | None = None  # All layers in one test, where that was asked for.
    clusters: ComparedClusters | None = None  # Where samples are in clusters: how many, and how they count.


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareDecision:
    """The verdict over all treatments, what it rests on, how sure it is, and what to do next.

    UNDECIDED is a run whose composites cannot be compared; old ones name no control.
    """

    verdict: CompareVerdict
    exit_code: int
    headline: str
    sure: str
    control: str | None
    best: str | None
    gates: Mapping[str, tuple[GateState, ...]]
    comparisons: tuple[Comparison, ...]
    reasons: tuple[str, ...]
    next_step: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ForcedComparison:
    """What speaks against a comparison that was asked for all the same, the doubt it leaves, and what would help."""

    why: str
    doubt: str
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShippingObjection:
    """One thing that speaks against shipping a treatment; the headline says `what`, or more where `says` does."""

    what: str
    reasons: tuple[str, ...]
    next_step: str
    says: str = ""


RowScores = Sequence[float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantColumn:
    """One variant's scores, one row per sample and repeat; None where there is no score."""

    composite: RowScores
    layers: Mapping[str, RowScores] = field(default_factory=dict)
    criteria: Mapping[str, RowScores] = field(default_factory=dict)  # Shown beside the layers; no rule looks at them.

    def __post_init__(self) -> None:
        rows = {"composite": self.composite}
        rows |= {f"layer {name!r}": row for name, row in self.layers.items()}
        rows |= {f"criterion {name!r}": row for name, row in self.criteria.items()}
        hint = "None where there is no score"
        for what, row in rows.items():
            try:
                wrong = next((place for place, one in enumerate(row) if one is not None and not isfinite(one)), None)
            except TypeError:
                raise InputError(Fault(f"{what} holds something that is no number", hint)) from None
            if wrong is not None:
                raise InputError(Fault(f"{what}[{wrong}] is {row[wrong]}", hint))
            if len(row) != len(self.composite):
                counts = f"{len(row)} rows of {what} for {len(self.composite)} of the composite"
                raise InputError(Fault(counts, f"one row per sample and repeat, {hint}"))
        object.__setattr__(self, "composite", tuple(self.composite))
        object.__setattr__(self, "layers", {name: tuple(row) for name, row in self.layers.items()})
        object.__setattr__(self, "criteria", {name: tuple(row) for name, row in self.criteria.items()})


def check_columns_to_compare(
    columns: Mapping[str, VariantColumn],
    control: str,
    clusters: Sequence[int],
    gates: Mapping[str, float],
    not_worse_by: float | None,
) -> tuple[str, ...]:
    """The layers that every composite was computed from, or a refusal that says what differs."""
    if control not in columns:
        raise InputError(
            Fault(f"control {control!r} is not among the variants", suggest_known_word_in_error(control, columns))
        )
    for name, column in columns.items():
        if len(column.composite) != len(clusters):
            what = f"variant {name!r} has {len(column.composite)} rows for {len(clusters)} clusters"
            raise InputError(Fault(what, "every variant has one row per sample and repeat, None where it failed"))
    present = {name: _find_compared_layers(name, column) for name, column in columns.items()}
    known = {name: layers for name, layers in present.items() if layers is not None}
    first = control if control in known else next(iter(known), control)
    for name, layers in known.items():
        if layers != known[first]:
            raise InputError(_different_layers_fault(f"variant {name!r}", layers, f"variant {first!r}", known[first]))
    common = known.get(first, ())
    for name, least in gates.items():
        if name not in common:
            raise InputError(Fault(f"gate on unknown layer {name!r}", suggest_known_word_in_error(name, common)))
        if not isfinite(least):
            raise InputError(Fault(f"gate {name!r} must be a number, got {least}"))
    if not_worse_by is not None and not (isfinite(not_worse_by) and not_worse_by > 0):
        raise InputError(Fault(f"not worse by {not_worse_by} points", "a margin above 0, such as 0.2"))
    return common


def _find_compared_layers(name: str, column: VariantColumn) -> tuple[str, ...] | None:
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
            raise InputError(_different_layers_fault(f"variant {name!r}, row {place}", layers, f"row {first}", found))
        found = layers
    return found


def _different_layers_fault(one: str, ours: Sequence[str], other: str, theirs: Sequence[str]) -> Fault:
    first, second = (" + ".join(layers) or "no layers" for layers in (ours, theirs))
    what = f"{one} was scored from {first}, {other} from {second}"
    return Fault(what, "composites over different layers cannot be compared: configure the same layers for all")


def object_to_missed_gate(variant: str, gates: Sequence[GateState]) -> ShippingObjection | None:
    """What the first gate beside the layers that is missed says; all that are missed are its reasons."""
    missed = next((state.gate for state in gates if not state.passed), None)
    if missed is None:
        return None
    return ShippingObjection(
        what="a gate is missed",
        says=f"{variant} misses its gate {missed}",
        reasons=tuple(describe_missed_gates(variant, gates)),
        next_step=f"Find out why {variant} misses its gate {missed}, then run it again.",
    )


def describe_missed_gates(variant: str, gates: Sequence[GateState]) -> list[str]:
    """Every gate beside the layers that is missed; one that is not known has not been reached."""
    return [
        f"{variant}: the gate {_missed_variant_gate_name(state)} is "
        f"{'not known' if state.mean is None else f'{state.mean:.4g}'}, "
        f"at least {state.min:g} is asked for{describe_short_samples(state.short, state.gate)}."
        for state in gates
        if not state.passed
    ]


def _missed_variant_gate_name(state: GateState) -> str:
    return f"on criterion {state.gate}" if state.short and state.gate in state.short.criteria else state.gate


def describe_short_samples(short: GateSamples | None, gate: str = "") -> str:
    """The samples that fall short of a gate, behind a sentence about it; nothing where they are not known."""
    if short is None or not short.samples:
        return ""
    more = short.count - len(short.samples)
    rest = f" and {format_plural(more, 'more sample')}" if more else ""
    others = [criterion for criterion in short.criteria if criterion != gate]
    which = f" ({'criterion' if len(others) == 1 else 'criteria'} {join_names(others)})" if others else ""
    names = f"{', '.join(short.samples)}{rest}" if more else join_names(short.samples)
    return f"; {'not passed' if gate in (PASS_RATE, REQUIRED_GATE, SCORED_GATE) else 'below it'}: {names}{which}"


def treatment_difference_points_text(found: Difference | None) -> str:
    """An estimated difference in a headline."""
    return "no difference measured" if found is None else f"{format_signed(found.estimate)} points"


def treatment_difference_text(found: Difference | None) -> str:
    """An estimate with its interval and p."""
    if found is None:
        return "too few pairs to test"
    return f"{format_signed(found.estimate)}, {treatment_difference_interval_text(found)}, {format_p_value(found.p)}"


def treatment_difference_interval_text(found: Difference) -> str:
    """Where the difference lies."""
    if not found.bounded:
        return f"no {found.level * 100:.0f} % interval from {format_plural(found.n, 'pair')}"
    if found.high == found.low:
        return f"the same in all {format_plural(found.n, 'pair')}"
    if found.high - found.low >= 0.02:
        low, high = format_signed_beside(found.low, 0), format_signed_beside(found.high, 0)
    else:
        low, high = format_signed(found.low, 4), format_signed(found.high, 4)
    return f"{found.level * 100:.0f} % interval {low} to {high}"


def describe_verdict_difference_chance(found: Difference | None, equal: str, also: str = "") -> str:
    """How sure, in plain words with the number behind them."""
    if found is None:
        return "There are too few pairs to say how sure."
    interval = treatment_difference_interval_text(found)
    if found.bounded and found.low < found.high:
        interval += " points"
    if found.looks and found.p >= 0.05:  # What is left of the level by now says nothing about how often.
        return f"Allowing for every look at the run, {format_p_value(found.p)}{also}; {interval}."
    often = f"a difference this large would come up in {describe_p_value(found.p)} ({format_p_value(found.p)}{also})"
    return f"If {equal}, {often}; {interval}."


def adjusted_treatments_p_value_text(p: float | None, tests: int) -> str:
    """What is said behind a p-value where several treatments were tried."""
    return "" if p is None or tests == 1 else f"; {format_p_value(p)} adjusted for {tests} treatments"
