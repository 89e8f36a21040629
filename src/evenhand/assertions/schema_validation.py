"""Validating an output against a JSON Schema within limits of time; nothing is ever fetched."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from time import monotonic
from typing import Any

from jsonschema import Draft202012Validator, ValidationError, validators
from jsonschema.exceptions import best_match
from jsonschema.validators import validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import UnknownDialect, lookup_recursive_ref, specification_with

from evenhand.assertions.output_rules import (
    build_asserted_json_identity,
    is_asserted_json_integer,
    is_asserted_multiple,
    read_asserted_json_integer,
    read_asserted_json_number,
)
from evenhand.assertions.rule_inputs import CheckLimitExceeded, compile_assertion_pattern, search_asserted_pattern
from evenhand.errors import Fault, InputError
from evenhand.wording import quote_text, shorten_text_to_line

MOST_SCHEMA_ERRORS = 1000
_NEWEST_DIALECT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """What a schema does not accept, and the JSON path to it."""

    path: str
    message: str


def find_asserted_schema_fault(value: object, schema: str) -> SchemaFault | None:
    """The fault that says most about why a schema does not accept a value."""
    try:
        with limit_asserted_schema_time():
            error = best_match(islice(_build_asserted_schema_validator(schema).iter_errors(value), MOST_SCHEMA_ERRORS))
    except Unresolvable as problem:
        raise CheckLimitExceeded(f"the schema {_describe_unresolved_assertion_ref(problem.ref)}") from None
    return None if error is None else SchemaFault(error.json_path, error.message)


@lru_cache(maxsize=1000)
def refuse_invalid_assertion_schema(schema: str) -> None:
    """Raise where a text is no JSON Schema, or one that could not be used."""
    validator = _build_asserted_schema_validator(schema)
    meta = build_asserted_schema_dialect(validator_for(validator.META_SCHEMA))(
        validator.META_SCHEMA, registry=Registry()
    )
    try:
        with limit_asserted_schema_time():
            error = best_match(islice(meta.iter_errors(validator.schema), MOST_SCHEMA_ERRORS))
    except CheckLimitExceeded as problem:
        raise InputError(f"cannot be used: {problem}") from None
    if error is not None:
        what = f"is not a JSON Schema: {shorten_text_to_line(error.message, 200)}"
        raise InputError(Fault(what, f"at {shorten_text_to_line(error.json_path, 100)}"))
    try:
        _refuse_asserted_subschemas(
            validator.schema, validator._resolver, _find_asserted_schema_dialect(validator.schema)
        )
    except (AttributeError, TypeError):  # Of an old dialect, whose own schema accepts what its walk cannot take apart.
        raise InputError("holds a schema of an old dialect that cannot be taken apart") from None


@lru_cache(maxsize=200)
def _build_asserted_schema_validator(schema: str) -> Any:
    data = json.loads(schema, parse_float=read_asserted_json_number, parse_int=read_asserted_json_integer)
    _find_asserted_schema_dialect(data)
    return build_asserted_schema_dialect(validator_for(data, default=Draft202012Validator))(data, registry=Registry())


def _find_asserted_schema_dialect(schema: object) -> Any:
    """The dialect that a schema names; the newest where it names none."""
    named = schema.get("$schema", _NEWEST_DIALECT) if isinstance(schema, dict) else _NEWEST_DIALECT
    try:
        return specification_with(named)
    except (UnknownDialect, AttributeError):
        what = f"names a dialect, {quote_text(str(named))} that is not known"
        raise InputError(Fault(what, f"the newest is {_NEWEST_DIALECT}")) from None


def _refuse_asserted_subschemas(schema: Any, resolver: Any, specification: Any) -> None:
    """Raise at the first pattern that is none, and at the first reference that leads nowhere."""
    resource = specification.create_resource(schema)
    if isinstance(schema, Mapping):
        named = (schema.get("pattern"), *schema.get("patternProperties", ()))
        for pattern in (one for one in named if isinstance(one, str)):
            try:
                compile_assertion_pattern(pattern)
            except InputError as error:
                raise InputError(f"has the pattern {quote_text(pattern)}, which {error.faults[0].what}") from None
        try:
            for name in ("$ref", "$dynamicRef"):
                if isinstance(schema.get(name), str):
                    resolver.lookup(schema[name])
        except Unresolvable as problem:
            raise InputError(_describe_unresolved_assertion_ref(problem.ref)) from None
    for part in resource.subresources():
        _refuse_asserted_subschemas(part.contents, resolver.in_subresource(part), specification)


def _describe_unresolved_assertion_ref(reference: str) -> str:
    return f"refers to {reference[:200]!r}, which is not in it, and nothing is fetched"


LONGEST_SCHEMA_CHECK = 5.0  # Seconds for one output.

SchemaKeyword = Callable[[Any, Any, Any, Any], Iterator[Any] | None]
_schema_deadline: ContextVar[float] = ContextVar("_until")
_extend_dialect: Any = validators.extend
_get_dialect: Any = validators.validator_for


@contextmanager
def limit_asserted_schema_time() -> Iterator[None]:
    """The time within which every keyword must be done."""
    token = _schema_deadline.set(monotonic() + LONGEST_SCHEMA_CHECK)
    try:
        yield
    finally:
        _schema_deadline.reset(token)


@lru_cache(maxsize=20)
def build_asserted_schema_dialect(dialect: Any) -> Any:
    """A dialect of JSON Schema with bounds in it."""
    own = {name: keyword for name, keyword in _BOUNDED_KEYWORDS.items() if name in dialect.VALIDATORS}
    keywords = {name: _limit_asserted_keyword_time(keyword) for name, keyword in {**dialect.VALIDATORS, **own}.items()}
    types = dialect.TYPE_CHECKER
    if types.is_type(1.0, "integer"):  # Since draft 6.
        types = types.redefine("integer", lambda _, value: is_asserted_json_integer(value))
    bounded = _extend_dialect(dialect, validators=keywords, type_checker=types)
    unbounded_evolve = bounded.evolve

    def evolve(self: Any, **changes: Any) -> Any:
        # A part that names a dialect of its own would leave the bounds: give it that dialect with bounds.
        part = changes.get("schema", self.schema)
        wanted = _get_dialect(part, default=None) if isinstance(part, Mapping) else None
        if wanted is None:
            return unbounded_evolve(self, **changes)
        return build_asserted_schema_dialect(wanted)(
            schema=part, registry=self._registry, _resolver=changes.get("_resolver", self._resolver)
        )

    bounded.evolve = evolve
    return bounded


def _limit_asserted_keyword_time(keyword: SchemaKeyword) -> SchemaKeyword:
    def watched(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if monotonic() > _schema_deadline.get():
            raise CheckLimitExceeded(f"the schema took longer than {LONGEST_SCHEMA_CHECK:g} s on this output")
        yield from keyword(validator, value, instance, schema) or ()

    return watched


def _asserted_pattern_matches(pattern: str, text: str) -> bool:
    try:
        return search_asserted_pattern(compile_assertion_pattern(pattern), text) is not None
    except CheckLimitExceeded as problem:
        raise CheckLimitExceeded(f"the pattern {pattern[:60]!r} {problem}") from None


def _check_asserted_schema_pattern(validator: Any, pattern: str, instance: Any, _: Any) -> Iterator[Any]:
    if isinstance(instance, str) and not _asserted_pattern_matches(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _check_asserted_pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: Any, _: Any
) -> Iterator[Any]:
    for pattern, part in patterns.items() if isinstance(instance, dict) else ():
        for key, value in instance.items():
            if _asserted_pattern_matches(pattern, key):
                yield from validator.descend(value, part, path=key, schema_path=pattern)


def _check_asserted_additional_properties(validator: Any, part: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    patterns = schema.get("patternProperties", ())
    named = schema.get("properties", ())
    unnamed = [key for key in instance if key not in named]
    extra = [key for key in unnamed if not any(_asserted_pattern_matches(each, key) for each in patterns)]
    yield from _check_asserted_extra_properties(validator, part, instance, extra)


def _check_asserted_unevaluated_properties(validator: Any, part: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    others = {name: value for name, value in schema.items() if name != "unevaluatedProperties"}
    known = find_asserted_properties(validator, instance, others, _asserted_pattern_matches)
    extra = [key for key in instance if key not in known]
    yield from _check_asserted_extra_properties(validator, part, instance, extra)


def _check_asserted_extra_properties(validator: Any, part: Any, instance: Any, extra: list[str]) -> Iterator[Any]:
    if part is False and extra:
        yield ValidationError(f"unexpected properties: {', '.join(map(repr, extra[:10]))}")
    elif isinstance(part, dict):
        for key in extra:
            yield from validator.descend(instance[key], part, path=key)


def _check_asserted_multiple_of(validator: Any, of: Any, instance: Any, _: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "number"):
        return
    multiple = is_asserted_multiple(instance, of)
    if multiple is None:
        raise CheckLimitExceeded(f"a number is too large to be divided by {of!r}")
    if not multiple:
        yield ValidationError(f"{instance!r} is not a multiple of {of!r}")


def _check_asserted_unique_items(validator: Any, unique: bool, instance: Any, _: Any) -> Iterator[Any]:
    if unique and isinstance(instance, list) and len(set(map(build_asserted_json_identity, instance))) < len(instance):
        yield ValidationError(f"{instance!r} has non-unique elements")


PatternMatcher = Callable[[str, str], bool]


def find_asserted_properties(
    validator: Any, instance: Mapping[str, Any], schema: Any, matches: PatternMatcher
) -> set[str]:
    """The keys that a schema speaks of, in itself and in those of its parts that accept the object."""
    if not isinstance(schema, Mapping):
        return set()
    if "additionalProperties" in schema or "unevaluatedProperties" in schema:
        return set(instance)
    known = set(instance) & set(schema.get("properties", ()))
    known |= {key for pattern in schema.get("patternProperties", ()) for key in instance if matches(pattern, key)}
    for inner, part in _list_accepting_asserted_subschemas(validator, instance, schema):
        known |= find_asserted_properties(inner, instance, part, matches)
    return known


def _list_accepting_asserted_subschemas(
    validator: Any, instance: Mapping[str, Any], schema: Mapping[str, Any]
) -> Iterator[tuple[Any, Any]]:
    """The parts of a schema that look at the same object and accept it, each with its validator."""
    yield from _resolve_asserted_schema_references(validator, schema)
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


def _resolve_asserted_schema_references(validator: Any, schema: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    resolver = validator._resolver
    found = [resolver.lookup(schema[name]) for name in ("$ref", "$dynamicRef") if name in schema]
    found += [lookup_recursive_ref(resolver)] if "$recursiveRef" in schema else []
    for one in found:
        yield validator.evolve(schema=one.contents, _resolver=one.resolver), one.contents


# The library searches with unbounded patterns here, divides in floating point, or compares each with each.
_BOUNDED_KEYWORDS: Mapping[str, SchemaKeyword] = {
    "pattern": _check_asserted_schema_pattern,
    "patternProperties": _check_asserted_pattern_properties,
    "additionalProperties": _check_asserted_additional_properties,
    "unevaluatedProperties": _check_asserted_unevaluated_properties,
    "multipleOf": _check_asserted_multiple_of,
    "divisibleBy": _check_asserted_multiple_of,
    "uniqueItems": _check_asserted_unique_items,
}
