"""Reading criteria, statements and gates from a rubric file, with their scales, anchors and score ranges."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from evenhand.errors import Fault, FaultPath, RubricError, suggest_close_word_in_error
from evenhand.files.json_shape import ShapeField, list_shape_fields
from evenhand.files.tree import (
    FieldReader,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeNode,
    build_checked_from_fields,
    describe_node,
    is_null_node,
    read_node_number,
)
from evenhand.model.scale import (
    SHARE,
    YES_NO,
    ZERO_TO_TEN,
    Anchor,
    Criterion,
    CriterionExample,
    Gate,
    Scale,
    ScaleBand,
    Statement,
)

QUESTION_FIELDS = ("asks", "expected_outcome", "description")
PLAIN_CRITERION_FIELDS = ("required", "weight", "points", "required_min_score", "fixed", "judged")
CRITERION_FIELDS = (
    "id", *QUESTION_FIELDS, *PLAIN_CRITERION_FIELDS, "scale", "anchors", "score_ranges", "examples", "children",
)  # fmt: skip
EXAMPLE_FIELDS = ("passage", "score", "why")
STATEMENT_FIELDS = ("id", "asks", "amount")
GATE_FIELDS = ("criterion", "min")


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionDefaults:
    """What a criterion is where its entry does not say: by the method, or by the method's own of that id."""

    scale: Scale = YES_NO
    required: bool = False
    own: Mapping[str, Criterion]


def read_rubric_criteria_fields(
    fields: FieldReader, defaults: CriterionDefaults, *, children_of: str = ""
) -> tuple[Criterion, ...]:
    """The criteria listed, or the children of one; those without an id are called by their place."""
    names = ("children",) if children_of else ("criteria", "rubrics")
    id, entries = children_of or "rubric", enumerate(fields.items(*names), start=1)
    read = (
        read_rubric_criterion_node(node, defaults, fields.faults, path, f"{id}-{at}") for at, (node, path) in entries
    )
    return tuple(criterion for criterion in read if criterion)


def read_rubric_criterion_node(
    node: TreeNode, defaults: CriterionDefaults, faults: list[Fault], path: FaultPath, generated_id: str
) -> Criterion | None:
    """One criterion: a text, or a mapping; None where not even a stand-in can be made."""
    if isinstance(node, ScalarNode) and not node.text.strip():
        faults.append(Fault("a criterion cannot be empty", "write what is expected", path))
        return None
    if isinstance(node, ScalarNode) and _is_bare_yaml_word_or_number(node):
        what = f"a criterion is a sentence, got {describe_node(node)}"
        faults.append(Fault(what, "write what is expected, as in 'It names a price.'", path))
        return None
    if isinstance(node, ScalarNode):
        return Criterion(id=generated_id, asks=node.text, scale=defaults.scale, required=defaults.required)
    if isinstance(node, MappingNode) and len(node.items) == 1 and (sentence := _find_unquoted_yaml_sentence(node)):
        what, hint = f"unknown field {sentence[0]!r}", "a sentence with a colon must be quoted: "
        faults.append(Fault(what, hint + _quote_for_yaml(": ".join(sentence)), (*path, sentence[0])))
        return None
    fields = FieldReader(node, CRITERION_FIELDS, faults, path)
    id = fields.text("id") or generated_id
    own = defaults.own.get(id)
    ranges = read_rubric_ranges_field(fields) if "score_ranges" in fields else None
    children = read_rubric_criteria_fields(fields, defaults, children_of=id) if "children" in fields else ()
    asks = fields.text(*QUESTION_FIELDS) or (own.asks if own else "")
    if not (asks or children or any(name in fields for name in (*QUESTION_FIELDS, "score_ranges"))):
        fields.fault(f"criterion {id!r} asks nothing", "add asks (or expected_outcome), or score_ranges")
    scale = _choose_scale_from_rubric_fields(fields, defaults, own, children)
    read = read_anchor_fields(fields, scale) if "anchors" in fields else ()
    anchors = ranges or read or (own.anchors if own and own.scale == scale else ())
    parts: dict[str, Any] = {"id": id, "asks": asks, "scale": scale, "anchors": anchors, "children": children}
    parts |= {
        "required": defaults.required,
        "examples": read_example_fields(fields, scale) if "examples" in fields else (),
    }
    parts |= {name: getattr(own, name) for name in ("weight", "fixed", "judged") if own and name not in fields}
    parts |= read_typed_fields(fields, Criterion, PLAIN_CRITERION_FIELDS)
    for name in ("score_ranges", "required", "required_min_score", "anchors", "examples") if children else ():
        if name in fields:
            fields.fault(f"{name} belongs to a criterion that is answered, and this one has children", "", name)
    try:
        return Criterion(**parts)
    except RubricError as error:
        # A stand-in without the refused fields, so that the rest is checked.
        faults.extend(error.within(*path).faults)
        refused = {str(fault.path[0]) for fault in error.faults if fault.path}
        left = {name: value for name, value in parts.items() if name not in refused}
        return Criterion(**left) if "id" in left else None


