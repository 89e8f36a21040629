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
    known = {}
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
    assert "two.jsonl: is there already" in again.stderr
    assert "the run has no criterion 'kin' (did you mean 'kind'?)" in wrong.stderr
