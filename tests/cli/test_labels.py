"""evenhand labels, as a user runs it: outputs drawn, a file filled in, and its chances weighed back."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.command import evenhand
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the starter, and labels of all its outputs."""
    place = tmp_path_factory.mktemp("labels")
    evenhand("init", folder=place)
    shutil.copy(ROOT / "examples" / "labels.jsonl", place)
    evenhand("run", "eval.yaml", "--report-only", folder=place)
    return place


def fill_in(folder: Path, template: str, target: str) -> list[dict[str, object]]:
    """Answer every line as the first person of the example did."""
    known: dict[tuple[str, ...], object] = {}
    for line in (folder / "labels.jsonl").read_text("utf-8").splitlines():
        one = json.loads(line)
        known.setdefault((one["sample"], one["variant"], one["criterion"]), one["score"])
    lines = [json.loads(line) for line in (folder / template).read_text("utf-8").splitlines()]
    for one in lines:
        one["score"] = known[one["sample"], one["variant"], one["criterion"]]
    (folder / target).write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return lines


def test_a_file_is_written_filled_in_and_read(folder: Path) -> None:
    """Digest, batch and chance stand in it; estimates weigh by them; the next draw takes none of them again."""
    done = evenhand("labels", "next", "latest", "-n", "40", "--rater", "ann", "-o", "first.jsonl", folder=folder)
    lines = fill_in(folder, "first.jsonl", "filled.jsonl")
    checked = json.loads(evenhand("labels", "check", "filled.jsonl", "latest", "--json", folder=folder).stdout)
    trust = json.loads(
        evenhand("trust", "latest", "--labels", "filled.jsonl", "--json", "--report-only", folder=folder).stdout
    )
    more = json.loads(evenhand("labels", "next", "latest", "--labels", "filled.jsonl", "--json", folder=folder).stdout)

    assert done.returncode == 0, done.stderr
    assert "written: first.jsonl (120 lines wait for a score)" in done.stderr
    assert {one["batch"] for one in lines} == {1} and len({one["chance"] for one in lines}) > 1
    assert (checked["labels"], checked["batches"], checked["void"], checked["unbound"]) == (120, 1, [], 0)
    assert trust["weighted"] is True
    assert trust["gates"][0]["wrongly_failed"]["share"]["method"] == "Clopper–Pearson, weighted"
    assert more["drawn"]["batch"] == 2
    assert not {one["sample"] for one in lines} & {one["sample"] for one in more["drawn"]["samples"]}
    assert more["widths"][0]["now"] is not None and more["widths"][0]["then"] == 0.0


def test_a_template_that_nobody_began_is_no_labels(folder: Path) -> None:
    """And a file that is there is not written over, as somebody may have filled it in."""
    evenhand("labels", "next", "latest", "-n", "2", "--criterion", "kind", "-o", "two.jsonl", folder=folder)

    read = evenhand("labels", "check", "two.jsonl", "latest", folder=folder)
    again = evenhand("labels", "next", "latest", "-o", "two.jsonl", folder=folder)
    wrong = evenhand("labels", "next", "latest", "--criterion", "kin", folder=folder)

    assert (read.returncode, again.returncode, wrong.returncode) == (2, 2, 2)
    assert "two.jsonl: no labels in it yet: 2 lines wait for a score" in read.stderr
    assert "two.jsonl: there is such a file already" in again.stderr
    assert "the run has no criterion 'kin' (did you mean 'kind'?)" in wrong.stderr


def test_run_compare_and_report_show_the_scale_of_people(folder: Path) -> None:
    """The labels are kept with the run; what the run itself says stays as it was."""
    lines = (folder / "labels.jsonl").read_text("utf-8").splitlines()
    some = [line for line in lines if '"manual"' not in line and '"colour"' not in line]
    (folder / "some.jsonl").write_text("\n".join(some), "utf-8")

    ran = evenhand("run", "eval.yaml", "--report-only", "--labels", "some.jsonl", folder=folder)
    compared = json.loads(evenhand("compare", "latest", "--json", "--report-only", folder=folder).stdout)
    head = json.loads(evenhand("report", "latest", "--json", folder=folder).stdout)
    page = evenhand("report", "latest", "--markdown", folder=folder).stdout
    plain = json.loads(evenhand("runs", "show", "latest", "--json", folder=folder).stdout)

    rows = [line.split() for line in ran.stdout.splitlines() if line.startswith(("old: score", "new − old: score"))]
    assert [row[-3:] for row in rows] == [["22", "of", "24"]] * 2
    for found in (compared["people_scale"], head["people_scale"]):
        kinds = [one["kind"] for one in found["estimates"]]
        assert kinds == ["mean", "mean", "difference", "pass rate", "pass rate", "difference of pass rates"]
        assert (found["labels"], found["weighted"], found["notes"]) == (len(some), False, [])
        mean = found["estimates"][0]
        assert mean["people"]["high"] - mean["people"]["low"] <= (
            mean["people"]["labels_only"]["high"] - mean["people"]["labels_only"]["low"]
        )
    assert "| new − old: score |" in page and "labels alone" in page
    assert "people_scale" not in plain


def test_invalid_labels_do_not_cost_a_run_its_result(folder: Path) -> None:
    """The run is printed and kept, then the mistake is named; a file that is not there is refused before it begins."""
    (folder / "wrong.jsonl").write_text('{"sample": "nobody", "criterion": "kind", "rater": "r", "score": 1}', "utf-8")

    wrong = evenhand("run", "eval.yaml", "--labels", "wrong.jsonl", folder=folder)
    missing = evenhand("run", "eval.yaml", "--labels", "nowhere.jsonl", folder=folder)

    assert (wrong.returncode, missing.returncode) == (2, 2)
    assert "PROGRESS" in wrong.stdout and "wrong.jsonl:1: the run has no sample 'nobody'" in wrong.stderr
    assert "nowhere.jsonl" in missing.stderr and not missing.stdout
