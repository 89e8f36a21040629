"""The keywords of JSON Schema with bounds in them: each watches the clock, no pattern searches for long."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from time import monotonic
from typing import Any

from jsonschema import ValidationError, validators

from evenhand.assertions._evaluated import evaluated
from evenhand.assertions._pattern import TooLong, compiled, search
from evenhand.assertions._schema_numbers import identity, is_multiple, is_whole

LONGEST_CHECK = 5.0  # Seconds for one output.

Keyword = Callable[[Any, Any, Any, Any], Iterator[Any] | None]
_until: ContextVar[float] = ContextVar("_until")
_extend: Any = validators.extend
_dialect_of: Any = validators.validator_for


@contextmanager
def watching() -> Iterator[None]:
    """The time within which every keyword must be done."""
    token = _until.set(monotonic() + LONGEST_CHECK)
    try:
        yield
    finally:
        _until.reset(token)


@lru_cache(maxsize=20)
def bounded_dialect(dialect: Any) -> Any:
    """A dialect of JSON Schema with bounds in it."""
    own = {name: keyword for name, keyword in _OWN.items() if name in dialect.VALIDATORS}
    keywords = {name: _watched(keyword) for name, keyword in {**dialect.VALIDATORS, **own}.items()}
    types = dialect.TYPE_CHECKER
    if types.is_type(1.0, "integer"):  # Since draft 6.
        types = types.redefine("integer", lambda _, value: is_whole(value))
    bounded = _extend(dialect, validators=keywords, type_checker=types)
    unbounded_evolve = bounded.evolve

    def evolve(self: Any, **changes: Any) -> Any:
        # A part that names a dialect of its own would leave the bounds: give it that dialect with bounds.
        part = changes.get("schema", self.schema)
        wanted = _dialect_of(part, default=None) if isinstance(part, Mapping) else None
        if wanted is None:
            return unbounded_evolve(self, **changes)
        return bounded_dialect(wanted)(
            schema=part, registry=self._registry, _resolver=changes.get("_resolver", self._resolver)
        )

    bounded.evolve = evolve
    return bounded


def _watched(keyword: Keyword) -> Keyword:
    def watched(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if monotonic() > _until.get():
            raise TooLong(f"the schema took longer than {LONGEST_CHECK:g} s on this output")
        yield from keyword(validator, value, instance, schema) or ()

    return watched


def _matches(pattern: str, text: str) -> bool:
    try:
        return search(compiled(pattern), text) is not None
    except TooLong as problem:
        raise TooLong(f"the pattern {pattern[:60]!r} {problem}") from None


def _pattern(validator: Any, pattern: str, instance: Any, _: Any) -> Iterator[Any]:
    if isinstance(instance, str) and not _matches(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Mapping[str, Any], instance: Any, _: Any) -> Iterator[Any]:
    for pattern, part in patterns.items() if isinstance(instance, dict) else ():
        for key, value in instance.items():
            if _matches(pattern, key):
                yield from validator.descend(value, part, path=key, schema_path=pattern)


def _additional_properties(validator: Any, part: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    patterns = schema.get("patternProperties", ())
    named = schema.get("properties", ())
    extra = [key for key in instance if key not in named and not any(_matches(each, key) for each in patterns)]
    if part is False and extra:
        yield ValidationError(f"unexpected properties: {', '.join(map(repr, extra[:10]))}")
    elif isinstance(part, dict):
        for key in extra:
            yield from validator.descend(instance[key], part, path=key)


def _unevaluated_properties(validator: Any, part: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    others = {name: value for name, value in schema.items() if name != "unevaluatedProperties"}
    known = evaluated(validator, instance, others, _matches)
    extra = [key for key in instance if key not in known]
    if part is False and extra:
        yield ValidationError(f"unexpected properties: {', '.join(map(repr, extra[:10]))}")
    elif isinstance(part, dict):
        for key in extra:
            yield from validator.descend(instance[key], part, path=key, schema_path=key)


def _multiple_of(validator: Any, of: Any, instance: Any, _: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "number"):
        return
    multiple = is_multiple(instance, of)
    if multiple is None:
        raise TooLong(f"a number is too large to be divided by {of!r}")
    if not multiple:
        yield ValidationError(f"{instance!r} is not a multiple of {of!r}")


def _unique_items(validator: Any, unique: bool, instance: Any, _: Any) -> Iterator[Any]:
    if unique and isinstance(instance, list) and len(set(map(identity, instance))) < len(instance):
        yield ValidationError(f"{instance!r} has non-unique elements")


# The library searches with unbounded patterns here, divides in floating point, or compares each with each.
_OWN: Mapping[str, Keyword] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "unevaluatedProperties": _unevaluated_properties,
    "multipleOf": _multiple_of,
    "divisibleBy": _multiple_of,
    "uniqueItems": _unique_items,
}
