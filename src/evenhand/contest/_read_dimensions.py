"""Reading the dimensions of a task: a list that becomes a rubric of the method `oracle`."""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping
from dataclasses import replace
from pathlib import Path

from evenhand.contest._task import METHOD
from evenhand.errors import Fault, RubricError
from evenhand.loading import read_rubric, with_environment
from evenhand.loading._fields import Fields, described
from evenhand.loading._tree import Mapping, Node, Scalar, Sequence
from evenhand.model import Rubric

# No scale and no gates: every dimension is answered by a band and a number, and it is the acceptance that gates.
DIMENSION_FIELDS = ("id", "asks", "expected_outcome", "description", "weight", "fixed", "type")
TYPES = ("fixed", "dynamic")


def read_dimensions(
    node: Node, name: str, faults: list[Fault], folder: Path, environ: AnyMapping[str, str]
) -> Rubric | None:
    """The rubric that a list under `dimensions` makes; None where it has a fault."""
    if not isinstance(node, Sequence) or not node.items:
        got = "an empty list" if isinstance(node, Sequence) else described(node)
        hint = "as in {id: credibility, asks: …, weight: 0.25, fixed: true}; left out, they are generated"
        faults.append(Fault(f"dimensions must be a list, got {got}", hint, ("dimensions",)))
        return None
    before = len(faults)
    entries = Sequence(node.line, [_entry(entry, faults, at) for at, entry in enumerate(node.items)])
    if not all(isinstance(entry, Mapping) for entry in entries.items):
        return None
    method, criteria = Scalar("method", node.line), Scalar("criteria", node.line)
    tree = Mapping(node.line, [(method, Scalar(METHOD, node.line)), (criteria, entries)])
    try:
        rubric = with_environment(read_rubric(tree, name, folder), environ)
    except RubricError as error:
        # What is said of the list as a whole rests on its entries: where those are wrong, it says nothing new.
        known = len(faults) > before
        faults += [_of_the_task(fault) for fault in error.faults if not (known and fault.path == ("criteria",))]
        return None
    return rubric if len(faults) == before else None


def _entry(node: Node, faults: list[Fault], at: int) -> Node:
    """An entry as a criterion has it, without what was told to be wrong with it already."""
    fields = Fields(node, DIMENSION_FIELDS, faults, ("dimensions", at))
    if not isinstance(node, Mapping):
        return node
    if "id" not in fields:
        fields.fault("a dimension needs an id", "as in id: credibility")
    if "fixed" in fields and "type" in fields:
        fields.fault("'fixed' and 'type' are the same field", "keep one of them", "type")
    kind = fields.choice("type", TYPES)
    kept = [(key, value) for key, value in node.items if key.text in fields and key.text != "type"]
    if kind is not None and "fixed" not in fields:
        kept.append((Scalar("fixed", node.line), Scalar("true" if kind == "fixed" else "false", node.line)))
    return Mapping(node.line, kept)


def _of_the_task(fault: Fault) -> Fault:
    below = fault.path[1:] if fault.path[:1] == ("criteria",) else fault.path
    return replace(fault, path=("dimensions", *below))
