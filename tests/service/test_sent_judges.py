"""A request names no judge that is code or a file of this machine, wherever an eval or a task accepts a name."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import EvenhandError
from evenhand.evals.eval_schema import eval_schema
from evenhand.models.connections import Connections
from evenhand.models.requests import ChainedModel
from evenhand.workflows.run import RunOptions, check_user_run, plan_user_run_setup
from evenhand.workflows.sent_inputs import parse_eval_for_service, parse_task_for_service

Json = dict[str, Any]
CANARIES = ("python:canary:sing", "replay:canary.jsonl", "gguf:canary.gguf", "gguf-decisions:canary.gguf")
SCHEMA = eval_schema()
DEEPEST = 4
PLAIN: Json = {
    "name": "desk",
    "samples": [{"id": "a", "input": "q", "outputs": {"old": "hi", "new": "ho"}}],
    "rubric": {"criteria": ["Is it at most 5 words long?"]},
    "judges": ["embedded"],
}


def place_texts(schema: Json, text: str, depth: int = 0) -> Iterator[object]:
    """Values that a schema accepts, each with a text at one of the places where it takes one, keys among them."""
    if depth > DEEPEST:
        return
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]
    for one in schema.get("anyOf", ()):
        yield from place_texts(one, text, depth)
    kinds = schema.get("type", ())
    kinds = {kinds} if isinstance(kinds, str) else set(kinds)
    if "string" in kinds:
        yield text
    if "array" in kinds:
        for one in place_texts(schema.get("items", {"type": "string"}), text, depth + 1):
            yield from ([one], ["embedded", one], [one, "embedded"]) if one is text else ([one],)
    if "object" in kinds:
        fields = schema.get("properties", {})
        for name, below in fields.items():
            for one in place_texts(below, text, depth + 1):
                yield {name: one}
        values = schema.get("additionalProperties")
        if isinstance(values, dict):
            yield {text: 1}
            for one in place_texts(values, text, depth + 1):
                yield from ({"old": one}, {"new": one})


PLACED = {
    json.dumps([field, value]): (field, value)
    for field, below in SCHEMA["properties"].items()
    for value in place_texts(below, "CANARY")
}


@pytest.mark.parametrize("canary", CANARIES)
def test_no_place_of_a_sent_eval_names_a_judge_of_this_machine(
    canary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every place where the schema takes a text: it is refused, or no judge is opened by that text."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "canary.py").write_text("from pathlib import Path\nPath('sung').touch()\nsing = print\n", "utf-8")
    opened: list[str] = []
    real = Connections.open

    def note(self: Connections, name: str, make: Any = None) -> ChainedModel:
        opened.append(name)
        return real(self, name, make)

    monkeypatch.setattr(Connections, "open", note)
    taken = 0
    for text in PLACED:
        field, value = json.loads(text.replace("CANARY", canary))
        try:
            eval, counted = check_user_run(parse_eval_for_service({**PLAIN, field: value}), RunOptions())
            asyncio.run(plan_user_run_setup(eval, counted))
        except EvenhandError:
            pass
        else:
            taken += 1
            models = [*eval.judges, *(getattr(one, "model", "") for one in eval.variants.values())]
            assert canary not in models, text
        assert canary not in opened, text

    assert {field for field, _ in PLACED.values()} >= {"judges", "variants", "rubric", "assertions"}
    assert taken > 3  # As a name, a tag, or a criterion it is a text as any other.
    assert not (tmp_path / "sung").exists()


@pytest.mark.parametrize("canary", CANARIES)
@pytest.mark.parametrize("field", ["judges", "challenge_judges"])
def test_no_place_of_a_sent_task_names_one_either(field: str, canary: str) -> None:
    """In any shape."""
    task: Json = {"name": "t", "description": "d", "acceptance": ["short"], "judges": ["embedded"]}
    shapes = (canary, [canary], ["openai/m", canary], {canary: 1}, {"embedded": 1, canary: 2},
              {"cascade": ["openai/m", canary], "pass_on": 1}, {"cascade": [canary]})  # fmt: skip
    for shape in shapes:
        with pytest.raises(EvenhandError):
            parse_task_for_service({**task, field: shape})
