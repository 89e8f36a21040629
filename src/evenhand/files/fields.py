"""One mapping of a file, read field by field: every fault is collected with its path, none is raised."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

from evenhand.errors import MOST_FAULTS_SHOWN, Fault, FaultPath, RubricError, suggest_known_word_in_fault
from evenhand.files.tree import MappingNode, ScalarNode, SequenceNode, TreeNode
from evenhand.model.scale import to_exact_fraction

T = TypeVar("T")
_NUMBER = re.compile(r"[-+]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|[0-9]+/[0-9]+)")
_BOOLEANS = {"true": True, "false": False, "yes": True, "no": False, "on": True, "off": False}


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
                self.fault(f"unknown field {key.text!r}", suggest_known_word_in_fault(key.text[:40], known), key.text)
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
        """An exact number."""
        node = self.node(name)
        value = None if node is None else read_node_number(node)
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
            self.fault(f"{name} {word!r} is not known", suggest_known_word_in_fault(word, allowed), name)
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


def build_checked(make: Callable[..., T], faults: list[Fault], path: FaultPath, **parts: Any) -> T | None:
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


def parse_number_text(text: str) -> Fraction | str:
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
