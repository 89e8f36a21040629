"""The JSON Schema of an eval file, for editors; what it cannot say the reader checks."""

from __future__ import annotations

from typing import Any

from evenhand.assertions.kinds import build_assertions_schema
from evenhand.evals.eval_definition import KEEP_CHOICES
from evenhand.evals.eval_file import GATE_NAMES, GUARD_ACTIONS
from evenhand.evals.variants.variant_file import VARIANT_KINDS
from evenhand.files.rubric_schema import build_rubric_schema

Json = dict[str, Any]

_TEXT_SCHEMA: Json = {"type": "string", "minLength": 1}
_NAME_SCHEMA: Json = {"type": ["string", "number"]}
_NUMBER_SCHEMA: Json = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^[0-9]+/[0-9]+$"}]}
_ABOVE_0_SCHEMA: Json = {"type": "number", "exclusiveMinimum": 0}
_COUNT_SCHEMA: Json = {"type": "integer", "minimum": 1}
_FLAG_SCHEMA: Json = {"type": "boolean"}


def eval_schema() -> Json:
    """The schema of a whole eval file."""
    rubric = build_rubric_schema()
    rubric_defs = rubric.pop("$defs")
    rubric.pop("$schema")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Evenhand eval",
        "type": "object",
        "required": ["samples"],
        "anyOf": [{"required": ["rubric"]}, {"required": ["rubrics"]}, {"required": ["assertions"]}],
        "additionalProperties": False,
        "properties": _eval_properties(),
        "$defs": {
            **rubric_defs,
            **build_assertions_schema()["$defs"],
            "rubric": {"anyOf": [_TEXT_SCHEMA, rubric]},
            **_samples_schema(),
        },
    }


def _eval_properties() -> Json:
    rubric = {"$ref": "#/$defs/rubric"}
    return {
        "name": {**_TEXT_SCHEMA, "description": "What is evaluated: runs of one name have one history."},
        "about": _TEXT_SCHEMA,
        "samples": {"$ref": "#/$defs/samples"},
        "variants": {"type": "object", "minProperties": 1, "additionalProperties": _variant_schema()},
        "control": {**_TEXT_SCHEMA, "description": "The variant that the others are compared with; else the first."},
        "rubric": {**rubric, "description": "For samples without a rubric of their tag."},
        "rubrics": {"type": "object", "additionalProperties": rubric, "description": "By tag of the sample."},
        "assertions": {"$ref": "#/$defs/assertions"},
        "judges": {"anyOf": [_TEXT_SCHEMA, {"type": "array", "items": _TEXT_SCHEMA}, _eval_map_schema(_NUMBER_SCHEMA)]},
        "how": _eval_object_schema(_judge_options_schema()),
        "guards": _guards_schema(),
        "repeats": _COUNT_SCHEMA,
        "gates": {
            **_eval_map_schema(_NUMBER_SCHEMA),
            "description": f"The least mean of {', '.join(GATE_NAMES)} or a criterion.",
        },
        "smallest_effect": {**_ABOVE_0_SCHEMA, "default": 0.5},
        "budget": {
            "anyOf": [
                _NUMBER_SCHEMA,
                _eval_object_schema({"money": _NUMBER_SCHEMA, "tokens": {"type": "integer", "minimum": 0}}),
            ]
        },
        "concurrency": {**_COUNT_SCHEMA, "default": 50},
        "prices": _TEXT_SCHEMA,
        "keep": {"enum": list(KEEP_CHOICES), "default": "raw", "description": "What is kept of the replies of judges."},
        "seed": {"type": "integer"},
    }


def _judge_options_schema() -> Json:
    return {
        "language": _TEXT_SCHEMA,
        "each": _FLAG_SCHEMA,
        "samples": _COUNT_SCHEMA,
        "logprobs": _FLAG_SCHEMA,
        "cascade": _FLAG_SCHEMA,
        "temperature": {"type": "number", "minimum": 0, "maximum": 2},
        "max_tokens": _COUNT_SCHEMA,
        "deadline": _ABOVE_0_SCHEMA,
        "timeout": _ABOVE_0_SCHEMA,
        "retries": {"type": "integer", "minimum": 0},
        "requests_per_minute": _ABOVE_0_SCHEMA,
        "tokens_per_minute": _ABOVE_0_SCHEMA,
    }


