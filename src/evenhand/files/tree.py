"""A file as a tree that remembers its lines, and its mappings read field by field: faults are collected, not raised."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

from evenhand.errors import MOST_FAULTS_SHOWN, Fault, FaultPath, RubricError, suggest_known_word_in_error
from evenhand.model.scale import to_exact_fraction

DEEPEST_NESTING = 60
MOST_NODES = 200_000
_NUMBER = re.compile(r"[-+]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|[0-9]+/[0-9]+)")
_BOOLEANS = {"true": True, "false": False, "yes": True, "no": False, "on": True, "off": False}
T = TypeVar("T")


@dataclass(slots=True)
class ScalarNode:
    """A word, number or text; `quoted` says that it is text whatever it looks like."""

    text: str
    line: int = 0
    quoted: bool = False


@dataclass(slots=True)
class SequenceNode:
    """A list."""

    line: int = 0
    items: list[TreeNode] = field(default_factory=list)


@dataclass(slots=True)
class MappingNode:
    """Keys and values in the order of the file."""

    line: int = 0
    items: list[tuple[ScalarNode, TreeNode]] = field(default_factory=list)

    def get(self, key: str) -> TreeNode | None:
        """The value of a key."""
        return next((value for name, value in self.items if name.text == key), None)


TreeNode = ScalarNode | SequenceNode | MappingNode

FIELD_ALIASES = {"criteria": ("rubrics",), "asks": ("expected_outcome", "description")}


def find_node_line(tree: TreeNode, path: FaultPath) -> int:
    """The line of the deepest node that the path still reaches."""
    line = tree.line
    for part in path:
        if isinstance(tree, SequenceNode) and isinstance(part, int) and part < len(tree.items):
            tree = tree.items[part]
            line = tree.line
        elif isinstance(tree, MappingNode):
            names = (str(part), *FIELD_ALIASES.get(str(part), ()))
            found = next(((key, value) for key, value in tree.items if key.text in names), None)
            if found is None:
                break
            line, tree = found[0].line, found[1]
        else:
            break
    return line


def build_tree(value: object, depth: int = 0) -> TreeNode:
    """Plain Python data as a tree without lines."""
    if depth > DEEPEST_NESTING:
        raise RubricError(Fault(f"nested more than {DEEPEST_NESTING} deep"))
    if isinstance(value, AnyMapping):
        items = [
            (ScalarNode(_write_yaml_scalar_text(key)), build_tree(entry, depth + 1)) for key, entry in value.items()
        ]
        return MappingNode(items=items)
    if isinstance(value, (list, tuple)):
        return SequenceNode(items=[build_tree(entry, depth + 1) for entry in value])
    return ScalarNode(_write_yaml_scalar_text(value), quoted=isinstance(value, str))


@dataclass(slots=True)
class TreeBuilder:
    """Puts a tree together piece by piece, without recursion, and refuses what could hurt."""

    most_nodes: int = MOST_NODES
    lenient: bool = False
    root: TreeNode | None = None
    # The lists and mappings that are open, each with the key that waits for its value, and the keys seen.
    _open: list[tuple[SequenceNode | MappingNode, list[ScalarNode], set[str]]] = field(default_factory=list)
    _count: int = 0

    def add(self, node: TreeNode, size: int = 1, line: int | None = None, *, opens: bool = False) -> None:
        """Put a node where the reader stands, as the root, an item, a key or a value; a list or mapping may open."""
        self._count += size
        if self._count > self.most_nodes:
            what = f"more than {self.most_nodes:,} entries"
            raise make_line_error(line or node.line, what, "is this the right file?")
        parent, waiting, seen = self._open[-1] if self._open else (None, [], set())
        if parent is None:
            self.root = node
        elif isinstance(parent, SequenceNode):
            parent.items.append(node)
        elif waiting:
            parent.items.append((waiting.pop(), node))
        elif not isinstance(node, ScalarNode):
            raise make_line_error(node.line, "a key must be a word or a number")
        elif node.text in seen and not self.lenient:
            raise make_line_error(node.line, f"the key {node.text!r} is given twice", "keep one of them")
        else:
            seen.add(node.text)
            waiting.append(node)
        if opens and not isinstance(node, ScalarNode):
            if len(self._open) >= DEEPEST_NESTING and not self.lenient:
                raise make_line_error(node.line, f"nested more than {DEEPEST_NESTING} deep")
            self._open.append((node, [], set()))

    def close(self) -> SequenceNode | MappingNode:
        """End the innermost list or mapping."""
        return self._open.pop()[0]

    def alias(self, node: TreeNode, line: int) -> None:
        """Put a node once more; it counts, and is as deep, as if it were written out."""
        size, depth = measure_tree_size(node)
        if len(self._open) + depth > DEEPEST_NESTING:
            raise make_line_error(line, f"nested more than {DEEPEST_NESTING} deep")
        self.add(node, size, line)


def measure_tree_size(node: TreeNode) -> tuple[int, int]:
    """How many nodes a tree has, everything shared counted each time, and how deep it is."""
    count, deepest = 0, 0
    waiting = [(node, 1)]
    while waiting and count <= MOST_NODES:
        node, depth = waiting.pop()
        count, deepest = count + 1, max(deepest, depth)
        if isinstance(node, SequenceNode):
            waiting += [(item, depth + 1) for item in node.items]
        elif isinstance(node, MappingNode):
            waiting += [(value, depth + 1) for _, value in node.items]
    return count, deepest


def make_line_error(line: int, what: str, hint: str = "") -> RubricError:
    """A fault at a line of the file being read; the file's name is added by whoever opened it."""
    return RubricError(Fault(what, hint, where=f":{line}"))


