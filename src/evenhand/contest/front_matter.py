"""Front matter of a submission: the YAML block between two lines `---` at the head of a text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from evenhand.errors import Fault, FaultPath, RubricError, suggest_close_word
from evenhand.files.fields import is_null_node
from evenhand.files.parsing import parse_yaml_tree
from evenhand.files.tree import MappingNode, ScalarNode, TreeNode, find_node_line

FRONT_MATTER_AS_TEXT = "an empty line before the block makes it part of the text"

_FRONT_MATTER_BLOCK = re.compile(r"---[ \t]*\r?\n(?P<block>.*?)^---[ \t]*\r?(?:\n|\Z)", re.DOTALL | re.MULTILINE)
# Where YAML cannot be read, what its author would still call the name of a field.
_FRONT_MATTER_KEY = re.compile(r"""["']?(?P<key>[^\s"':#\-\[{][^"':#]{0,40})["']?[ \t]*:(?:\s|$)""")


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatterText:
    """A text without its front matter, the tree of that, where there is one, and what is wrong with it."""

    text: str
    tree: MappingNode | None = None
    faults: tuple[Fault, ...] = ()  # Their places are the lines, as in ":3".

    def values(self, known: Collection[str]) -> dict[str, object]:
        """What the front matter says under the known names."""
        items = self.tree.items if self.tree else []
        return {key.text: _front_matter_value(node) for key, node in items if key.text in known}

    def line(self, path: FaultPath) -> int:
        """The line of a field of the front matter."""
        return find_node_line(self.tree, path) if self.tree else 1


def split_front_matter(text: str, known: Collection[str]) -> FrontMatterText:
    """The text and its front matter: a block with at least one key that is, or is meant to be, a known one."""
    found = _FRONT_MATTER_BLOCK.match(text)
    if found is None:
        return FrontMatterText(text=text)
    block = "\n" + found["block"]  # The lines of the file: its first one is the mark.
    parsed, broken = _parse_front_matter(block)
    tree = parsed if isinstance(parsed, MappingNode) else None
    keys = [(key.text, key.line) for key, _ in tree.items] if tree else []
    if broken:
        lines = [(_FRONT_MATTER_KEY.match(line), number) for number, line in enumerate(block.split("\n"), start=1)]
        keys = [(key["key"].strip(), number) for key, number in lines if key]
    if not any(suggest_close_word(key[:40], known) for key, _ in keys):
        return FrontMatterText(text=text)
    faults = sorted([*broken, *_find_unknown_front_matter(keys, known)], key=lambda fault: int(fault.where[1:]))
    return FrontMatterText(text=text[found.end() :], tree=tree, faults=tuple(faults))


def _parse_front_matter(block: str) -> tuple[TreeNode | None, tuple[Fault, ...]]:
    try:
        return parse_yaml_tree(block), ()
    except RubricError as error:
        return None, tuple(replace(fault, hint=fault.hint or FRONT_MATTER_AS_TEXT) for fault in error.faults)


def _find_unknown_front_matter(keys: Collection[tuple[str, int]], known: Collection[str]) -> Iterator[Fault]:
    sure = any(key.lower() in known for key, _ in keys)  # Else it may be text that only looks like front matter.
    for key, line in keys:
        if key not in known:
            near = suggest_close_word(key[:40], known)
            hint = near if near and sure else f"{near or 'known: ' + ', '.join(known)}; {FRONT_MATTER_AS_TEXT}"
            yield Fault(f"unknown field {key[:60]!r}", hint, where=f":{line}")


def _front_matter_value(node: TreeNode) -> object:
    if isinstance(node, ScalarNode):
        return None if is_null_node(node) else node.text
    return {} if isinstance(node, MappingNode) else []
