"""Reading methods: from a file or the shipped library, and what environment variables set in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from evenhand.errors import Fault, FaultPath, RubricError, suggest_known_word_in_fault
from evenhand.files.criteria import (
    CriterionDefaults,
    make_wrong_file_fault,
    parse_scale_field,
    read_criteria,
    read_scale,
)
from evenhand.files.fields import FieldReader, build_checked, describe_node, is_null_node, parse_number_text
from evenhand.files.json_shape import ShapeField, list_shape_fields
from evenhand.files.parsing import parse_yaml_strings, read_tree_file
from evenhand.files.tree import MappingNode, ScalarNode, TreeNode, find_node_line
from evenhand.model.method import (
    DialogueName,
    EnvironmentSetting,
    Grade,
    Method,
    ScoreScale,
    TieBreak,
    VerdictThreshold,
)
from evenhand.model.rubric import Rubric
from evenhand.model.scale import YES_NO, Scale
from evenhand.model.steps import STEPS, Cap, Step

METHOD_FIELDS = (
    "name", "about", "scale", "criterion_scale", "criteria", "required", "weights_sum_to", "holistic",
    "steps", "grades", "verdicts", "ties", "environment", "dialogue",
)  # fmt: skip
SCORE_SCALE_FIELDS = ("min", "max", "decimals")
TIE_BREAK_WORDS = ("fewer red_flags", "more bonuses")


def read_method(tree: TreeNode, name: str) -> Method:
    """A method from its file."""
    if not isinstance(tree, MappingNode):
        raise RubricError(make_wrong_file_fault(tree, "method"))
    faults: list[Fault] = []
    fields = FieldReader(tree, METHOD_FIELDS, faults)
    criterion_scale = _read_optional_scale(fields, "criterion_scale") or YES_NO
    required = fields.boolean("required") or False
    parts = {
        "name": fields.text("name") or name,
        "about": fields.text("about") or "",
        "scale": read_score_scale(fields),
        "criterion_scale": criterion_scale,
        "criteria": read_criteria(fields, CriterionDefaults(scale=criterion_scale, required=required, own={})),
        "required": required,
        "weights_sum_to": fields.number("weights_sum_to"),
        "holistic": _read_optional_scale(fields, "holistic"),
        "steps": read_steps(fields),
        "grades": tuple(g for entry, path in fields.items("grades") if (g := _read_method_grade(entry, faults, path))),
        "verdicts": tuple(_read_verdict_thresholds(fields)),
        "ties": tuple(_read_tie_breaks(fields)),
        "environment": dict(_read_environment_field(fields)),
        "dialogue": fields.choice("dialogue", get_args(DialogueName)) or "pointwise",
    }
    method = None if faults else build_checked(Method, faults, (), **parts)
    if method is None:
        raise RubricError(*faults)
    return method


def read_steps(fields: FieldReader) -> tuple[Step, ...]:
    """The steps of a method, each a word or {word: {parameters}}."""
    if "steps" not in fields:
        fields.fault("a method needs steps", "as in steps: [weighted_mean]")
    return tuple(step for node, path in fields.items("steps") if (step := _read_method_step(node, fields.faults, path)))


def read_score_scale(fields: FieldReader) -> ScoreScale | None:
    """The span of the score: {min, max, decimals} or 0-10."""
    node = fields.node("scale")
    if node is None:
        fields.fault("a method needs a scale", "as in scale: {min: 0, max: 10, decimals: 2}")
        return None
    path = (*fields.path, "scale")
    decimals = None
    if isinstance(node, ScalarNode) and (span := parse_scale_field(node.text)):
        low, high = span
    else:
        parts = FieldReader(node, (*SCORE_SCALE_FIELDS, "integers"), fields.faults, path)
        ends = parts.number("min"), parts.number("max")
        decimals = parts.integer("decimals")
        if ends[0] is None or ends[1] is None:
            if isinstance(node, MappingNode):
                parts.fault("a scale needs min and max")
            return None
        low, high = ends[0], ends[1]
    return build_checked(ScoreScale, fields.faults, path, min=low, max=high, decimals=decimals)


def list_step_file_fields(step: type[Step]) -> dict[str, ShapeField]:
    """The parameters of a step by the names that they have in a file."""
    return {one.keys[0]: one for one in list_shape_fields(step)}


def read_step_parameter(fields: FieldReader, name: str, type_: Any) -> object:
    """A parameter, read as the type of its field asks."""
    options = [option for option in get_args(type_) if option is not NoneType] or [type_]
    if get_origin(type_) is Literal:
        return fields.choice(name, get_args(type_))
    if Scale in options:
        return _read_optional_scale(fields, name)
    if Fraction in options:
        return fields.number(name)
    if bool in options:
        return fields.boolean(name)
    return fields.integer(name) if int in options else fields.text(name)


def _read_optional_scale(fields: FieldReader, name: str) -> Scale | None:
    node = fields.node(name)
    return None if node is None else read_scale(node, fields.faults, (*fields.path, name))


def _read_method_step(node: TreeNode, faults: list[Fault], path: FaultPath) -> Step | None:
    if isinstance(node, MappingNode) and len(node.items) == 1:
        key, below = node.items[0]
        kind, here = key.text, (*path, key.text)
    elif isinstance(node, ScalarNode):
        kind, below, here = node.text, MappingNode(node.line), path
    else:
        faults.append(Fault(f"a step is a word or one word with its parameters, got {describe_node(node)}", path=path))
        return None
    step = STEPS.get(kind)
    if step is None:
        faults.append(Fault(f"unknown step {kind!r}", suggest_known_word_in_fault(kind, STEPS), path))
        return None
    known = list_step_file_fields(step)
    fields = FieldReader(MappingNode(node.line) if is_null_node(below) else below, known, faults, here)
    count = len(faults)
    values = {one.name: read_step_parameter(fields, name, one.type) for name, one in known.items()}
    for name, one in known.items():
        if one.required and name not in fields:
            fields.fault(f"{kind} needs {name}")
    if len(faults) > count:
        return None
    given = {name: value for name, value in values.items() if value is not None}
    return build_checked(step, faults, here, **given)


def _read_method_grade(node: TreeNode, faults: list[Fault], path: FaultPath) -> Grade | None:
    fields = FieldReader(node, ("grade", "from", "label", "description"), faults, path)
    grade, least = fields.text("grade"), fields.number("from")
    if grade is None or least is None:
        fields.fault("a grade needs grade and from", "as in {grade: A, from: 9, label: Excellent}")
        return None
    label, description = (fields.text(name) or "" for name in ("label", "description"))
    return Grade(grade=grade, from_=least, label=label, description=description)


def _read_verdict_thresholds(fields: FieldReader) -> list[VerdictThreshold]:
    node = fields.node("verdicts")
    if node is None:
        return []
    parts = FieldReader(node, ("pass", "borderline"), fields.faults, (*fields.path, "verdicts"))
    words: tuple[Literal["pass", "borderline"], ...] = ("pass", "borderline")
    least = {verdict: parts.number(verdict) for verdict in words}
    return [VerdictThreshold(verdict=verdict, from_=from_) for verdict, from_ in least.items() if from_ is not None]


def _read_tie_breaks(fields: FieldReader) -> list[TieBreak]:
    ties = []
    for node, path in fields.items("ties"):
        if not isinstance(node, ScalarNode):
            fields.faults.append(Fault("a tie-break is a criterion, 'fewer red_flags' or 'more bonuses'", path=path))
        elif node.text in TIE_BREAK_WORDS:
            by, of = node.text.split()
            ties.append(TieBreak(by=by, of=of))  # type: ignore[arg-type]
        else:
            ties.append(TieBreak(by="criterion", of=node.text))
    return ties


SETTING_WORDS: tuple[Literal["weight", "cap", "guard"], ...] = ("weight", "cap", "guard")


def _read_environment_field(fields: FieldReader) -> list[tuple[str, EnvironmentSetting]]:
    settings = []
    for variable, node, path in fields.pairs("environment"):
        parts = FieldReader(node, SETTING_WORDS, fields.faults, path)
        named = [(sets, parts.text(sets)) for sets in SETTING_WORDS]
        settings += [(variable, EnvironmentSetting(sets=sets, of=of)) for sets, of in named if of is not None]
    return settings


LIBRARY = Path(__file__).parent.parent / "library"


def list_rubric_names() -> list[str]:
    """The rubrics that ship: those with a file, and methods that have criteria of their own."""
    methods = [name for name in list_method_names() if load_method(name).criteria]
    return methods + list_rubric_files()


@cache
def list_rubric_files() -> list[str]:
    """The rubrics that ship as files of their own."""
    return sorted(path.stem for path in (LIBRARY / "rubrics").glob("*.yaml"))


@cache
def list_method_names() -> list[str]:
    """The methods that ship."""
    return sorted(path.stem for path in (LIBRARY / "methods").glob("*.yaml"))


@cache
def load_method(name: str) -> Method:
    """A shipped method."""
    return load_method_file(LIBRARY / "methods" / f"{name}.yaml")


def load_method_file(path: Path) -> Method:
    """A method from a file of its own."""
    tree = read_tree_file(path)
    try:
        return read_method(tree, path.stem)
    except RubricError as error:
        raise error.with_locations(lambda at: f"{path}:{find_node_line(tree, at)}") from None


def read_starter_rubric() -> str:
    """The text of a commented rubric to begin with."""
    return (LIBRARY / "starter.yaml").read_text("utf-8")


def load_library_data(name: str) -> Any:
    """A data file of the library as mappings and lists of strings."""
    return parse_yaml_strings((LIBRARY / name).read_text("utf-8"))


def apply_rubric_file_environment(rubric: Rubric, environ: Mapping[str, str]) -> Rubric:
    """The rubric as the variables that its method listens to make it."""
    settings = rubric.method.environment
    set_ = [name for name in settings if environ.get(name, "").strip()]
    given = {
        name: _parse_environment_field_number(name, environ[name]) for name in set_ if settings[name].sets != "guard"
    }
    guarded = [_parse_environment_field_switch(name, environ[name]) for name in set_ if settings[name].sets == "guard"]
    weights = {settings[name].of: value for name, value in given.items() if settings[name].sets == "weight"}
    method = rubric.method
    try:
        for name, value in given.items():
            if settings[name].sets == "cap":
                steps = (replace(step, at=value) if isinstance(step, Cap) else step for step in method.steps)
                method = replace(method, steps=tuple(steps))
        criteria = tuple(replace(c, weight=weights.get(c.id, c.weight)) for c in rubric.criteria)
        gate = guarded[-1] if guarded else rubric.safety_gate
        return replace(rubric, criteria=criteria, method=method, safety_gate=gate)
    except RubricError as error:
        where = f"environment ({', '.join(given)})"
        raise RubricError(*(replace(fault, where=where) for fault in error.faults)) from None


def _parse_environment_field_number(name: str, text: str) -> Fraction:
    value = parse_number_text(text)
    if isinstance(value, str):
        raise RubricError(Fault(value, where=f"environment variable {name}"))
    return value


def _parse_environment_field_switch(name: str, text: str) -> bool:
    word = text.strip().lower()
    if word not in (*ON_WORDS, *OFF_WORDS):
        what = f"{text.strip()[:40]!r} is neither true nor false"
        raise RubricError(Fault(what, where=f"environment variable {name}"))
    return word in ON_WORDS


ON_WORDS = ("true", "1", "yes", "on")
OFF_WORDS = ("false", "0", "no", "off")
