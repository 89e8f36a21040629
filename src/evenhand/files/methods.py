"""Reading methods: from a file or the shipped library, and what environment variables set in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

from evenhand.errors import Fault, FaultPath, RubricError, suggest_known_word_in_error
from evenhand.files.criteria import (
    CriterionDefaults,
    list_file_fields,
    make_wrong_file_node_fault,
    parse_scale_field,
    read_rubric_criteria_fields,
    read_scale_field,
    read_typed_fields,
)
from evenhand.files.parsing import YAML_STRING_LOADER, read_tree_file
from evenhand.files.tree import (
    FieldReader,
    MappingNode,
    ScalarNode,
    TreeNode,
    build_checked_from_fields,
    describe_node,
    find_node_line,
    is_null_node,
    read_node_number,
    read_node_weight,
)
from evenhand.model.method import (
    STEPS,
    Cap,
    DialogueName,
    EnvironmentSetting,
    Grade,
    Method,
    ScoreScale,
    Step,
    TieBreak,
    VerdictThreshold,
)
from evenhand.model.rubric import Rubric
from evenhand.model.scale import YES_NO

METHOD_FIELDS = (
    "name", "about", "scale", "criterion_scale", "criteria", "required", "weights_sum_to", "holistic",
    "steps", "grades", "verdicts", "ties", "environment", "dialogue",
)  # fmt: skip
RUBRIC_ONLY_PATHS = (("red_flags",), ("bonuses",), ("gates",), ("safety_gate",))
TIE_BREAK_WORDS = ("fewer red_flags", "more bonuses")
SETTING_WORDS: tuple[Literal["weight", "cap", "guard"], ...] = ("weight", "cap", "guard")


def read_method_file(tree: TreeNode, name: str) -> Method:
    """A method from its file."""
    if not isinstance(tree, MappingNode):
        raise RubricError(make_wrong_file_node_fault(tree, "method"))
    faults: list[Fault] = []
    fields = FieldReader(tree, METHOD_FIELDS, faults)
    told = f"it belongs in a rubric with 'method: {name}.yaml'"
    faults[:] = [replace(one, hint=told) if one.path[-1:] in RUBRIC_ONLY_PATHS else one for one in faults]
    criterion_scale = read_scale_field(fields.node("criterion_scale"), faults, ("criterion_scale",)) or YES_NO
    required = fields.boolean("required") or False
    defaults = CriterionDefaults(scale=criterion_scale, required=required, own={})
    parts = {
        "name": fields.text("name") or name,
        "about": fields.text("about") or "",
        "scale": read_score_scale_field(fields),
        "criterion_scale": criterion_scale,
        "criteria": read_rubric_criteria_fields(fields, defaults),
        "required": required,
        **read_typed_fields(fields, Method, ("weights_sum_to", "holistic")),
        "steps": read_method_steps_field(fields),
        **_read_method_file_decisions(fields),
        "dialogue": fields.choice("dialogue", get_args(DialogueName)) or "pointwise",
    }
    method = None if faults else build_checked_from_fields(Method, faults, (), **parts)
    if method is None:
        raise RubricError(*faults)
    return method


def read_score_scale_field(fields: FieldReader) -> ScoreScale | None:
    """The span of the score: {min, max, decimals} or 0-10."""
    node, path = fields.node("scale"), (*fields.path, "scale")
    if node is None:
        fields.fault("a method needs a scale", "as in scale: {min: 0, max: 10, decimals: 2}")
        return None
    span = parse_scale_field(node.text) if isinstance(node, ScalarNode) else None
    if span:
        return build_checked_from_fields(ScoreScale, fields.faults, path, min=span[0], max=span[1])
    parts = FieldReader(node, ("min", "max", "decimals", "integers"), fields.faults, path)
    given = read_typed_fields(parts, ScoreScale)
    if "min" in given and "max" in given:
        return build_checked_from_fields(ScoreScale, fields.faults, path, **given)
    if isinstance(node, MappingNode):
        parts.fault("a scale needs min and max")
    return None


def read_method_steps_field(fields: FieldReader) -> tuple[Step, ...]:
    """The steps of a method, each a word or {word: {parameters}}."""
    faults, steps = fields.faults, []
    if "steps" not in fields:
        fields.fault("a method needs steps", "as in steps: [weighted_mean]")
    for node, path in fields.items("steps"):
        if isinstance(node, MappingNode) and len(node.items) == 1:
            key, below = node.items[0]
            kind, here = key.text, (*path, key.text)
        elif isinstance(node, ScalarNode):
            kind, below, here = node.text, MappingNode(node.line), path
        else:
            what = f"a step is a word or one word with its parameters, got {describe_node(node)}"
            faults.append(Fault(what, path=path))
            continue
        cls = STEPS.get(kind)
        if cls is None:
            faults.append(Fault(f"unknown step {kind!r}", suggest_known_word_in_error(kind, STEPS), path))
            continue
        known = list_file_fields(cls)
        parts = FieldReader(MappingNode(node.line) if is_null_node(below) else below, known, faults, here)
        count = len(faults)
        given = read_typed_fields(parts, cls)
        for name in [name for name, one in known.items() if one.required and name not in parts]:
            parts.fault(f"{kind} needs {name}")
        step = None if len(faults) > count else build_checked_from_fields(cls, faults, here, **given)
        steps += [step] if step else []
    return tuple(steps)


def _read_method_file_decisions(fields: FieldReader) -> dict[str, object]:
    """The grades, verdicts and tie-breaks that are read off the score, and the variables that change the method."""
    read = [_read_method_grade_field(node, fields.faults, path) for node, path in fields.items("grades")]
    decisions: dict[str, object] = {"grades": tuple(grade for grade in read if grade)}
    verdicts = fields.node("verdicts")
    if verdicts is not None:
        words: tuple[Literal["pass", "borderline"], ...] = ("pass", "borderline")
        parts = FieldReader(verdicts, words, fields.faults, (*fields.path, "verdicts"))
        least = {word: parts.number(word) for word in words}
        decisions["verdicts"] = tuple(VerdictThreshold(verdict=w, from_=f) for w, f in least.items() if f is not None)
    ties = []
    for node, path in fields.items("ties"):
        if not isinstance(node, ScalarNode):
            fields.faults.append(Fault("a tie-break is a criterion, 'fewer red_flags' or 'more bonuses'", path=path))
        else:
            by, of = node.text.split() if node.text in TIE_BREAK_WORDS else ("criterion", node.text)
            ties.append(TieBreak(by=by, of=of))  # type: ignore[arg-type]
    settings = {}
    for variable, node, path in fields.pairs("environment"):
        parts = FieldReader(node, SETTING_WORDS, fields.faults, path)
        for sets in SETTING_WORDS:
            of_ = parts.text(sets)
            if of_ is not None:
                settings[variable] = EnvironmentSetting(sets=sets, of=of_)
    return decisions | {"ties": tuple(ties), "environment": settings}


def _read_method_grade_field(node: TreeNode, faults: list[Fault], path: FaultPath) -> Grade | None:
    fields = FieldReader(node, list_file_fields(Grade), faults, path)
    given = read_typed_fields(fields, Grade, ("grade", "from"))
    if len(given) < 2:
        fields.fault("a grade needs grade and from", "as in {grade: A, from: 9, label: Excellent}")
        return None
    return Grade(**given, **read_typed_fields(fields, Grade, ("label", "description")))


LIBRARY = Path(__file__).parent.parent / "library"


def list_rubric_file_names() -> list[str]:
    """The rubrics that ship: those with a file, and methods that have criteria of their own."""
    methods = [name for name in list_method_yaml_names() if load_shipped_method_file(name).criteria]
    return methods + list_rubric_yaml_files()


@cache
def list_rubric_yaml_files() -> list[str]:
    """The rubrics that ship as files of their own."""
    return sorted(path.stem for path in (LIBRARY / "rubrics").glob("*.yaml"))


@cache
def list_method_yaml_names() -> list[str]:
    """The methods that ship."""
    return sorted(path.stem for path in (LIBRARY / "methods").glob("*.yaml"))


@cache
def load_shipped_method_file(name: str) -> Method:
    """A shipped method."""
    return read_method_file(read_tree_file(LIBRARY / "methods" / f"{name}.yaml"), name)


def load_method_file(path: Path) -> Method:
    """A method from a file of its own."""
    return read_located_method(read_tree_file(path), path)


def read_located_method(tree: TreeNode, path: Path) -> Method:
    """A method from the tree of its file; faults name its lines."""
    try:
        return read_method_file(tree, path.stem)
    except RubricError as error:
        raise error.with_locations(lambda at: f"{path}:{find_node_line(tree, at)}") from None


def read_starter_rubric_yaml() -> str:
    """The text of a commented rubric to begin with."""
    return (LIBRARY / "starter.yaml").read_text("utf-8")


def load_library_data_file(name: str) -> Any:
    """A data file of the library as mappings and lists of strings."""
    return yaml.load((LIBRARY / name).read_text("utf-8"), Loader=YAML_STRING_LOADER)


SWITCH_WORDS = dict.fromkeys(("true", "1", "yes", "on"), True) | dict.fromkeys(("false", "0", "no", "off"), False)


def override_rubric_file_fields(rubric: Rubric, environ: Mapping[str, str]) -> Rubric:
    """The rubric as the variables that its method listens to make it."""
    method, gate, settings = rubric.method, rubric.safety_gate, rubric.method.environment
    texts = {name: text for name in settings if (text := environ.get(name, "").strip())}
    given: dict[str, Fraction] = {}
    for name in sorted(texts, key=lambda name: settings[name].sets == "guard"):
        text, where = texts[name], f"environment variable {name}"
        if settings[name].sets == "guard":
            if text.lower() not in SWITCH_WORDS:
                raise RubricError(Fault(f"{text[:40]!r} is neither true nor false", where=where))
            gate = SWITCH_WORDS[text.lower()]
            continue
        number = (read_node_weight if settings[name].sets == "weight" else read_node_number)(ScalarNode(text))
        if isinstance(number, str):
            raise RubricError(Fault(number, where=where))
        given[name] = number
    weights = {settings[name].of: value for name, value in given.items() if settings[name].sets == "weight"}
    try:
        for name, value in given.items():
            if settings[name].sets == "cap":
                steps = (replace(step, at=value) if isinstance(step, Cap) else step for step in method.steps)
                method = replace(method, steps=tuple(steps))
        criteria = tuple(replace(c, weight=weights.get(c.id, c.weight)) for c in rubric.criteria)
        return replace(rubric, criteria=criteria, method=method, safety_gate=gate)
    except RubricError as error:
        whose = "" if rubric.name == method.name else f", rubric {rubric.name}"
        where = f"environment ({', '.join(given)}){whose}"
        raise RubricError(*(replace(fault, where=where) for fault in error.faults)) from None