def _is_bare_yaml_word_or_number(node: ScalarNode) -> bool:
    """Whether YAML reads an entry as a number, as yes or no, or as nothing: no question that somebody wrote."""
    if node.quoted:
        return False
    bare = node.text.strip().lower() in ("null", "~", "yes", "no", "true", "false", "on", "off")
    return bare or re.fullmatch(r"[-+]?\d+(\.\d+)?", node.text.strip()) is not None


def _find_unquoted_yaml_sentence(node: MappingNode) -> tuple[str, str] | None:
    """The two halves of a sentence that its colon has made the only field; None where the entry is none."""
    ((key, value),) = node.items
    known = suggest_close_word_in_error(key.text[:40], CRITERION_FIELDS) or key.text in CRITERION_FIELDS
    return None if known or not isinstance(value, ScalarNode) else (key.text[:60], value.text[:60])


def _quote_for_yaml(text: str) -> str:
    """A text as it can be pasted into the file; between single quotes, YAML takes all but these as they are."""
    return "'" + text.replace("'", "''") + "'" if '"' in text or "\\" in text else f'"{text}"'


_FILE_FIELDS: dict[type, dict[str, ShapeField]] = {}


def list_file_fields(cls: type) -> dict[str, ShapeField]:
    """The fields of a class by the names that they have in a file."""
    if cls not in _FILE_FIELDS:
        _FILE_FIELDS[cls] = {one.keys[0]: one for one in list_shape_fields(cls)}
    return _FILE_FIELDS[cls]


def read_typed_fields(fields: FieldReader, cls: type, names: Iterable[str] = ()) -> dict[str, Any]:
    """The fields of a class that are given, each read as its type asks; what is wrong is a fault and left out."""
    read: dict[str, Any] = {}
    known = list_file_fields(cls)
    for name in [name for name in names or known if name in fields]:
        type_ = known[name].type
        options = [option for option in get_args(type_) if option is not NoneType] or [type_]
        if get_origin(type_) is Literal:
            value: object = fields.choice(name, options)
        elif Scale in options:
            value = read_scale_field(fields.node(name), fields.faults, (*fields.path, name))
        elif Fraction in options:
            value = fields.number(name)
        elif bool in options:
            value = fields.boolean(name)
        else:
            value = fields.integer(name) if int in options else fields.text(name)
        if value is not None:
            read[known[name].name] = value
    return read


def read_rubric_statement_node(node: TreeNode, faults: list[Fault], path: FaultPath) -> Statement | None:
    """A red flag or bonus: a text, which is its own id, or {id, asks, amount}."""
    if isinstance(node, ScalarNode):
        if not node.text.strip():
            faults.append(Fault("a statement cannot be empty", path=path))
            return None
        return Statement(id=node.text, asks=node.text)
    fields = FieldReader(node, STATEMENT_FIELDS, faults, path)
    id, asks, amount = fields.text("id"), fields.text("asks"), fields.number("amount")
    if id is None and asks is None:
        fields.fault("a statement needs id and asks")
        return None
    return build_checked_from_fields(Statement, faults, path, id=id or asks, asks=asks or id, amount=amount)


def read_rubric_gate_node(
    node: TreeNode, on_numbers: Collection[str], faults: list[Fault], path: FaultPath
) -> Gate | None:
    """A gate: {criterion, min}; for a yes/no criterion min may be left out."""
    fields = FieldReader(node, GATE_FIELDS, faults, path)
    criterion, least = fields.text("criterion"), fields.number("min")
    if criterion is None:
        if "criterion" not in fields:
            fields.fault("a gate needs a criterion", "as in {criterion: accuracy, min: 5}")
        return None
    if criterion in on_numbers and "min" not in fields:
        fields.fault(f"a gate on {criterion!r} needs min", f"as in {{criterion: {criterion}, min: 5}}")
    return Gate(criterion=criterion, min=Fraction(1) if least is None else least)


