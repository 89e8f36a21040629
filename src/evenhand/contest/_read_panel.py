"""Reading who judges in a contest, and who looks at a challenge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from evenhand.errors import Fault
from evenhand.loading._fields import Fields, described, is_null
from evenhand.loading._tree import Node, Scalar
from evenhand.model import written
from evenhand.runs._read_judges import read_judges

NAME = "as in openai/NAME"


def read_panel(fields: Fields, tree: Node, path: Path) -> tuple[tuple[str, ...], dict[str, Fraction]]:
    """Those named under `judges`, with their weights; where nobody is, whoever opens the contest decides."""
    if not _named(fields, "judges"):
        return (), {}
    found = read_judges(fields, tree, path)
    for name, weight in found.weights.items():
        if weight <= 0:
            fields.fault(f"the weight of {name} must be above 0, got {written(weight)}", "", "judges", name)
    fields.faults.extend(_twice(found.names, "judges"))
    return (found.names if found.places else ()), found.weights


def read_challenge_judges(fields: Fields) -> tuple[str, ...]:
    """The name, or the names, under `challenge_judges`."""
    if not _named(fields, "challenge_judges"):
        return ()
    node = fields.node("challenge_judges")
    if isinstance(node, Scalar):
        return (node.text,)
    names = []
    for entry, path in fields.items("challenge_judges"):
        if isinstance(entry, Scalar) and entry.text.strip() and not is_null(entry):
            names.append(entry.text)
        else:
            fields.faults.append(Fault(f"a judge is a name, got {described(entry)}", NAME, path))
    fields.faults.extend(_twice(names, "challenge_judges"))
    return tuple(names)


def _named(fields: Fields, name: str) -> bool:
    """Whether somebody is named; a name that is empty is a fault."""
    node = fields.node(name)
    if isinstance(node, Scalar) and (is_null(node) or not node.text.strip()):
        fields.fault(
            f"{name} must be a name or a list of names, got {described(node)}", f"{NAME}, or leave it out", name
        )
        return False
    return node is not None


def _twice(names: Sequence[str], field: str) -> Iterator[Fault]:
    for at, name in enumerate(names):
        if name in names[:at]:
            yield Fault(f"{name!r} is named twice", "each judge once", (field, at))
