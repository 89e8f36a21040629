"""Reading rubrics: from a shipped name, a file or plain data, with every fault at once."""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from evenhand.errors import Fault, FaultPath, RubricError, format_error_path, suggest_known_word_in_error
from evenhand.files.allowed_files import (
    explain_forbidden_path,
    is_allowed_file,
    is_allowed_path_there,
    resolve_changing_path,
)
from evenhand.files.criteria import (
    CriterionDefaults,
    list_file_fields,
    make_wrong_file_node_fault,
    read_rubric_criteria_fields,
    read_rubric_gate_node,
    read_rubric_statement_node,
    read_scale_field,
    read_typed_fields,
)
from evenhand.files.methods import (
    LIBRARY,
    METHOD_FIELDS,
    list_method_yaml_names,
    list_rubric_file_names,
    list_rubric_yaml_files,
    load_method_file,
    load_shipped_method_file,
    read_located_method,
    read_method_steps_field,
    read_score_scale_field,
)
from evenhand.files.parsing import LARGEST_RUBRIC_FILE, parse_tree, read_text_file, read_tree_file
from evenhand.files.rubric_extension import EXTENDS, LONGEST_EXTENSION, PARENT_ONLY_FIELDS, extend_rubric_tree
from evenhand.files.tree import (
    FieldReader,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    build_checked_from_fields,
    build_tree,
    find_node_line,
)
from evenhand.model.method import Method, Panel, ScoreScale
from evenhand.model.rubric import MOST_CRITERIA, Rubric, explain_long_rubric_list
from evenhand.model.scale import YES_NO

RUBRIC_FIELDS = (
    "name", "about", "extends", "method", "criteria", "rubrics", "red_flags", "bonuses", "gates", "scale", "steps",
    "panel", "safety_gate", "holistic", "too_close", "tags", "why", "dialogue",
)  # fmt: skip
RUBRIC_LISTS = ("criteria", "rubrics", "red_flags", "bonuses", "gates")
METHOD_COPY_NOTE = """\
# A method with criteria of its own: a copy of this file can be used as a rubric.
# Red flags, bonuses and other criteria belong in a rubric that names the copy: method: FILE.yaml
"""
METHOD_FILE_ENDINGS = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class LocatedRubric:
    """A rubric with the file it came from, so that advice can name lines."""

    rubric: Rubric
    tree: TreeNode
    file: str

    def locate(self, path: FaultPath) -> str:
        """The place of a path in the file."""
        return f"{self.file}:{find_node_line(self.tree, path)}" if self.file else ""


def load_rubric(source: str | Path | AnyMapping[str, object]) -> Rubric:
    """A rubric by the name of a shipped one, from a YAML or JSON file, or from plain data."""
    return open_rubric_with_file_lines(source).rubric


def is_method_file(path: Path) -> bool:
    """Whether a file has what only methods have, so that it is not mistaken for a faulty rubric."""
    return _is_method_tree(read_tree_file(path))


def _is_method_tree(tree: TreeNode) -> bool:
    given = {key.text for key, _ in tree.items} if isinstance(tree, MappingNode) else set()
    return "steps" in given and not given.isdisjoint({*METHOD_FIELDS} - {*RUBRIC_FIELDS} | {"dialogue"})


def open_rubric_with_file_lines(source: str | Path | AnyMapping[str, object]) -> LocatedRubric:
    """A rubric together with the lines it came from."""
    if isinstance(source, AnyMapping):
        return _open_rubric_yaml_tree(build_tree(source), "", "rubric", Path())
    if str(source) in list_method_yaml_names() or str(source) in list_rubric_yaml_files():
        return _open_shipped_rubric_file(str(source))
    if not isinstance(source, (str, Path)):
        raise RubricError(f"a rubric is a name, a file or a mapping, got {type(source).__name__}")
    path = Path(source)
    if not path.suffix and not is_allowed_path_there(path):
        hint = suggest_known_word_in_error(str(source)[:40], list_rubric_file_names())
        joint = "" if hint.endswith("?") else ";"
        raise RubricError(Fault(f"no rubric is called {str(source)!r}", f"{hint}{joint} or name a file"))
    return _open_rubric_file(path)


