"""A request names no file of this machine, whatever the type of what stands where a name could stand."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import EvenhandError
from evenhand.workflows.run import RunOptions, check_user_run
from evenhand.workflows.sent_inputs import (
    load_rubric_for_service,
    parse_eval_for_service,
    parse_task_for_service,
)

Json = dict[str, Any]
NAMES: tuple[object, ...] = (8, 8.5, True, None, "8", ["8"], "there.yaml")
SAMPLE: Json = {"id": "a", "input": "q", "outputs": {"old": "hi", "new": "ho"}}
EVAL: Json = {"name": "desk", "samples": [SAMPLE], "rubric": {"criteria": ["Is it short?"]}, "judges": ["embedded"]}
TASK: Json = {"name": "t", "description": "d", "mode": "quality_first", "acceptance": ["short"]}
opened: list[str] = []


def _note_opened_file(event: str, told: tuple[Any, ...]) -> None:
    if event == "open":
        opened.append(str(told[0]))


sys.addaudithook(_note_opened_file)  # Python offers no way to remove one.


@pytest.fixture(autouse=True)
def _files_by_such_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A rubric of somebody else by each name, as YAML and JSON would spell it."""
    monkeypatch.chdir(tmp_path)
    for name in ("8", "8.5", "true", "True", "null", "None", "there.yaml"):
        Path(name).write_text("criteria: [Is it secret?]\n", "utf-8")
    opened.clear()
    yield
    files = [one for one in opened if Path(one).name in {"8", "8.5", "true", "True", "null", "None", "there.yaml"}]
    assert files == []


def _read_eval(fields: Json) -> object:
    return check_user_run(parse_eval_for_service(fields), RunOptions())


PLACES: dict[str, tuple[Callable[[Any], object], Callable[[object], object]]] = {
    "the rubric of an eval": (_read_eval, lambda name: {**EVAL, "rubric": name}),
    "a rubric for a tag": (_read_eval, lambda name: {**EVAL, "rubrics": {"t": name}}),
    "the rubric of a sample": (
        _read_eval,
        lambda name: {**EVAL, "sample_rubrics": True, "samples": [{**SAMPLE, "rubric": 0 if name is None else name}]},
    ),
    "a schema": (_read_eval, lambda name: {**EVAL, "assertions": [{"json_schema": name}]}),
    "a schema of a sample": (
        _read_eval,
        lambda name: {**EVAL, "samples": [{**SAMPLE, "assertions": [{"json_schema": name}]}]},
    ),
    "a prompt": (_read_eval, lambda name: {**EVAL, "variants": {"m": {"model": "a/m", "prompt": {"file": name}}}}),
    "prompt texts": (_read_eval, lambda name: {**EVAL, "how": {"language": name}}),
    "prices": (_read_eval, lambda name: {**EVAL, "prices": name}),
    "what is judged or scored by": (load_rubric_for_service, lambda name: name),
    "a method": (load_rubric_for_service, lambda name: {"method": name, "criteria": ["Is it short?"]}),
    "what a rubric extends": (load_rubric_for_service, lambda name: {"extends": name}),
    "the dimensions of a task": (parse_task_for_service, lambda name: {**TASK, "dimensions": name}),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_whatever_is_neither_a_shipped_name_nor_a_mapping_is_refused(place: str, name: object) -> None:
    """A number as a rubric was read as the name of a file in the folder of the service, and opened."""
    read, build = PLACES[place]

    with pytest.raises(EvenhandError):
        read(build(name))


@pytest.mark.parametrize("name", [8, 8.5, True], ids=repr)
def test_where_a_text_may_stand_a_number_is_that_text(name: object) -> None:
    """A judge and a prompt are taken by what they say; no file of that name is looked for."""
    asked = parse_eval_for_service({**EVAL, "judges": name, "variants": {"m": {"model": "openai/m", "prompt": name}}})

    assert asked.judges == (str(name).lower(),)


def test_a_sample_may_say_that_it_brings_no_rubric() -> None:
    """As those do that are written with every field."""
    _read_eval({**EVAL, "samples": [{**SAMPLE, "rubric": None}]})
