"""A file as a tree that remembers its lines. What a scalar means is decided by whoever asks for it."""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field

from evenhand.errors import Fault, Path, RubricError

DEEPEST = 60
MOST_NODES = 200_000


@dataclass(slots=True)
class Scalar:
    """A word, number or text; `quoted` says that it is text whatever it looks like."""

    text: str
    line: int = 0
    quoted: bool = False


@dataclass(slots=True)
class Sequence:
    """A list."""

    line: int = 0
    items: list[Node] = field(default_factory=list)


@dataclass(slots=True)
class Mapping:
    """Keys and values in the order of the file."""

    line: int = 0
    items: list[tuple[Scalar, Node]] = field(default_factory=list)

    def get(self, key: str) -> Node | None:
        """The value of a key."""
        return next((value for name, value in self.items if name.text == key), None)


Node = Scalar | Sequence | Mapping

ALIASES = {
    "criteria": ("rubrics",),
    "asks": ("expected_outcome", "description"),
}


def line_of(tree: Node, path: Path) -> int:
    """The line of the deepest node that the path still reaches."""
    line = tree.line
    for part in path:
        if isinstance(tree, Sequence) and isinstance(part, int) and part < len(tree.items):
            tree = tree.items[part]
            line = tree.line
        elif isinstance(tree, Mapping):
            names = (str(part), *ALIASES.get(str(part), ()))
            found = next(((key, value) for key, value in tree.items if key.text in names), None)
            if found is None:
                break
            line, tree = found[0].line, found[1]
        else:
            break
    return line


def tree_of(value: object, depth: int = 0) -> Node:
    """Plain Python data as a tree without lines."""
    if depth > DEEPEST:
        raise RubricError(Fault(f"nested more than {DEEPEST} deep"))
    if isinstance(value, AnyMapping):
        return Mapping(items=[(Scalar(_word(key)), tree_of(entry, depth + 1)) for key, entry in value.items()])
    if isinstance(value, (list, tuple)):
        return Sequence(items=[tree_of(entry, depth + 1) for entry in value])
    if isinstance(value, str):
        return Scalar(value, quoted=True)
    return Scalar(_word(value))


class Builder:
    """Puts a tree together piece by piece, without recursion, and refuses what could hurt."""

    def __init__(self, most_nodes: int = MOST_NODES, *, lenient: bool = False) -> None:
        self.root: Node | None = None
        self._most = most_nodes
        self._lenient = lenient
        self._open: list[tuple[Sequence | Mapping, set[str]]] = []
        self._keys: list[Scalar | None] = []
        self._count = 0

    def open(self, node: Sequence | Mapping) -> None:
        """Begin a list or mapping."""
        self.add(node)
        if len(self._open) >= DEEPEST and not self._lenient:
            raise RubricError(at(node.line, f"nested more than {DEEPEST} deep"))
        self._open.append((node, set()))
        self._keys.append(None)

    def alias(self, node: Node, line: int) -> None:
        """Put a node once more; it counts, and is as deep, as if it were written out."""
        size, depth = extent_of(node)
        if len(self._open) + depth > DEEPEST:
            raise RubricError(at(line, f"nested more than {DEEPEST} deep"))
        self.add(node, size, line)

    def close(self) -> Sequence | Mapping:
        """End the innermost list or mapping."""
        self._keys.pop()
        return self._open.pop()[0]

    def add(self, node: Node, size: int = 1, line: int | None = None) -> None:
        """Put a node where the reader stands: as the root, an item, a key or a value."""
        self._count += size
        if self._count > self._most:
            raise RubricError(at(line or node.line, f"more than {self._most:,} entries", "is this the right file?"))
        if not self._open:
            self.root = node
            return
        parent, seen = self._open[-1]
        if isinstance(parent, Sequence):
            parent.items.append(node)
        elif self._keys[-1] is None:
            self._keys[-1] = self._checked_key(node, seen)
        else:
            parent.items.append((self._keys[-1], node))
            self._keys[-1] = None

    def _checked_key(self, node: Node, seen: set[str]) -> Scalar:
        if not isinstance(node, Scalar):
            raise RubricError(at(node.line, "a key must be a word or a number"))
        if node.text in seen and not self._lenient:
            raise RubricError(at(node.line, f"the key {node.text!r} is given twice", "keep one of them"))
        seen.add(node.text)
        return node


def extent_of(node: Node) -> tuple[int, int]:
    """How many nodes a tree has, everything shared counted each time, and how deep it is."""
    count, deepest = 0, 0
    waiting = [(node, 1)]
    while waiting and count <= MOST_NODES:
        node, depth = waiting.pop()
        count, deepest = count + 1, max(deepest, depth)
        if isinstance(node, Sequence):
            waiting += [(item, depth + 1) for item in node.items]
        elif isinstance(node, Mapping):
            waiting += [(value, depth + 1) for _, value in node.items]
    return count, deepest


def at(line: int, what: str, hint: str = "") -> Fault:
    """A fault at a line of the file being read; the file's name is added by whoever opened it."""
    return Fault(what, hint, where=f":{line}")


def _word(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
