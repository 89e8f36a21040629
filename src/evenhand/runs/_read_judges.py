"""Who judges: names, names with weights, or a file that holds either, such as `evenhand calibrate --write` writes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from evenhand.errors import EvalError, Fault, InputError
from evenhand.judging import EMBEDDED
from evenhand.loading import read_text
from evenhand.loading._fields import Fields, described, number_in
from evenhand.loading._files import LARGEST_RUBRIC, parse_tree
from evenhand.loading._tree import Mapping, Node, Scalar, line_of

ENDINGS = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judges:
    """The judges of an eval, where each stands for messages, and what each counts for, where that is said."""

    names: tuple[str, ...]
    places: tuple[str, ...] = ()
    weights: dict[str, Fraction] = field(default_factory=dict)


def read_judges(fields: Fields, tree: Node, path: Path) -> Judges:
    """Those under `judges` in the file at `path`, or in the file that is named there; else the embedded one."""
    node = fields.node("judges")
    if isinstance(node, Scalar) and node.text.endswith(ENDINGS):
        return _from_file(path.parent / node.text, fields.faults)
    return _written_out(fields, tree, path)


def _from_file(path: Path, faults: list[Fault]) -> Judges:
    """The judges of a file with lines of its own."""
    try:
        tree = parse_tree(path, read_text(path, LARGEST_RUBRIC, EvalError))
    except InputError as error:
        faults += [replace(fault, hint="evenhand calibrate --write writes such a file") for fault in error.faults]
        return Judges(names=())
    fields = Fields(tree, ("judges",), [])
    if "judges" not in fields and not fields.faults:
        fields.fault("no judges in it", "as in judges: {openai/NAME: 0.6, embedded: 0.4}")
    found = _written_out(fields, tree, path)
    faults += EvalError(*fields.faults).located(lambda at: f"{path}:{line_of(tree, at)}").faults
    return found


def _written_out(fields: Fields, tree: Node, path: Path) -> Judges:
    node = fields.node("judges")
    if node is None:
        return Judges(names=(EMBEDDED,))
    names, weights = _names(fields, node)
    keys = names if isinstance(node, Mapping) else range(len(names))
    places = tuple(f"{path}:{line_of(tree, ('judges', key))}" for key in keys)
    return Judges(names=names or (EMBEDDED,), places=places, weights=weights)


def _names(fields: Fields, node: Node) -> tuple[tuple[str, ...], dict[str, Fraction]]:
    if isinstance(node, Scalar):
        return (node.text,), {}
    if isinstance(node, Mapping):
        weights = {name: _weight(fields, name, entry) for name, entry, _ in fields.pairs("judges")}
        return tuple(weights), weights
    names = []
    for entry, place in fields.items("judges"):
        if isinstance(entry, Scalar) and entry.text.strip():
            names.append(entry.text)
        else:
            fields.faults.append(Fault(f"a judge is a name, got {described(entry)}", "as in openai/NAME", place))
    return tuple(names), {}


def _weight(fields: Fields, name: str, node: Node) -> Fraction:
    value = number_in(node)
    if isinstance(value, str):
        fields.fault(f"the weight of {name} {value}", "", "judges", name)
        return Fraction(1)
    return value
