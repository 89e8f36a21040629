"""Which properties of an object a JSON Schema has looked at, for `unevaluatedProperties`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from referencing.jsonschema import lookup_recursive_ref

Matches = Callable[[str, str], bool]


def evaluated(validator: Any, instance: Mapping[str, Any], schema: Any, matches: Matches) -> set[str]:
    """The keys that a schema speaks of, in itself and in those of its parts that accept the object."""
    if not isinstance(schema, Mapping):
        return set()
    if "additionalProperties" in schema or "unevaluatedProperties" in schema:
        return set(instance)
    known = set(instance) & set(schema.get("properties", ()))
    known |= {key for pattern in schema.get("patternProperties", ()) for key in instance if matches(pattern, key)}
    for inner, part in _parts(validator, instance, schema):
        known |= evaluated(inner, instance, part, matches)
    return known


def _parts(validator: Any, instance: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """The parts of a schema that look at the same object and accept it, each with its validator."""
    yield from _referred(validator, schema)
    for key, part in schema.get("dependentSchemas", {}).items():
        if key in instance:
            yield validator.evolve(schema=part), part
    for name in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(name, ()):
            inner = validator.evolve(schema=part)
            if inner.is_valid(instance):
                yield inner, part
    if "if" in schema:
        inner = validator.evolve(schema=schema["if"])
        accepted = inner.is_valid(instance)
        if accepted:
            yield inner, schema["if"]
        branch = schema.get("then" if accepted else "else", True)
        yield validator.evolve(schema=branch), branch


def _referred(validator: Any, schema: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    resolver = validator._resolver
    found = [resolver.lookup(schema[name]) for name in ("$ref", "$dynamicRef") if name in schema]
    found += [lookup_recursive_ref(resolver)] if "$recursiveRef" in schema else []
    for one in found:
        yield validator.evolve(schema=one.contents, _resolver=one.resolver), one.contents
