"""Rubrics as JSON that the same rubric is read back from: what a store keeps of one that must not change."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from evenhand.errors import StoreError
from evenhand.files.codec import Codec
from evenhand.files.json_shape import JsonField, JsonScalar, JsonShape, unexpected_json
from evenhand.model.method import STEPS, Method, Step
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Scale


def encode_rubric(rubric: Rubric) -> Any:
    """The rubric as plain data, its own method with it."""
    return RUBRIC_JSON.to_json(rubric)


def decode_rubric(data: object) -> Rubric:
    """The rubric that was written."""
    return RUBRIC_JSON.from_json(Rubric, data)


def _list_given_fields(cls: type) -> tuple[str, ...]:
    """What a value is made from; what it works out itself is neither written nor read."""
    return tuple(one.name for one in fields(cls) if one.init)


def _write_steps(steps: tuple[Step, ...]) -> list[object]:
    return [{"step": step.word, **RUBRIC_JSON.to_json(step)} for step in steps]


def _read_steps(data: object) -> tuple[Step, ...]:
    if not isinstance(data, list):
        raise unexpected_json("a list of steps", data)
    return tuple(_read_step(one) for one in data)


def _read_step(data: object) -> Step:
    word = data.get("step") if isinstance(data, dict) else None
    if not isinstance(data, dict) or word not in STEPS:
        raise unexpected_json(f"one of the steps {', '.join(STEPS)}", data)
    return RUBRIC_JSON.from_json(STEPS[word], {key: value for key, value in data.items() if key != "step"})


RUBRIC_JSON = Codec(
    error=StoreError,
    hint="the store is damaged, or of another version",
    lenient=True,
    shapes={
        Rubric: JsonShape(only=_list_given_fields(Rubric)),
        Scale: JsonShape(only=_list_given_fields(Scale)),
        Method: JsonShape(
            only=_list_given_fields(Method), fields={"steps": JsonField(scalar=JsonScalar(_read_steps, _write_steps))}
        ),
    },
)
