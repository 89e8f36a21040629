"""Grades, red flags and bonuses of a run: on the terminal, in Markdown, JSON, JUnit, CSV and on the page."""

import csv
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


def test_csv_has_grade_score_before_and_each_statement(folder: Path, printed: str) -> None:
    """Whoever works in a spreadsheet sees what moved a score, and from where."""
    rows = list(csv.DictReader(report(folder, "--csv").removeprefix("\ufeff").splitlines()))

    assert printed
    told = {
        (row["id"], row["variant"]): [row[name] for name in ("grade", "score_before", "red_flags", "bonuses", "score")]
        for row in rows
    }
    assert told["second", "new"] == ["C", "7.0", "leaks −1.00 (it says leaks words)", "", "6.0"]
    assert told["first", "new"] == ["A", "9.0", "", "tested +0.25 (it says fine and tested words)", "9.25"]
    assert told["first", "old"] == ["B-", "7.0", "", "", "7.0"]


def test_the_page_has_a_section_for_grades_and_one_for_statements(folder: Path, printed: str) -> None:
    """With what a grade means, what a flag asks, its amount and its explanation."""
    text = " ".join(report(folder, "--html").split())

    assert printed
    grades = text.partition('<section id="grades"')[2].partition("</section>")[0]
    statements = text.partition('<section id="statements"')[2].partition("</section>")[0]
    assert "A Excellent" in grades
    assert "Only trifles" in grades
    assert "red flag leaks" in statements
    assert "It leaks." in statements
    assert "−1.00" in statements
    assert "it says leaks words" in statements
    assert '<a href="#sample=second">' in statements


TIED = (
    EVAL.replace("name: graded", "name: tied")
    .replace(
        EVAL[EVAL.index("  - {id: first") : EVAL.index("variants:")],
        """\
  - {id: one, input: Hi, outputs: {old: "plain", new: "plain words"}}
  - {id: two, input: Hi, outputs: {old: "leaks but tested tried shown kept", new: "plain words"}}
  - {id: three, input: Hi, outputs: {old: "fine words", new: "plain words"}}
""",
    )
    .replace(
        "bonuses: [{id: tested, asks: It is tested.}]",
        "bonuses: [{id: tested, asks: It is tested.}, {id: tried, asks: Tried.}, {id: shown, asks: S.}, {id: kept, asks: K.}]",
    )
)


def test_the_rubrics_tie_breaks_rank_outputs_with_equal_scores(folder: Path) -> None:
    """The first rule that differs decides; what no rule tells apart is equivalent, and the verdict stays as it is."""
    (folder / "tied.yaml").write_text(TIED, "utf-8")

    printed = " ".join(evenhand("run", "tied.yaml", folder=folder).stdout.split())

    said = "new and old score the same in 2 samples; by the rubric's tie-breaks new is first in 1 (fewer red flags)"
    assert f"Ties {said} and 1 equivalent. The verdict goes by scores alone." in printed
    assert json.loads(report(folder, "--json"))["ties"] == [
        {
            "treatment": "new",
            "control": "old",
            "tied": 2,
            "first": {"new": {"fewer red_flags": 1}, "old": {}},
            "equivalent": 1,
        }
    ]
    assert "Ties:" in report(folder, "--markdown")
    assert "tie-breaks new is first" in report(folder, "--html")


STRAYING = """
import json
from pathlib import Path


def moody(request):
    low = Path("mood").read_text()
    return json.dumps({"criteria": {one.id: {"evidence": ["words"], "reason": f"r{low}",
        "score": float(low) if one.id == "correctness" else 8} for key, one in request.about.asked}})
"""


def test_the_short_view_and_the_page_name_what_strays_from_history(tmp_path: Path) -> None:
    """An anomaly that only --full shows is seen by nobody."""
    (tmp_path / "own.py").write_text(STRAYING, "utf-8")
    eval = "name: moods\nsamples: [{input: Hi, outputs: {only: words}}]\nrubric: judge-skill\n"
    (tmp_path / "eval.yaml").write_text(f'{eval}judges: ["python:own:moody"]\n', "utf-8")
    for mood in ("8", "8.5", "8.2", "4"):
        (tmp_path / "mood").write_text(mood)
        printed = " ".join(evenhand("run", "eval.yaml", "--fresh", folder=tmp_path).stdout.split())

    assert "For review only differs from its history in rubric layer and correctness." in printed
    assert "--full also shows criteria, gates, history" in printed
    page = " ".join(evenhand("report", "latest", "--html", folder=tmp_path).stdout.split())
    assert "<strong>For review.</strong> only: rubric layer 3" in page
    history = evenhand("history", "moods", "--criteria", folder=tmp_path).stdout.splitlines()
    assert any(line.split()[:5] == ["correctness", "4.00", "8.23", "0.25", "3"] for line in history)
    latest = json.loads(evenhand("history", "moods", "--json", folder=tmp_path).stdout)[-1]
    assert latest["earlier"]["safety"] == {"mean": 8.0, "sd": 0.0, "n": 3}
