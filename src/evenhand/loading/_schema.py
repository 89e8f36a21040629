"""The JSON Schema of a rubric file, for editors; steps are described from their own fields."""

from __future__ import annotations

from fractions import Fraction
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from evenhand.loading._library import method_names
from evenhand.loading._methods import parameters
from evenhand.model import STEPS, Panel, Scale, Step

Json = dict[str, Any]

_TEXT: Json = {"type": "string", "minLength": 1}
_FRACTION: Json = {"type": "string", "pattern": "^[0-9]+/[0-9]+$"}
_NUMBER: Json = {"anyOf": [{"type": "number"}, _FRACTION]}
_ABOVE_ZERO: Json = {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, _FRACTION]}


def rubric_schema() -> Json:
    """The schema; what it cannot say (sums, references, gaps) the reader checks."""
    criteria: Json = {
        "type": "array",
        "minItems": 1,
        "items": {"anyOf": [_TEXT, {"$ref": "#/$defs/criterion"}]},
        "description": "What is asked about an output.",
    }
    statements: Json = {"type": "array", "items": {"anyOf": [_TEXT, {"$ref": "#/$defs/statement"}]}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Evenhand rubric",
        **_object(
            {
                "name": _TEXT,
                "about": {**_TEXT, "description": "What it is for, for readers."},
                "method": {
                    **_TEXT,
                    "description": f"{', '.join(method_names())}, or the path of a method file.",
                },
                "criteria": criteria,
                "rubrics": {**criteria, "description": "Another name for criteria."},
                "red_flags": {**statements, "description": "Faults that cost points when found."},
                "bonuses": {**statements, "description": "Merits that earn points when found."},
                "gates": {"type": "array", "items": {"$ref": "#/$defs/gate"}},
                "scale": {"$ref": "#/$defs/scale"},
                "steps": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/step"}},
                "panel": _step_parameters(Panel),
                "safety_gate": {"type": "boolean", "description": "Cap outputs that the safety guard finds unsafe."},
                "tags": {"type": "array", "items": _TEXT},
            }
        ),
        "$defs": {
            "criterion": _criterion(criteria),
            "statement": _object({"id": _TEXT, "asks": _TEXT, "amount": _ABOVE_ZERO}),
            "gate": _object({"criterion": _TEXT, "min": _NUMBER}, ["criterion"]),
            "scale": _scale(),
            "score_ranges": _score_ranges(),
            "step": {"anyOf": [_step(kind, step) for kind, step in STEPS.items()]},
        },
    }


def _criterion(criteria: Json) -> Json:
    return _object(
        {
            "id": _TEXT,
            "asks": {**_TEXT, "description": "The question, or what is expected."},
            "expected_outcome": {**_TEXT, "description": "Another name for asks."},
            "description": {**_TEXT, "description": "Another name for asks."},
            "weight": {**_ABOVE_ZERO, "default": 1},
            "points": {"type": "number", "not": {"const": 0}, "description": "May be negative."},
            "scale": {"$ref": "#/$defs/scale"},
            "anchors": {"type": "object", "additionalProperties": _TEXT},
            "required": {"type": "boolean"},
            "required_min_score": _NUMBER,
            "score_ranges": {"$ref": "#/$defs/score_ranges"},
            "judged": {"type": "boolean", "description": "False where rules measure it and no judge is asked."},
            "fixed": {"type": "boolean", "description": "Under 60 it pulls the whole score down (oracle)."},
            "children": {**criteria, "description": "This node is the weighted mean of its children."},
        }
    )


def _scale() -> Json:
    pair = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
    return {
        "anyOf": [
            {"type": "string", "pattern": r"^(yes/no|yes-no|\s*[0-9.]+\s*(-|–|to)\s*[0-9.]+\s*)$"},
            _object(
                {
                    "min": _NUMBER,
                    "max": _NUMBER,
                    "decimals": {"type": "integer", "minimum": 0, "maximum": 12},
                    "integers": {"type": "boolean"},
                    "bands": {"type": "object", "additionalProperties": pair},
                }
            ),
        ]
    }


def _score_ranges() -> Json:
    level = {"type": "integer", "minimum": 0, "maximum": 10}
    entry = _object(
        {
            "score_range": {"type": "array", "items": level, "minItems": 2, "maxItems": 2},
            "expected_outcome": _TEXT,
            "description": _TEXT,
            "asks": _TEXT,
        },
        ["score_range"],
    )
    by_start = {"type": "object", "patternProperties": {"^([0-9]|10)$": _TEXT}, "additionalProperties": False}
    return {"anyOf": [{**by_start, "required": ["0"]}, {"type": "array", "minItems": 1, "items": entry}]}


def _step(kind: str, step: type[Step]) -> Json:
    known = parameters(step)
    with_parameters = _object({kind: _step_parameters(step)}, [kind])
    if any(must for _, must in known.values()):
        return with_parameters
    return {"anyOf": [{"const": kind, "description": step.__doc__}, with_parameters]}


def _step_parameters(step: type[Step]) -> Json:
    known = parameters(step)
    must = [name for name, (_, needed) in known.items() if needed]
    return {
        **_object({name: _parameter(type_) for name, (type_, _) in known.items()}, must),
        "description": step.__doc__,
    }


def _parameter(type_: Any) -> Json:
    options = [option for option in get_args(type_) if option is not NoneType] or [type_]
    if get_origin(type_) is Literal:
        return {"enum": list(get_args(type_))}
    if Scale in options:
        return {"$ref": "#/$defs/scale"}
    if Fraction in options:
        return _NUMBER
    if bool in options:
        return {"type": "boolean"}
    return {"type": "integer"} if int in options else _TEXT


def _object(properties: Json, required: list[str] | None = None) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        **({"required": required} if required else {}),
    }
