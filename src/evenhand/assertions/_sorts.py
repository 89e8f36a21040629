"""Sorts of argument: how each is read from a file, what of it is kept, and its JSON Schema."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from evenhand.assertions._pattern import compiled
from evenhand.assertions._plain import plain_of, schema_file
from evenhand.errors import Fault, InputError
from evenhand.loading._fields import described, is_null, number_in
from evenhand.loading._tree import Node, Scalar, Sequence
from evenhand.model import exact, written

Argument = str | bool | int | Fraction | tuple[str, ...]
Json = dict[str, Any]

_FUNCTION = re.compile(r"python:[^\s:]+:[^\s:]+")
_FRACTION: Json = {"type": "string", "pattern": "^[0-9]+/[0-9]+$"}
_WRITTEN: Json = {"type": ["string", "number", "boolean"], "minLength": 1}


@dataclass(frozen=True, slots=True)
class Sort:
    """One sort of argument. Both functions raise InputError where the value is not of the sort."""

    read: Callable[[Node, Path], object]  # The value a node of a file stands for; files are found from the folder.
    kept: Callable[[object], Argument]  # The value as an assertion keeps it.
    schema: Json


def wrong(what: str, hint: str = "") -> InputError:
    """An argument that cannot be right."""
    return InputError(Fault(what, hint))


def _read_text(node: Node, _: Path) -> object:
    if not isinstance(node, Scalar) or is_null(node):
        raise wrong(f"must be text, got {described(node)}")
    return node.text


def _read_texts(node: Node, folder: Path) -> object:
    return (
        [_read_text(item, folder) for item in node.items] if isinstance(node, Sequence) else [_read_text(node, folder)]
    )


def _read_number(node: Node, _: Path) -> object:
    value = number_in(node)
    if isinstance(value, str):
        raise wrong(value)
    return value


def _read_flag(node: Node, _: Path) -> object:
    if isinstance(node, Scalar) and not node.quoted and node.text.lower() in ("true", "false"):
        return node.text.lower() == "true"
    raise wrong(f"must be true or false, got {described(node)}")


def _read_command(node: Node, folder: Path) -> object:
    if not isinstance(node, Sequence):
        raise wrong(f"must be a list, got {described(node)}", "as in [./check.sh, --strict]: no shell reads it")
    return _read_texts(node, folder)


def _read_schema(node: Node, folder: Path) -> object:
    if isinstance(node, Scalar) and not is_null(node) and node.text.lower() not in ("true", "false"):
        return schema_file(folder / node.text)
    return plain_of(node)


def _any_text(value: object) -> str:
    if not isinstance(value, str):
        raise wrong(f"must be text, got {value!r}")
    return value


def _some_text(value: object) -> str:
    if not _any_text(value):
        raise wrong("cannot be empty", "every text contains nothing")
    return _any_text(value)


def _visible_text(value: object) -> str:
    if not _any_text(value).strip():
        raise wrong("cannot be empty", "white space at the ends of an output does not count")
    return _any_text(value)


def _some_texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not value:
        raise wrong("must name at least one text")
    return tuple(_some_text(entry) for entry in value)


def _a_pattern(value: object) -> str:
    compiled(_some_text(value))
    return _some_text(value)


def _a_flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise wrong(f"must be true or false, got {value!r}")
    return value


def _amount(value: object) -> Fraction:
    if not isinstance(value, (int, float, Decimal, Fraction)) or isinstance(value, bool):
        raise wrong(f"must be a number, got {value!r}")
    try:
        number = exact(value)
    except ValueError as problem:
        raise wrong(f"must be a number: {problem}") from None
    if number < 0:
        raise wrong(f"cannot be below 0, got {written(number)}")
    return number


def _a_share(value: object) -> Fraction:
    number = _amount(value)
    if number > 1:
        raise wrong(f"must lie between 0 and 1, got {written(number)}", "0.8 means four fifths")
    return number


def _a_count(value: object) -> int:
    number = _amount(value)
    if number.denominator != 1:
        raise wrong(f"must be a whole number, got {written(number)}")
    return int(number)


def _an_order(value: object) -> int:
    if not 1 <= _a_count(value) <= 10:
        raise wrong(f"must be a whole number from 1 to 10, got {_a_count(value)}")
    return _a_count(value)


def _a_function(value: object) -> str:
    if not isinstance(value, str) or not _FUNCTION.fullmatch(value):
        raise wrong(f"must be a function, got {value!r}", "as in python:my_checks:polite, for polite() in my_checks.py")
    return value


def _a_schema(value: object) -> str:
    from evenhand.assertions._schema_check import refuse_schema  # noqa: PLC0415 - slow to load.

    if not isinstance(value, (Mapping, str)):
        raise wrong("must be a JSON Schema, or the path of a file with one")
    try:
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, allow_nan=False)
        refuse_schema(text)
    except (ValueError, TypeError, RecursionError, ArithmeticError) as problem:
        raise wrong(f"is not a JSON Schema: {problem}") from None
    return text


_AMOUNT: Json = {"anyOf": [{"type": "number", "minimum": 0}, _FRACTION]}
_SHARE: Json = {"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, _FRACTION]}
_TEXTS: Json = {"type": "array", "minItems": 1, "items": _WRITTEN}

TEXT = Sort(_read_text, _some_text, _WRITTEN)
ANY_TEXT = Sort(_read_text, _any_text, {"type": ["string", "number", "boolean"]})
VISIBLE_TEXT = Sort(_read_text, _visible_text, {**_WRITTEN, "pattern": r"\S"})
TEXTS = Sort(_read_texts, _some_texts, {"anyOf": [_WRITTEN, _TEXTS]})
PATTERN = Sort(_read_text, _a_pattern, {"type": ["string", "number"], "minLength": 1})
FLAG = Sort(_read_flag, _a_flag, {"type": "boolean"})
AMOUNT = Sort(_read_number, _amount, _AMOUNT)
SHARE = Sort(_read_number, _a_share, _SHARE)
COUNT = Sort(_read_number, _a_count, {"type": "integer", "minimum": 0})
ORDER = Sort(_read_number, _an_order, {"type": "integer", "minimum": 1, "maximum": 10})
FUNCTION = Sort(_read_text, _a_function, {"type": "string", "pattern": r"^python:[^\s:]+:[^\s:]+$"})
COMMAND = Sort(_read_command, _some_texts, _TEXTS)
SCHEMA = Sort(_read_schema, _a_schema, {"anyOf": [{"type": "object"}, {"type": "string", "minLength": 1}]})