def _choose_scale_from_rubric_fields(
    fields: FieldReader, defaults: CriterionDefaults, own: Criterion | None, children: tuple[Criterion, ...]
) -> Scale:
    if "score_ranges" in fields:
        if "scale" in fields:
            fields.fault("score_ranges already say the scale", "remove scale", "scale")
        return ZERO_TO_TEN
    if "scale" in fields:
        return read_scale_field(fields.node("scale"), fields.faults, (*fields.path, "scale")) or defaults.scale
    if children:
        scales = {child.scale for child in children}
        return scales.pop() if len(scales) == 1 else SHARE
    if own:
        return own.scale
    return ZERO_TO_TEN if defaults.scale.yes_no and "required_min_score" in fields else defaults.scale


def make_wrong_file_node_fault(node: TreeNode, what: str) -> Fault:
    """A fault for a whole file that is not what it should be."""
    return Fault(f"a {what} file is a mapping, got {describe_node(node)}", "see: evenhand rubric init")


SCALE_FIELDS = ("min", "max", "integers", "bands")
_SCALE_SPAN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:-|–|to)\s*(\d+(?:\.\d+)?)\s*")
_YES_NO_LEVELS = {"yes": Fraction(1), "true": Fraction(1), "no": Fraction(0), "false": Fraction(0)}


def read_scale_field(node: TreeNode | None, faults: list[Fault], path: FaultPath) -> Scale | None:
    """A scale, if one is given: yes/no, 1-10, or {min, max, integers, bands}."""
    if node is None:
        return None
    if isinstance(node, ScalarNode):
        if node.text.lower() in ("yes/no", "yes-no"):
            return YES_NO
        span = parse_scale_field(node.text)
        if span:
            return build_checked_from_fields(Scale, faults, path, min=span[0], max=span[1])
        faults.append(Fault(f"{describe_node(node)} is not a scale", "try yes/no, 1-10 or {min: 0, max: 100}", path))
        return None
    fields = FieldReader(node, SCALE_FIELDS, faults, path)
    bands = []
    for key, value, below in fields.pairs("bands"):
        ends = _read_whole_number_fields(value.items if isinstance(value, SequenceNode) else ())
        if ends is None:
            faults.append(Fault(f"band {key!r} needs two whole numbers, as in [90, 100]", "", below))
        else:
            bands.append(ScaleBand(id=key, min=ends[0], max=ends[1]))
    low, high = fields.number("min"), fields.number("max")
    if bands and low is None and high is None:
        low, high = min(band.min for band in bands), max(band.max for band in bands)
    if low is None or high is None:
        if isinstance(node, MappingNode):
            fields.fault("a scale needs min and max")
        return None
    whole = fields.boolean("integers") or bool(bands)
    return build_checked_from_fields(Scale, faults, path, min=low, max=high, integers=whole, bands=tuple(bands))


def parse_scale_field(text: str) -> tuple[Fraction, Fraction] | None:
    """The two ends in a text such as "9-10"."""
    found = _SCALE_SPAN.fullmatch(text)
    return (Fraction(found[1]), Fraction(found[2])) if found and len(text) < 40 else None


def _read_whole_number_fields(nodes: Sequence[TreeNode]) -> tuple[Fraction, Fraction] | None:
    ends = [end for node in nodes if isinstance(end := read_node_number(node), Fraction) and end.denominator == 1]
    return (ends[0], ends[1]) if len(ends) == len(nodes) == 2 else None


def read_anchor_fields(fields: FieldReader, scale: Scale) -> tuple[Anchor, ...]:
    """The texts that pin levels: by number, by stretch ("9-10"), by band, or by yes and no."""
    anchors = []
    bands = {band.id: (band.min, band.max) for band in scale.bands}
    for key, value, path in fields.pairs("anchors"):
        level: Fraction | str | None = _YES_NO_LEVELS.get(key.lower()) if scale.yes_no else None
        if level is None:
            level = read_node_number(ScalarNode(key))
        span = bands.get(key) or (parse_scale_field(key) if isinstance(level, str) else (level, level))
        if span is None:
            fields.faults.append(Fault(f"{key!r} is not a level of the scale {scale}", "", path))
        elif not isinstance(value, ScalarNode) or is_null_node(value):
            fields.faults.append(Fault(f"an anchor is a text, got {describe_node(value)}", "", path))
        else:
            anchors.append(Anchor(min=span[0], max=span[1], text=value.text))
    return tuple(anchors)


