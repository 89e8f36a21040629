"""evenhand calibrate, as a user runs it: labels in, an answer first, a panel out that a run takes."""

import json
import re
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from evenhand.calibrate.labels import read_human_label_row
from evenhand.store.store import Store
from tests.cli.command import evenhand
from tests.conftest import ROOT

SECOND = """
import json, re

def generous(request):
    text = re.search(r"<output-\\w+>\\n(.*)\\n</output-", request.messages[-1].text, re.DOTALL)[1]
    said = {"page": ">" in text, "kind": "please" in text.lower() or "orry" in text, "short": True}
    each = {id: {"evidence": [text[:30]], "reason": "by words", "score": "yes" if said[id] else "no"} for id in request.ids}
    return json.dumps({"criteria": each})
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the starter with two judges, and labels for it."""
    place = tmp_path_factory.mktemp("calibrate")
    evenhand("init", folder=place)
    shutil.copy(ROOT / "examples" / "labels.jsonl", place)
    (place / "second.py").write_text(SECOND, "utf-8")
    text = (place / "eval.yaml").read_text("utf-8")
    (place / "two.yaml").write_text(text.replace("[embedded]", '[embedded, "python:second:generous"]'), "utf-8")
    done = evenhand("run", "two.yaml", "--report-only", folder=place)
    assert done.returncode == 0, done.stderr
    return place


def test_the_first_line_says_whether_the_judges_can_be_trusted(folder: Path) -> None:
    """Then agreement, bias, confusion, maps, means, the panel, and one next step; nothing wider than the screen."""
    done = evenhand("calibrate", "labels.jsonl", "latest", folder=folder)

    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert lines[0].startswith("Yes: the panel agrees with people: Krippendorff's α 0.9")
    assert max(map(len, lines)) <= 80
    for title in ("Agreement with people", "Bias", "kind: what the panel said", "Maps", "Means", "Which judges"):
        assert any(line.startswith(title) for line in lines), title
    assert lines[-1].startswith("next: ")


def test_json_has_every_number_and_the_store_the_labels(folder: Path) -> None:
    """The labels stay with the run, in place of earlier ones."""
    for _ in range(2):
        done = evenhand("calibrate", "labels.jsonl", "latest", "--json", folder=folder)

    data = json.loads(done.stdout)
    assert data["labels"] == 216 and data["raters"] == ["r1", "r2"]
    with Store.open(folder / ".evenhand", {}) as store:
        kept = [read_human_label_row(row) for row in store.labels(data["run"])]
    lines = (folder / "labels.jsonl").read_text("utf-8").splitlines()
    assert {one.key for one in kept} == {
        tuple(json.loads(line)[name] for name in ("sample", "variant", "criterion", "rater")) for line in lines
    }


def test_a_run_takes_the_panel_that_was_written(folder: Path) -> None:
    """Judges and weights of the file are those of the run."""
    written = evenhand("calibrate", "labels.jsonl", "latest", "--write", "panel.yaml", "--json", folder=folder)
    text = (folder / "two.yaml").read_text("utf-8")
    named = text.replace('judges: [embedded, "python:second:generous"]', "judges: panel.yaml")
    (folder / "three.yaml").write_text(named, "utf-8")

    done = evenhand("run", "three.yaml", "--report-only", folder=folder)

    chosen = json.loads(written.stdout)["recommendation"]["chosen"]
    setup = json.loads(evenhand("runs", "show", "latest", "--setup", folder=folder).stdout)
    weights = {one["name"]: float(Fraction(one["weight"])) for one in setup["judges"]}
    assert written.stderr.startswith("written: panel.yaml\nkept: 216 labels with run ")
    assert done.returncode == 0, done.stderr
    assert weights == (chosen["weights"] if chosen["kind"] == "weights" else dict.fromkeys(chosen["weights"], 1.0))
    assert setup["source"] == named != text


