"""Reading methods: steps by their own fields, then the decisions."""

from __future__ import annotations

from dataclasses import MISSING
from dataclasses import fields as fields_of
from fractions import Fraction
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from evenhand.errors import Fault, Path, RubricError, nearest
from evenhand.loading._criteria import Defaults, read_criteria, unexpected
from evenhand.loading._fields import Fields, described, is_null
from evenhand.loading._scales import read_scale, span_in
from evenhand.loading._tree import Mapping, Node, Scalar
from evenhand.model import (
    STEPS,
    YES_NO,
    Dialogue,
    Grade,
    Method,
    Scale,
    ScoreScale,
    Setting,
    Step,
    Threshold,
    TieBreak,
)

METHOD_FIELDS = (
    "name", "about", "scale", "criterion_scale", "criteria", "required", "weights_sum_to", "holistic",
    "steps", "grades", "verdicts", "ties", "environment", "dialogue",
)  # fmt: skip
SCORE_SCALE_FIELDS = ("min", "max", "decimals")
TIE_WORDS = ("fewer red_flags", "more bonuses")


def read_method(tree: Node, name: str) -> Method:
    """A method from its file."""
    if not isinstance(tree, Mapping):
        raise RubricError(unexpected(tree, "method"))
    faults: list[Fault] = []
    fields = Fields(tree, METHOD_FIELDS, faults)
    criterion_scale = _optional_scale(fields, "criterion_scale") or YES_NO
    required = fields.boolean("required") or False
    method = _born(
        faults,
        name=fields.text("name") or name,
        about=fields.text("about") or "",
        scale=read_score_scale(fields),
        criterion_scale=criterion_scale,
        criteria=read_criteria(fields, Defaults(scale=criterion_scale, required=required, own={})),
        required=required,
        weights_sum_to=fields.number("weights_sum_to"),
        holistic=_optional_scale(fields, "holistic"),
        steps=read_steps(fields),
        grades=tuple(g for entry, path in fields.items("grades") if (g := _grade(entry, faults, path))),
        verdicts=tuple(_verdicts(fields)),
        ties=tuple(_ties(fields)),
        environment=dict(_environment(fields)),
        dialogue=fields.choice("dialogue", get_args(Dialogue)) or "pointwise",
    )
    if faults or method is None:
        raise RubricError(*faults)
    return method


def read_steps(fields: Fields) -> tuple[Step, ...]:
    """The steps of a method, each a word or {word: {parameters}}."""
    if "steps" not in fields:
        fields.fault("a method needs steps", "as in steps: [weighted_mean]")
    return tuple(step for node, path in fields.items("steps") if (step := _step(node, fields.faults, path)))


def read_score_scale(fields: Fields) -> ScoreScale | None:
    """The span of the score: {min, max, decimals} or 0-10."""
    node = fields.node("scale")
    if node is None:
        fields.fault("a method needs a scale", "as in scale: {min: 0, max: 10, decimals: 2}")
        return None
    path = (*fields.path, "scale")
    decimals = None
    if isinstance(node, Scalar) and (span := span_in(node.text)):
        low, high = span
    else:
        parts = Fields(node, (*SCORE_SCALE_FIELDS, "integers"), fields.faults, path)
        ends = parts.number("min"), parts.number("max")
        decimals = parts.integer("decimals")
        if ends[0] is None or ends[1] is None:
            if isinstance(node, Mapping):
                parts.fault("a scale needs min and max")
            return None
        low, high = ends[0], ends[1]
    try:
        return ScoreScale(min=low, max=high, decimals=decimals)
    except RubricError as error:
        fields.faults.extend(error.within(*path).faults)
        return None


def parameters(step: type[Step]) -> dict[str, tuple[Any, bool]]:
    """The parameters of a step in a file: name → type, and whether it must be given."""
    types = get_type_hints(step)
    return {field.name.rstrip("_"): (types[field.name], field.default is MISSING) for field in fields_of(step)}


