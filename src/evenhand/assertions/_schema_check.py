"""JSON Schema: whether a text is one, and what it does not accept. Nothing is ever fetched."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from jsonschema.validators import validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import UnknownDialect, specification_with

from evenhand.assertions._pattern import TooLong, compiled
from evenhand.assertions._schema_keywords import bounded_dialect, watching
from evenhand.assertions._schema_numbers import number_in, whole_in
from evenhand.assertions._shown import cut, shown
from evenhand.errors import Fault, InputError

MOST_ERRORS = 1000
_NEWEST = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """What a schema does not accept, and the JSON path to it."""

    path: str
    message: str


def fault_in(value: object, schema: str) -> SchemaFault | None:
    """The fault that says most about why a schema does not accept a value."""
    try:
        with watching():
            error = best_match(islice(_validator(schema).iter_errors(value), MOST_ERRORS))
    except Unresolvable as problem:
        raise TooLong(f"the schema {_unresolved(problem.ref)}") from None
    return None if error is None else SchemaFault(error.json_path, error.message)


@lru_cache(maxsize=1000)
def refuse_schema(schema: str) -> None:
    """Raise where a text is no JSON Schema, or one that could not be used."""
    validator = _validator(schema)
    meta = bounded_dialect(validator_for(validator.META_SCHEMA))(validator.META_SCHEMA, registry=Registry())
    try:
        with watching():
            error = best_match(islice(meta.iter_errors(validator.schema), MOST_ERRORS))
    except TooLong as problem:
        raise InputError(f"cannot be used: {problem}") from None
    if error is not None:
        raise InputError(Fault(f"is not a JSON Schema: {cut(error.message, 200)}", f"at {cut(error.json_path, 100)}"))
    _refuse_parts(validator.schema, validator._resolver, _specification(validator.schema))


@lru_cache(maxsize=200)
def _validator(schema: str) -> Any:
    data = json.loads(schema, parse_float=number_in, parse_int=whole_in)
    _specification(data)
    return bounded_dialect(validator_for(data, default=Draft202012Validator))(data, registry=Registry())


def _specification(schema: object) -> Any:
    """The dialect that a schema names; the newest where it names none."""
    named = schema.get("$schema", _NEWEST) if isinstance(schema, dict) else _NEWEST
    try:
        return specification_with(named)
    except (UnknownDialect, AttributeError):
        raise InputError(
            Fault(f"names a dialect, {shown(str(named))} that is not known", f"the newest is {_NEWEST}")
        ) from None


def _refuse_parts(schema: Any, resolver: Any, specification: Any) -> None:
    """Raise at the first pattern that is none, and at the first reference that leads nowhere."""
    resource = specification.create_resource(schema)
    if isinstance(schema, Mapping):
        for pattern in (schema.get("pattern"), *schema.get("patternProperties", ())):
            _refuse_pattern(pattern)
        try:
            for name in ("$ref", "$dynamicRef"):
                if isinstance(schema.get(name), str):
                    resolver.lookup(schema[name])
        except Unresolvable as problem:
            raise InputError(_unresolved(problem.ref)) from None
    for part in resource.subresources():
        _refuse_parts(part.contents, resolver.in_subresource(part), specification)


def _refuse_pattern(pattern: object) -> None:
    if not isinstance(pattern, str):
        return
    try:
        compiled(pattern)
    except InputError as error:
        raise InputError(f"has the pattern {shown(pattern)}, which {error.faults[0].what}") from None


def _unresolved(reference: str) -> str:
    return f"refers to {reference[:200]!r}, which is not in it, and nothing is fetched"
