"""Writing rubrics: a changed rubric as a file, any rubric as a file that reads as the same, and as JSON for the
store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import yaml

from evenhand.errors import Fault, RubricError, StoreError
from evenhand.files.codec import Codec
from evenhand.files.json_shape import JsonField, JsonScalar, JsonShape, unexpected_json
from evenhand.files.methods import list_method_yaml_names, load_shipped_method_file
from evenhand.files.rubrics import METHOD_FILE_ENDINGS, LocatedRubric, load_rubric
from evenhand.files.tree import MappingNode, ScalarNode, SequenceNode, TreeNode, read_node_number
from evenhand.model.method import STEPS, Method, Step
from evenhand.model.rubric import Rubric
from evenhand.model.scale import ZERO_TO_TEN, Anchor, Criterion, Scale, Statement

_CONSTANTS: dict[str, object] = {"true": True, "false": False, "null": None}


def write_changed_rubric(opened: LocatedRubric, changed: Rubric, comments: Sequence[str] = ()) -> str:
    """The YAML of a rubric that is read from a file or from data, with other criteria; `comments` stand above it.

    Where it names a method file, it names it by its whole path: the new file may stand in another folder.
    """
    old = {criterion.id: criterion for criterion in opened.rubric.criteria}
    data = _write_unchanged_fields(opened)
    entries = data.get("criteria", data.pop("rubrics", None)) or [{"id": id} for id in old]
    known = dict(zip(old, entries, strict=True))
    data["criteria"] = [
        known[one.id] if old.get(one.id) == one else write_criterion_fields(one) for one in changed.criteria
    ]
    if load_rubric(data) != changed:
        what = "the changed rubric cannot be written: its file would not be read as the same"
        raise RubricError(Fault(what, "please report it", where=opened.file))
    return write_rubric_fields(data, comments)


def write_rubric_fields(data: Mapping[str, Any], comments: Sequence[str] = ()) -> str:
    """The YAML of a rubric by the fields of its file; `comments` stand above it, each on a line of its own."""
    head = "".join(f"# {''.join(one if one.isprintable() else ' ' for one in line)}\n" for line in comments)
    return head + yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=110)


def _write_unchanged_fields(opened: LocatedRubric) -> dict[str, Any]:
    tree, method = opened.tree, opened.rubric.method
    data = convert_yaml_node_to_data(tree) if isinstance(tree, MappingNode) else {}
    own_method = {"steps", "criteria"} <= data.keys() and "method" not in data and "verdicts" in data
    if (not opened.file and not data) or own_method:
        data = {}  # A shipped method with criteria of its own.
    data.pop("extends", None)
    if "steps" not in data:
        named = data.get("method")
        if isinstance(named, str) and named.endswith(METHOD_FILE_ENDINGS):
            data["method"] = str((Path(opened.file).parent / named).resolve())
        else:
            data["method"] = method.name
    return {"name": opened.rubric.name, **{name: value for name, value in data.items() if name != "name"}}


def convert_yaml_node_to_data(node: TreeNode) -> Any:
    """A node as plain data that reads the same: a number stays the number that it was written as."""
    if isinstance(node, SequenceNode):
        return [convert_yaml_node_to_data(item) for item in node.items]
    if isinstance(node, MappingNode):
        return {_convert_yaml_key(key): convert_yaml_node_to_data(value) for key, value in node.items}
    if node.quoted:
        return node.text
    return _CONSTANTS[node.text] if node.text in _CONSTANTS else _convert_yaml_number(node)


def _convert_yaml_key(key: ScalarNode) -> object:
    return int(key.text) if key.text.isascii() and key.text.isdigit() else key.text


def _convert_yaml_number(node: ScalarNode) -> object:
    number = read_node_number(node)
    plain = isinstance(number, Fraction) and not set(node.text) - set("0123456789.-")
    if not plain or not isinstance(number, Fraction):
        return node.text
    return int(number) if number.denominator == 1 and "." not in node.text else float(node.text)


def write_criterion_fields(one: Criterion) -> dict[str, Any]:
    """A criterion with every field that is not as it would be anyway."""
    fields: dict[str, Any] = {"id": one.id, **({"asks": one.asks} if one.asks else {})}
    plain = Criterion(id=one.id, asks=one.asks)
    if one.points is None:
        fields["weight"] = write_yaml_exact_number(one.weight)
    else:
        fields["points"] = write_yaml_exact_number(one.points)
    ranged = bool(one.anchors) and not one.asks and one.scale == ZERO_TO_TEN
    if ranged:  # Nothing else is asked: the ranges are the question, and say the scale.
        fields["score_ranges"] = {int(anchor.min): anchor.text for anchor in one.anchors}
    elif not one.children:
        fields["scale"] = write_scale_field(one.scale)
    if one.anchors and not ranged:
        fields["anchors"] = {_write_yaml_anchor_key(anchor, one.scale): anchor.text for anchor in one.anchors}
    if not one.children:
        fields["required"] = one.required
    if one.required_min_score is not None:
        fields["required_min_score"] = write_yaml_exact_number(one.required_min_score)
    fields |= {name: getattr(one, name) for name in ("fixed", "judged") if getattr(one, name) != getattr(plain, name)}
    if one.examples:
        fields["examples"] = [
            {
                "passage": example.passage,
                "score": _write_yaml_answer(example.score, one.scale),
                **({"why": example.why} if example.why else {}),
            }
            for example in one.examples
        ]
    if one.children:
        fields["children"] = [write_criterion_fields(child) for child in one.children]
    return fields


def write_scale_field(scale: Scale) -> object:
    """A scale as a file names it."""
    if scale.yes_no:
        return "yes/no"
    ends: dict[str, Any] = {"min": write_yaml_exact_number(scale.min), "max": write_yaml_exact_number(scale.max)}
    if scale.bands:
        return {**ends, "bands": {band.id: [int(band.min), int(band.max)] for band in scale.bands}}
    return {**ends, "integers": True} if scale.integers else ends


def _write_yaml_anchor_key(anchor: Anchor, scale: Scale) -> object:
    band = next((one.id for one in scale.bands if (one.min, one.max) == (anchor.min, anchor.max)), None)
    if band is not None:
        return band
    if anchor.min == anchor.max:
        return _write_yaml_answer(anchor.min, scale)
    return f"{write_yaml_exact_number(anchor.min)}-{write_yaml_exact_number(anchor.max)}"


def _write_yaml_answer(value: Fraction, scale: Scale) -> object:
    return ("yes" if value else "no") if scale.yes_no else write_yaml_exact_number(value)


def write_yaml_exact_number(value: Fraction) -> object:
    """As a decimal where it is one, else as a fraction: 1/3."""
    if value.denominator == 1:
        return int(value)
    decimal = float(value)
    return decimal if Fraction(repr(decimal)) == value else f"{value.numerator}/{value.denominator}"


def is_shipped_method(method: Method) -> bool:
    """Whether a rubric can name the method, as it ships."""
    return method.name in list_method_yaml_names() and load_shipped_method_file(method.name) == method


def write_rubric_yaml(rubric: Rubric, method: str) -> str:
    """The text of a rubric that names its method, which ships or is a file."""
    told = {
        "name": rubric.name,
        "about": rubric.about,
        "method": method,
        "criteria": [write_criterion_fields(one) for one in rubric.criteria],
        "red_flags": [_write_yaml_statement(one) for one in rubric.red_flags],
        "bonuses": [_write_yaml_statement(one) for one in rubric.bonuses],
        "gates": [{"criterion": one.criterion, "min": write_yaml_exact_number(one.min)} for one in rubric.gates],
        "safety_gate": rubric.safety_gate,
        "holistic": rubric.holistic,
        "too_close": None if rubric.too_close is None else write_yaml_exact_number(rubric.too_close),
        "tags": list(rubric.tags),
    }
    return _dump_yaml_told(told)


def write_method_yaml(method: Method) -> str:
    """The text of a method."""
    scale = method.scale
    told = {
        "name": method.name,
        "about": method.about,
        "scale": {
            "min": write_yaml_exact_number(scale.min),
            "max": write_yaml_exact_number(scale.max),
            **({} if scale.decimals is None else {"decimals": scale.decimals}),
        },
        "criterion_scale": write_scale_field(method.criterion_scale),
        "criteria": [write_criterion_fields(one) for one in method.criteria],
        "required": method.required,
        "weights_sum_to": None if method.weights_sum_to is None else write_yaml_exact_number(method.weights_sum_to),
        "holistic": None if method.holistic is None else write_scale_field(method.holistic),
        "dialogue": method.dialogue,
        "steps": [_write_yaml_step(one) for one in method.steps],
        "grades": [
            {
                "grade": one.grade,
                "from": write_yaml_exact_number(one.from_),
                **({"label": one.label} if one.label else {}),
            }
            for one in method.grades
        ],
        "verdicts": {one.verdict: write_yaml_exact_number(one.from_) for one in method.verdicts},
        "ties": [str(one) for one in method.ties],
        "environment": {name: {one.sets: one.of} for name, one in method.environment.items()},
    }
    return _dump_yaml_told(told)


def _dump_yaml_told(told: dict[str, Any]) -> str:
    kept = {name: value for name, value in told.items() if value not in (None, "", [], {}, False)}
    return str(yaml.safe_dump(kept, sort_keys=False, allow_unicode=True, width=110))


def _write_yaml_step(step: Step) -> object:
    told = {one.name.removesuffix("_"): _write_yaml_step_value(getattr(step, one.name)) for one in fields(step)}
    told = {name: value for name, value in told.items() if value is not None}
    return {step.word: told} if told else step.word


def _write_yaml_step_value(value: object) -> object:
    if isinstance(value, Scale):
        return write_scale_field(value)
    return write_yaml_exact_number(value) if isinstance(value, Fraction) else value


def _write_yaml_statement(one: Statement) -> dict[str, Any]:
    amount = {} if one.amount is None else {"amount": write_yaml_exact_number(one.amount)}
    return {"id": one.id, "asks": one.asks, **amount}


def encode_rubric(rubric: Rubric) -> Any:
    """The rubric as plain data, its own method with it."""
    return RUBRIC_JSON.to_json(rubric)


def decode_rubric(data: object) -> Rubric:
    """The rubric that was written."""
    return RUBRIC_JSON.from_json(Rubric, data)


def _list_given_yaml_fields(cls: type) -> tuple[str, ...]:
    """What a value is made from; what it works out itself is neither written nor read."""
    return tuple(one.name for one in fields(cls) if one.init)


def _write_yaml_steps(steps: tuple[Step, ...]) -> list[object]:
    return [{"step": step.word, **RUBRIC_JSON.to_json(step)} for step in steps]


def _read_yaml_steps(data: object) -> tuple[Step, ...]:
    if not isinstance(data, list):
        raise unexpected_json("a list of steps", data)
    return tuple(_read_yaml_step(one) for one in data)


def _read_yaml_step(data: object) -> Step:
    word = data.get("step") if isinstance(data, dict) else None
    if not isinstance(data, dict) or word not in STEPS:
        raise unexpected_json(f"one of the steps {', '.join(STEPS)}", data)
    return RUBRIC_JSON.from_json(STEPS[word], {key: value for key, value in data.items() if key != "step"})


RUBRIC_JSON = Codec(
    error=StoreError,
    hint="the store is damaged, or of another version",
    lenient=True,
    shapes={
        Rubric: JsonShape(only=_list_given_yaml_fields(Rubric)),
        Scale: JsonShape(only=_list_given_yaml_fields(Scale)),
        Method: JsonShape(
            only=_list_given_yaml_fields(Method),
            fields={"steps": JsonField(scalar=JsonScalar(_read_yaml_steps, _write_yaml_steps))},
        ),
    },
)
