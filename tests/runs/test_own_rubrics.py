"""Samples with rubrics of their own in a run: judged by them, apart in tables, and understood wherever a run goes."""

import asyncio
import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from evenhand.errors import InputError
from evenhand.models.requests import Request
from evenhand.report.data_files import write_csv
from evenhand.store.store import Store
from evenhand.workflows.compare import compare_runs
from evenhand.workflows.plan import plan_run
from evenhand.workflows.report import load_run_report
from evenhand.workflows.rescore import rescore_run
from evenhand.workflows.run import RunOptions, RunResult
from evenhand.workflows.run import run as run_eval

Json = dict[str, Any]
ASKED: list[list[str]] = []


def judge(request: Request) -> str:
    """Gives every criterion the number that the output is."""
    assert request.about is not None
    number = float(dict(request.about.texts)["output"].split()[0])
    ASKED.append(list(request.ids))
    one = {"evidence": ["points"], "reason": "so", "score": number}
    return json.dumps({"criteria": dict.fromkeys(request.ids, one)})


def criteria(*ids: str, **more: object) -> list[Json]:
    return [{"id": id, "asks": f"Is it {id}?", "scale": "1-10", **more} for id in ids]


def sample(id: str, x: int, y: int, **more: object) -> Json:
    return {"id": id, "input": "q", "outputs": {"x": f"{x} points", "y": f"{y} points"}, **more}


SAMPLES = [
    sample("first", 4, 6, rubrics=criteria("right", "short")),
    sample("second", 2, 3, rubric={"name": "strict", "criteria": criteria("right", required_min_score=1)}),
    sample("third", 5, 7),
]


def write(folder: Path, samples: list[Json] = SAMPLES, **more: object) -> Path:
    eval = {
        "name": "own",
        "samples": samples,
        "rubric": {"name": "all", "criteria": criteria("right")},
        "judges": ["python:tests.runs.test_own_rubrics:judge"],
        **more,
    }
    (folder / "eval.yaml").write_text(yaml.safe_dump(eval, sort_keys=False), "utf-8")
    return folder / "eval.yaml"


def run(folder: Path, *, resume: bool = False, **more: Any) -> RunResult:
    ASKED.clear()
    options = RunOptions(place=folder / "store.db", resume=resume)
    return asyncio.run(run_eval(write(folder, **more), options=options))


def store(folder: Path) -> Store:
    return Store.open(folder / "store.db", {})


def test_each_sample_is_judged_by_its_own_rubric_and_ids_stay_apart(tmp_path: Path) -> None:
    """Three rubrics ask something called right; none is the mean of another."""
    head = run(tmp_path).head

    assert sorted(ASKED) == [["right"]] * 4 + [["right", "short"]] * 2
    found = {id: (one["mean"], one["n"]) for id, one in head["variants"][0]["criteria"].items()}
    assert found == {"first.right": (4, 1), "first.short": (4, 1), "strict.right": (2, 1), "right": (5, 1)}


def test_a_table_of_results_has_them_under_the_same_names(tmp_path: Path) -> None:
    """What counts for first.right is in the row of the first sample alone."""
    run(tmp_path)
    text = io.StringIO()
    with store(tmp_path) as opened:
        write_csv(*load_run_report(opened, opened.find_run("latest")["id"]), text)

    rows = list(csv.DictReader(io.StringIO(text.getvalue())))
    assert [one["criterion:first.right"] for one in rows if one["variant"] == "y"] == ["6", "", ""]
    assert [one["criterion:right"] for one in rows if one["variant"] == "y"] == ["", "", "7"]


def test_a_resumed_run_asks_only_about_the_sample_whose_rubric_changed(tmp_path: Path) -> None:
    """The rubric of one sample is nothing to another; a file that a sample names may change under it."""
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({"criteria": criteria("right")}))
    samples = [{**SAMPLES[0], "rubric": "mine.yaml", "rubrics": None}, *SAMPLES[1:]]
    run(tmp_path, samples=samples)
    run(tmp_path, resume=True, samples=samples)
    nothing = list(ASKED)
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({"criteria": criteria("new")}))

    run(tmp_path, resume=True, samples=samples)

    assert (nothing, ASKED) == ([], [["new"]] * 2)


def test_a_plan_counts_the_questions_of_all_rubrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is asked."""
    monkeypatch.chdir(tmp_path)
    ASKED.clear()

    planned = asyncio.run(plan_run(write(tmp_path)))

    assert (planned["judges"][0]["calls"], ASKED) == (6, [])


def test_runs_with_another_rubric_in_a_sample_are_not_compared_silently(tmp_path: Path) -> None:
    """The rubric and what changed in it are named."""
    run(tmp_path)
    run(tmp_path, samples=[{**SAMPLES[0], "rubrics": criteria("right", "short", weight=2)}, *SAMPLES[1:]])

    with store(tmp_path) as opened, pytest.raises(InputError) as refused:
        first, second = (row["id"] for row in reversed(list(opened.list_runs("own"))))
        compare_runs(opened, f"{first}:x", f"{second}:x")

    assert "criterion first.right: weight 1 → 2" in str(refused.value)
    assert "rubrics (first: first)" in str(refused.value)


def test_a_rubric_of_samples_can_be_replaced_in_a_stored_run(tmp_path: Path) -> None:
    """By its name, and only for the samples that it was for; the rubric for all leaves them alone."""
    run(tmp_path)
    new = {"criteria": [{**criteria("right")[0], "required_min_score": 9}]}
    (tmp_path / "new.yaml").write_text(yaml.safe_dump(new))

    with store(tmp_path) as opened:
        original = opened.find_run("latest")["id"]
        verdicts = {}
        for tag in ("strict", ""):
            head = rescore_run(opened, original, str(tmp_path / "new.yaml"), tag)
            rows = opened.results(head["run"]["id"])
            verdicts[tag] = [json.loads(row["content"])["scorecard"]["gates_failed"] for row in rows]

    assert [len(gates) for gates in verdicts["strict"]] == [0, 0, 1, 1, 0, 0]
    assert [len(gates) for gates in verdicts[""]] == [0, 0, 0, 0, 1, 1]


def test_very_many_rubrics_get_no_columns(tmp_path: Path) -> None:
    """A table of thousands of criteria with one score each can be read by nobody; the results have them all."""
    samples = [sample(f"s{n}", 4, 6, rubrics=criteria(f"c{n}")) for n in range(101)]

    head = run(tmp_path, samples=samples).head

    assert (head["variants"][0]["criteria"], head["variants"][0]["score"]["n"]) == ({}, 101)