def _write_yaml_scalar_text(value: object) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


class FieldReader:
    """The fields of one mapping. What is absent or wrong comes back as None; what is wrong is a fault."""

    def __init__(self, node: TreeNode, known: Collection[str], faults: list[Fault], path: FaultPath = ()) -> None:
        self.faults = faults
        self.path = path
        self._nodes: dict[str, TreeNode] = {}
        if not isinstance(node, MappingNode):
            self.fault(f"expected fields such as {', '.join(sorted(known)[:4])}, got {describe_node(node)}")
            return
        unknown = 0
        for key, value in node.items:
            if key.text in known:
                self._nodes[key.text] = value
                continue
            unknown += 1
            if unknown <= MOST_FAULTS_SHOWN:
                self.fault(f"unknown field {key.text!r}", suggest_known_word_in_error(key.text[:40], known), key.text)
        if unknown > MOST_FAULTS_SHOWN:
            self.fault(f"and {unknown - MOST_FAULTS_SHOWN:,} more unknown fields")

    def __contains__(self, key: str) -> bool:
        return key in self._nodes

    def fault(self, what: str, hint: str = "", *where: str | int) -> None:
        """Note something wrong at a field, or at the mapping itself."""
        self.faults.append(Fault(what, hint, (*self.path, *where)))

    def node(self, *names: str) -> TreeNode | None:
        """The value under one of several names for the same field."""
        given = [name for name in names if name in self._nodes]
        if len(given) > 1:
            self.fault(f"{given[0]!r} and {given[1]!r} are the same field", "keep one of them", given[1])
        return self._nodes[given[0]] if given else None

    def text(self, *names: str) -> str | None:
        """A text; numbers and words count as the text they are written as."""
        node = self.node(*names)
        if node is None:
            return None
        if isinstance(node, ScalarNode) and node.text.strip() and not is_null_node(node):
            return node.text
        empty = isinstance(node, ScalarNode) and not is_null_node(node)
        what = "cannot be empty" if empty else f"must be text, got {describe_node(node)}"
        self.fault(f"{names[0]} {what}", "", names[0])
        return None

    def number(self, name: str) -> Fraction | None:
        """An exact number; a weight may be in percent."""
        node, read = self.node(name), read_node_weight if name == "weight" else read_node_number
        value = None if node is None else read(node)
        if not isinstance(value, str):
            return value
        self.fault(f"{name} {value}", "", name)
        return None

    def integer(self, name: str) -> int | None:
        """A whole number."""
        value = self.number(name)
        if value is not None and value.denominator != 1:
            self.fault(f"{name} must be a whole number", "", name)
            return None
        return None if value is None else int(value)

    def boolean(self, name: str) -> bool | None:
        """True or false."""
        node = self.node(name)
        if node is None:
            return None
        if isinstance(node, ScalarNode) and not node.quoted and node.text.lower() in _BOOLEANS:
            return _BOOLEANS[node.text.lower()]
        self.fault(f"{name} must be true or false, got {describe_node(node)}", "", name)
        return None

    def choice(self, name: str, allowed: Collection[str]) -> str | None:
        """One of a few words."""
        word = self.text(name)
        if word is not None and word not in allowed:
            self.fault(f"{name} {word!r} is not known", suggest_known_word_in_error(word, allowed), name)
            return None
        return word

    def items(self, *names: str) -> Iterator[tuple[TreeNode, FaultPath]]:
        """The entries of a list, each with its path."""
        node = self.node(*names)
        if isinstance(node, SequenceNode):
            for position, entry in enumerate(node.items):
                yield entry, (*self.path, names[0], position)
        elif node is not None:
            self.fault(f"{names[0]} must be a list, got {describe_node(node)}", "", names[0])

    def pairs(self, name: str) -> Iterator[tuple[str, TreeNode, FaultPath]]:
        """The keys and values of a mapping, each with its path."""
        node = self.node(name)
        if isinstance(node, MappingNode):
            for key, value in node.items:
                yield key.text, value, (*self.path, name, key.text)
        elif node is not None:
            self.fault(f"{name} must be a mapping, got {describe_node(node)}", "", name)