def read_example_fields(fields: FieldReader, scale: Scale) -> tuple[CriterionExample, ...]:
    """Passages with the score that people gave them: {passage, score, why}; why may be left out."""
    read = [_read_example_node(node, scale, fields.faults, path) for node, path in fields.items("examples")]
    return tuple(example for example in read if example)


def _read_example_node(node: TreeNode, scale: Scale, faults: list[Fault], path: FaultPath) -> CriterionExample | None:
    before = len(faults)
    fields = FieldReader(node, EXAMPLE_FIELDS, faults, path)
    passage, given = fields.text("passage"), fields.node("score")
    word = given.text.lower() if scale.yes_no and isinstance(given, ScalarNode) else ""
    score = _YES_NO_LEVELS[word] if word in _YES_NO_LEVELS else fields.number("score")
    why = fields.text("why") if "why" in fields else ""
    if len(faults) == before and (passage is None or score is None):
        missing = "passage" if passage is None else "score"
        fields.fault(f"an example needs a {missing}", "as in {passage: It works., score: 2, why: It does not say how.}")
    if len(faults) > before:
        return None
    return build_checked_from_fields(CriterionExample, faults, path, passage=passage, score=score, why=why)


def read_rubric_ranges_field(fields: FieldReader) -> tuple[Anchor, ...] | None:
    """Score ranges over 0 to 10: a map of lower bounds, or a list of {score_range, expected_outcome}."""
    node = fields.node("score_ranges")
    if isinstance(node, MappingNode) and node.items:
        ranges = _parse_rubric_ranges_node(fields)
    elif isinstance(node, SequenceNode) and node.items:
        read = [_parse_rubric_range_node(entry, fields.faults, path) for entry, path in fields.items("score_ranges")]
        ranges = [found for found in read if found]
        if len(ranges) < len(node.items):
            return None
    else:
        fields.fault("score_ranges must be a map of lower bounds or a list of ranges", "", "score_ranges")
        return None
    wrong = _find_gap_in_ranges_field(sorted(ranges, key=lambda anchor: anchor.min)) if ranges else None
    if wrong:
        fields.fault(wrong, "ranges cover 0 to 10 in whole numbers, without overlap or gap", "score_ranges")
    return tuple(ranges)


def _parse_rubric_ranges_node(fields: FieldReader) -> list[Anchor]:
    starts: list[tuple[Fraction, str]] = []
    for key, value, path in fields.pairs("score_ranges"):
        number = read_node_number(ScalarNode(key))
        if isinstance(number, str) or number.denominator != 1 or not 0 <= number <= 10:
            fields.faults.append(Fault(f"{key!r} is not a whole number from 0 to 10", "", path))
        elif not isinstance(value, ScalarNode) or is_null_node(value):
            fields.faults.append(Fault(f"a range is described by a text, got {describe_node(value)}", "", path))
        else:
            starts.append((number, value.text))
    starts.sort()
    ends = [start - 1 for start, _ in starts[1:]] + [Fraction(10)]
    return [Anchor(min=low, max=high, text=text) for (low, text), high in zip(starts, ends, strict=False)]


def _parse_rubric_range_node(node: TreeNode, faults: list[Fault], path: FaultPath) -> Anchor | None:
    fields = FieldReader(node, ("score_range", "expected_outcome", "description", "asks"), faults, path)
    ends = _read_whole_number_fields([entry for entry, _ in fields.items("score_range")])
    text = fields.text("expected_outcome", "description", "asks")
    if ends is None or not (0 <= ends[0] <= 10 and 0 <= ends[1] <= 10):
        fields.fault("score_range needs two whole numbers from 0 to 10, as in [0, 2]", "", "score_range")
        return None
    if text is None:
        if "expected_outcome" not in fields:
            fields.fault("a range needs expected_outcome")
        return None
    return Anchor(min=ends[0], max=ends[1], text=text)


def _find_gap_in_ranges_field(ranges: list[Anchor]) -> str | None:
    """What is wrong with sorted ranges that should cover 0 to 10."""
    expected = Fraction(0)
    for entry in ranges:
        if entry.max < entry.min:
            return f"the range {entry.min}–{entry.max} runs backwards"
        if entry.min < expected:
            return f"the ranges overlap at {entry.min}"
        if entry.min > expected:
            last = entry.min - 1
            return f"the ranges leave a gap at {expected}" + (f"–{last}" if last > expected else "")
        expected = entry.max + 1
    return None if expected == 11 else f"the ranges end at {expected - 1}, not at 10"
