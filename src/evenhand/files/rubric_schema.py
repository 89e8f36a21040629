"""The JSON Schema of a rubric file, for editors; steps are described from their own fields."""

from __future__ import annotations

from fractions import Fraction
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from evenhand.files.criteria import list_file_fields
from evenhand.files.methods import list_method_yaml_names
from evenhand.model.method import STEPS, Panel, Step
from evenhand.model.scale import Scale

RubricSchemaJson = dict[str, Any]

_TEXT: RubricSchemaJson = {"type": "string", "minLength": 1}
_FRACTION: RubricSchemaJson = {"type": "string", "pattern": "^[0-9]+/[0-9]+$"}
_PERCENTAGE: RubricSchemaJson = {"type": "string", "pattern": r"^[0-9]*\.?[0-9]+ *%$"}
_NUMBER: RubricSchemaJson = {"anyOf": [{"type": "number"}, _FRACTION]}
_ABOVE_ZERO: RubricSchemaJson = {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, _FRACTION]}


def build_rubric_file_schema() -> RubricSchemaJson:
    """The schema; what it cannot say (sums, references, gaps) the reader checks."""
    criteria: RubricSchemaJson = {
        "type": "array",
        "minItems": 1,
        "items": {"anyOf": [_TEXT, {"$ref": "#/$defs/criterion"}]},
        "description": "What is asked about an output.",
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Evenhand rubric",
        **_rubric_yaml_object_schema(_build_rubric_fields_schema(criteria)),
        "$defs": {
            "criterion": _rubric_file_criterion_schema(criteria),
            "statement": _rubric_yaml_object_schema({"id": _TEXT, "asks": _TEXT, "amount": _ABOVE_ZERO}),
            "gate": _rubric_yaml_object_schema({"criterion": _TEXT, "min": _NUMBER}, ["criterion"]),
            "example": _rubric_file_example_schema(),
            "scale": _rubric_file_scale_schema(),
            "score_ranges": _rubric_file_ranges_schema(),
            "step": {"anyOf": [_build_step_field_schema(kind, step) for kind, step in STEPS.items()]},
        },
    }


def _build_rubric_fields_schema(criteria: RubricSchemaJson) -> RubricSchemaJson:
    statements: RubricSchemaJson = {"type": "array", "items": {"anyOf": [_TEXT, {"$ref": "#/$defs/statement"}]}}
    return {
        "name": _TEXT,
        "about": {**_TEXT, "description": "What it is for, for readers."},
        "why": {**_TEXT, "description": "Why its criteria have the weights they have."},
        "extends": {
            **_TEXT,
            "description": "A rubric whose criteria, red flags, bonuses and gates are kept, or changed by id: "
            "the name of a shipped one, or the path of a file.",
        },
        "method": {
            **_TEXT,
            "description": f"{', '.join(list_method_yaml_names())}, or the path of a method file.",
        },
        "criteria": criteria,
        "rubrics": {**criteria, "description": "Another name for criteria."},
        "red_flags": {**statements, "description": "Faults that cost points when found."},
        "bonuses": {**statements, "description": "Merits that earn points when found."},
        "gates": {"type": "array", "items": {"$ref": "#/$defs/gate"}},
        "scale": {"$ref": "#/$defs/scale"},
        "steps": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/step"}},
        "panel": _rubric_file_step_schema(Panel),
        "safety_gate": {"type": "boolean", "description": "Cap outputs that the safety guard finds unsafe."},
        "holistic": {"type": "boolean", "description": "Ask for a score for the whole beside the criteria."},
        "too_close": {
            **_NUMBER,
            "description": "How far in probability an answer must be ahead of the next (decision models).",
        },
        "tags": {"type": "array", "items": _TEXT},
        "dialogue": {"enum": ["pairwise"], "description": "Judges compare two outputs at a time."},
    }


