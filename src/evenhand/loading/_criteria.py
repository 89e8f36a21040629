"""Reading criteria, statements and gates."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction

from evenhand.errors import Fault, Path, RubricError
from evenhand.loading._fields import Fields, described
from evenhand.loading._scales import read_anchors, read_ranges, read_scale
from evenhand.loading._tree import Node, Scalar
from evenhand.model import SHARE, YES_NO, ZERO_TO_TEN, Criterion, Gate, Scale, Statement

CRITERION_FIELDS = (
    "id", "asks", "expected_outcome", "description", "weight", "points", "scale", "anchors",
    "required", "required_min_score", "score_ranges", "fixed", "judged", "children",
)  # fmt: skip
STATEMENT_FIELDS = ("id", "asks", "amount")
GATE_FIELDS = ("criterion", "min")


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What a criterion is where its entry does not say: by the method, or by the method's own of that id."""

    scale: Scale = YES_NO
    required: bool = False
    own: Mapping[str, Criterion]


def read_criteria(fields: Fields, defaults: Defaults) -> tuple[Criterion, ...]:
    """The criteria listed; those without an id are called by their place."""
    entries = enumerate(fields.items("criteria", "rubrics"), start=1)
    read = (read_criterion(node, defaults, fields.faults, path, f"rubric-{at}") for at, (node, path) in entries)
    return tuple(criterion for criterion in read if criterion)


def read_criterion(
    node: Node, defaults: Defaults, faults: list[Fault], path: Path, generated_id: str
) -> Criterion | None:
    """One criterion: a text, or a mapping; None where not even a stand-in can be made."""
    if isinstance(node, Scalar):
        return _from_text(node, defaults, faults, path, generated_id)
    fields = Fields(node, CRITERION_FIELDS, faults, path)
    id = fields.text("id") or generated_id
    own = defaults.own.get(id)
    ranges = read_ranges(fields)
    children = tuple(
        child
        for position, (entry, below) in enumerate(fields.items("children"), start=1)
        if (child := read_criterion(entry, defaults, faults, below, f"{id}-{position}"))
    )
    asks = fields.text("asks", "expected_outcome", "description") or (own.asks if own else "")
    if not (asks or children or "score_ranges" in fields or _names_any(fields, "asks")):
        fields.fault(
            f"criterion {id!r} asks nothing",
            "add asks (or expected_outcome), or score_ranges",
        )
    scale = _scale(fields, defaults, own, children)
    anchors = ranges or read_anchors(fields, scale) or (own.anchors if own and own.scale == scale else ())
    required = fields.boolean("required")
    parts = {
        "id": id,
        "asks": asks,
        "weight": fields.number("weight") if "weight" in fields else own.weight if own else None,
        "points": fields.number("points"),
        "scale": scale,
        "anchors": anchors,
        "required": defaults.required if required is None else required,
        "required_min_score": fields.number("required_min_score"),
        "fixed": fields.boolean("fixed") if "fixed" in fields else own.fixed if own else None,
        "judged": fields.boolean("judged") if "judged" in fields else own.judged if own else None,
        "children": children,
    }
    _inner_faults(fields, children)
    return _born({name: value for name, value in parts.items() if value is not None}, faults, path)


def read_statement(node: Node, faults: list[Fault], path: Path) -> Statement | None:
    """A red flag or bonus: a text, which is its own id, or {id, asks, amount}."""
    if isinstance(node, Scalar):
        if not node.text.strip():
            faults.append(Fault("a statement cannot be empty", path=path))
            return None
        return Statement(id=node.text, asks=node.text)
    fields = Fields(node, STATEMENT_FIELDS, faults, path)
    id, asks, amount = fields.text("id"), fields.text("asks"), fields.number("amount")
    if id is None and asks is None:
        fields.fault("a statement needs id and asks")
        return None
    try:
        return Statement(id=id or asks or "", asks=asks or id or "", amount=amount)
    except RubricError as error:
        faults.extend(error.within(*path).faults)
        return None


def read_gate(node: Node, on_numbers: Collection[str], faults: list[Fault], path: Path) -> Gate | None:
    """A gate: {criterion, min}; for a yes/no criterion min may be left out."""
    fields = Fields(node, GATE_FIELDS, faults, path)
    criterion, least = fields.text("criterion"), fields.number("min")
    if criterion is None:
        if "criterion" not in fields:
            fields.fault("a gate needs a criterion", "as in {criterion: accuracy, min: 5}")
        return None
    if criterion in on_numbers and "min" not in fields:
        fields.fault(f"a gate on {criterion!r} needs min", f"as in {{criterion: {criterion}, min: 5}}")
    return Gate(criterion=criterion, min=Fraction(1) if least is None else least)


def _from_text(
    node: Scalar, defaults: Defaults, faults: list[Fault], path: Path, generated_id: str
) -> Criterion | None:
    if not node.text.strip():
        faults.append(Fault("a criterion cannot be empty", "write what is expected", path))
        return None
    return Criterion(id=generated_id, asks=node.text, scale=defaults.scale, required=defaults.required)


def _names_any(fields: Fields, *names: str) -> bool:
    return any(name in fields for name in (*names, "expected_outcome", "description"))


def _scale(fields: Fields, defaults: Defaults, own: Criterion | None, children: tuple[Criterion, ...]) -> Scale:
    node = fields.node("scale")
    if "score_ranges" in fields:
        if node is not None:
            fields.fault("score_ranges already say the scale", "remove scale", "scale")
        return ZERO_TO_TEN
    if node is not None:
        return read_scale(node, fields.faults, (*fields.path, "scale")) or defaults.scale
    if children:
        scales = {child.scale for child in children}
        return scales.pop() if len(scales) == 1 else SHARE
    if own:
        return own.scale
    if defaults.scale.yes_no and "required_min_score" in fields:
        return ZERO_TO_TEN
    return defaults.scale


def _inner_faults(fields: Fields, children: tuple[Criterion, ...]) -> None:
    if not children:
        return
    for name in ("score_ranges", "required", "required_min_score", "anchors"):
        if name in fields:
            fields.fault(f"{name} belongs to a criterion that is answered, and this one has children", "", name)


def _born(parts: dict[str, object], faults: list[Fault], path: Path) -> Criterion | None:
    """The criterion; or, where it is refused, a stand-in without the refused fields, so that the rest is checked."""
    try:
        return Criterion(**parts)  # type: ignore[arg-type]
    except RubricError as error:
        faults.extend(error.within(*path).faults)
        refused = {str(fault.path[0]) for fault in error.faults if fault.path}
        left = {name: value for name, value in parts.items() if name not in refused}
        return Criterion(**left) if "id" in left else None  # type: ignore[arg-type]


def unexpected(node: Node, what: str) -> Fault:
    """A fault for a whole file that is not what it should be."""
    return Fault(f"a {what} file is a mapping, got {described(node)}", "see: evenhand rubric init")
