"""Which JSON Schemas Anthropic takes for answers it guarantees: a part of the language, and not too much of it."""

from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

NOT_SUPPORTED = {
    "integer": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
    "string": {"minLength", "maxLength"},
    "array": {"maxItems", "uniqueItems", "contains", "prefixItems"},
    "object": {"minProperties", "maxProperties", "patternProperties", "propertyNames"},
}
NEVER = ("oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas")
MOST_UNIONS = 16
MOST_OPTIONAL = 24


def check_json_schema(schema: Any) -> str:
    """What is wrong with a schema by the standard; empty where nothing is."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        draft = "JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12)"
        return f"JSON schema is invalid. It must match {draft}."
    return ""


def check_strict_schema(schema: dict[str, Any]) -> str:
    """What a valid schema asks for that cannot be guaranteed; empty where everything can."""
    parts = list(_parts(schema))
    for part in parts:
        why = _not_supported(part)
        if why:
            return why
    unions = sum("anyOf" in part or isinstance(part.get("type"), list) for part in parts)
    if unions > MOST_UNIONS:
        kinds = f"{unions} parameters with type arrays or anyOf"
        return f"Schemas contains too many parameters with union types ({kinds}; limit: {MOST_UNIONS})."
    optional = sum(len(part.get("properties", {}).keys() - set(part.get("required", []))) for part in parts)
    if optional > MOST_OPTIONAL:
        return f"Schemas contains too many optional parameters ({optional}; limit: {MOST_OPTIONAL})."
    return ""


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(schema, dict):
        return
    yield schema
    for name in ("properties", "$defs", "definitions"):
        for part in schema.get(name, {}).values():
            yield from _parts(part)
    for name in ("anyOf", "allOf"):
        for part in schema.get(name, []):
            yield from _parts(part)
    yield from _parts(schema.get("items"))


def _not_supported(part: dict[str, Any]) -> str:
    for name in NEVER:
        if name in part:
            return f"Schema type '{name}' is not supported"
    if not str(part.get("$ref", "#")).startswith("#"):
        return "External $ref is not supported"
    kinds = part.get("type", [])
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        found = sorted(part.keys() & NOT_SUPPORTED.get(kind, set()))
        if len(found) == 1:
            return f"For '{kind}' type, property '{found[0]}' is not supported"
        if found:
            return f"For '{kind}' type, properties {', '.join(found)} are not supported"
        if kind == "array" and part.get("minItems", 0) > 1:
            return "For 'array' type, 'minItems' values other than 0 or 1 are not supported"
        if kind == "object" and part.get("additionalProperties") is not False:
            return "For 'object' type, 'additionalProperties' must be explicitly set to false"
    if any(isinstance(value, dict | list) for value in part.get("enum", [])):
        return "Enum values must be strings, numbers, booleans or null"
    return ""
