"""The judges of an eval or a task: names, names with weights, or a file that holds either."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from evenhand.errors import EvalError, Fault, InputError
from evenhand.files.parsing import LARGEST_RUBRIC_FILE, parse_tree, read_text_file
from evenhand.files.tree import (
    FieldReader,
    MappingNode,
    ScalarNode,
    TreeNode,
    describe_node,
    find_node_line,
    read_node_weight,
)
from evenhand.models.requests import EMBEDDED

JUDGE_FILE_ENDINGS = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalJudges:
    """The judges of an eval, where each stands for messages, and what each counts for, where that is said."""

    names: tuple[str, ...]
    places: tuple[str, ...] = ()
    weights: dict[str, Fraction] = field(default_factory=dict)


def read_eval_judges(fields: FieldReader, tree: TreeNode, path: Path, *, may_name_file: bool = True) -> EvalJudges:
    """Those under `judges` in the file at `path`: names, names with weights, or a file that holds either."""
    node = fields.node("judges")
    if node is None:
        return EvalJudges(names=(EMBEDDED,))
    names: list[str] = []
    weights: dict[str, Fraction] = {}
    if isinstance(node, ScalarNode):
        if may_name_file and node.text.endswith(JUDGE_FILE_ENDINGS):
            return _read_eval_judges_file(path.parent / node.text, fields.faults)
        names = [node.text]
    elif isinstance(node, MappingNode):
        for name, entry, _ in fields.pairs("judges"):
            weight = read_node_weight(entry)
            if isinstance(weight, str):
                fields.fault(f"the weight of {name} {weight}", "", "judges", name)
            weights[name] = Fraction(1) if isinstance(weight, str) else weight
        names = list(weights)
    else:
        for entry, place in fields.items("judges"):
            if isinstance(entry, ScalarNode) and entry.text.strip():
                names.append(entry.text)
            else:
                what = f"a judge is a name, got {describe_node(entry)}"
                fields.faults.append(Fault(what, "as in openai/NAME", place))
    keys = names if isinstance(node, MappingNode) else range(len(names))
    places = tuple(f"{path}:{find_node_line(tree, ('judges', key))}" for key in keys)
    return EvalJudges(names=tuple(names) or (EMBEDDED,), places=places, weights=weights)


def _read_eval_judges_file(path: Path, faults: list[Fault]) -> EvalJudges:
    """The judges of a file with lines of its own, such as `evenhand calibrate --write` writes."""
    if not path.is_file():
        hint = "evenhand calibrate --write writes such a file"
        faults.append(Fault(f"no judges {path.name!r}: there is no such file", hint, ("judges",)))
        return EvalJudges(names=())
    try:
        tree = parse_tree(path, read_text_file(path, LARGEST_RUBRIC_FILE, EvalError))
    except InputError as error:
        faults += [replace(fault, hint="evenhand calibrate --write writes such a file") for fault in error.faults]
        return EvalJudges(names=())
    fields = FieldReader(tree, ("judges",), [])
    if "judges" not in fields and not fields.faults:
        fields.fault("no judges in it", "as in judges: {openai/NAME: 0.6, embedded: 0.4}")
    found = read_eval_judges(fields, tree, path, may_name_file=False)
    faults += EvalError(*fields.faults).with_locations(lambda at: f"{path}:{find_node_line(tree, at)}").faults
    return found
