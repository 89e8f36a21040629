"""Front matter: what stands between two lines `---` at the head of a text, where it says whose the text is."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from evenhand.errors import Path, RubricError
from evenhand.loading._fields import is_null
from evenhand.loading._tree import Mapping, Node, Scalar, line_of
from evenhand.loading._yaml import parse_yaml

_BLOCK = re.compile(r"---[ \t]*\r?\n(?P<block>.*?)^---[ \t]*\r?(?:\n|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parted:
    """A text without its front matter, and the tree of that, where there is one."""

    text: str
    tree: Mapping | None = None

    @property
    def values(self) -> dict[str, object]:
        """What the front matter says."""
        return {key.text: _plain(node) for key, node in self.tree.items} if self.tree else {}

    def line(self, path: Path) -> int:
        """The line of a field of the front matter."""
        return line_of(self.tree, path) if self.tree else 1


def parted(text: str, known: Collection[str]) -> Parted:
    """The text and its front matter; what has other keys than the known ones is text."""
    found = _BLOCK.match(text)
    if found is None:
        return Parted(text=text)
    try:
        tree = parse_yaml("\n" + found["block"])  # The lines of the file: its first one is the mark.
    except RubricError:
        return Parted(text=text)
    if not isinstance(tree, Mapping) or not tree.items or any(key.text not in known for key, _ in tree.items):
        return Parted(text=text)
    return Parted(text=text[found.end() :], tree=tree)


def _plain(node: Node) -> object:
    if isinstance(node, Scalar):
        return None if is_null(node) else node.text
    return {} if isinstance(node, Mapping) else []
