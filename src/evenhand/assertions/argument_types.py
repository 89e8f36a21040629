"""Types of assertion argument: how each is read from a file, checked and described as JSON Schema."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from evenhand.assertions.patterns import compile_assertion_pattern
from evenhand.errors import Fault, InputError, RubricError
from evenhand.files.parsing import read_tree_file
from evenhand.files.tree import (
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    describe_node,
    is_null_node,
    read_node_number,
)
from evenhand.model.scale import to_exact_fraction
from evenhand.wording import format_fraction

AssertionArgument = str | bool | int | Fraction | tuple[str, ...]
ArgumentSchema = dict[str, Any]

_FUNCTION_NAME = re.compile(r"python:[^\s:]+:[^\s:]+")
_WHOLE_NUMBER = re.compile(r"[-+]?[0-9]{1,400}")
_PLAIN_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_FRACTION_SCHEMA: ArgumentSchema = {"type": "string", "pattern": "^[0-9]+/[0-9]+$"}
_TEXT_SCHEMA: ArgumentSchema = {"type": ["string", "number", "boolean"], "minLength": 1}


@dataclass(frozen=True, slots=True)
class ArgumentType:
    """One sort of argument. Both functions raise InputError where the value is not of the sort."""

    read: Callable[[TreeNode, Path], object]  # The value a node of a file stands for; files are found from the folder.
    normalise: Callable[[object], AssertionArgument]  # The value as an assertion keeps it.
    schema: ArgumentSchema


def make_assertion_argument_error(what: str, hint: str = "") -> InputError:
    """An argument that cannot be right."""
    return InputError(Fault(what, hint))


def _read_assertion_text(node: TreeNode, _: Path) -> object:
    if not isinstance(node, ScalarNode) or is_null_node(node):
        raise make_assertion_argument_error(f"must be text, got {describe_node(node)}")
    return node.text


def _read_assertion_texts(node: TreeNode, folder: Path) -> object:
    items = node.items if isinstance(node, SequenceNode) else [node]
    return [_read_assertion_text(item, folder) for item in items]


def _read_assertion_number(node: TreeNode, _: Path) -> object:
    value = read_node_number(node)
    if isinstance(value, str):
        raise make_assertion_argument_error(value)
    return value


def _read_assertion_flag(node: TreeNode, _: Path) -> object:
    if isinstance(node, ScalarNode) and not node.quoted and node.text.lower() in ("true", "false"):
        return node.text.lower() == "true"
    raise make_assertion_argument_error(f"must be true or false, got {describe_node(node)}")


def _read_assertion_command(node: TreeNode, folder: Path) -> object:
    if not isinstance(node, SequenceNode):
        hint = "as in [./check.sh, --strict]: no shell reads it"
        raise make_assertion_argument_error(f"must be a list, got {describe_node(node)}", hint)
    return _read_assertion_texts(node, folder)


def _read_assertion_schema(node: TreeNode, folder: Path) -> object:
    if isinstance(node, ScalarNode) and not is_null_node(node) and node.text.lower() not in ("true", "false"):
        try:
            node = read_tree_file(folder / node.text)
        except RubricError as error:
            first = error.faults[0]
            raise InputError(f"cannot be taken from {first.where}: {first.what}") from None
    return _simplify_assertion_argument(node)


def _simplify_assertion_argument(node: TreeNode) -> object:
    """What a node says: words without quotation marks are numbers, true, false and null where they look like it."""
    if isinstance(node, MappingNode):
        return {key.text: _simplify_assertion_argument(value) for key, value in node.items}
    if isinstance(node, SequenceNode):
        return [_simplify_assertion_argument(item) for item in node.items]
    if is_null_node(node):
        return None
    if not node.quoted and node.text.lower() in ("true", "false"):
        return node.text.lower() == "true"
    if node.quoted or not _PLAIN_NUMBER.fullmatch(node.text):
        return node.text
    return int(node.text) if _WHOLE_NUMBER.fullmatch(node.text) else float(node.text)


def _check_assertion_text(value: object) -> str:
    if not isinstance(value, str):
        raise make_assertion_argument_error(f"must be text, got {value!r}")
    return value


def _check_assertion_nonempty(value: object) -> str:
    if isinstance(value, str) and value:
        return value
    _check_assertion_text(value)  # Says what it is where it is no text.
    raise make_assertion_argument_error("cannot be empty", "every text contains nothing")


def _check_visible_assertion_text(value: object) -> str:
    text = _check_assertion_text(value)
    if not text.strip():
        raise make_assertion_argument_error("cannot be empty", "white space at the ends of an output does not count")
    return text


def _check_assertion_texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not value:
        raise make_assertion_argument_error("must name at least one text")
    return tuple(_check_assertion_nonempty(entry) for entry in value)


def _check_assertion_pattern(value: object) -> str:
    pattern = _check_assertion_nonempty(value)
    compile_assertion_pattern(pattern)
    return pattern


def _check_assertion_flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise make_assertion_argument_error(f"must be true or false, got {value!r}")
    return value


def _check_assertion_amount(value: object) -> Fraction:
    if not isinstance(value, (int, float, Decimal, Fraction)) or isinstance(value, bool):
        raise make_assertion_argument_error(f"must be a number, got {value!r}")
    try:
        number = to_exact_fraction(value)
    except ValueError as problem:
        raise make_assertion_argument_error(f"must be a number: {problem}") from None
    if number < 0:
        raise make_assertion_argument_error(f"cannot be below 0, got {format_fraction(number)}")
    return number


def _check_assertion_share(value: object) -> Fraction:
    number = _check_assertion_amount(value)
    if number > 1:
        raise make_assertion_argument_error(
            f"must lie between 0 and 1, got {format_fraction(number)}", "0.8 means four fifths"
        )
    return number


def _check_assertion_count(value: object) -> int:
    number = _check_assertion_amount(value)
    if number.denominator != 1:
        raise make_assertion_argument_error(f"must be a whole number, got {format_fraction(number)}")
    return int(number)


def _check_assertion_order_argument(value: object) -> int:
    number = _check_assertion_count(value)
    if not 1 <= number <= 10:
        raise make_assertion_argument_error(f"must be a whole number from 1 to 10, got {number}")
    return number


def _check_assertion_function(value: object) -> str:
    if not isinstance(value, str) or not _FUNCTION_NAME.fullmatch(value):
        hint = "as in python:my_checks:polite, for polite() in my_checks.py"
        raise make_assertion_argument_error(f"must be a function, got {value!r}", hint)
    return value


def _check_assertion_schema(value: object) -> str:
    from evenhand.assertions.schema_validation import refuse_invalid_assertion_schema  # slow to load.

    if not isinstance(value, (Mapping, str)):
        raise make_assertion_argument_error("must be a JSON Schema, or the path of a file with one")
    try:
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, allow_nan=False)
        refuse_invalid_assertion_schema(text)
    except (ValueError, TypeError, RecursionError, ArithmeticError) as problem:
        raise make_assertion_argument_error(f"is not a JSON Schema: {problem}") from None
    return text


_AMOUNT_SCHEMA: ArgumentSchema = {"anyOf": [{"type": "number", "minimum": 0}, _FRACTION_SCHEMA]}
_SHARE_SCHEMA: ArgumentSchema = {"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, _FRACTION_SCHEMA]}
_TEXTS_SCHEMA: ArgumentSchema = {"type": "array", "minItems": 1, "items": _TEXT_SCHEMA}

TEXT = ArgumentType(_read_assertion_text, _check_assertion_nonempty, _TEXT_SCHEMA)
ANY_TEXT = ArgumentType(_read_assertion_text, _check_assertion_text, {"type": ["string", "number", "boolean"]})
VISIBLE_TEXT = ArgumentType(_read_assertion_text, _check_visible_assertion_text, {**_TEXT_SCHEMA, "pattern": r"\S"})
TEXTS = ArgumentType(_read_assertion_texts, _check_assertion_texts, {"anyOf": [_TEXT_SCHEMA, _TEXTS_SCHEMA]})
PATTERN = ArgumentType(_read_assertion_text, _check_assertion_pattern, {"type": ["string", "number"], "minLength": 1})
FLAG = ArgumentType(_read_assertion_flag, _check_assertion_flag, {"type": "boolean"})
AMOUNT = ArgumentType(_read_assertion_number, _check_assertion_amount, _AMOUNT_SCHEMA)
SHARE = ArgumentType(_read_assertion_number, _check_assertion_share, _SHARE_SCHEMA)
COUNT = ArgumentType(_read_assertion_number, _check_assertion_count, {"type": "integer", "minimum": 0})
ORDER = ArgumentType(
    _read_assertion_number, _check_assertion_order_argument, {"type": "integer", "minimum": 1, "maximum": 10}
)
FUNCTION = ArgumentType(
    _read_assertion_text, _check_assertion_function, {"type": "string", "pattern": r"^python:[^\s:]+:[^\s:]+$"}
)
COMMAND = ArgumentType(_read_assertion_command, _check_assertion_texts, _TEXTS_SCHEMA)
SCHEMA = ArgumentType(
    _read_assertion_schema, _check_assertion_schema, {"anyOf": [{"type": "object"}, {"type": "string", "minLength": 1}]}
)
