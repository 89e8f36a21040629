"""Reading the dimensions of a task: a list that becomes a rubric of the method `oracle`."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as AnyMapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from evenhand.contest._task import METHOD, count_faults
from evenhand.errors import Fault, RubricError
from evenhand.loading import load_method, read_rubric, with_environment
from evenhand.loading._fields import Fields, described, number_in
from evenhand.loading._tree import Mapping, Node, Scalar, Sequence
from evenhand.model import Criterion, Rubric

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
    wrong = len(faults) > before
    if all(isinstance(entry, Mapping) for entry in entries.items):
        method, criteria = Scalar("method", node.line), Scalar("criteria", node.line)
        tree = Mapping(node.line, [(method, Scalar(METHOD, node.line)), (criteria, entries)])
        try:
            rubric = with_environment(read_rubric(tree, name, folder), environ)
        except RubricError as error:
            # What is said of the list as a whole is found below, as far as it is true although an entry is wrong.
            faults += [_of_the_task(one) for one in error.faults if one.where or one.path != ("criteria",)]
        else:
            if not wrong:
                return rubric
    faults += _of_all(node.items, unweighted=None if wrong else Fraction(1))
    return None


def _of_all(entries: list[Node], unweighted: Fraction | None) -> Iterator[Fault]:
    """What is wrong with how many there are and with what they sum to, each where it can be told."""
    fixed = [_is_fixed(entry) for entry in entries]
    known = [one for one in fixed if one is not None]
    if len(known) == len(fixed):
        yield from count_faults(known)
    weights = [_weight(entry, unweighted) for entry in entries]
    numbers = [one for one in weights if one is not None]
    if len(numbers) == len(weights):
        plain = [Criterion(id=str(at), asks="?", weight=weight, fixed=True) for at, weight in enumerate(numbers)]
        try:
            Rubric(name="", method=load_method(METHOD), criteria=tuple(plain))
        except RubricError as error:
            yield from (_of_the_task(one) for one in error.faults if one.path == ("criteria",))


def _weight(entry: Node, unweighted: Fraction | None) -> Fraction | None:
    """None where it cannot be told."""
    node = entry.get("weight") if isinstance(entry, Mapping) else None
    weight = unweighted if node is None else number_in(node)
    return weight if isinstance(weight, Fraction) and weight > 0 else None


def _is_fixed(entry: Node) -> bool | None:
    """None where it cannot be told."""
    fields = Fields(entry, DIMENSION_FIELDS, [])
    fixed, kind = fields.boolean("fixed"), fields.choice("type", TYPES)
    if fields.faults or ("fixed" in fields and "type" in fields):
        return None
    return kind == "fixed" if fixed is None else fixed


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