def test_what_is_wrong_with_labels_is_told_with_its_line(folder: Path) -> None:
    """Exit code 2, and nothing of them is kept."""
    (folder / "bad.jsonl").write_text('{"sample": "late-parcel", "criterion": "pages", "rater": "r1", "score": 1}\n')

    done = evenhand("calibrate", "bad.jsonl", "latest", folder=folder)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "bad.jsonl:1: which variant? the run has several (one of old, new)\n"
        "bad.jsonl:1: the run has no criterion 'pages' (did you mean 'page'?)\n"
    )


def test_too_few_labels_recommend_nothing_and_write_nothing(folder: Path) -> None:
    """With how many samples are wanting."""
    few = (folder / "labels.jsonl").read_text("utf-8").splitlines()[:30]
    (folder / "few.jsonl").write_text("\n".join(few), "utf-8")

    shown = evenhand("calibrate", "few.jsonl", "latest", folder=folder)
    refused = evenhand("calibrate", "few.jsonl", "latest", "--write", "none.yaml", folder=folder)

    assert shown.returncode == 0
    assert "No recommendation: 5 labelled samples are too few: it takes 20; label 15 more" in " ".join(
        shown.stdout.split()
    )
    assert (refused.returncode, (folder / "none.yaml").exists()) == (2, False)
    assert refused.stderr.startswith("there is no panel to write: 5 labelled samples are too few")
    assert refused.stdout == shown.stdout
    assert shown.stdout.startswith("Not known: 5 labelled samples are too few to tell: it takes 8.\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("none.jsonl", "latest"), "none.jsonl: cannot be read: no such file or directory"),
        (("labels.jsonl", "nothing"), "no run"),
    ],
)
def test_what_is_not_there_is_said(folder: Path, arguments: tuple[str, str], told: str) -> None:
    """A file, a run."""
    done = evenhand("calibrate", *arguments, folder=folder)

    assert done.returncode == 2
    assert told in done.stderr


@pytest.mark.parametrize(
    ("labels", "target", "told"),
    [
        ("one.jsonl", "panel.yaml", "there is no panel to write: 1 labelled sample is too few"),
        ("changed.jsonl", "no-such/panel.yaml", "no-such/panel.yaml: cannot be written: no such file or directory"),
        ("changed.jsonl", "labels.jsonl", "labels.jsonl: there is such a file already (name another file)"),
    ],
)
def test_labels_are_kept_only_when_all_that_was_asked_for_is_done(
    folder: Path, labels: str, target: str, told: str
) -> None:
    """What was found is still shown; the labels before stay as they were."""
    lines = (folder / "labels.jsonl").read_text("utf-8").splitlines()
    (folder / "one.jsonl").write_text(lines[0], "utf-8")
    (folder / "changed.jsonl").write_text("\n".join(lines[:-1]), "utf-8")
    run = json.loads(evenhand("calibrate", "labels.jsonl", "latest", "--json", folder=folder).stdout)["run"]

    done = evenhand("calibrate", labels, run, "--write", target, folder=folder)

    with Store.open(folder / ".evenhand", {}) as store:
        kept = sum(1 for _ in store.labels(run))
    assert (done.returncode, kept) == (2, 216)
    assert done.stderr.startswith(told) and "kept" not in done.stderr
    assert "Agreement with people" in done.stdout


def test_what_is_kept_in_place_of_what_is_said(folder: Path) -> None:
    """Labels of a run are replaced as a whole: nobody should learn that later."""
    lines = (folder / "labels.jsonl").read_text("utf-8").splitlines()
    (folder / "thirty.jsonl").write_text("\n".join(lines[:30]), "utf-8")
    run = json.loads(evenhand("calibrate", "thirty.jsonl", "latest", "--json", folder=folder).stdout)["run"]

    done = evenhand("calibrate", "labels.jsonl", run, folder=folder)

    assert done.stderr == f"kept: 216 labels with run {run} (in place of 30)\n"


def test_a_recommended_judge_with_a_bias_comes_with_a_warning(folder: Path) -> None:
    """On the screen, as data, and in the file that a run will take."""
    shown = evenhand("calibrate", "labels.jsonl", "latest", "--write", "biased.yaml", folder=folder)
    data = json.loads(evenhand("calibrate", "labels.jsonl", "latest", "--json", folder=folder).stdout)

    told = data["recommendation"]["warnings"]
    text = (folder / "biased.yaml").read_text("utf-8")
    assert any(one.startswith("embedded has a length bias: −0.1") for one in told)
    for one in told:
        assert f"Beware: {one}" in " ".join(shown.stdout.split())
        assert f"# Beware: {one}\n" in text


