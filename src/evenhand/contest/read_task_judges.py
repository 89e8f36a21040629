"""Reading the judges of a task file: those of the contest with their weights, and those for a challenge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from evenhand.errors import Fault
from evenhand.evals.judge_list import read_judges
from evenhand.files.fields import FieldReader, describe_node, is_null_node
from evenhand.files.tree import ScalarNode, TreeNode
from evenhand.wording import format_fraction

JUDGE_NAME_EXAMPLE = "as in openai/NAME"


def read_contest_judges(fields: FieldReader, tree: TreeNode, path: Path) -> tuple[tuple[str, ...], dict[str, Fraction]]:
    """Those named under `judges`, with their weights; where nobody is, whoever opens the contest decides."""
    if not _is_judge_named(fields, "judges"):
        return (), {}
    found = read_judges(fields, tree, path)
    for name, weight in found.weights.items():
        if weight <= 0:
            fields.fault(f"the weight of {name} must be above 0, got {format_fraction(weight)}", "", "judges", name)
    fields.faults.extend(_find_repeated_judges(found.names, "judges"))
    return (found.names if found.places else ()), found.weights


def read_challenge_judges(fields: FieldReader) -> tuple[str, ...]:
    """The name, or the names, under `challenge_judges`."""
    if not _is_judge_named(fields, "challenge_judges"):
        return ()
    node = fields.node("challenge_judges")
    if isinstance(node, ScalarNode):
        return (node.text,)
    names = []
    for entry, path in fields.items("challenge_judges"):
        if isinstance(entry, ScalarNode) and entry.text.strip() and not is_null_node(entry):
            names.append(entry.text)
        else:
            fields.faults.append(Fault(f"a judge is a name, got {describe_node(entry)}", JUDGE_NAME_EXAMPLE, path))
    fields.faults.extend(_find_repeated_judges(names, "challenge_judges"))
    return tuple(names)


def _is_judge_named(fields: FieldReader, name: str) -> bool:
    """Whether somebody is named; a name that is empty is a fault."""
    node = fields.node(name)
    if isinstance(node, ScalarNode) and (is_null_node(node) or not node.text.strip()):
        what = f"{name} must be a name or a list of names, got {describe_node(node)}"
        fields.fault(what, f"{JUDGE_NAME_EXAMPLE}, or leave it out", name)
        return False
    return node is not None


def _find_repeated_judges(names: Sequence[str], field: str) -> Iterator[Fault]:
    for at, name in enumerate(names):
        if name in names[:at]:
            yield Fault(f"{name!r} is named twice", "each judge once", (field, at))