def build_checked_from_fields(make: Callable[..., T], faults: list[Fault], path: FaultPath, **parts: Any) -> T | None:
    """The value made of its parts; what it refuses itself is added to the faults."""
    try:
        return make(**parts)
    except RubricError as error:
        faults.extend(error.within(*path).faults)
        return None


def read_node_number(node: TreeNode) -> Fraction | str:
    """The number a node is, or what is wrong with it."""
    if not isinstance(node, ScalarNode) or not _NUMBER.fullmatch(node.text) or (node.quoted and "/" not in node.text):
        return f"must be a number, got {describe_node(node)}"
    if len(node.text) > 50:
        return "has too many digits"
    try:
        return Fraction(node.text) if "/" in node.text else to_exact_fraction(Decimal(node.text))
    except ZeroDivisionError:
        return "divides by zero"
    except ArithmeticError:
        return "cannot be used: the number is too large"
    except ValueError as error:
        return f"cannot be used: {error}"


def read_node_weight(node: TreeNode) -> Fraction | str:
    """The weight a node is, a number or a percentage such as 40%, or what is wrong with it."""
    if not isinstance(node, ScalarNode) or not node.text.endswith("%"):
        return read_node_number(node)
    share = read_node_number(ScalarNode(node.text[:-1].rstrip()))
    return f"must be a number or a percentage, got {describe_node(node)}" if isinstance(share, str) else share / 100


def parse_number_field_text(text: str) -> Fraction | str:
    """The number written in a text, such as 7.5 or 2/3, or what is wrong with it."""
    return read_node_number(ScalarNode(text.strip()))


def is_null_node(node: TreeNode) -> bool:
    """Whether nothing is written where a value could be."""
    return isinstance(node, ScalarNode) and not node.quoted and node.text.lower() in ("", "null", "~")


def describe_node(node: TreeNode) -> str:
    """A value for a message."""
    if isinstance(node, MappingNode):
        return "a mapping"
    if isinstance(node, SequenceNode):
        return "a list"
    if is_null_node(node):
        return "nothing"
    short = node.text if len(node.text) <= 40 else node.text[:39] + "…"
    return f"the text {short!r}" if node.quoted else repr(short)
