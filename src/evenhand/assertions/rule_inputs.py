"""What a rule is given: arguments read from a file, patterns that cannot hang a run, facts of an output; and what it
finds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Any

import regex

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
from evenhand.model.sample import VariantOutput
from evenhand.model.scale import to_exact_fraction
from evenhand.wording import format_fraction

TextSpan = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionFacts:
    """One output with how it came about, and what its sample says; an empty text is one that the sample lacks."""

    made: VariantOutput
    input: str = ""
    reference: str = ""
    context: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionFinding:
    """What one rule found, where it says something of the output, and whether that passes."""

    passed: bool | None
    found: str = ""
    why_not: str = ""
    span: TextSpan | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionMeasurement:
    """What came from outside for one assertion: a value, or whether it passed, or why neither is known."""

    value: Fraction | None = None
    passed: bool | None = None
    why: str = ""
    found: str = ""
    span: TextSpan | None = None

    def __post_init__(self) -> None:
        if self.value is None and self.passed is None and not self.why:
            raise InputError("a measurement without a value says why there is none")


def leave_assertion_unanswered(why: str) -> AssertionFinding:
    """Neither passed nor failed."""
    return AssertionFinding(passed=None, why_not=why)


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


LONGEST_PATTERN_SEARCH = 0.5  # Seconds.
LONGEST_PATTERN = 10_000
# The compiler writes counted repeats out: a{100} inside {100} inside {100} is a million.
MOST_PATTERN_REPEATS = 100_000

_PATTERN_PIECE = re.compile(
    r"""\\. | \[\^?\]?(?:\\.|[^\]\\])*\] | (?P<open>\() | (?P<close>\))
      | \{(?P<least>\d*)(?:,(?P<most>\d*))?\} | .""",
    re.VERBOSE | re.DOTALL,
)
_COMMENTED_PATTERN = re.compile(r"\(\?#|\(\?[a-zA-Z]*x")


class CheckLimitExceeded(Exception):  # noqa: N818
    """No answer within bounds, and why."""


def search_asserted_pattern(pattern: regex.Pattern[str], text: str) -> regex.Match[str] | None:
    """The first match of a pattern, within bounds."""
    try:
        return pattern.search(text, timeout=LONGEST_PATTERN_SEARCH)
    except TimeoutError:
        raise CheckLimitExceeded(f"took longer than {LONGEST_PATTERN_SEARCH} s on this output") from None
    except MemoryError:
        raise CheckLimitExceeded("took too much memory on this output") from None


@lru_cache(maxsize=1000)
def compile_assertion_pattern(pattern: str, ignore_case: bool = False) -> regex.Pattern[str]:
    """The pattern, ready to search with; or an error that says why it is none."""
    if len(pattern) > LONGEST_PATTERN:
        raise InputError(f"is longer than {LONGEST_PATTERN:,} characters")
    if _count_asserted_pattern_pieces(pattern) > MOST_PATTERN_REPEATS:
        raise InputError(f"repeats parts of itself more than {MOST_PATTERN_REPEATS:,} times in all")
    try:
        return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
    except regex.error as problem:
        raise InputError(f"does not compile: {problem}") from None
    except (RecursionError, MemoryError, OverflowError, ValueError, IndexError, KeyError) as problem:
        raise InputError(f"cannot be used: {problem or type(problem).__name__}") from None


def _count_asserted_pattern_pieces(pattern: str) -> int:
    """How many pieces a pattern has once its counted repeats are written out, or more than that."""
    pieces = list(_PATTERN_PIECE.finditer(pattern))
    if _COMMENTED_PATTERN.search(pattern):  # A bracket in a comment opens nothing: take every repeat for a nested one.
        return len(pieces) * prod(max(1, _count_asserted_pattern_repeats(piece)) for piece in pieces)
    totals, last = [0], 0
    for piece in pieces:
        times = _count_asserted_pattern_repeats(piece)
        if piece["open"]:
            totals.append(0)
            last = 0
        elif piece["close"] and len(totals) > 1:
            last = totals.pop() + 1
            totals[-1] += last
        elif times:
            totals[-1] += last * (times - 1)
        else:
            last = 1
            totals[-1] += 1
    return sum(totals)


def _count_asserted_pattern_repeats(piece: re.Match[str]) -> int:
    """How often a piece like {2,5} repeats what stands before it; 0 for any other piece."""
    digits = [text for text in (piece["least"], piece["most"]) if text]
    return max((int(text[:12]) for text in digits), default=0)
