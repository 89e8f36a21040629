"""Data runs no program: a canary in every file that may come from somebody else, and none of them is ever run."""

import asyncio
import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evenhand import Eval, EvalError, InputError
from evenhand.evals.eval_definition import check_eval_samples
from evenhand.evals.eval_file import load_eval
from evenhand.workflows.run import RunOptions, run
from tests.cli.command import evenhand

Json = dict[str, Any]
CANARY = """from pathlib import Path
Path(__file__).with_name("sung").touch()
def sing(*_):
    return True
"""
PLACED: Json = {"input": "Hi", "output": "Hello"}


@pytest.fixture
def cage(tmp_path: Path) -> Path:
    """A folder with a program and a module that leave a file behind when they are run or imported."""
    (tmp_path / "canary.py").write_text(CANARY, "utf-8")
    program = tmp_path / "canary.sh"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/sung\n", "utf-8")
    program.chmod(0o755)
    return tmp_path


def canaries(cage: Path) -> dict[str, object]:
    """What would sing, in every form that an eval file may use."""
    command = {"custom": {"command": [str(cage / "canary.sh")]}}
    return {
        "command": command,
        "command beside": {"custom": {}, "command": ["./canary.sh"]},
        "function": {"custom": "python:canary:sing"},
        "named function": {"custom": {"function": "python:canary:sing"}},
        "in a set": {"assert_set": {"any": [{"contains": "Hello"}, {"assert_set": {"all": [command]}}]}},
        "negated": {**command, "not": True},
    }


def write_jsonl(path: Path, sample: Json) -> None:
    path.write_text(json.dumps(sample) + "\n", "utf-8")


def write_json(path: Path, sample: Json) -> None:
    path.write_text(json.dumps([sample]), "utf-8")


def write_csv(path: Path, sample: Json) -> None:
    cells = {name: value if isinstance(value, str) else json.dumps(value) for name, value in sample.items()}
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.DictWriter(file, cells.keys(), delimiter="\t" if path.suffix == ".tsv" else ",")
        rows.writeheader()
        rows.writerow(cells)


def write_parquet(path: Path, sample: Json) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    cells = {name: [value if isinstance(value, str) else json.dumps(value)] for name, value in sample.items()}
    parquet.write_table(pyarrow.table(cells), path)


FORMATS: dict[str, Callable[[Path, Json], None]] = {
    "samples.jsonl": write_jsonl, "samples.ndjson": write_jsonl, "samples.json": write_json,
    "samples.csv": write_csv, "samples.tsv": write_csv, "samples.parquet": write_parquet,
}  # fmt: skip


@pytest.mark.parametrize("form", list(canaries(Path())))
@pytest.mark.parametrize("file", FORMATS)
def test_no_file_of_samples_says_what_is_executed(cage: Path, file: str, form: str) -> None:
    """It is refused with its line when samples are checked, before anything is run or imported."""
    FORMATS[file](cage / file, {**PLACED, "assertions": [canaries(cage)[form]]})
    (cage / "eval.yaml").write_text(f"samples: {file}\nrubric: summary\n", "utf-8")

    with pytest.raises(EvalError, match="data cannot say what is executed"):
        check_eval_samples(load_eval(cage / "eval.yaml"))
    with pytest.raises(EvalError, match=file):
        asyncio.run(run(cage / "eval.yaml", options=RunOptions(place=cage / "store")))

    assert not (cage / "sung").exists()


@pytest.mark.parametrize("form", list(canaries(Path())))
def test_a_sample_of_a_program_is_data_too(cage: Path, form: str) -> None:
    """Most often it was read from a file a line above."""
    eval = Eval(samples=[{**PLACED, "assertions": [canaries(cage)[form]]}], rubric="summary", folder=cage)

    with pytest.raises(EvalError, match="data cannot say what is executed"):
        check_eval_samples(eval)

    assert not (cage / "sung").exists()