@pytest.mark.parametrize("width", [60, 80])
def test_a_narrow_screen_breaks_no_name(folder: Path, width: int) -> None:
    """Where a table has no room, each row is a sentence; a minus is a minus, and every dash is explained."""
    done = evenhand("calibrate", "labels.jsonl", "latest", folder=folder, COLUMNS=str(width))

    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= width
    assert not [line for line in lines if "python:" in line and "python:second:generous" not in line]
    assert not re.search(r"-\d", done.stdout.replace(lines[1], "").replace(lines[2], ""))
    assert "κ is for single criteria with whole levels" in done.stdout


def test_what_has_no_mean_is_named(folder: Path) -> None:
    """By variant and question, and one is not several."""
    line = (folder / "labels.jsonl").read_text("utf-8").splitlines()[0]
    (folder / "single.jsonl").write_text(line, "utf-8")

    done = evenhand("calibrate", "single.jsonl", "latest", folder=folder)

    text = " ".join(done.stdout.split())
    assert "no mean on people's scale for old on page: 1 labelled sample is too few: it takes 20" in text
    assert not re.search(r"\b1 (\w+ )?(samples|outputs|labels)\b", text)


def test_labels_of_other_texts_do_not_count_and_it_is_said(folder: Path) -> None:
    """calibrate and trust read the same labels: both name what is void and count what is bound to nothing."""
    lines = (folder / "labels.jsonl").read_text("utf-8").splitlines()
    changed = re.sub(r'"output": "[0-9a-f]+"', '"output": "0123456789abcdef"', lines[0])
    unbound = re.sub(r', "output": "[0-9a-f]+"', "", lines[1])
    (folder / "some.jsonl").write_text("\n".join([changed, unbound, *lines[2:]]), "utf-8")

    said = evenhand("calibrate", "some.jsonl", "latest", folder=folder)
    data = json.loads(evenhand("calibrate", "some.jsonl", "latest", "--json", folder=folder).stdout)
    trust = evenhand("trust", "latest", "--labels", "some.jsonl", "--report-only", folder=folder)
    kept = evenhand("trust", "latest", "--json", "--report-only", folder=folder)

    void = "1 label is void, not counted: the output has changed since it was labelled"
    for done in (said, trust):
        text = " ".join(done.stdout.split())
        assert f"{void} (late-parcel/old)." in text
        assert "1 label is bound to no text: a changed output would not be noticed." in text
    assert data["void"] == [{"sample": "late-parcel", "variant": "old", "criterion": "page", "rater": "r1"}]
    assert (data["labels"], data["unbound"]) == (215, 1)
    assert "kept: 215 labels" in said.stderr
    assert (json.loads(kept.stdout)["void"], json.loads(kept.stdout)["labels"]) == ([], 215)


def test_the_report_of_a_labelled_run_says_whether_its_gates_can_be_trusted(folder: Path) -> None:
    """What `evenhand trust` says, on the page of the run, with passages in which personal data is masked."""
    evenhand("calibrate", "labels.jsonl", "latest", folder=folder)
    said = json.loads(evenhand("trust", "latest", "--json", "--report-only", folder=folder).stdout)

    whole = json.loads(evenhand("report", "latest", "--json", folder=folder).stdout)
    page = evenhand("report", "latest", "--html", folder=folder).stdout

    found = whole["trust"]
    assert {name: found[name] for name in ("answer", "says", "gates", "curves")} == {
        name: said[name] for name in ("answer", "says", "gates", "curves")
    }
    assert [{**one, "passages": None} for one in found["differing"]] == [
        {**one, "passages": None} for one in said["differing"]
    ]
    assert all(one["passages"] and one["passages"][0]["text"] for one in found["differing"])
    assert '<section id="trust"' in page and "Where judge and people differ most" in page
