"""A rubric as the text of a file that reads as the same rubric; what its method decides stands in a second file."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import Any

import yaml

from evenhand.files.methods import list_method_yaml_names, load_shipped_method_file
from evenhand.files.rubric_writing import write_criterion_fields, write_exact_number, write_scale_field
from evenhand.model.method import Method, Step
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Scale, Statement


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
        "red_flags": [_write_statement(one) for one in rubric.red_flags],
        "bonuses": [_write_statement(one) for one in rubric.bonuses],
        "gates": [{"criterion": one.criterion, "min": write_exact_number(one.min)} for one in rubric.gates],
        "safety_gate": rubric.safety_gate,
        "holistic": rubric.holistic,
        "too_close": None if rubric.too_close is None else write_exact_number(rubric.too_close),
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
            "min": write_exact_number(scale.min),
            "max": write_exact_number(scale.max),
            **({} if scale.decimals is None else {"decimals": scale.decimals}),
        },
        "criterion_scale": write_scale_field(method.criterion_scale),
        "criteria": [write_criterion_fields(one) for one in method.criteria],
        "required": method.required,
        "weights_sum_to": None if method.weights_sum_to is None else write_exact_number(method.weights_sum_to),
        "holistic": None if method.holistic is None else write_scale_field(method.holistic),
        "dialogue": method.dialogue,
        "steps": [_write_step(one) for one in method.steps],
        "grades": [
            {"grade": one.grade, "from": write_exact_number(one.from_), **({"label": one.label} if one.label else {})}
            for one in method.grades
        ],
        "verdicts": {one.verdict: write_exact_number(one.from_) for one in method.verdicts},
        "ties": [str(one) for one in method.ties],
        "environment": {name: {one.sets: one.of} for name, one in method.environment.items()},
    }
    return _dump_told(told)


def _dump_told(told: dict[str, Any]) -> str:
    kept = {name: value for name, value in told.items() if value not in (None, "", [], {}, False)}
    return str(yaml.safe_dump(kept, sort_keys=False, allow_unicode=True, width=110))


def _write_step(step: Step) -> object:
    told = {one.name.removesuffix("_"): _write_step_value(getattr(step, one.name)) for one in fields(step)}
    told = {name: value for name, value in told.items() if value is not None}
    return {step.word: told} if told else step.word


def _write_step_value(value: object) -> object:
    if isinstance(value, Scale):
        return write_scale_field(value)
    return write_exact_number(value) if isinstance(value, Fraction) else value


def _write_statement(one: Statement) -> dict[str, Any]:
    amount = {} if one.amount is None else {"amount": write_exact_number(one.amount)}
    return {"id": one.id, "asks": one.asks, **amount}
