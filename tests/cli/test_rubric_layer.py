"""The layer that judges fill is the rubric layer on every screen: a judge is who judges."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.command import evenhand

JUDGE = """
import json

def grade(request):
    score = 3 + len(request.about.texts["output"]) % 2
    return json.dumps({"criteria": {id: {"evidence": [], "reason": "so it is", "score": score} for id in request.ids}})
"""
EVAL = """
samples: samples.jsonl
rubric: {method: layered, criteria: [{id: judge, asks: How good is it?}]}
judges: ["python:judges:grade"]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An eval of the method layered whose samples have different layers, and labels for it."""
    place = tmp_path_factory.mktemp("layered")
    samples, labels = [], []
    for number in range(8):
        outputs = {name: "x" * (number + length) for length, name in enumerate(("old", "new"))}
        checks = {"assertions": [{"contains": "x"}]} if number % 2 else {}
        samples.append(json.dumps({"id": f"s{number}", "input": "How?", "outputs": outputs, **checks}))
        labels += [
            json.dumps({"sample": f"s{number}", "variant": name, "criterion": "judge", "rater": "r", "score": 3})
            for name in outputs
        ]
    (place / "samples.jsonl").write_text("\n".join(samples), "utf-8")
    (place / "labels.jsonl").write_text("\n".join(labels), "utf-8")
    (place / "judges.py").write_text(JUDGE, "utf-8")
    (place / "eval.yaml").write_text(EVAL, "utf-8")
    return place


def test_samples_with_different_layers_are_told_by_the_names_on_screen(folder: Path) -> None:
    """The note before a run calls them as the verdict after it does."""
    done = evenhand("run", "eval.yaml", "--report-only", folder=folder)

    told = " ".join((done.stdout + done.stderr).split())
    assert "samples have different layers ('s0' has the rubric layer; 's1' has the fact and rubric layers)" in told


def test_rubrics_are_listed_and_shown_with_the_name_on_screen(folder: Path) -> None:
    """What is shown of a rubric has the id too: who writes answers or labels needs it."""
    listed, shown = (evenhand("rubric", *more, folder=folder).stdout for more in (["list"], ["show", "layered"]))

    assert "fact, behavior, rubric layer" in listed
    assert re.search(r"^  rubric layer \(judge\)  1–5, weight 1$", shown, re.MULTILINE)


def test_what_people_labelled_is_no_judge(folder: Path) -> None:
    """Beside a column of judges, a question that is called judge could be anything."""
    evenhand("run", "eval.yaml", "--report-only", folder=folder)
    printed = evenhand("calibrate", "labels.jsonl", "latest", folder=folder).stdout

    assert re.search(r"^rubric layer +python:judges:grade ", printed, re.MULTILINE)
    assert not re.search(r"^judge[: ] ", printed, re.MULTILINE)
