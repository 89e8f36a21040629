"""A decision and the values that it holds as JSON and back, by their fields."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, cast, get_args, get_origin, get_type_hints

from evenhand.compare.decision import CompareDecision, GateState
from evenhand.wording import round_for_json

Json = dict[str, Any]
_UNROUNDED_FIELDS = ("level", "by", "smallest_effect", "power")  # As they were set, or follow from what was set.
_SIGNIFICANT_FIELDS = ("p", "value")  # A small p-value must not be rounded away.
_UNBOUNDED = {"low": -math.inf, "high": math.inf, "half_width": math.inf}  # What null means for an end of an interval.


def encode_compare_decision(decision: CompareDecision) -> Json:
    """Plain data for files and programs; null is an end without a bound, or a number that there is not."""
    told: Json = encode_decision_value(decision)
    return told


def encode_decision_value(value: Any, name: str = "") -> Any:
    """A value by its fields. `json` in the metadata of a field is its name in JSON, None where it is not told."""
    if isinstance(value, float):
        if name in _SIGNIFICANT_FIELDS:
            return float(f"{value:.4g}") if math.isfinite(value) else None
        return value if name in _UNROUNDED_FIELDS else round_for_json(value)
    if isinstance(value, Mapping):
        return {key: encode_decision_value(one) for key, one in value.items()}
    if isinstance(value, (tuple, list)):
        return [encode_decision_value(one) for one in value]
    if isinstance(value, GateState):
        told = {
            name: one for name, one in asdict(value).items() if name != "short"
        }  # Its numbers are as they are told.
        return told if value.short is None else {**told, "short": encode_decision_value(value.short)}
    if is_dataclass(value):
        return {
            one.metadata.get("json", one.name): encode_decision_value(getattr(value, one.name), one.name)
            for one in fields(value)
            if one.metadata.get("json", one.name) is not None
        }
    return value


def read_compare_decision(data: Mapping[str, Any]) -> CompareDecision:
    """The decision that a run has kept, its numbers rounded as they were kept."""
    decision: CompareDecision = _compare_decision_value_from_json(CompareDecision, {"control": None, **data})
    return decision


def variant_gate_state_from_json(data: Mapping[str, Any]) -> GateState:
    """The state of a gate that a run has kept."""
    state: GateState = _compare_decision_value_from_json(GateState, data)
    return state


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
    from evenhand.compare.facts import ComparedClusters, ComparedLayersTogether, DifferenceHistogram, NotWorseResult
    from evenhand.stats.differences import Difference
    from evenhand.stats.power import PowerBand, Saturation

    known = (
        DifferenceHistogram,
        ComparedClusters,
        ComparedLayersTogether,
        NotWorseResult,
        Difference,
        PowerBand,
        Saturation,
    )
    return {one.__name__: one for one in known}
