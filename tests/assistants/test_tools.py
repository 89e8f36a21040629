"""A client of the SDK calls every tool over stdio, with good and with bad input."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from evenhand.workflows.history import load_history
from evenhand.workflows.starter import write_starter_eval
from tests.assistants.asking import Asked, ask_over_stdio
from tests.conftest import ROOT

RUBRIC = "criteria:\n  - Is it at most 40 words long?\n  - Does it name the page 'Orders'?\n"
EXTENDED = """extends: judge-skill
red_flags: [{id: no-undo, asks: It changes data and does not say how to undo that.}]
bonuses: [{id: measured, asks: The gain is measured.}]
"""
ANSWERS = {
    "id": "fix",
    "scores": {
        "correctness": 9, "completeness": 8, "adherence": 9, "actionability": 8, "efficiency": 7, "safety": 9,
        "consistency": 8,
    },
    "red_flags": {"no-undo": "step 2 has no way back"},
    "bonuses": {"measured": "31 to 2 a day"},
}  # fmt: skip
GOOD: dict[str, tuple[str, dict[str, Any]]] = {
    "all rubrics": ("list_rubrics", {}),
    "one rubric": ("list_rubrics", {"name": "ours.yaml"}),
    "valid": ("check_rubric", {"rubric": "ours.yaml"}),
    "not valid": ("check_rubric", {"rubric": {"criteria": []}}),
    "judged": ("judge", {"rubric": "ours.yaml", "file": "answer.md", "subject": "help"}),
    "judged text": ("judge", {"rubric": "ours.yaml", "output": "We are on it."}),
    "why judged": ("explain_scorecard", {"id": "judged text::id"}),
    "scored": ("score", {"rubric": "patch.yaml", "answers": ANSWERS, "subject": "patch"}),
    "why scored": ("explain_scorecard", {"id": "scored::id"}),
    "incomplete": ("score", {"rubric": "judge-skill", "answers": {"id": "x", "scores": {"correctness": 9}}}),
    "planned": ("run_eval", {"file": "eval.yaml", "plan": True}),
    "run": ("run_eval", {"file": "eval.yaml"}),
    "compared": ("compare_runs", {"control": "run::run"}),
    "trusted": ("trust_run", {"run": "run::run", "labels": "labels.jsonl", "at_most": 0.3}),
    "to label": ("labels_next", {"run": "run::run", "n": 6}),
    "aligned": ("align_run", {"run": "run::run", "labels": "labels.jsonl"}),
}
BAD: dict[str, tuple[str, dict[str, Any], str]] = {
    "no such tool": ("grade", {}, "the tools are judge, score"),
    "a misspelt argument": ("judge", {"rubrik": "oracle"}, "did you mean 'rubric'?"),
    "a wrong type": ("judge", {"rubric": 3}, "judge takes rubric, output"),
    "nothing to judge": ("judge", {"rubric": "ours.yaml"}, "there must be one of output, file and outputs"),
    "a misspelt rubric": ("judge", {"rubric": "judge-skil", "output": "x"}, "did you mean 'judge-skill'?"),
    "a file elsewhere": ("judge", {"rubric": "ours.yaml", "file": "../secret.md"}, "outside the project folder"),
    "an absolute file": ("judge", {"rubric": "ours.yaml", "file": "/etc/hostname"}, "outside the project folder"),
    "a link that leads out": ("judge", {"rubric": "ours.yaml", "file": "link.md"}, "outside the project folder"),
    "a rubric elsewhere": ("check_rubric", {"rubric": "../secret.yaml"}, "outside the project folder"),
    "an eval elsewhere": ("run_eval", {"file": "../eval.yaml"}, "outside the project folder"),
    "no such file": ("judge", {"rubric": "ours.yaml", "file": "none.md"}, "there is no such file"),
    "code as a judge": ("judge", {"rubric": "ours.yaml", "output": "x", "judges": ["python:os:abort"]}, "mcp --judge"),
    "keys elsewhere": (
        "judge", {"rubric": "ours.yaml", "output": "x", "judges": ["openai-compatible:http://127.0.0.1:9/v1/m"]},
        "an assistant cannot name the judge",
    ),
    "a wrong field": ("score", {"rubric": "judge-skill", "answers": {"id": "x", "skores": {}}}, "skores"),
    "an unknown card": ("explain_scorecard", {"id": "card-99"}, "judge or score again, with a subject"),
    "an unknown evaluation": ("explain_scorecard", {"id": "2020"}, "evenhand history lists"),
    "an unknown run": ("compare_runs", {"control": "none"}, "evenhand runs list"),
    "a run without labels": ("trust_run", {"run": "run::run"}, "no labels are kept with run"),
    "labels elsewhere": ("trust_run", {"run": "latest", "labels": "../secret.md"}, "outside the project folder"),
    "too few to label": ("labels_next", {"run": "latest", "n": 0}, "greater than or equal to 1"),
    "labels so far elsewhere": ("labels_next", {"run": "latest", "labels": "link.md"}, "outside the project folder"),
    "code that proposes": ("align_run", {"run": "run::run", "proposer": "python:os:abort"}, "cannot ask 'python:os"),
    "a rubric outside": ("align_run", {"run": "run::run", "rubric": "../secret.yaml"}, "outside the project"),
    "a program in an eval": ("run_eval", {"file": "program.yaml"}, "evenhand mcp --trust-evals"),
}  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with work in it, and beside it what is nobody's business."""
    outside = tmp_path_factory.mktemp("outside")
    folder = outside / "project"
    folder.mkdir()
    for name in ("secret.md", "secret.yaml", "eval.yaml"):
        (outside / name).write_text("secret")
    (folder / "link.md").symlink_to(outside / "secret.md")
    (folder / "ours.yaml").write_text(RUBRIC)
    (folder / "patch.yaml").write_text(EXTENDED)
    (folder / "answer.md").write_text("Sorry about that. Open Orders and choose the parcel.")
    (folder / "program.yaml").write_text(
        "samples: [{id: a, input: x}]\nvariants: {new: {command: [touch, ran.txt]}}\nrubric: ours.yaml\n"
    )
    shutil.copy(ROOT / "examples" / "labels.jsonl", folder)
    write_starter_eval(str(folder))
    return folder


