"""A file as a tree that remembers its lines. What a scalar means is decided by whoever asks for it."""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field

from evenhand.errors import Fault, FaultPath, RubricError

DEEPEST_NESTING = 60
MOST_NODES = 200_000


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

FIELD_ALIASES = {
    "criteria": ("rubrics",),
    "asks": ("expected_outcome", "description"),
}


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
        return MappingNode(
            items=[(ScalarNode(_write_scalar_text(key)), build_tree(entry, depth + 1)) for key, entry in value.items()]
        )
    if isinstance(value, (list, tuple)):
        return SequenceNode(items=[build_tree(entry, depth + 1) for entry in value])
    if isinstance(value, str):
        return ScalarNode(value, quoted=True)
    return ScalarNode(_write_scalar_text(value))


class TreeBuilder:
    """Puts a tree together piece by piece, without recursion, and refuses what could hurt."""

    def __init__(self, most_nodes: int = MOST_NODES, *, lenient: bool = False) -> None:
        self.root: TreeNode | None = None
        self._most = most_nodes
        self._lenient = lenient
        self._open: list[tuple[SequenceNode | MappingNode, set[str]]] = []
        self._keys: list[ScalarNode | None] = []
        self._count = 0

    def open(self, node: SequenceNode | MappingNode) -> None:
        """Begin a list or mapping."""
        self.add(node)
        if len(self._open) >= DEEPEST_NESTING and not self._lenient:
            raise make_line_error(node.line, f"nested more than {DEEPEST_NESTING} deep")
        self._open.append((node, set()))
        self._keys.append(None)

    def alias(self, node: TreeNode, line: int) -> None:
        """Put a node once more; it counts, and is as deep, as if it were written out."""
        size, depth = measure_tree_size(node)
        if len(self._open) + depth > DEEPEST_NESTING:
            raise make_line_error(line, f"nested more than {DEEPEST_NESTING} deep")
        self.add(node, size, line)

    def close(self) -> SequenceNode | MappingNode:
        """End the innermost list or mapping."""
        self._keys.pop()
        return self._open.pop()[0]

    def add(self, node: TreeNode, size: int = 1, line: int | None = None) -> None:
        """Put a node where the reader stands: as the root, an item, a key or a value."""
        self._count += size
        if self._count > self._most:
            raise make_line_error(line or node.line, f"more than {self._most:,} entries", "is this the right file?")
        if not self._open:
            self.root = node
            return
        parent, seen = self._open[-1]
        if isinstance(parent, SequenceNode):
            parent.items.append(node)
        elif self._keys[-1] is None:
            self._keys[-1] = self._checked_key(node, seen)
        else:
            parent.items.append((self._keys[-1], node))
            self._keys[-1] = None

    def _checked_key(self, node: TreeNode, seen: set[str]) -> ScalarNode:
        if not isinstance(node, ScalarNode):
            raise make_line_error(node.line, "a key must be a word or a number")
        if node.text in seen and not self._lenient:
            raise make_line_error(node.line, f"the key {node.text!r} is given twice", "keep one of them")
        seen.add(node.text)
        return node


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


def _write_scalar_text(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
