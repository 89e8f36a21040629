"""`extends` in a rubric file: what the parent has, with what the file says added to it or put in its place."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.files.criteria import QUESTION_FIELDS
from evenhand.files.tree import MappingNode, ScalarNode, SequenceNode, TreeNode

EXTENDS = "extends"
LONGEST_EXTENSION = 20  # Files, each of which extends the next.
PARENT_ONLY_FIELDS = ("method", "steps", "scale")  # They decide what the parent's criteria mean.
UNINHERITED_FIELDS = ("name", "about", "why", "tags")
_LIST_FIELDS = {"criteria": "id", "red_flags": "id", "bonuses": "id", "gates": "criterion"}  # By what entries are told.
# Fields that stand for each other: one of them in the file takes the place of all in the parent.
_REPLACED_FIELDS = {
    **dict.fromkeys(QUESTION_FIELDS, QUESTION_FIELDS),
    "scale": ("scale", "score_ranges", "anchors"),
    "score_ranges": ("scale", "score_ranges", "anchors"),
}


def extend_rubric_tree(tree: MappingNode, parent: MappingNode, line: int) -> None:
    """Put the parent below a rubric, in its own tree, so that later faults find their lines.

    What is inherited stands at the line of `extends`. An entry of a list that has an id of the parent's changes it
    field by field; any other is added behind the parent's.
    """
    own = {_name_field(key.text): (key, value) for key, value in tree.items if key.text != EXTENDS}
    items: list[tuple[ScalarNode, TreeNode]] = []
    for key, inherited in parent.items:
        name = _name_field(key.text)
        if name in UNINHERITED_FIELDS:
            continue
        given_key, given = own.pop(name, (ScalarNode(name, line), None))
        items.append((given_key, _merge_extended_rubric_field(name, _copy_yaml_node(inherited, line), given)))
    tree.items[:] = [*items, *own.values()]


def _name_field(name: str) -> str:
    return "criteria" if name == "rubrics" else name


def _merge_extended_rubric_field(name: str, inherited: TreeNode, given: TreeNode | None) -> TreeNode:
    if given is None:
        return inherited
    if name in _LIST_FIELDS and isinstance(inherited, SequenceNode) and isinstance(given, SequenceNode):
        return SequenceNode(given.line, _merge_extended_rubric_entries(name, inherited.items, given.items))
    if name == "panel" and isinstance(inherited, MappingNode) and isinstance(given, MappingNode):
        return _merge_extended_rubric_entry(inherited, given)
    return given


def _merge_extended_rubric_entries(
    name: str, inherited: Sequence[TreeNode], given: Sequence[TreeNode]
) -> list[TreeNode]:
    """The parent's entries in their order, as changed, then the new ones."""
    merged = [_expand_rubric_text_entry(name, at, entry) for at, entry in enumerate(inherited, start=1)]
    places = {_find_rubric_entry_id(name, entry): at for at, entry in enumerate(merged)}
    changed: set[str] = set()
    for entry in given:
        id = _find_rubric_entry_id(name, entry)
        at = places.get(id) if id and id not in changed else None  # One that is there twice is a fault, told later.
        if at is None or id is None:
            merged.append(entry)
            continue
        changed.add(id)
        base = merged[at]
        if isinstance(base, MappingNode) and isinstance(entry, MappingNode):
            merged[at] = _merge_extended_rubric_entry(base, entry)
    return merged


def _merge_extended_rubric_entry(inherited: MappingNode, given: MappingNode) -> MappingNode:
    own = {key.text for key, _ in given.items}
    gone = own.union(*(_REPLACED_FIELDS.get(name, ()) for name in own))
    return MappingNode(given.line, [*(pair for pair in inherited.items if pair[0].text not in gone), *given.items])


def _expand_rubric_text_entry(name: str, position: int, entry: TreeNode) -> TreeNode:
    """A text as the mapping that it stands for, so that fields can be put over it."""
    if not isinstance(entry, ScalarNode) or name == "gates":
        return entry
    id = f"rubric-{position}" if name == "criteria" else entry.text
    pairs = (("id", id), ("asks", entry.text))
    return MappingNode(
        entry.line, [(ScalarNode(key, entry.line), ScalarNode(text, entry.line, True)) for key, text in pairs]
    )


def _find_rubric_entry_id(name: str, entry: TreeNode) -> str | None:
    """By what an entry is known; a criterion without an id is a new one."""
    if isinstance(entry, ScalarNode):
        return None if name == "criteria" else entry.text
    if not isinstance(entry, MappingNode):
        return None
    found = entry.get(_LIST_FIELDS[name])
    if found is None and name in ("red_flags", "bonuses"):
        found = entry.get("asks")
    return found.text if isinstance(found, ScalarNode) else None


def _copy_yaml_node(node: TreeNode, line: int) -> TreeNode:
    """The same node as if it were written on one line: the parent's own lines are those of another file."""
    if isinstance(node, ScalarNode):
        return ScalarNode(node.text, line, node.quoted)
    if isinstance(node, SequenceNode):
        return SequenceNode(line, [_copy_yaml_node(item, line) for item in node.items])
    pairs = [(ScalarNode(key.text, line, key.quoted), _copy_yaml_node(value, line)) for key, value in node.items]
    return MappingNode(line, pairs)
