"""Sensitivity as a user runs it: an answer first, readable at 80 columns, the same each time."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.command import evenhand

EVAL = {
    "name": "close",
    "samples": [
        {"id": f"s{place}", "input": "?", "outputs": {"old": "Sorry, open Orders now." * 3, "new": "Orders." if place % 3 else "No."}}
        for place in range(24)
    ],
    "rubric": {
        "criteria": [
            {"id": "page", "asks": "Does it contain the word 'Orders'?", "weight": 2, "required": False},
            {"id": "kind", "asks": "Does it contain the word 'Sorry'?", "required": False},
            {"id": "brief", "asks": "Is it at most 5 words long?", "weight": 2, "required": False},
        ]
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("sensitivity")
    _run(made, EVAL)
    return made


def _run(folder: Path, eval: Mapping[str, object]) -> None:
    (folder / "eval.json").write_text(json.dumps(eval), "utf-8")
    done = evenhand("run", "eval.json", "--report-only", folder=folder)
    assert done.returncode == 0, done.stderr


def test_the_first_line_answers(folder: Path) -> None:
    """The ranking hangs on a weight, and that weight is named."""
    done = evenhand("sensitivity", "latest", folder=folder)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("The ranking ")
    assert "next: " in done.stdout
    assert "By criteria  24 samples" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_the_weights_are_read_from_the_run_and_the_flip_solved(folder: Path) -> None:
    """By hand: old leads by 1/3 in page (0.4) and 1 in kind (0.2), new by 1 in brief (0.4)."""
    data = json.loads(evenhand("sensitivity", "latest", "--json", "--draws", "500", folder=folder).stdout)

    parts = {one["criterion"]: (one["weight"], one["gap"]) for one in data["by_weight"]}
    assert data["order"] == ["new", "old"]
    assert parts["page"] == pytest.approx((0.4, -1 / 3), abs=1e-6)
    assert parts["kind"] == pytest.approx((0.2, -1), abs=1e-6)
    assert parts["brief"] == pytest.approx((0.4, 1), abs=1e-6)
    # The lead is 0.4 − 0.2 − 0.4/3 = 1/15; moving from brief to kind gains 2, so 1/30 moves.
    assert data["flip"]["distance"] == pytest.approx(2 / 30, abs=1e-6)
    assert data["draws"] == 500


def test_seed_and_spread_reach_what_is_drawn(folder: Path) -> None:
    """Another seed says nearly the same; weights that stray farther shake the ranking more."""
    first, other, far = (
        json.loads(evenhand("sensitivity", "latest", "--json", *options, folder=folder).stdout)["share_same_winner"]
        for options in (("--seed", "1"), ("--seed", "2"), ("--seed", "1", "--spread", "0.6"))
    )

    assert first != other
    assert first == pytest.approx(other, abs=0.03)
    assert far < first


@pytest.mark.parametrize(
    ("options", "says"),
    [(("--draws", "0"), "draws must be"), (("--spread", "2"), "spread must be between"), (("--seed", "-1"), "--seed")],
)
def test_settings_that_mean_nothing_are_refused(folder: Path, options: tuple[str, ...], says: str) -> None:
    """Exit code 2, and what would work."""
    done = evenhand("sensitivity", "latest", *options, folder=folder)

    assert done.returncode == 2
    assert says in done.stderr


def test_one_variant_and_one_criterion_are_told_what_is_missing(tmp_path: Path) -> None:
    """There is no ranking of one, and no weight among one."""
    rubric = {"criteria": ["Does it contain the word 'Orders'?"]}
    one = {**EVAL, "samples": [{"input": "?", "outputs": {"only": "Orders."}}]}
    (tmp_path / "one").mkdir()
    _run(tmp_path / "one", one)
    (tmp_path / "bare").mkdir()
    _run(tmp_path / "bare", {**EVAL, "rubric": rubric})

    alone, bare = (evenhand("sensitivity", "latest", folder=tmp_path / name) for name in ("one", "bare"))

    assert (alone.returncode, bare.returncode) == (2, 2)
    assert "the run has one variant: there is no ranking" in alone.stderr
    assert "there are no weights to change" in bare.stderr


def test_one_sample_says_nothing_about_others(tmp_path: Path) -> None:
    """Whatever the weights: nothing is sure, and no share is told that only several samples can give."""
    _run(tmp_path, {**EVAL, "samples": [{**EVAL["samples"][1]}]})  # type: ignore[index]

    done = evenhand("sensitivity", "latest", folder=tmp_path)
    data = json.loads(evenhand("sensitivity", "latest", "--json", folder=tmp_path).stdout)

    assert done.stdout.startswith("One sample says nothing about others: on it, ")
    assert "next: Add samples before you decide" in done.stdout
    assert "By criteria  1 sample\n" in done.stdout
    assert "Another set of samples" not in done.stdout
    assert (data["gap"], data["share_with_noise"], data["share_turned"]) == (None, None, None)


def test_rubrics_by_tag_are_told_apart_though_they_share_criteria(tmp_path: Path) -> None:
    """Two of 24 samples have a rubric of their own, with criteria that the others have too."""
    samples = [{**one, "tags": ["short"] if place < 2 else ["x"]} for place, one in enumerate(EVAL["samples"])]  # type: ignore[dict-item]
    short = {"name": "short", "criteria": EVAL["rubric"]["criteria"][:2]}  # type: ignore[index]
    _run(tmp_path, {**EVAL, "samples": samples, "rubrics": {"short": short}})

    done = evenhand("sensitivity", "latest", folder=tmp_path)
    data = json.loads(evenhand("sensitivity", "latest", "--json", folder=tmp_path).stdout)

    assert (data["samples"], data["left_out"]) == (22, 0)
    assert [part["criterion"] for part in data["by_weight"]] == ["page", "kind", "brief"]
    assert "By criteria  22 samples\n" in done.stdout


def test_a_criterion_that_makes_the_whole_lead_is_level_without_it(tmp_path: Path) -> None:
    """The table says so; the weight at which both are level is 0."""
    samples = [{"id": f"s{n}", "input": "?", "outputs": {"old": "Sorry.", "new": "Sorry, Orders."}} for n in range(12)]
    _run(tmp_path, {**EVAL, "samples": samples})

    lines = evenhand("sensitivity", "latest", folder=tmp_path).stdout.splitlines()

    assert ["page", "0.40", "+1.00", "0.00", "level"] in [line.split() for line in lines]
