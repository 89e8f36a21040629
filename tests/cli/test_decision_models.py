"""Decision models on the command line: runs, plans, the cache, records and budgets count their few requests rightly."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import evenhand
from tests.decision_server import DecisionServer

EVAL = """
name: greetings
samples:
  - {id: plain, input: Hi, outputs: {old: Hello., new: Good morning to you.}}
  - {id: late, input: Hey, outputs: {old: Hi., new: Good evening to you.}}
rubric:
  method: tree
  criteria:
    - {id: greets, asks: Does it greet?, scale: yes/no}
    - {id: warm, asks: How warm is it?, scale: 1-5}
    - {id: rank, asks: How good is it?, scale: 0-100}
judges: ['MODEL']
prices: prices.yaml
"""
PRICES = "as_of: 2026-11-01\nmodels: {'MODEL': {input: 0.10, output: 0}}\n"


@pytest.fixture
def server() -> Iterator[DecisionServer]:
    with DecisionServer() as one:
        yield one


@pytest.fixture
def folder(tmp_path: Path, server: DecisionServer) -> Path:
    (tmp_path / "eval.yaml").write_text(EVAL.replace("MODEL", server.name), "utf-8")
    (tmp_path / "prices.yaml").write_text(PRICES.replace("MODEL", server.name), "utf-8")
    (tmp_path / "output.md").write_text("Good morning to you.", "utf-8")
    (tmp_path / "rubric.yaml").write_text("criteria: [{id: greets, asks: Does it greet?}]", "utf-8")
    return tmp_path


def _run(folder: Path, *more: str) -> dict[str, Any]:
    done = evenhand("run", "eval.yaml", "--json", *more, folder=folder)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_plan_counts_one_request_per_output_and_sends_none(folder: Path, server: DecisionServer) -> None:
    """Four outputs, four requests; nothing is written or paid for output. What cannot be answered is named."""
    plan = _run(folder, "--plan")

    (planned,) = plan["judges"]
    assert (planned["calls"], planned["output_tokens"]) == (4, 0)
    assert planned["cost"] == pytest.approx(planned["input_tokens"] * 0.10 / 1e6)
    assert [one["criterion"] for one in plan["unanswerable"]] == ["rank"]
    assert server.bodies == []


def test_a_run_asks_once_per_output_and_never_again(folder: Path, server: DecisionServer) -> None:
    """The second run is answered from the cache, to the same scores; spread and expected score are stored."""
    first, second = _run(folder), _run(folder)
    stored = json.loads(evenhand("report", "latest", "--json", folder=folder).stdout)

    assert len(server.bodies) == 4
    assert first["cost"]["total"] == pytest.approx(sum(len(json.dumps(one)) // 4 for one in server.bodies) * 0.1 / 1e6)
    assert [one["score"] for one in first["variants"]] == [one["score"] for one in second["variants"]]
    results = [result for sample in stored["samples"] for result in sample["results"]]
    told = [one for result in results for one in result["judgments"] if one["criterion"] == "warm"]
    assert len(told) == 4
    assert all(1 <= one["expected"] <= 5 and one["spread"]["how"] == "probabilities" for one in told)


def test_a_record_is_replayed_to_the_same_scores(folder: Path, server: DecisionServer) -> None:
    """With no connection."""
    judged = ("judge", "-r", "rubric.yaml", "output.md", "-m", server.name, "--json")
    asked = json.loads(evenhand(*judged, "--record", "said.jsonl", folder=folder).stdout)

    replayed = json.loads(evenhand(*judged, "--replay", "said.jsonl", folder=folder).stdout)

    assert len(server.bodies) == 1
    assert replayed["judgments"] == asked["judgments"]
    assert replayed["spent"]["replayed"] == 1


def test_a_contest_refuses_such_a_judge_before_any_call(folder: Path, server: DecisionServer) -> None:
    """Its authors are owed quotations."""
    task = {"name": "t", "description": "Greet.", "acceptance": ["Greets"], "mode": "fastest_first"}
    (folder / "task.yaml").write_text(json.dumps({**task, "judges": [server.name]}), "utf-8")

    done = evenhand("contest", "check", "task.yaml", "output.md", folder=folder)

    assert done.returncode == 2
    assert "quotes no evidence, and a contest needs it" in done.stderr
    assert server.bodies == []
