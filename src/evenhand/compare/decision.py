"""What a comparison came to, the columns it is made from, differences in words, and all of it as JSON; no NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass
from math import inf, isfinite
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, cast, get_args, get_origin, get_type_hints

from evenhand.errors import Fault, InputError
from evenhand.wording import (
    format_figure,
    format_p_value,
    format_plural,
    format_signed,
    format_signed_beside,
    join_names,
    round_number_for_json,
    word_gate,
    word_gate_in_sentence,
    word_p_value,
)

if TYPE_CHECKING:
    from evenhand.compare.facts import (
        ComparedClusters,
        ComparedLayersTogether,
        DifferenceHistogram,
        NotWorseResult,
        SharedVariantJudges,
    )
    from evenhand.stats.differences import Difference
    from evenhand.stats.power import PowerBand, Saturation


CompareVerdict = Literal["PROGRESS", "CAUTIOUS", "REGRESS", "NOISE", "UNDERPOWERED", "SOLO", "UNDECIDED"]
# Gates that count outputs instead of taking a mean: those that pass, that fail no gate of their rubric, have a score.
PASS_RATE, REQUIRED_GATE, SCORED_GATE = "pass_rate", "required", "scored"
_FAILS = {REQUIRED_GATE: ("fails", "fail", "a required criterion"), SCORED_GATE: ("has", "have", "no score")}
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
    """What was reached against its minimum, as it is told; `passed` is None where that is not known.

    `short` has the samples that fall short, where the gate is missed and they are known.
    """

    gate: str
    min: float
    mean: float | None
    passed: bool | None
    short: GateSamples | None = None
    unknown: int = 0  # Outputs that have no answer.
    outputs: int = 0  # How many are held to it, where it is about each output.
    borderline: int = 0  # Outputs that a pass rate does not count as passed.


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
    p: float | None = None  # Adjusted over all layers: the verdict rests on it. Older decisions do not tell it.


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
    samples: int = 0  # All of them; `pairs` are those with a score of both. 0 where an earlier version did not count.
    clusters: ComparedClusters | None = None  # Where samples are in clusters: how many, and how they count.
    # Where not the same judges scored both outputs of some samples.
    shared_judges: SharedVariantJudges | None = field(default=None, metadata={"only_if_set": True})


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
    cascade: Mapping[str, RowScores] = field(default_factory=dict)  # The way through a cascade, where there was one.

    def __post_init__(self) -> None:
        rows = {"composite": self.composite}
        rows |= {f"layer {name!r}": row for name, row in self.layers.items()}
        rows |= {f"criterion {name!r}": row for name, row in self.criteria.items()}
        hint = "None where there is no score"
        for what, row in rows.items():
            try:
                finite = all(map(isfinite, [one for one in row if one is not None]))
            except TypeError:
                raise InputError(Fault(f"{what} holds something that is not a number", hint)) from None
            if not finite:
                wrong = next(place for place, one in enumerate(row) if one is not None and not isfinite(one))
                raise InputError(Fault(f"{what}[{wrong}] is {row[wrong]}", hint))
            if len(row) != len(self.composite):
                counts = f"{len(row)} rows of {what} for {len(self.composite)} of the composite"
                raise InputError(Fault(counts, f"one row per sample and repeat, {hint}"))
        object.__setattr__(self, "composite", tuple(self.composite))
        object.__setattr__(self, "layers", {name: tuple(row) for name, row in self.layers.items()})
        object.__setattr__(self, "criteria", {name: tuple(row) for name, row in self.criteria.items()})


def object_to_treatment_missing_gate(variant: str, gates: Sequence[GateState]) -> ShippingObjection | None:
    """What the first gate beside the layers that is missed says; all that are missed are its reasons."""
    order = sorted((state for state in gates if not state.passed), key=lambda state: state.passed is None)
    if not order:
        return None
    missed, unknown = word_gate_in_sentence(order[0].gate), order[0].passed is None
    misses = _describe_failed_outputs(order[0]) or f"{variant} misses its gate {missed}"
    step = f"Find out why {variant} misses its gate {missed}, then run it again."
    if order[0].gate == SCORED_GATE:
        step = f"Find out why outputs of {variant} have no score, then run it again."
    open_step = f"Get an answer for every output of {variant} that its gate {missed} looks at, then run it again."
    return ShippingObjection(
        what="a gate is not known to be passed" if unknown else "a gate is missed",
        says=f"{variant} is not known to pass its gate {missed}" if unknown else misses,
        reasons=tuple(describe_gates_missed_by_variant(variant, gates)),
        next_step=open_step if unknown else step,
    )


def describe_gates_missed_by_variant(variant: str, gates: Sequence[GateState]) -> list[str]:
    """Every gate beside the layers that is missed; one that is not known has not been reached."""
    lines = []
    for state in gates:
        short = describe_compared_samples_short_of_gate(state.short, state.gate, state.passed)
        mean, least = _describe_compared_gate_mean(state), format_figure(state.min, beside=state.min)
        strict = ", as with --strict" if state.min == 1 else ""
        uncounted = f"{format_plural(state.borderline, 'borderline output')} counted as failed{strict}"
        reached = f"{_gate_name_in_verdict(state)} is {mean}, the gate is {least}"
        reached += f" ({uncounted})" if state.borderline else ""
        if not state.passed:
            lines.append(f"{variant}: {_describe_failed_outputs(state) or reached}{short}.")
    return lines


def _describe_failed_outputs(state: GateState) -> str:
    """How many outputs fail a gate that each is held to; empty where it is about a mean, or not known."""
    if state.gate not in _FAILS or state.passed is not False or not state.outputs or state.mean is None:
        return ""
    one, several, what = _FAILS[state.gate]
    failed = round((1 - state.mean) * state.outputs) - state.unknown
    unknown = f" ({state.unknown:,} not known)" if state.unknown else ""
    return f"{failed:,} of {format_plural(state.outputs, 'output')} {one if failed == 1 else several} {what}{unknown}"


def _describe_compared_gate_mean(state: GateState) -> str:
    mean = None if state.mean is None else format_figure(state.mean, beside=state.min)
    without = f" ({format_plural(state.unknown, 'output')} without an answer)" if state.unknown else ""
    return f"{'not known' if mean is None or state.passed is None else mean}{without}"


def _gate_name_in_verdict(state: GateState) -> str:
    return f"criterion {state.gate}" if state.short and state.gate in state.short.criteria else word_gate(state.gate)


def describe_compared_samples_short_of_gate(
    short: GateSamples | None, gate: str = "", passed: bool | None = False
) -> str:
    """The samples that fall short of a gate, behind a sentence about it; nothing where they are not known."""
    if short is None or not short.samples:
        return ""
    more = short.count - len(short.samples)
    rest = f" and {format_plural(more, 'more sample')}" if more else ""
    others = [criterion for criterion in short.criteria if criterion != gate]
    which = f" ({'criterion' if len(others) == 1 else 'criteria'} {join_names(others)})" if others else ""
    names = f"{', '.join(short.samples)}{rest}" if more else join_names(short.samples)
    found = "not passed" if gate in (PASS_RATE, REQUIRED_GATE, SCORED_GATE) else "below it"
    return f"; {'not known' if passed is None else found}: {names}{which}"


def treatment_difference_points_text(found: Difference | None) -> str:
    """An estimated difference in a headline."""
    return "no difference measured" if found is None else f"{format_signed(found.estimate)} points"


def treatment_difference_text(found: Difference | None) -> str:
    """An estimate with its interval and p."""
    if found is None:
        return "too few pairs to test"
    return f"{format_signed(found.estimate)}, {treatment_difference_interval_text(found)}, {_treatment_p_text(found)}"


def treatment_difference_interval_text(found: Difference) -> str:
    """Where the difference lies."""
    if not found.bounded:
        return f"no {found.level * 100:.0f}% interval from {format_plural(found.n, 'pair')}"
    if found.high == found.low:
        return f"the same in all {format_plural(found.n, 'pair')}"
    if found.high - found.low >= 0.02:
        low, high = format_signed_beside(found.low, 0), format_signed_beside(found.high, 0)
    else:
        low, high = format_signed(found.low, 4), format_signed(found.high, 4)
    return f"{found.level * 100:.0f}% interval {low} to {high}"


def treatment_difference_chance_text(found: Difference | None, equal: str, also: str = "") -> str:
    """How sure, in plain words with the number behind them."""
    if found is None:
        return "There are too few pairs to say how sure."
    interval = treatment_difference_interval_text(found)
    if found.bounded and found.low < found.high:
        interval += " points"
    p = _treatment_p_text(found)
    if found.looks and found.p >= 0.05:  # What is left of the level by now says nothing about how often.
        return f"Allowing for every look at the run, {p}{also}; {interval}."
    if found.is_scale_bound and found.estimate:  # What is known is how often at most, not how often.
        alike = "Most differences" if found.sd else "All differences"
        at_most = p.replace("p = ", "p is at most ")
        return f"{alike} are the same, so chance can only be bounded: {at_most}{also}; {interval}."
    often = word_p_value(found.p, at_most=found.p_at_most)
    half = ", counting those exactly as large half" if found.estimate and "mid-p" in found.method else ""
    return f"If {equal}, a difference this large would come up in {often}{half} ({p}{also}); {interval}."


def _treatment_p_text(found: Difference) -> str:
    return format_p_value(found.p, at_most=found.p_at_most)


_UNROUNDED_FIELDS = ("level", "by", "smallest_effect", "power")  # As they were set, or follow from what was set.
_SIGNIFICANT_FIELDS = ("p", "value")  # A small p-value must not be rounded away.
_UNBOUNDED = {"low": -inf, "high": inf, "half_width": inf}  # What null means for an end of an interval.


def encode_compare_decision(decision: CompareDecision) -> dict[str, Any]:
    """Plain data for files and programs; null is an end without a bound, or a number that there is not."""
    told: dict[str, Any] = encode_decision_value(decision)
    return told


def encode_decision_value(value: Any, name: str = "") -> Any:
    """A value by its fields. `json` in the metadata of a field is its name in JSON, None where it is not told."""
    if isinstance(value, float):
        if name in _SIGNIFICANT_FIELDS:
            return float(f"{value:.4g}") if isfinite(value) else None
        return value if name in _UNROUNDED_FIELDS else round_number_for_json(value)
    if isinstance(value, Mapping):
        return {key: encode_decision_value(one) for key, one in value.items()}
    if isinstance(value, (tuple, list)):
        return [encode_decision_value(one) for one in value]
    if isinstance(value, GateState):
        told = asdict(value)  # Its numbers are as they are told.
        told |= {"short": encode_decision_value(value.short)}
        return {key: one for key, one in told.items() if one or key in ("gate", "min", "mean", "passed")}
    if is_dataclass(value):
        return {
            one.metadata.get("json", one.name): encode_decision_value(getattr(value, one.name), one.name)
            for one in fields(value)
            if one.metadata.get("json", one.name) is not None
            if not one.metadata.get("only_if_set") or getattr(value, one.name) is not None
        }
    return value


def read_compare_decision(data: Mapping[str, Any]) -> CompareDecision:
    """The decision that a run has kept, its numbers rounded as they were kept."""
    return cast(CompareDecision, _compare_decision_value_from_json(CompareDecision, {"control": None, **data}))


def read_compared_gate_state(data: Mapping[str, Any]) -> GateState:
    """The state of a gate that a run has kept."""
    return cast(GateState, _compare_decision_value_from_json(GateState, data))


def _compare_decision_value_from_json(kind: Any, data: Any, name: str = "") -> Any:
    if isinstance(kind, UnionType):
        (kind,) = (one for one in get_args(kind) if one is not NoneType)
        return None if data is None else _compare_decision_value_from_json(kind, data, name)
    if is_dataclass(kind):
        kinds = get_type_hints(kind, localns=_measured_decision_kinds())
        values = {
            one.name: _compare_decision_value_from_json(
                kinds[one.name], data[one.metadata.get("json", one.name)], one.name
            )
            for one in fields(kind)
            if one.metadata.get("json", one.name) is not None
            if one.metadata.get("json", one.name) in data or one.default is MISSING  # What is new has a default.
        }
        return cast("Callable[..., object]", kind)(**values)
    if get_origin(kind) is tuple:
        return tuple(_compare_decision_value_from_json(get_args(kind)[0], one) for one in data)
    if get_origin(kind) is Mapping:
        return {key: _compare_decision_value_from_json(get_args(kind)[1], one) for key, one in data.items()}
    return _UNBOUNDED[name] if data is None else data


def _measured_decision_kinds() -> dict[str, Any]:
    """What a decision holds that is measured with NumPy, which nobody needs who only shows it."""
    from evenhand.compare.facts import (
        ComparedClusters,
        ComparedLayersTogether,
        DifferenceHistogram,
        NotWorseResult,
        SharedVariantJudges,
    )
    from evenhand.stats.differences import Difference
    from evenhand.stats.power import PowerBand, Saturation

    compared = (ComparedClusters, ComparedLayersTogether, DifferenceHistogram, NotWorseResult, SharedVariantJudges)
    return {one.__name__: one for one in (*compared, Difference, PowerBand, Saturation)}
