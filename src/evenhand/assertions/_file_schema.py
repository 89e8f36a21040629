"""The JSON Schema of assertions, for editors; what it cannot say (patterns, mixed layers) the reader checks."""

from __future__ import annotations

from evenhand.assertions._kinds import ALIASES, KINDS, SET, Kind
from evenhand.assertions._sorts import Json

_COUNTS: Json = {
    "not": {"type": "boolean", "description": "Pass where it would fail."},
    "weight": {
        "anyOf": [
            {"type": "number", "exclusiveMinimum": 0},
            {"type": "string", "pattern": "^[0-9]*[1-9][0-9]*/[0-9]*[1-9][0-9]*$"},
        ],
        "default": 1,
    },
    "name": {"type": ["string", "number", "boolean"], "minLength": 1, "pattern": r"\S"},
}


def assertions_schema() -> Json:
    """A fragment: `$defs` with `assertions`, a list, and `assertion`, one of them."""
    words = {**KINDS, **{word: KINDS[name] for word, name in ALIASES.items()}}
    return {
        "$defs": {
            "assertions": {"type": ["array", "null"], "items": {"$ref": "#/$defs/assertion"}},
            "assertion": {"anyOf": [*(_leaf(word, kind) for word, kind in words.items()), _set()]},
        }
    }


def _leaf(word: str, kind: Kind) -> Json:
    options = {option.name: {**option.sort.schema, "description": option.means} for option in kind.options}
    main = {**kind.main.sort.schema, "description": kind.main.means}
    inside = _object({kind.main.name: main, **options, **_COUNTS}, [kind.main.name] if kind.main.required else [])
    if kind.one_of:
        inside["oneOf"] = [{"required": [name]} for name in kind.one_of]
    argument = main if kind.name == "json_schema" else {"anyOf": [main, inside]}
    described = {**argument, "description": f"{kind.layer}: {kind.looks_for}"}
    return _object({word: described, **options, **_COUNTS}, [word])


def _set() -> Json:
    parts = {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/assertion"}}
    inside = {**_object({"any": parts, "all": parts, **_COUNTS}), "oneOf": [{"required": [w]} for w in ("any", "all")]}
    return _object({SET: {**inside, "description": "Passes where any, or all, of its parts pass."}, **_COUNTS}, [SET])


def _object(properties: Json, required: list[str] | None = None) -> Json:
    must = {"required": required} if required else {}
    return {"type": "object", "properties": properties, "additionalProperties": False, **must}