def _guards_schema() -> Json:
    actions = {name: {"enum": list(words)} for name, words in GUARD_ACTIONS.items()}
    return {"anyOf": [{"type": "array", "items": {"enum": list(GUARD_ACTIONS)}}, _eval_object_schema(actions)]}


def _variant_schema() -> Json:
    message = _eval_object_schema(
        {"role": {"enum": ["system", "user", "assistant"]}, "text": _TEXT_SCHEMA, "content": _TEXT_SCHEMA}, ["role"]
    )
    prompt = {
        "anyOf": [
            _TEXT_SCHEMA,
            _eval_object_schema({"file": _TEXT_SCHEMA}, ["file"]),
            {"type": "array", "items": message, "minItems": 1},
        ]
    }
    address = _eval_object_schema(
        {
            "url": _TEXT_SCHEMA,
            "headers": _eval_map_schema(_TEXT_SCHEMA),
            "method": {"enum": ["POST", "PUT"]},
            "body": {},
            "field": _TEXT_SCHEMA,
        },
        ["url"],
    )
    fields: Json = {
        "outputs": {
            **_TEXT_SCHEMA,
            "description": "A JSONL file of recorded outputs; without it they come with the samples.",
        },
        "command": {"anyOf": [_TEXT_SCHEMA, {"type": "array", "items": _NAME_SCHEMA, "minItems": 1}]},
        "http": {"anyOf": [_TEXT_SCHEMA, address]},
        "python": {**_TEXT_SCHEMA, "description": "MODULE:FUNCTION"},
        "model": _TEXT_SCHEMA,
        "prompt": prompt,
        "temperature": {"type": "number", "minimum": 0, "maximum": 2},
        "max_tokens": _COUNT_SCHEMA,
        "about": _TEXT_SCHEMA,
        "seconds": _ABOVE_0_SCHEMA,
    }
    one_kind = {"not": {"anyOf": [{"required": [a, b]} for a in VARIANT_KINDS for b in VARIANT_KINDS if a < b]}}
    return {"anyOf": [{"type": "null"}, {**_eval_object_schema(fields), **one_kind}]}


def _samples_schema() -> Json:
    file = _eval_object_schema(
        {
            "file": _TEXT_SCHEMA,
            "format": {"enum": ["csv", "json", "jsonl", "parquet"]},
            "fields": _eval_map_schema(_TEXT_SCHEMA),
        },
        ["file"],
    )
    return {
        "samples": {
            "anyOf": [_TEXT_SCHEMA, file, {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/sample"}}]
        },
        "sample": _eval_object_schema(_sample_fields_schema()),
        "made": {
            "anyOf": [
                {"type": ["string", "number", "boolean"]},
                _eval_object_schema({"text": {}, **_output_facts_schema()}, ["text"]),
            ]
        },
    }


def _sample_fields_schema() -> Json:
    texts = {"anyOf": [{"type": ["string", "number", "boolean"]}, {"type": "array"}]}
    return {
        "id": _NAME_SCHEMA,
        "input": {"anyOf": [{"type": ["string", "number"]}, {"type": "array"}]},
        "messages": {"type": "array"},
        "output": {"type": ["string", "number", "boolean"]},
        "outputs": {"type": "object", "additionalProperties": {"$ref": "#/$defs/made"}},
        "reference": texts,
        "context": texts,
        "tags": {"anyOf": [{"type": "string"}, {"type": "array", "items": _NAME_SCHEMA}]},
        "cluster": _NAME_SCHEMA,
        "metadata": {"type": "object"},
        "assertions": {"$ref": "#/$defs/assertions"},
        **_output_facts_schema(),
    }


def _output_facts_schema() -> Json:
    call = _eval_object_schema({"name": _TEXT_SCHEMA, "input": {}, "output": {}}, ["name"])
    return {
        "trace": {"type": ["array", "null"], "items": call},
        "cost": {"type": ["number", "string", "null"]},
        "latency_ms": {"type": ["number", "null"], "minimum": 0},
        "turns": {"type": ["integer", "null"], "minimum": 0},
        "author": {"type": ["string", "object", "null"]},
    }


def _eval_map_schema(values: Json) -> Json:
    return {"type": "object", "additionalProperties": values}


def _eval_object_schema(properties: Json, required: list[str] | None = None) -> Json:
    more = {"required": required} if required else {}
    return {"type": "object", "properties": properties, "additionalProperties": False, **more}
