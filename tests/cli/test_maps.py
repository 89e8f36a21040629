"""Maps applied: calibrate and align write them, run and judge use them, and whoever changes the rubric is told."""

import json
from pathlib import Path

import pytest

from tests.cli.command import evenhand

JUDGE = """
import json, re

def scorer(request):
    text = re.search(r"<output-\\w+>\\n(.*)\\n</output-", request.messages[-1].text, re.DOTALL)[1]
    answer = {"evidence": [text[:7]], "reason": "by its number", "score": int(re.search("[0-9]", text)[0])}
    return json.dumps({"criteria": {id: answer for id in request.ids}})
"""
RUBRIC = """name: tone
method: layered
criteria:
  - {id: tone, asks: How kind is it?, scale: {min: 1, max: 5}, anchors: {1: Rude., 5: Kind.}}
"""
EVAL = """samples: samples.jsonl
variants: {only: {}}
rubric: rubric.yaml
judges: ["python:judge:scorer"]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a judge that is a point above people, and what calibrate wrote of it."""
    place = tmp_path_factory.mktemp("maps")
    grades = {f"s{number:02}": number % 5 + 1 for number in range(30)}
    samples = [{"id": id, "input": "?", "outputs": {"only": f"Grade {one}."}} for id, one in grades.items()]
    labels = [{"sample": id, "criterion": "tone", "rater": "r", "score": max(1, one - 1)} for id, one in grades.items()]
    for name, rows in (("samples.jsonl", samples), ("labels.jsonl", labels)):
        (place / name).write_text("\n".join(map(json.dumps, rows)), "utf-8")
    for name, text in (("judge.py", JUDGE), ("rubric.yaml", RUBRIC), ("plain.yaml", EVAL)):
        (place / name).write_text(text, "utf-8")
    (place / "mapped.yaml").write_text(EVAL.replace('["python:judge:scorer"]', "panel.yaml"), "utf-8")
    assert evenhand("run", "plain.yaml", "--report-only", folder=place).returncode == 0
    written = evenhand("calibrate", "labels.jsonl", "latest", "--write", "panel.yaml", "--maps", folder=place)
    assert written.returncode == 0, written.stderr
    assert evenhand("run", "mapped.yaml", "--report-only", folder=place).returncode == 0
    return place


def test_a_run_uses_the_map_marks_every_score_and_keeps_the_raw_one(folder: Path) -> None:
    """Five is four for people: the report, its JSON and its page say so, and the fingerprint is another."""
    report = json.loads(evenhand("report", "latest", "--json", folder=folder).stdout)
    page = evenhand("report", "latest", "--markdown", folder=folder).stdout
    compared = evenhand("compare", "latest:plain", "latest:mapped", folder=folder)

    results = [result for sample in report["samples"] for result in sample["results"]]
    judgments = [one for result in results for one in result["judgments"]]
    assert {one["raw"] for one in judgments} == {1, 2, 3, 4, 5}
    assert {one["score"] for one in judgments if one["raw"] == 5} == {4.1}
    assert report["run"]["maps"] == {"python:judge:scorer": ["tone"]}
    assert "Scores mapped to people" in page
    assert compared.returncode == 2 and "maps changed" in compared.stderr