def read_parameter(fields: Fields, name: str, type_: Any) -> object:
    """A parameter, read as the type of its field asks."""
    options = [option for option in get_args(type_) if option is not NoneType] or [type_]
    if get_origin(type_) is Literal:
        return fields.choice(name, get_args(type_))
    if Scale in options:
        return _optional_scale(fields, name)
    if Fraction in options:
        return fields.number(name)
    if bool in options:
        return fields.boolean(name)
    return fields.integer(name) if int in options else fields.text(name)


def _born(faults: list[Fault], **parts: Any) -> Method | None:
    if faults:
        return None
    try:
        return Method(**parts)
    except RubricError as error:
        faults.extend(error.faults)
        return None


def _optional_scale(fields: Fields, name: str) -> Scale | None:
    node = fields.node(name)
    return None if node is None else read_scale(node, fields.faults, (*fields.path, name))


def _step(node: Node, faults: list[Fault], path: Path) -> Step | None:
    if isinstance(node, Mapping) and len(node.items) == 1:
        key, below = node.items[0]
        kind, here = key.text, (*path, key.text)
    elif isinstance(node, Scalar):
        kind, below, here = node.text, Mapping(node.line), path
    else:
        faults.append(Fault(f"a step is a word or one word with its parameters, got {described(node)}", path=path))
        return None
    step = STEPS.get(kind)
    if step is None:
        faults.append(Fault(f"unknown step {kind!r}", nearest(kind, STEPS), path))
        return None
    known = parameters(step)
    fields = Fields(Mapping(node.line) if is_null(below) else below, known, faults, here)
    count = len(faults)
    values = {name: read_parameter(fields, name, type_) for name, (type_, _) in known.items()}
    for name, (_, must) in known.items():
        if must and name not in fields:
            fields.fault(f"{kind} needs {name}")
    if len(faults) > count:
        return None
    attributes = {field.name: values[field.name.rstrip("_")] for field in fields_of(step)}
    try:
        return step(**{name: value for name, value in attributes.items() if value is not None})
    except RubricError as error:
        faults.extend(error.within(*here).faults)
        return None


def _grade(node: Node, faults: list[Fault], path: Path) -> Grade | None:
    fields = Fields(node, ("grade", "from", "label"), faults, path)
    grade, least = fields.text("grade"), fields.number("from")
    if grade is None or least is None:
        fields.fault("a grade needs grade and from", "as in {grade: A, from: 9, label: Excellent}")
        return None
    return Grade(grade=grade, from_=least, label=fields.text("label") or "")


def _verdicts(fields: Fields) -> list[Threshold]:
    node = fields.node("verdicts")
    if node is None:
        return []
    parts = Fields(node, ("pass", "borderline"), fields.faults, (*fields.path, "verdicts"))
    found = []
    for verdict in ("pass", "borderline"):
        least = parts.number(verdict)
        if least is not None:
            found.append(Threshold(verdict=verdict, from_=least))
    return found


def _ties(fields: Fields) -> list[TieBreak]:
    ties = []
    for node, path in fields.items("ties"):
        if not isinstance(node, Scalar):
            fields.faults.append(Fault("a tie-break is a criterion, 'fewer red_flags' or 'more bonuses'", path=path))
        elif node.text in TIE_WORDS:
            by, of = node.text.split()
            ties.append(TieBreak(by=by, of=of))  # type: ignore[arg-type]
        else:
            ties.append(TieBreak(by="criterion", of=node.text))
    return ties


SETS: tuple[Literal["weight", "cap", "guard"], ...] = ("weight", "cap", "guard")


def _environment(fields: Fields) -> list[tuple[str, Setting]]:
    settings = []
    for variable, node, path in fields.pairs("environment"):
        parts = Fields(node, SETS, fields.faults, path)
        for sets in SETS:
            of = parts.text(sets)
            if of is not None:
                settings.append((variable, Setting(sets=sets, of=of)))
    return settings
