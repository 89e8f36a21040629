"""A node of a file as plain data, for what is not ours to read: a JSON Schema."""

from __future__ import annotations

import re
from pathlib import Path

from evenhand.errors import InputError, RubricError
from evenhand.loading._fields import is_null
from evenhand.loading._files import read_tree
from evenhand.loading._tree import Mapping, Node, Sequence

_WHOLE = re.compile(r"[-+]?[0-9]{1,400}")
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


def plain_of(node: Node) -> object:
    """What a node says: words without quotation marks are numbers, true, false and null where they look like it."""
    if isinstance(node, Mapping):
        return {key.text: plain_of(value) for key, value in node.items}
    if isinstance(node, Sequence):
        return [plain_of(item) for item in node.items]
    if is_null(node):
        return None
    if node.quoted or not (node.text.lower() in ("true", "false") or _NUMBER.fullmatch(node.text)):
        return node.text
    if node.text.lower() in ("true", "false"):
        return node.text.lower() == "true"
    return int(node.text) if _WHOLE.fullmatch(node.text) else float(node.text)


def schema_file(path: Path) -> object:
    """The data of a YAML or JSON file."""
    try:
        return plain_of(read_tree(path))
    except RubricError as error:
        first = error.faults[0]
        raise InputError(f"cannot be taken from {first.where}: {first.what}") from None
