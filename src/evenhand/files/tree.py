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
        items = [(ScalarNode(_write_scalar_text(key)), build_tree(entry, depth + 1)) for key, entry in value.items()]
        return MappingNode(items=items)
    if isinstance(value, (list, tuple)):
        return SequenceNode(items=[build_tree(entry, depth + 1) for entry in value])
    return ScalarNode(_write_scalar_text(value), quoted=isinstance(value, str))


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


def _write_scalar_text(value: object) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