def test_align_writes_the_map_that_it_keeps_and_a_run_uses_it(folder: Path, tmp_path: Path) -> None:
    """Beside the name that was given, as a file of judges: the rubric stands. With another rubric it is refused."""
    for name in ("samples.jsonl", "judge.py", "rubric.yaml", "plain.yaml", "labels.jsonl"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    (tmp_path / "mapped.yaml").write_text(EVAL.replace('["python:judge:scorer"]', "better.judges.yaml"), "utf-8")
    assert evenhand("run", "plain.yaml", "--report-only", folder=tmp_path).returncode == 0

    aligned = evenhand("align", "latest", "--labels", "labels.jsonl", "-o", "better.yaml", folder=tmp_path)
    ran = evenhand("run", "mapped.yaml", "--report-only", folder=tmp_path)
    report = json.loads(evenhand("report", "latest", "--json", folder=tmp_path).stdout)
    (tmp_path / "rubric.yaml").write_text(RUBRIC.replace("How kind", "How very kind"), "utf-8")
    changed = evenhand("run", "mapped.yaml", folder=tmp_path)

    assert (aligned.returncode, ran.returncode) == (0, 0), aligned.stderr + ran.stderr
    assert "written: better.judges.yaml" in aligned.stderr and not (tmp_path / "better.yaml").exists()
    assert "name better.judges.yaml as the judges of the eval" in aligned.stdout
    judgments = [one for row in report["samples"] for result in row["results"] for one in result["judgments"]]
    assert {one["raw"] for one in judgments} == {1, 2, 3, 4, 5}
    assert all(one["score"] < one["raw"] for one in judgments if one["raw"] > 1)
    assert report["run"]["maps"] == {"python:judge:scorer": ["tone"]}
    assert changed.returncode == 2 and not changed.stdout
    assert "the map of python:judge:scorer on tone is for fingerprint" in changed.stderr


def test_a_judge_alone_uses_it_too(folder: Path) -> None:
    """With what the judge said beside it."""
    (folder / "output.md").write_text("Grade 5.", "utf-8")
    judge = ("judge", "--rubric", "rubric.yaml", "output.md", "-m", "python:judge:scorer", "--json")

    mapped = json.loads(evenhand(*judge, "--maps", "panel.yaml", folder=folder).stdout)
    plain = json.loads(evenhand(*judge, folder=folder).stdout)

    assert [(one["score"], one["raw"]) for one in mapped["judgments"]] == [(4.1, 5)]
    assert "raw" not in plain["judgments"][0]
    assert mapped["fingerprint"] != plain["fingerprint"]


def test_a_map_made_for_another_fingerprint_is_refused(folder: Path, tmp_path: Path) -> None:
    """A question in other words is another question; nothing is asked. Nor is a map fitted on mapped scores."""
    for name in ("samples.jsonl", "judge.py", "panel.yaml", "mapped.yaml"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    (tmp_path / "rubric.yaml").write_text(RUBRIC.replace("How kind", "How very kind"), "utf-8")

    changed = evenhand("run", "mapped.yaml", folder=tmp_path)
    again = evenhand("calibrate", "labels.jsonl", "latest", "--write", "other.yaml", "--maps", folder=folder)
    alone = evenhand("calibrate", "labels.jsonl", "latest", "--maps", folder=folder)

    assert changed.returncode == 2 and not changed.stdout
    assert "the map of python:judge:scorer on tone is for fingerprint" in changed.stderr
    assert again.returncode == 2 and "are mapped already" in again.stderr
    assert alone.returncode == 2 and "give --write FILE too" in alone.stderr


def test_what_is_wrong_in_a_file_of_maps_is_named_with_its_line(folder: Path, tmp_path: Path) -> None:
    """A map that falls, a point that is no pair, a field that is missing."""
    (tmp_path / "output.md").write_text("Grade 5.", "utf-8")
    (tmp_path / "rubric.yaml").write_text(RUBRIC, "utf-8")
    (tmp_path / "wrong.yaml").write_text(
        "judges: [embedded]\nmaps:\n"
        "  - {judge: embedded, criterion: tone, fingerprint: ab, points: [[1, 3], [2, 2]]}\n"
        "  - {judge: embedded, criterion: tone, fingerprint: ab, points: [1, 2]}\n"
        "  - {judge: embedded, criterion: tone, points: [[1, 2]]}\n",
        "utf-8",
    )

    done = evenhand("judge", "-r", "rubric.yaml", "output.md", "--maps", "wrong.yaml", folder=tmp_path)

    assert done.returncode == 2
    for line, told in ((3, "must rise"), (4, "a map has points"), (5, "a map has a fingerprint")):
        assert any(f"wrong.yaml:{line}" in one and told in one for one in done.stderr.splitlines()), done.stderr


def test_a_rescored_run_keeps_mapped_scores_and_their_marks(folder: Path) -> None:
    """The judge was asked as the map wants it; another weight or step changes nothing about that."""
    (folder / "again.yaml").write_text(RUBRIC.replace("name: tone", "name: again"), "utf-8")

    done = evenhand("runs", "rescore", "latest:mapped", "--rubric", "again.yaml", folder=folder)
    report = json.loads(evenhand("report", "latest", "--json", folder=folder).stdout)

    assert done.returncode == 1 and not done.stderr  # Below the gate, as it was.
    (judgment,) = report["samples"][4]["results"][0]["judgments"]
    assert (judgment["score"], judgment["raw"]) == (4.1, 5)
    assert report["run"]["maps"] == {"python:judge:scorer": ["tone"]}