def open_rubric_text(text: str, path: Path) -> LocatedRubric:
    """A rubric from the text of a file that need not be there; what it builds on is looked for beside it."""
    return _open_rubric_file_tree(parse_tree(path, text), path)


def _open_rubric_file(path: Path, extending: tuple[Path, ...] = ()) -> LocatedRubric:
    return _open_rubric_file_tree(read_tree_file(path), path, extending)


def _open_rubric_file_tree(tree: TreeNode, path: Path, extending: tuple[Path, ...] = ()) -> LocatedRubric:
    if not _is_method_tree(tree):
        return _open_rubric_yaml_tree(
            tree, str(path), path.stem, path.parent, (*extending, resolve_changing_path(path))
        )
    # A method file with criteria of its own can be used as it is, like those that ship.
    method = read_located_method(tree, path)
    if not method.criteria:
        hint = f"list criteria in it, or in a rubric that says 'method: {path.name}'"
        raise RubricError(Fault("a method without criteria of its own is no rubric", hint, where=str(path)))
    return LocatedRubric(Rubric(name=method.name, method=method, criteria=method.criteria), tree, str(path))


def read_rubric_file_text(source: str) -> str:
    """The text of a rubric's or a method's file; one with criteria of its own says how to build on a copy."""
    if source in list_rubric_yaml_files():
        return (LIBRARY / "rubrics" / f"{source}.yaml").read_text("utf-8")
    if source in list_method_yaml_names():
        text = (LIBRARY / "methods" / f"{source}.yaml").read_text("utf-8")
        return f"{METHOD_COPY_NOTE}{text}" if load_shipped_method_file(source).criteria else text
    load_rubric(source)
    return read_text_file(Path(source), LARGEST_RUBRIC_FILE, RubricError)


@cache
def _open_shipped_rubric_file(name: str) -> LocatedRubric:
    path = LIBRARY / "rubrics" / f"{name}.yaml"
    if path.exists():
        return _open_rubric_yaml_tree(read_tree_file(path), str(path), name, path.parent)
    try:
        method = load_shipped_method_file(name)
        return LocatedRubric(Rubric(name=name, method=method, criteria=method.criteria), MappingNode(), "")
    except RubricError as error:
        raise error.with_locations(lambda _: name) from None


def _open_rubric_yaml_tree(
    tree: TreeNode, file: str, name: str, folder: Path, extending: tuple[Path, ...] = ()
) -> LocatedRubric:
    opened_at = (lambda at: f"{file}:{find_node_line(tree, at)}") if file else format_error_path
    if not isinstance(tree, MappingNode):
        raise RubricError(make_wrong_file_node_fault(tree, "rubric")).with_locations(opened_at)
    try:
        rubric = read_rubric_file(tree, name, folder, extending)
    except RubricError as error:
        raise error.with_locations(opened_at) from None
    return LocatedRubric(rubric, tree, file)


def read_rubric_file(tree: MappingNode, name: str, folder: Path, extending: tuple[Path, ...] = ()) -> Rubric:
    """A rubric from its part of a tree; faults carry their way through that part and no place yet.

    What it extends is put into the tree; `extending` are the files that are being read for it.
    """
    _refuse_long_rubric_lists(tree)
    parent = _extend_rubric(tree, folder, extending) if any(key.text == EXTENDS for key, _ in tree.items) else ""
    faults: list[Fault] = []
    fields = FieldReader(tree, RUBRIC_FIELDS, faults)
    said = "method" in fields or "steps" in fields
    method = (
        _read_rubric_file_method(fields, folder)
        if said
        else load_shipped_method_file(_infer_method_name_from_fields(tree))
    )
    # Where the method is wrong, the criteria are read as the kind they look like, so that every fault is told at once.
    parts = _read_rubric_file_fields(
        fields, method or load_shipped_method_file(_infer_method_name_from_fields(tree)), name
    )
    rubric = None
    try:
        rubric = Rubric(**parts) if method else None
    except RubricError as error:
        # A sum over weights that are themselves wrong, or a list left empty by what was refused, says nothing new.
        stale = ["the weights sum"] if any("weight" in fault.path for fault in faults) else []
        stale += ["no criteria"] if faults else []
        pointless = any("points" in fault.path for fault in faults)
        new = [fault for fault in error.faults if not fault.what.startswith(tuple(stale))]
        faults.extend(
            replace(fault, hint=f"{fault.hint}; {parent} brings weights of its own: set them anew")
            if parent and fault.what.startswith("the weights sum")
            else fault
            for fault in new
            if not (pointless and "points" in fault.what)
        )
    if faults or rubric is None:
        # By line; what two steps or fields say in the same words is said once.
        told = {(find_node_line(tree, fault.path), fault.what): fault for fault in faults}
        raise RubricError(*(told[place] for place in sorted(told, key=lambda place: place[0])))
    return rubric


