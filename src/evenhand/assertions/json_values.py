"""JSON values for schema checks: file nodes as plain data, and numbers exactly as they are written."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path

from evenhand.errors import InputError, RubricError
from evenhand.files.fields import is_null_node
from evenhand.files.parsing import read_tree_file
from evenhand.files.tree import MappingNode, SequenceNode, TreeNode

_WHOLE_NUMBER = re.compile(r"[-+]?[0-9]{1,400}")
_PLAIN_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


def node_to_plain(node: TreeNode) -> object:
    """What a node says: words without quotation marks are numbers, true, false and null where they look like it."""
    if isinstance(node, MappingNode):
        return {key.text: node_to_plain(value) for key, value in node.items}
    if isinstance(node, SequenceNode):
        return [node_to_plain(item) for item in node.items]
    if is_null_node(node):
        return None
    if node.quoted or not (node.text.lower() in ("true", "false") or _PLAIN_NUMBER.fullmatch(node.text)):
        return node.text
    if node.text.lower() in ("true", "false"):
        return node.text.lower() == "true"
    return int(node.text) if _WHOLE_NUMBER.fullmatch(node.text) else float(node.text)


def read_schema_file(path: Path) -> object:
    """The data of a YAML or JSON file."""
    try:
        return node_to_plain(read_tree_file(path))
    except RubricError as error:
        first = error.faults[0]
        raise InputError(f"cannot be taken from {first.where}: {first.what}") from None


LONGEST_WHOLE = 400  # Digits; beyond them Python's int is slow to read, or refuses to be.


class JsonNumber(Decimal):
    """A decimal that a message shows as JSON does."""

    def __repr__(self) -> str:
        return str(self)


def read_json_number(text: str) -> JsonNumber:
    """The number a JSON text means; infinite where its exponent is beyond counting."""
    try:
        return JsonNumber(text)
    except InvalidOperation:
        return JsonNumber("-Infinity" if text.startswith("-") else "Infinity")


def read_json_integer(text: str) -> int | JsonNumber:
    """The whole number a JSON text means."""
    return int(text) if len(text) <= LONGEST_WHOLE else read_json_number(text)


def is_json_integer(value: object) -> bool:
    """Whether a value is a whole number; 1.0 is one, true is not."""
    if isinstance(value, Decimal):
        return value.is_finite() and value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool)


def is_json_multiple(value: int | Decimal, of: int | Decimal) -> bool | None:
    """Whether one number is a multiple of another; None where they are too large to tell."""
    if not all(abs(Decimal(one).adjusted()) <= LONGEST_WHOLE for one in (value, of) if one):
        return None
    return (Fraction(value) / Fraction(of)).denominator == 1


def build_json_identity(value: object) -> object:
    """Something hashable that two JSON values share when they are equal: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, dict):
        return "object", frozenset((key, build_json_identity(entry)) for key, entry in value.items())
    if isinstance(value, list):
        return "list", tuple(map(build_json_identity, value))
    return type(value) if isinstance(value, bool) else "plain", value