def _rubric_file_criterion_schema(criteria: RubricSchemaJson) -> RubricSchemaJson:
    return _rubric_yaml_object_schema(
        {
            "id": _TEXT,
            "asks": {**_TEXT, "description": "The question, or what is expected."},
            "expected_outcome": {**_TEXT, "description": "Another name for asks."},
            "description": {**_TEXT, "description": "Another name for asks."},
            "weight": {"anyOf": [*_ABOVE_ZERO["anyOf"], _PERCENTAGE], "default": 1},
            "points": {"type": "number", "not": {"const": 0}, "description": "May be negative."},
            "scale": {"$ref": "#/$defs/scale"},
            "anchors": {"type": "object", "additionalProperties": _TEXT},
            "required": {"type": "boolean"},
            "required_min_score": _NUMBER,
            "score_ranges": {"$ref": "#/$defs/score_ranges"},
            "examples": {
                "type": "array",
                "items": {"$ref": "#/$defs/example"},
                "description": "Passages that people scored; judges are shown them.",
            },
            "judged": {"type": "boolean", "description": "False where rules measure it and no judge is asked."},
            "fixed": {"type": "boolean", "description": "Under 60 it pulls the whole score down (oracle)."},
            "children": {**criteria, "description": "This node is the weighted mean of its children."},
        }
    )


def _rubric_file_example_schema() -> RubricSchemaJson:
    score = {"anyOf": [*_NUMBER["anyOf"], {"enum": ["yes", "no", True, False]}]}
    return _rubric_yaml_object_schema({"passage": _TEXT, "score": score, "why": _TEXT}, ["passage", "score"])


def _rubric_file_scale_schema() -> RubricSchemaJson:
    fields = {
        "min": _NUMBER,
        "max": _NUMBER,
        "decimals": {"type": "integer", "minimum": 0, "maximum": 12},
        "integers": {"type": "boolean"},
        "bands": {"type": "object", "additionalProperties": _rubric_file_pair_schema({"type": "integer"})},
    }
    pattern = r"^(yes/no|yes-no|\s*[0-9.]+\s*(-|–|to)\s*[0-9.]+\s*)$"
    return {"anyOf": [{"type": "string", "pattern": pattern}, _rubric_yaml_object_schema(fields)]}


def _rubric_file_pair_schema(entry: RubricSchemaJson) -> RubricSchemaJson:
    return {"type": "array", "items": entry, "minItems": 2, "maxItems": 2}


def _rubric_file_ranges_schema() -> RubricSchemaJson:
    pair = _rubric_file_pair_schema({"type": "integer", "minimum": 0, "maximum": 10})
    entry = {"score_range": pair, "expected_outcome": _TEXT, "description": _TEXT, "asks": _TEXT}
    entries = {"type": "array", "minItems": 1, "items": _rubric_yaml_object_schema(entry, ["score_range"])}
    by_start = {"type": "object", "patternProperties": {"^([0-9]|10)$": _TEXT}, "additionalProperties": False}
    return {"anyOf": [{**by_start, "required": ["0"]}, entries]}


def _build_step_field_schema(kind: str, step: type[Step]) -> RubricSchemaJson:
    with_parameters = _rubric_yaml_object_schema({kind: _rubric_file_step_schema(step)}, [kind])
    if any(one.required for one in list_file_fields(step).values()):
        return with_parameters
    return {"anyOf": [{"const": kind, "description": step.__doc__}, with_parameters]}


def _rubric_file_step_schema(step: type[Step]) -> RubricSchemaJson:
    known = list_file_fields(step)
    must = [name for name, one in known.items() if one.required]
    schemas = {name: _rubric_file_parameter_schema(one.type) for name, one in known.items()}
    return {**_rubric_yaml_object_schema(schemas, must), "description": step.__doc__}


def _rubric_file_parameter_schema(type_: Any) -> RubricSchemaJson:
    options = [option for option in get_args(type_) if option is not NoneType] or [type_]
    if get_origin(type_) is Literal:
        return {"enum": list(get_args(type_))}
    schemas: dict[type, RubricSchemaJson] = {
        Scale: {"$ref": "#/$defs/scale"}, Fraction: _NUMBER, bool: {"type": "boolean"}, int: {"type": "integer"},
    }  # fmt: skip
    return next((schema for kind, schema in schemas.items() if kind in options), _TEXT)


def _rubric_yaml_object_schema(properties: RubricSchemaJson, required: list[str] | None = None) -> RubricSchemaJson:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": required} if required else schema