@pytest.fixture(scope="module")
def asked(project: Path) -> Asked:
    """All calls in one sitting, as an assistant makes them."""
    return ask_over_stdio(project, {**GOOD, **{name: (tool, given) for name, (tool, given, _) in BAD.items()}})


def test_the_tools_are_these(asked: Asked) -> None:
    """And each argument is described."""
    assert set(asked.tools) == {
        "judge", "score", "explain_scorecard", "list_rubrics", "check_rubric", "compare_runs", "trust_run",
        "labels_next", "align_run", "run_eval",
    }  # fmt: skip
    for schema in asked.tools.values():
        assert all("description" in one for one in schema.get("properties", {}).values())


@pytest.mark.parametrize("name", GOOD)
def test_a_good_call_is_answered_in_a_few_lines_and_as_data(asked: Asked, name: str) -> None:
    """What a model reads is short; what it computes with is data."""
    assert not asked.answers[name].is_error, asked.text(name)
    assert asked.data(name)
    assert len(asked.text(name)) < 4000


@pytest.mark.parametrize("name", BAD)
def test_a_bad_call_says_what_would_work(asked: Asked, name: str) -> None:
    """An assistant that reads the answer knows what to do next; no traceback, nothing of other files."""
    assert asked.answers[name].is_error
    assert BAD[name][2] in asked.text(name)
    assert "next: " in asked.text(name)
    assert "Traceback" not in asked.text(name)
    assert "secret\n" not in asked.text(name)


def test_a_score_says_what_moved_it(asked: Asked, project: Path) -> None:
    """Grade, the sum before deductions, each flag and bonus with explanation and amount, history, the final score."""
    text, card = asked.text("scored"), asked.data("scored")["scorecards"][0]

    assert "before deductions and bonuses: 8.4" in text
    assert "took off 0.50: no-undo 0.5 (step 2 has no way back)" in text
    assert "added 0.25: measured 0.25 (31 to 2 a day)" in text
    assert "history of patch: no history yet" in text
    assert (card["score"], card["grade"]) == (8.15, "B+")
    assert asked.data("scored")["history"]["n"] == 0
    (stored,) = load_history(project / ".evenhand", "patch").evaluations
    assert stored.id == asked.data("scored")["id"]


def test_a_pointer_leads_to_the_whole_explanation(asked: Asked) -> None:
    """Whether it was stored or only shown."""
    assert f"explain_scorecard(id={asked.data('judged text')['id']!r})" in asked.text("judged text")
    assert "embedded on rubric-1: 1 – it has 4 words" in asked.text("why judged")
    assert "weighted sum 8.40: correctness 9 × 0.25" in asked.text("why scored")


def test_what_is_missing_is_no_score(asked: Asked) -> None:
    """And the assistant is told not to make one up."""
    assert asked.data("incomplete")["scorecards"][0]["score"] is None
    assert "never fill in a middle value" in asked.text("incomplete")


def test_a_run_tells_how_far_it_is_and_can_be_compared(asked: Asked) -> None:
    """Progress comes to whoever asks for it; the pointer leads to the report."""
    assert asked.progress[-1] == (24, 24)
    assert asked.data("run")["decision"]["verdict"] == "PROGRESS"
    assert f"evenhand report {asked.data('run')['run']}" in asked.text("run")
    assert asked.data("compared")["exit_code"] == 0
    assert [one["calls"] for one in asked.data("planned")["judges"]] == [48]


def test_nothing_is_written_but_the_store(asked: Asked, project: Path) -> None:
    """And no program was started for an eval that the user does not trust."""
    assert asked.answers
    given = {"link.md", "ours.yaml", "patch.yaml", "answer.md", "program.yaml", "eval.yaml", "samples.jsonl",
             "labels.jsonl"}  # fmt: skip
    assert {path.name for path in project.iterdir()} == given | {".evenhand"}
    assert {path.name for path in project.parent.iterdir()} == {"project", "secret.md", "secret.yaml", "eval.yaml"}
