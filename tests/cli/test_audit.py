"""The audit as a user runs it: an answer first, every finding with its number, and data for programs."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import evenhand

JUDGES = r"""
import json, re

def reply(request, leaning):
    text, said = request.messages[-1].text, {}
    for seat, label in enumerate(request.labels):
        words = re.search(rf"<response-{label}-\w+>\n(.*?)\n</response-{label}", text, re.DOTALL)[1]
        score = int(words.split()[-1]) + leaning(seat)
        said[label] = {"criteria": {id: {"evidence": [], "reason": "so", "score": score} for id in request.ids}}
    return json.dumps({"responses": said})

def fair(request):
    return reply(request, lambda seat: 0)

def hasty(request):
    return reply(request, lambda seat: 2 if seat == 0 else 0)

def mute(request):
    raise RuntimeError("out of order")
"""
EVAL = """
name: panel
samples: samples.jsonl
variants: {old: {}, new: {}}
rubric: council-v1
judges: [%s]
"""


def made(folder: Path, *judges: str) -> Path:
    """A finished run of a panel over twenty samples whose answers name their own score."""
    (folder / "own.py").write_text(JUDGES, "utf-8")
    (folder / "eval.yaml").write_text(EVAL % ", ".join(f'"python:own:{name}"' for name in judges), "utf-8")
    rows = [
        {
            "id": f"s{place}",
            "input": "?",
            "outputs": {"old": f"{'x' * place} {2 + place % 5}", "new": f"y {3 + place % 4}"},
        }
        for place in range(20)
    ]
    (folder / "samples.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    done = evenhand("run", "eval.yaml", "--report-only", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder


def findings(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    data = json.loads(evenhand("audit", "latest", "--json", folder=folder).stdout)
    return {(one["finding"], one["judge"]): one for one in data["findings"] if one["criterion"] is None}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("audit"), "fair", "hasty")


def test_the_first_line_answers_and_the_second_says_what_to_do(folder: Path) -> None:
    """Whoever reads no further knows what matters; an audit is no verdict, so the exit code is 0."""
    done = evenhand("audit", "latest", folder=folder)

    first = done.stdout.splitlines()
    assert done.returncode == 0
    assert first[0].startswith("Fit to decide: no. Worst is position of python:own:hasty")
    assert any(line.startswith("  next: Show each output alone") for line in first[:5])
    assert max(map(len, first)) <= 80
    told = r"length is in points per 100 characters; its mark goes by what a typical difference of \d+"
    assert re.search(told, " ".join(done.stdout.split()))
    assert "\x1b" not in done.stdout


def test_the_seat_that_a_stored_judge_prefers_is_found_as_planted(folder: Path) -> None:
    """Through judging, store and columns: two points for the first seat lie in one interval, none in the other."""
    seen = findings(folder)

    hasty, fair = seen["position", "python:own:hasty"], seen["position", "python:own:fair"]
    assert 0 < hasty["low"] <= 2 <= hasty["high"]
    assert hasty["colour"] == "red"
    assert fair["low"] <= 0 <= fair["high"]
    assert hasty["n"] == 20


def test_the_data_have_the_keys_that_the_page_names(folder: Path) -> None:
    """Programs and the report rely on them."""
    data = json.loads(evenhand("audit", "latest:panel", "--json", folder=folder).stdout)

    assert set(data) == {
        "run", "fit", "headline", "next_step", "worst", "judges", "samples", "colours", "findings", "not_listed",
    }  # fmt: skip
    assert set(data["findings"][0]) == {
        "finding", "judge", "criterion", "colour", "value", "low", "high", "level", "n", "unit", "typical", "method",
        "says", "advice",
    }  # fmt: skip
    assert data["judges"] == ["python:own:fair", "python:own:hasty"]
    assert data["samples"] == 20


def test_a_judge_that_never_answers_is_counted(tmp_path: Path) -> None:
    """A failure is a finding, not an empty column."""
    seen = findings(made(tmp_path, "fair", "hasty", "mute"))

    mute = seen["failures", "python:own:mute"]
    assert (mute["value"], mute["colour"]) == (1.0, "red")
    assert seen["failures", "python:own:fair"]["colour"] == "green"


def test_a_run_without_judges_and_a_run_that_is_not_there_end_with_a_sentence(tmp_path: Path) -> None:
    """Bad input is exit code 2, with what would work."""
    plain = {"samples": [{"input": "?", "outputs": {"a": "x"}}], "assertions": [{"contains": "x"}]}
    (tmp_path / "eval.json").write_text(json.dumps(plain), "utf-8")
    evenhand("run", "eval.json", "--report-only", folder=tmp_path)

    bare, missing = (evenhand("audit", run, folder=tmp_path) for run in ("latest", "2099"))

    assert (bare.returncode, missing.returncode) == (2, 2)
    assert "no judge answered in this run" in bare.stderr
    assert "no run '2099'" in missing.stderr


def test_a_narrow_screen_breaks_no_name(folder: Path) -> None:
    """Where the table has no room, each finding is a sentence."""
    done = evenhand("audit", "latest", folder=folder, COLUMNS="50")

    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 50
    assert "  ✗ position, python:own:hasty: value " in done.stdout
    assert all(re.search(r"python:own:(fair|hasty)", line) for line in lines if "python:" in line)