def _refuse_long_rubric_lists(tree: MappingNode) -> None:
    """Before any of their entries is read."""
    given = {key.text: value for key, value in tree.items if isinstance(value, SequenceNode)}
    long = {name: len(given[name].items) for name in RUBRIC_LISTS if name in given}
    faults = [explain_long_rubric_list(name, count) for name, count in long.items() if count > MOST_CRITERIA]
    if faults:
        raise RubricError(*faults)


def _extend_rubric(tree: MappingNode, folder: Path, extending: tuple[Path, ...]) -> str:
    """Put the rubric that is extended into the tree, and say its name."""
    faults: list[Fault] = []
    fields = FieldReader(tree, (*RUBRIC_FIELDS, *(key.text for key, _ in tree.items)), faults)
    word = fields.text(EXTENDS)
    for name in PARENT_ONLY_FIELDS:
        if name in fields:
            hint = f"remove {name}, or remove extends and list every criterion"
            fields.fault(f"{name} comes with the rubric that is extended", hint, name)
    parent = _open_extended_rubric(word, fields, folder, extending) if word else None
    if faults or parent is None:
        raise RubricError(*faults)
    extend_rubric_tree(tree, parent, find_node_line(tree, (EXTENDS,)))
    return word or ""


def _open_extended_rubric(
    word: str, fields: FieldReader, folder: Path, extending: tuple[Path, ...]
) -> MappingNode | None:
    """The tree of the rubric that is extended, with the method that it is scored by."""
    if word in list_rubric_file_names():
        opened = _open_shipped_rubric_file(word)
    else:
        path = folder / word
        if (outside := explain_forbidden_path(path)) is not None:  # Whether it is there is nobody's to know.
            fields.fault(f"rubric {word!r}: it {outside.what}", outside.hint, EXTENDS)
            return None
        if not is_allowed_file(path):
            hint = suggest_known_word_in_error(word[:40], list_rubric_file_names())
            joint = "" if hint.endswith("?") else ";"
            fields.fault(f"no rubric is called {word!r}", f"{hint}{joint} or a file, relative to this one", EXTENDS)
            return None
        if (found := resolve_changing_path(path)) in extending:
            names = " → ".join(one.name for one in (*extending, found))
            fields.fault(f"a rubric cannot extend itself: {names}", "name another one", EXTENDS)
            return None
        if len(extending) >= LONGEST_EXTENSION:
            what = f"more than {LONGEST_EXTENSION} files extend each other, and this is number {LONGEST_EXTENSION}"
            fields.fault(what, "write out here what the further ones say, and remove extends", EXTENDS)
            return None
        opened = _open_rubric_file(path, extending)
    method, place = opened.rubric.method.name, Path(opened.file).absolute() if opened.file else None
    if not isinstance(opened.tree, MappingNode) or not opened.tree.items or _is_method_tree(opened.tree):
        entries = [{"id": criterion.id} for criterion in opened.rubric.criteria]
        tree = build_tree({"method": str(place) if place else method, "criteria": entries})
        assert isinstance(tree, MappingNode)
        return tree
    if opened.tree.get("steps") is not None:
        return opened.tree
    named = opened.tree.get("method")
    if place and isinstance(named, ScalarNode) and named.text.endswith(METHOD_FILE_ENDINGS):
        method = str(place.parent / named.text)
    others = [pair for pair in opened.tree.items if pair[0].text != "method"]
    return MappingNode(opened.tree.line, [(ScalarNode("method"), ScalarNode(method)), *others])


