"""A rubric as the text of a file that reads as the same rubric; what its method decides stands in a second file."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import Any

import yaml

from evenhand.files.methods import list_method_yaml_names, load_shipped_method_file
from evenhand.model.method import Method, Step
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Anchor, Criterion, Scale, Statement
from evenhand.wording import format_fraction


def is_shipped_method(method: Method) -> bool:
    """Whether a rubric can name the method, as it ships."""
    return method.name in list_method_yaml_names() and load_shipped_method_file(method.name) == method


def write_rubric_yaml(rubric: Rubric, method: str) -> str:
    """The text of a rubric that names its method, which ships or is a file."""
    told = {
        "name": rubric.name,
        "about": rubric.about,
        "method": method,
        "criteria": [_write_criterion(one) for one in rubric.criteria],
        "red_flags": [_write_statement(one) for one in rubric.red_flags],
        "bonuses": [_write_statement(one) for one in rubric.bonuses],
        "gates": [{"criterion": one.criterion, "min": _write_number(one.min)} for one in rubric.gates],
        "safety_gate": rubric.safety_gate,
        "holistic": rubric.holistic,
        "tags": list(rubric.tags),
    }
    return _dump_told(told)


def write_method_yaml(method: Method) -> str:
    """The text of a method."""
    scale = method.scale
    told = {
        "name": method.name,
        "about": method.about,
        "scale": {
            "min": _write_number(scale.min),
            "max": _write_number(scale.max),
            **({} if scale.decimals is None else {"decimals": scale.decimals}),
        },
        "criterion_scale": _write_scale(method.criterion_scale),
        "criteria": [_write_criterion(one) for one in method.criteria],
        "required": method.required,
        "weights_sum_to": _write_number(method.weights_sum_to),
        "holistic": None if method.holistic is None else _write_scale(method.holistic),
        "dialogue": method.dialogue,
        "steps": [_write_step(one) for one in method.steps],
        "grades": [
            {"grade": one.grade, "from": _write_number(one.from_), **({"label": one.label} if one.label else {})}
            for one in method.grades
        ],
        "verdicts": {one.verdict: _write_number(one.from_) for one in method.verdicts},
        "ties": [str(one) for one in method.ties],
        "environment": {name: {one.sets: one.of} for name, one in method.environment.items()},
    }
    return _dump_told(told)


def _dump_told(told: dict[str, Any]) -> str:
    kept = {name: value for name, value in told.items() if value not in (None, "", [], {}, False)}
    return str(yaml.safe_dump(kept, sort_keys=False, allow_unicode=True, width=110))


def _write_criterion(one: Criterion) -> dict[str, Any]:
    told = {
        "id": one.id,
        "asks": one.asks,
        "weight": _write_number(one.weight) if one.points is None else None,
        "points": _write_number(one.points),
        "scale": None if one.children else _write_scale(one.scale),
        "required_min_score": _write_number(one.required_min_score),
        "fixed": one.fixed or None,
        "anchors": {_write_anchor_place(anchor, one.scale): anchor.text for anchor in one.anchors},
        "examples": [
            {"passage": each.passage, "score": _write_number(each.score), **({"why": each.why} if each.why else {})}
            for each in one.examples
        ],
        "children": [_write_criterion(child) for child in one.children],
    }
    kept = {name: value for name, value in told.items() if value not in (None, {}, [])}
    return kept if one.children else {**kept, "required": one.required}


def _write_anchor_place(anchor: Anchor, scale: Scale) -> str:
    if scale.yes_no:
        return "yes" if anchor.min else "no"
    ends = (format_fraction(anchor.min), format_fraction(anchor.max))
    return ends[0] if ends[0] == ends[1] else "-".join(ends)


def _write_scale(scale: Scale) -> object:
    if scale.yes_no:
        return "yes/no"
    if scale.bands:
        return {"bands": {one.id: [int(one.min), int(one.max)] for one in scale.bands}}
    ends: dict[str, object] = {"min": _write_number(scale.min), "max": _write_number(scale.max)}
    return {**ends, "integers": True} if scale.integers else ends


def _write_step(step: Step) -> object:
    told = {one.name.removesuffix("_"): _write_step_value(getattr(step, one.name)) for one in fields(step)}
    told = {name: value for name, value in told.items() if value is not None}
    return {step.word: told} if told else step.word


def _write_step_value(value: object) -> object:
    if isinstance(value, Scale):
        return _write_scale(value)
    return _write_number(value) if isinstance(value, Fraction) else value


def _write_statement(one: Statement) -> dict[str, Any]:
    amount = {} if one.amount is None else {"amount": _write_number(one.amount)}
    return {"id": one.id, "asks": one.asks, **amount}


def _write_number(value: Fraction | None) -> int | float | None:
    if value is None:
        return None
    return int(value) if value.denominator == 1 else float(value)
