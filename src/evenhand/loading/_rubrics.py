"""Reading rubrics: from a shipped name, a file or plain data, with every fault at once."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from evenhand import errors
from evenhand.errors import Fault, RubricError, nearest
from evenhand.loading._criteria import Defaults, read_criteria, read_gate, read_statement, unexpected
from evenhand.loading._fields import Fields
from evenhand.loading._files import LARGEST_RUBRIC, read_text, read_tree
from evenhand.loading._library import LIBRARY, load_method, load_method_file, method_names, ready_names, rubric_names
from evenhand.loading._methods import (
    METHOD_FIELDS,
    parameters,
    read_parameter,
    read_score_scale,
    read_steps,
)
from evenhand.loading._scales import read_scale
from evenhand.loading._tree import Mapping, Node, Scalar, line_of, tree_of
from evenhand.model import YES_NO, Criterion, Method, Panel, Rubric, Scale, ScoreScale, Statement

RUBRIC_FIELDS = (
    "name", "about", "method", "criteria", "rubrics", "red_flags", "bonuses", "gates", "scale", "steps", "panel",
    "safety_gate", "tags",
)  # fmt: skip
FILE_ENDINGS = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class Opened:
    """A rubric with the file it came from, so that advice can name lines."""

    rubric: Rubric
    tree: Node
    file: str

    def locate(self, path: errors.Path) -> str:
        """The place of a path in the file."""
        return f"{self.file}:{line_of(self.tree, path)}" if self.file else ""


def load_rubric(source: str | Path | AnyMapping[str, object]) -> Rubric:
    """A rubric by the name of a shipped one, from a YAML or JSON file, or from plain data."""
    return open_rubric(source).rubric


def is_method_file(path: Path) -> bool:
    """Whether a file has what only methods have, so that it is not mistaken for a faulty rubric."""
    return _is_method(read_tree(path))


def _or(hint: str) -> str:
    return hint if hint.endswith("?") else f"{hint};"


def _is_method(tree: Node) -> bool:
    own = set(METHOD_FIELDS) - set(RUBRIC_FIELDS)
    return isinstance(tree, Mapping) and any(key.text in own for key, _ in tree.items) and tree.get("steps") is not None


def open_rubric(source: str | Path | AnyMapping[str, object]) -> Opened:
    """A rubric together with the lines it came from."""
    if isinstance(source, AnyMapping):
        return _opened(tree_of(source), "", "rubric", Path())
    if str(source) in (*method_names(), *ready_names()):
        return _shipped(str(source))
    if not isinstance(source, (str, Path)):
        raise RubricError(f"a rubric is a name, a file or a mapping, got {type(source).__name__}")
    path = Path(source)
    if not path.suffix and not os.path.exists(path):  # noqa: PTH110  Unlike Path.exists, it bears any name.
        raise RubricError(
            Fault(
                f"no rubric is called {str(source)!r}",
                f"{_or(nearest(str(source)[:40], rubric_names()))} or name a file",
            )
        )
    tree = read_tree(path)
    if _is_method(tree):
        return _method_as_rubric(path, tree)
    return _opened(tree, str(path), path.stem, path.parent)


def _method_as_rubric(path: Path, tree: Node) -> Opened:
    """A method file with criteria of its own can be used as it is, like those that ship."""
    method = load_method_file(path)
    if not method.criteria:
        hint = f"list criteria in it, or in a rubric that says 'method: {path.name}'"
        raise RubricError(Fault("a method without criteria of its own is no rubric", hint, where=str(path)))
    return Opened(Rubric(name=method.name, method=method, criteria=method.criteria), tree, str(path))


def rubric_source(source: str) -> str:
    """The text of a rubric's file; for a method with criteria of its own, the rubric that lists them."""
    if source in ready_names():
        return (LIBRARY / "rubrics" / f"{source}.yaml").read_text("utf-8")
    if source in method_names():
        text = (LIBRARY / "methods" / f"{source}.yaml").read_text("utf-8")
        criteria = re.search(r"^criteria:\n(?:[ #].*\n)+", text, re.MULTILINE)
        return f"name: my-{source}\nmethod: {source}\n\n{criteria[0]}" if criteria else text
    load_rubric(source)
    return read_text(Path(source), LARGEST_RUBRIC, RubricError)


@cache
def _shipped(name: str) -> Opened:
    path = LIBRARY / "rubrics" / f"{name}.yaml"
    if path.exists():
        return _opened(read_tree(path), str(path), name, path.parent)
    try:
        return _opened(tree_of({"method": name}), "", name, Path())
    except RubricError as error:
        raise error.located(lambda _: name) from None


def _opened(tree: Node, file: str, name: str, folder: Path) -> Opened:
    opened_at = (lambda at: f"{file}:{line_of(tree, at)}") if file else errors.dotted
    if not isinstance(tree, Mapping):
        raise RubricError(unexpected(tree, "rubric")).located(opened_at)
    try:
        rubric = read_rubric(tree, name, folder)
    except RubricError as error:
        raise error.located(opened_at) from None
    return Opened(rubric, tree, file)


def read_rubric(tree: Mapping, name: str, folder: Path) -> Rubric:
    """A rubric from its part of a tree; faults carry their way through that part and no place yet."""
    faults: list[Fault] = []
    fields = Fields(tree, RUBRIC_FIELDS, faults)
    method = _method(fields, folder, tree)
    if method is None:
        # The criteria are read all the same, as the kind they look like, so that every fault is told at once.
        _parts(fields, load_method(_kind(tree)), name)
        raise RubricError(*_in_order(faults, tree))
    rubric = _born(_parts(fields, method, name), faults)
    if faults or rubric is None:
        raise RubricError(*_in_order(faults, tree))
    return rubric


