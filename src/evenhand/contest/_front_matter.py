"""Front matter: what stands between two lines `---` at the head of a text, where it says whose the text is."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from evenhand.errors import Fault, Path, RubricError, close_to
from evenhand.loading._fields import is_null
from evenhand.loading._tree import Mapping, Node, Scalar, line_of
from evenhand.loading._yaml import parse_yaml

AS_TEXT = "an empty line before the block makes it part of the text"

_BLOCK = re.compile(r"---[ \t]*\r?\n(?P<block>.*?)^---[ \t]*\r?(?:\n|\Z)", re.DOTALL | re.MULTILINE)
# Where YAML cannot be read, what its author would still call the name of a field.
_KEY = re.compile(r"""["']?(?P<key>[^\s"':#\-\[{][^"':#]{0,40})["']?[ \t]*:(?:\s|$)""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parted:
    """A text without its front matter, the tree of that, where there is one, and what is wrong with it."""

    text: str
    tree: Mapping | None = None
    faults: tuple[Fault, ...] = ()  # Their places are the lines, as in ":3".

    def values(self, known: Collection[str]) -> dict[str, object]:
        """What the front matter says under the known names."""
        return {key.text: _plain(node) for key, node in self.tree.items if key.text in known} if self.tree else {}

    def line(self, path: Path) -> int:
        """The line of a field of the front matter."""
        return line_of(self.tree, path) if self.tree else 1


def parted(text: str, known: Collection[str]) -> Parted:
    """The text and its front matter: a block with at least one key that is, or is meant to be, a known one."""
    found = _BLOCK.match(text)
    if found is None:
        return Parted(text=text)
    block = "\n" + found["block"]  # The lines of the file: its first one is the mark.
    tree, broken = _tree(block)
    if broken:
        keys = list(_keys(block))
    elif isinstance(tree, Mapping):
        keys = [(key.text, key.line) for key, _ in tree.items]
    else:
        keys = []
    if not any(close_to(key[:40], known) for key, _ in keys):
        return Parted(text=text)
    faults = sorted([*broken, *_unknown(keys, known)], key=lambda fault: int(fault.where[1:]))
    tree = tree if isinstance(tree, Mapping) else None
    return Parted(text=text[found.end() :], tree=tree, faults=tuple(faults))


def _tree(block: str) -> tuple[Node | None, tuple[Fault, ...]]:
    try:
        return parse_yaml(block), ()
    except RubricError as error:
        return None, tuple(replace(fault, hint=fault.hint or AS_TEXT) for fault in error.faults)


def _keys(block: str) -> Iterator[tuple[str, int]]:
    for line, written in enumerate(block.split("\n"), start=1):
        if found := _KEY.match(written):
            yield found["key"].strip(), line


def _unknown(keys: Collection[tuple[str, int]], known: Collection[str]) -> Iterator[Fault]:
    sure = any(key.lower() in known for key, _ in keys)  # Else it may be text that only looks like front matter.
    for key, line in keys:
        if key not in known:
            near = close_to(key[:40], known)
            hint = near if near and sure else f"{near or 'known: ' + ', '.join(known)}; {AS_TEXT}"
            yield Fault(f"unknown field {key[:60]!r}", hint, where=f":{line}")


def _plain(node: Node) -> object:
    if isinstance(node, Scalar):
        return None if is_null(node) else node.text
    return {} if isinstance(node, Mapping) else []