@pytest.mark.parametrize(
    "extra",
    [
        {"variants": {"x": {"command": "./canary.sh"}}},
        {"judges": ["python:canary:sing"]},
        {"checks": {"a": {"custom": "python:canary:sing"}}},
        {"outputs": {"x": {"text": "Hello", "command": "./canary.sh"}}},
        {"rubric": {"criteria": [{"id": "a", "asks": "?"}], "judges": ["python:canary:sing"]}},
        {"rubric": {"criteria": [{"id": "a", "asks": "?", "custom": "python:canary:sing"}]}},
        {"rubrics": [{"id": "a", "asks": "?", "command": ["./canary.sh"]}]},
        {"rubric": "python:canary:sing"},
        {"rubric": "canary.py"},
        {"assertions": [{"json_schema": "canary.py"}]},
        {"assertions": [{"check": "python:canary:sing"}]},
    ],
)
def test_no_other_field_of_a_sample_executes(cage: Path, extra: Json) -> None:
    """What only an eval file may hold is refused in a sample, or only read."""
    write_jsonl(cage / "samples.jsonl", {"input": "Hi", **({} if "outputs" in extra else {"output": "Hello"}), **extra})
    (cage / "eval.yaml").write_text("samples: samples.jsonl\nassertions: [{contains: Hello}]\n", "utf-8")

    with pytest.raises(InputError):
        asyncio.run(run(cage / "eval.yaml", options=RunOptions(place=cage / "store")))

    assert not (cage / "sung").exists()


def test_recorded_outputs_execute_nothing(cage: Path) -> None:
    """A file of outputs holds texts and facts."""
    write_jsonl(cage / "made.jsonl", {"id": "a", "text": "Hello", "assertions": [{"custom": "python:canary:sing"}]})
    text = "samples: [{id: a, input: Hi}]\nvariants: {x: {outputs: made.jsonl}}\nassertions: [{contains: Hello}]\n"
    (cage / "eval.yaml").write_text(text, "utf-8")

    with pytest.raises(InputError, match="assertions"):
        asyncio.run(run(cage / "eval.yaml", options=RunOptions(place=cage / "store")))

    assert not (cage / "sung").exists()


def test_a_record_of_replies_executes_nothing(cage: Path) -> None:
    """The models that it names are replayed, not opened."""
    entry = {"key": "k", "model": "python:canary:sing", "dialogue": "pointwise", "reply": {"text": "7"}}
    write_jsonl(cage / "record.jsonl", entry)
    (cage / "output.md").write_text("Hello", "utf-8")

    evenhand("judge", "output.md", "--rubric", "summary", "--replay", "record.jsonl", folder=cage)
    evenhand("judge", "output.md", "--rubric", "summary", "--judge", "replay:record.jsonl", folder=cage)

    assert not (cage / "sung").exists()


def test_a_rubric_executes_nothing(cage: Path) -> None:
    """Whoever wrote it, it holds criteria."""
    criterion = {"id": "a", "asks": "Is it polite?"}
    for extra in ({"judges": ["python:canary:sing"]}, {"assertions": [{"custom": "python:canary:sing"}]}):
        (cage / "rubric.json").write_text(json.dumps({"criteria": [criterion], **extra}), "utf-8")
        (cage / "output.md").write_text("Hello", "utf-8")

        assert evenhand("judge", "output.md", "--rubric", "rubric.json", folder=cage).returncode != 0

    assert not (cage / "sung").exists()


def test_a_sample_may_name_a_check_that_the_eval_defines(cage: Path) -> None:
    """Then the eval says what is executed, and the sample only that it is."""
    text = "samples: samples.csv\nchecks: {song: {custom: {command: [./canary.sh]}}}\n"
    (cage / "eval.yaml").write_text(text, "utf-8")
    write_csv(cage / "samples.csv", {**PLACED, "assertions": [{"check": "song", "weight": 3}]})

    done = asyncio.run(run(cage / "eval.yaml", options=RunOptions(place=cage / "store")))

    assert (cage / "sung").exists()
    [row] = done.to_rows()
    assert row["composite"] == 5


def test_a_changed_check_is_asked_again(cage: Path) -> None:
    """What a check does is part of what decides a result."""
    write_csv(cage / "samples.csv", {**PLACED, "assertions": [{"check": "polite"}]})
    composites = []
    for word in ("Hello", "please"):
        text = f"samples: samples.csv\nname: e\nchecks: {{polite: {{contains: {word}}}}}\n"
        (cage / "eval.yaml").write_text(text, "utf-8")
        options = RunOptions(place=cage / "store", resume=True)
        composites += [row["composite"] for row in asyncio.run(run(cage / "eval.yaml", options=options)).to_rows()]

    assert composites == [5, 1]


def test_a_check_that_nobody_defines_is_named(cage: Path) -> None:
    """With the line of the sample, and what would work."""
    write_csv(cage / "samples.csv", {**PLACED, "assertions": [{"check": "polit"}]})
    text = "samples: samples.csv\nchecks: {polite: {contains: please}}\n"
    (cage / "eval.yaml").write_text(text, "utf-8")

    with pytest.raises(EvalError, match=r"no check 'polit' \(did you mean 'polite'"):
        check_eval_samples(load_eval(cage / "eval.yaml"))
