"""The JSON Schema of an eval file, for editors; what it cannot say the reader checks."""

from __future__ import annotations

from typing import Any

from evenhand.assertions import assertions_schema
from evenhand.loading import rubric_schema
from evenhand.runs._eval import KEEPS
from evenhand.runs._read import ACTIONS, GATES
from evenhand.runs.variants import KINDS

Json = dict[str, Any]

_TEXT: Json = {"type": "string", "minLength": 1}
_NAME: Json = {"type": ["string", "number"]}
_NUMBER: Json = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^[0-9]+/[0-9]+$"}]}
_ABOVE_0: Json = {"type": "number", "exclusiveMinimum": 0}
_COUNT: Json = {"type": "integer", "minimum": 1}
_FLAG: Json = {"type": "boolean"}


def eval_schema() -> Json:
    """The schema of a whole eval file."""
    rubric = rubric_schema()
    rubric_defs = rubric.pop("$defs")
    rubric.pop("$schema")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Evenhand eval",
        "type": "object",
        "required": ["samples"],
        "anyOf": [{"required": ["rubric"]}, {"required": ["rubrics"]}, {"required": ["assertions"]}],
        "additionalProperties": False,
        "properties": _properties(),
        "$defs": {**rubric_defs, **assertions_schema()["$defs"], "rubric": {"anyOf": [_TEXT, rubric]}, **_samples()},
    }


def _properties() -> Json:
    rubric = {"$ref": "#/$defs/rubric"}
    return {
        "name": {**_TEXT, "description": "What is evaluated: runs of one name have one history."},
        "about": _TEXT,
        "samples": {"$ref": "#/$defs/samples"},
        "variants": {"type": "object", "minProperties": 1, "additionalProperties": _variant()},
        "control": {**_TEXT, "description": "The variant that the others are compared with; else the first."},
        "rubric": {**rubric, "description": "For samples without a rubric of their tag."},
        "rubrics": {"type": "object", "additionalProperties": rubric, "description": "By tag of the sample."},
        "assertions": {"$ref": "#/$defs/assertions"},
        "judges": {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}, _map(_NUMBER)]},
        "how": _object(_how()),
        "guards": _guards(),
        "repeats": _COUNT,
        "gates": {**_map(_NUMBER), "description": f"The least mean of {', '.join(GATES)} or a criterion."},
        "smallest_effect": {**_ABOVE_0, "default": 0.5},
        "budget": {"anyOf": [_NUMBER, _object({"money": _NUMBER, "tokens": {"type": "integer", "minimum": 0}})]},
        "concurrency": {**_COUNT, "default": 50},
        "prices": _TEXT,
        "keep": {"enum": list(KEEPS), "default": "raw", "description": "What is kept of the replies of judges."},
        "seed": {"type": "integer"},
    }


def _how() -> Json:
    return {
        "language": _TEXT,
        "each": _FLAG,
        "samples": _COUNT,
        "logprobs": _FLAG,
        "cascade": _FLAG,
        "temperature": {"type": "number", "minimum": 0, "maximum": 2},
        "max_tokens": _COUNT,
        "deadline": _ABOVE_0,
        "timeout": _ABOVE_0,
        "retries": {"type": "integer", "minimum": 0},
        "requests_per_minute": _ABOVE_0,
        "tokens_per_minute": _ABOVE_0,
    }


def _guards() -> Json:
    actions = {name: {"enum": list(words)} for name, words in ACTIONS.items()}
    return {"anyOf": [{"type": "array", "items": {"enum": list(ACTIONS)}}, _object(actions)]}


def _variant() -> Json:
    message = _object({"role": {"enum": ["system", "user", "assistant"]}, "text": _TEXT, "content": _TEXT}, ["role"])
    prompt = {"anyOf": [_TEXT, _object({"file": _TEXT}, ["file"]), {"type": "array", "items": message, "minItems": 1}]}
    address = _object(
        {"url": _TEXT, "headers": _map(_TEXT), "method": {"enum": ["POST", "PUT"]}, "body": {}, "field": _TEXT}, ["url"]
    )
    fields: Json = {
        "outputs": {**_TEXT, "description": "A JSONL file of recorded outputs; without it they come with the samples."},
        "command": {"anyOf": [_TEXT, {"type": "array", "items": _NAME, "minItems": 1}]},
        "http": {"anyOf": [_TEXT, address]},
        "python": {**_TEXT, "description": "MODULE:FUNCTION"},
        "model": _TEXT,
        "prompt": prompt,
        "temperature": {"type": "number", "minimum": 0, "maximum": 2},
        "max_tokens": _COUNT,
        "about": _TEXT,
        "seconds": _ABOVE_0,
    }
    one_kind = {"not": {"anyOf": [{"required": [a, b]} for a in KINDS for b in KINDS if a < b]}}
    return {"anyOf": [{"type": "null"}, {**_object(fields), **one_kind}]}


def _samples() -> Json:
    file = _object(
        {"file": _TEXT, "format": {"enum": ["csv", "json", "jsonl", "parquet"]}, "fields": _map(_TEXT)}, ["file"]
    )
    return {
        "samples": {"anyOf": [_TEXT, file, {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/sample"}}]},
        "sample": _object(_sample_fields()),
        "made": {"anyOf": [{"type": ["string", "number", "boolean"]}, _object({"text": {}, **_facts()}, ["text"])]},
    }


def _sample_fields() -> Json:
    texts = {"anyOf": [{"type": ["string", "number", "boolean"]}, {"type": "array"}]}
    return {
        "id": _NAME,
        "input": {"anyOf": [{"type": ["string", "number"]}, {"type": "array"}]},
        "messages": {"type": "array"},
        "output": {"type": ["string", "number", "boolean"]},
        "outputs": {"type": "object", "additionalProperties": {"$ref": "#/$defs/made"}},
        "reference": texts,
        "context": texts,
        "tags": {"anyOf": [{"type": "string"}, {"type": "array", "items": _NAME}]},
        "cluster": _NAME,
        "metadata": {"type": "object"},
        "assertions": {"$ref": "#/$defs/assertions"},
        **_facts(),
    }


def _facts() -> Json:
    call = _object({"name": _TEXT, "input": {}, "output": {}}, ["name"])
    return {
        "trace": {"type": ["array", "null"], "items": call},
        "cost": {"type": ["number", "string", "null"]},
        "latency_ms": {"type": ["number", "null"], "minimum": 0},
        "turns": {"type": ["integer", "null"], "minimum": 0},
        "author": {"type": ["string", "object", "null"]},
    }


def _map(values: Json) -> Json:
    return {"type": "object", "additionalProperties": values}


def _object(properties: Json, required: list[str] | None = None) -> Json:
    more = {"required": required} if required else {}
    return {"type": "object", "properties": properties, "additionalProperties": False, **more}