def _read_rubric_file_fields(fields: FieldReader, method: Method, name: str) -> dict[str, Any]:
    """What a rubric is made of, as far as it could be read."""
    faults, criteria = fields.faults, method.criteria
    if "criteria" in fields or "rubrics" in fields:
        node = fields.node("scale")
        if isinstance(node, MappingNode):
            node = MappingNode(node.line, [pair for pair in node.items if pair[0].text != "decimals"])
        scale = (read_scale_field(node, faults, ("scale",)) if node else None) or method.criterion_scale
        own = {criterion.id: criterion for criterion in method.criteria}
        criteria = read_rubric_criteria_fields(
            fields, CriterionDefaults(scale=scale, required=method.required, own=own)
        )
    elif "scale" in fields and method.criteria:
        fields.fault("scale has no effect on the method's own criteria", "list criteria, or remove it", "scale")
    parts: dict[str, Any] = {"name": fields.text("name") or name, "method": method, "criteria": criteria}
    panel = fields.node("panel")
    if panel is not None:
        given = read_typed_fields(FieldReader(panel, list_file_fields(Panel), faults, ("panel",)), Panel)
        changed = build_checked_from_fields(partial(replace, method.panel), faults, ("panel",), **given)
        parts["method"] = method.with_step(method.panel, changed) if changed else method
    if fields.choice("dialogue", ("pairwise",)):  # Every other way of asking is the method's to choose.
        parts["method"] = replace(parts["method"], dialogue="pairwise")
    for kind in ("red_flags", "bonuses"):
        statements = [read_rubric_statement_node(node, faults, path) for node, path in fields.items(kind)]
        parts[kind] = tuple(statement for statement in statements if statement)
    on_numbers = {leaf.id for criterion in criteria for leaf in criterion.leaves() if not leaf.scale.yes_no}
    gates = [read_rubric_gate_node(node, on_numbers, faults, path) for node, path in fields.items("gates")]
    parts["gates"] = tuple(gate for gate in gates if gate)
    tags = list(fields.items("tags"))
    faults += [Fault("a tag is a word", path=path) for node, path in tags if not isinstance(node, ScalarNode)]
    parts["tags"] = tuple(node.text for node, _ in tags if isinstance(node, ScalarNode))
    return parts | read_typed_fields(fields, Rubric, ("safety_gate", "holistic", "too_close", "about", "why"))


def _read_rubric_file_method(fields: FieldReader, folder: Path) -> Method | None:
    word = fields.text("method")
    if "steps" in fields:
        if word is not None:
            fields.fault("method and steps exclude each other", "keep the one that says how to score", "steps")
        steps = read_method_steps_field(fields)
        scale = read_score_scale_field(fields) if "scale" in fields else ScoreScale(min=YES_NO.min, max=YES_NO.max)
        if fields.faults or scale is None:
            return None
        return build_checked_from_fields(Method, fields.faults, (), name="own", scale=scale, steps=steps)
    if word is None:
        return None
    if word.endswith(METHOD_FILE_ENDINGS):
        if (outside := explain_forbidden_path(folder / word)) is not None:
            fields.fault(f"method {word!r}: it {outside.what}", outside.hint, "method")
            return None
        if not is_allowed_file(folder / word):
            fields.fault(f"there is no method file {word!r}", "its path is relative to the rubric", "method")
            return None
        return load_method_file(folder / word)
    if word not in list_method_yaml_names():
        fields.fault(f"unknown method {word!r}", suggest_known_word_in_error(word, list_method_yaml_names()), "method")
        return None
    return load_shipped_method_file(word)


def _infer_method_name_from_fields(tree: MappingNode) -> str:
    """Without a method the kind of criteria decides."""
    given = {key.text: value for key, value in tree.items}
    entries = given.get("criteria") or given.get("rubrics")
    nodes = [node for node in getattr(entries, "items", []) if isinstance(node, MappingNode)]
    said = {key.text for node in nodes for key, _ in node.items}
    if "children" in said:
        return "tree"
    if "points" in said:
        return "points"
    scaled = said & {"score_ranges", "scale", "required_min_score"} or given.get("scale")
    return "score-ranges" if scaled else "checklist"
