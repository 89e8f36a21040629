"""Grades, red flags and bonuses of a run: on the terminal, in Markdown, JSON and JUnit."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.cli.command import evenhand

JUDGE = """
import json


def strict(request):
    output = request.about.texts["output"]
    answers = {}
    for key, one in request.about.asked:
        said = {"evidence": [output[:9]], "reason": f"it says {output}"}
        found = one.id in output
        score = {"answer": "yes" if found else "no"} if one.scale.yes_no else {"score": 9 if "fine" in output else 7}
        answers.setdefault(key, {})[one.id] = {**said, **score}
    return json.dumps(answers)
"""
EVAL = """
name: graded
samples:
  - {id: first, input: Hi, outputs: {old: "plain words", new: "fine and tested words"}}
  - {id: second, input: Hey, outputs: {old: "leaks ann@example.org", new: "leaks words"}}
variants: {old: {}, new: {}}
judges: ["python:own:strict"]
rubric:
  method: judge-skill
  red_flags: [{id: leaks, asks: It leaks., amount: 1.0}]
  bonuses: [{id: tested, asks: It is tested.}]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graded")
    (folder / "own.py").write_text(JUDGE, "utf-8")
    (folder / "eval.yaml").write_text(EVAL, "utf-8")
    return folder


@pytest.fixture(scope="module")
def printed(folder: Path) -> str:
    return " ".join(evenhand("run", "eval.yaml", folder=folder).stdout.split())


def report(folder: Path, form: str) -> str:
    return str(evenhand("report", "latest", form, folder=folder).stdout)


def test_the_terminal_shows_grades_with_what_they_mean(printed: str) -> None:
    """How many of each, and a sentence for those that there are."""
    assert "Grades old: B- 1, C 1 new: A 1, C 1" in printed
    assert "A (Excellent): Only trifles could be improved" in printed
    assert "A+ (Exceptional)" not in printed


def test_the_terminal_shows_red_flags_and_bonuses_with_explanation_and_amount(printed: str) -> None:
    """Each with how often it was found; personal data in explanations is masked."""
    assert "old: red flag leaks, −1.00 in 1 output (first in second: it says leaks " in printed
    assert "new: red flag leaks, −1.00 in 1 output (first in second: it says leaks words)" in printed
    assert "new: bonus tested, +0.25 in 1 output (first in first: it says fine and tested words)" in printed
    assert "ann@example.org" not in printed


def test_markdown_lists_every_output_that_was_moved(folder: Path, printed: str) -> None:
    """The score before, each flag and bonus with its explanation and amount, the final score, the grade."""
    text = report(folder, "--markdown")

    assert printed
    assert "- new: A 1, C 1" in text
    assert "- A (Excellent): Only trifles" in text
    assert "With red flags or bonuses (3)" in text
    assert "| first | new | 9.00 | tested +0.25 (it says fine and tested words) | 9.25 | A Excellent |" in text
    assert "| second | new | 7.00 | leaks −1.00 (it says leaks words) | 6.00 | C Mediocre |" in text


def test_json_has_the_same_as_data(folder: Path, printed: str) -> None:
    """In the head for the run, and in each scorecard."""
    data = json.loads(report(folder, "--json"))

    assert printed
    new = next(one for one in data["variants"] if one["name"] == "new")
    assert new["grades"] == {"A": 1, "C": 1}
    assert data["statements"][1] == {
        "variant": "new",
        "kind": "red_flag",
        "id": "leaks",
        "amount": -1.0,
        "count": 1,
        "first": "second",
        "why": "it says leaks words",
    }
    card = data["samples"][0]["results"][1]["scorecard"]
    assert (card["grade"], card["label"]) == ("A", "Excellent")
    assert card["description"].startswith("Only trifles")
    assert card["statements"] == [
        {
            "kind": "bonus",
            "id": "tested",
            "why": "it says fine and tested words",
            "amount": 0.25,
            "counted": 0.25,
            "judge": None,
        }
    ]


def test_junit_has_them_as_properties(folder: Path, printed: str) -> None:
    """Beside the score that they moved."""
    tree = ET.fromstring(report(folder, "--junit"))

    assert printed
    case = tree.find(".//testcase[@classname='new'][@name='second']")
    assert case is not None
    own = {one.get("name"): one.get("value") for one in case.iter("property")}
    assert own["grade"] == "C"
    assert own["red_flags"] == "leaks −1.00 (it says leaks words)"