def _parts(fields: Fields, method: Method, name: str) -> dict[str, Any]:
    """What a rubric is made of, as far as it could be read."""
    criteria = _criteria(fields, method)
    on_numbers = {leaf.id for criterion in criteria for leaf in criterion.leaves() if not leaf.scale.yes_no}
    gates = (read_gate(node, on_numbers, fields.faults, path) for node, path in fields.items("gates"))
    return {
        "name": fields.text("name") or name,
        "method": _with_panel(fields, method),
        "criteria": criteria,
        "red_flags": _statements(fields, "red_flags"),
        "bonuses": _statements(fields, "bonuses"),
        "gates": tuple(gate for gate in gates if gate),
        "tags": _tags(fields),
        "safety_gate": fields.boolean("safety_gate") or False,
        "about": fields.text("about") or "",
    }


def _born(parts: dict[str, Any], faults: list[Fault]) -> Rubric | None:
    try:
        return Rubric(**parts)
    except RubricError as error:
        # A sum over weights that are themselves wrong, or a list left empty by what was refused, says nothing new.
        stale = ["the weights sum"] if any("weight" in fault.path for fault in faults) else []
        stale += ["no criteria"] if faults else []
        pointless = any("points" in fault.path for fault in faults)
        new = [fault for fault in error.faults if not fault.what.startswith(tuple(stale))]
        faults.extend(fault for fault in new if not (pointless and "points" in fault.what))
        return None


def _in_order(faults: list[Fault], tree: Node) -> list[Fault]:
    """By line; what two steps or fields say in the same words is said once."""
    told = {(line_of(tree, fault.path), fault.what): fault for fault in faults}
    return [told[place] for place in sorted(told, key=lambda place: place[0])]


def _method(fields: Fields, folder: Path, tree: Mapping) -> Method | None:
    word = fields.text("method")
    if "steps" in fields:
        if word is not None:
            fields.fault("method and steps exclude each other", "keep the one that says how to score", "steps")
        return _own_method(fields)
    if word is None:
        return load_method(_kind(tree)) if "method" not in fields else None
    if word.endswith(FILE_ENDINGS):
        if not os.path.isfile(folder / word):  # noqa: PTH113  Unlike Path.is_file, it bears any name.
            fields.fault(f"there is no method file {word!r}", "its path is relative to the rubric", "method")
            return None
        return load_method_file(folder / word)
    if word not in method_names():
        fields.fault(f"unknown method {word!r}", nearest(word, method_names()), "method")
        return None
    return load_method(word)


def _own_method(fields: Fields) -> Method | None:
    steps = read_steps(fields)
    scale = read_score_scale(fields) if "scale" in fields else ScoreScale(min=YES_NO.min, max=YES_NO.max)
    if fields.faults or scale is None:
        return None
    try:
        return Method(name="own", scale=scale, steps=steps)
    except RubricError as error:
        fields.faults.extend(error.faults)
        return None


def _kind(tree: Mapping) -> str:
    """Without a method the kind of criteria decides."""
    entries = tree.get("criteria") or tree.get("rubrics")
    nodes = [node for node in getattr(entries, "items", []) if isinstance(node, Mapping)]
    if any(node.get("children") for node in nodes):
        return "tree"
    if any(node.get("points") for node in nodes):
        return "points"
    scaled = any(node.get(name) for node in nodes for name in ("score_ranges", "scale", "required_min_score"))
    return "score-ranges" if scaled or tree.get("scale") else "checklist"


def _with_panel(fields: Fields, method: Method) -> Method:
    node = fields.node("panel")
    if node is None:
        return method
    known = parameters(Panel)
    parts = Fields(node, known, fields.faults, ("panel",))
    given: dict[str, Any] = {name: read_parameter(parts, name, type_) for name, (type_, _) in known.items()}
    try:
        changed = replace(method.panel, **{name: value for name, value in given.items() if value is not None})
    except RubricError as error:
        fields.faults.extend(error.within("panel").faults)
        return method
    return method.with_step(method.panel, changed)


def _criteria(fields: Fields, method: Method) -> tuple[Criterion, ...]:
    if "criteria" not in fields and "rubrics" not in fields:
        if "scale" in fields and method.criteria:
            fields.fault("scale has no effect on the method's own criteria", "list criteria, or remove it", "scale")
        return method.criteria
    own = {criterion.id: criterion for criterion in method.criteria}
    defaults = Defaults(scale=_default_scale(fields, method), required=method.required, own=own)
    return read_criteria(fields, defaults)


def _default_scale(fields: Fields, method: Method) -> Scale:
    node = fields.node("scale")
    if node is None:
        return method.criterion_scale
    if isinstance(node, Mapping):
        node = Mapping(node.line, [pair for pair in node.items if pair[0].text != "decimals"])
    return read_scale(node, fields.faults, ("scale",)) or method.criterion_scale


def _statements(fields: Fields, name: str) -> tuple[Statement, ...]:
    read = (read_statement(node, fields.faults, path) for node, path in fields.items(name))
    return tuple(statement for statement in read if statement)


def _tags(fields: Fields) -> tuple[str, ...]:
    tags = []
    for node, path in fields.items("tags"):
        if isinstance(node, Scalar):
            tags.append(node.text)
        else:
            fields.faults.append(Fault("a tag is a word", path=path))
    return tuple(tags)
