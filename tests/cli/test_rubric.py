"""evenhand rubric: list, show, check, schema, init."""

import json
from pathlib import Path

import pytest

from evenhand.files.methods import list_method_yaml_names, list_rubric_file_names
from tests.cli.command import evenhand


def test_list_names_everything_that_ships() -> None:
    """Rubrics first, then methods that need criteria."""
    words = evenhand("rubric", "list").stdout.split()

    assert [name for name in (*list_rubric_file_names(), *list_method_yaml_names()) if name not in words] == []


@pytest.mark.parametrize("name", [*list_rubric_file_names(), *list_method_yaml_names()])
def test_show_fits_a_terminal(name: str) -> None:
    """Every rubric and every method can be looked at."""
    done = evenhand("rubric", "show", name)

    assert done.returncode == 0
    assert "Score" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_show_says_anchors_flags_and_steps() -> None:
    """What a judge will be asked, and how it is added up."""
    shown = evenhand("rubric", "show", "council", COLUMNS="160").stdout

    assert "accuracy  1–10, weight 0.35" in shown
    assert "      9–10: No error and nothing invented" in shown
    assert "2. ceiling (criterion accuracy, below 5, at 4): " in shown
    assert "Environment: LLM_COUNCIL_WEIGHT_ACCURACY" in shown


def test_show_yaml_gives_a_file_to_change(tmp_path: Path) -> None:
    """Which checks without a warning."""
    mine = tmp_path / "mine.yaml"
    mine.write_text(evenhand("rubric", "show", "code-review", "--yaml").stdout)

    done = evenhand("rubric", "check", str(mine), "--judge", "openai/some")

    assert (done.returncode, done.stdout) == (0, f"{mine}: a valid rubric for judge-skill, no warnings\n")


def test_show_yaml_of_a_method_has_steps_grades_and_ties(tmp_path: Path) -> None:
    """A method with criteria of its own is printed whole: a copy scores like the original."""
    shown = evenhand("rubric", "show", "judge-skill", "--yaml").stdout
    (tmp_path / "mine.yaml").write_text(shown)

    check = evenhand("rubric", "check", "mine.yaml", folder=tmp_path)

    assert shown.startswith("# A method with criteria of its own")
    for part in ("\nsteps:\n  - weighted_sum\n", "\ngrades:\n", "label: Exceptional", "\nties:\n", "\ncriteria:\n"):
        assert part in shown
    assert (check.returncode, check.stdout) == (0, "mine.yaml: a valid method\n")


def test_check_names_what_the_default_judge_cannot_answer(tmp_path: Path) -> None:
    """And the way out; a judge that was named may answer it."""
    (tmp_path / "r.yaml").write_text(
        "criteria:\n  - Says that it opens at nine\n  - {id: b, asks: How short?, scale: 1-5, anchors: {1: x, 5: y}}\n"
    )

    done, named = (
        evenhand("rubric", "check", "r.yaml", *more, folder=tmp_path) for more in ((), ("--judge", "openai/some"))
    )

    assert done.returncode == 0
    told = " ".join(done.stdout.split())
    assert "r.yaml: note: the judge embedded cannot answer b (it asks for a score from 1 to 5)" in told
    assert max(map(len, done.stdout.splitlines()[1:])) <= 80  # The note is wrapped.
    assert "name a model as judge" in told
    assert "note:" not in named.stdout


def test_check_warns_with_lines_and_still_succeeds(tmp_path: Path) -> None:
    """Advice is not a fault."""
    file = tmp_path / "r.yaml"
    file.write_text("criteria:\n  - It is good\n  - {id: b, asks: How short?, scale: 1-5}\n")

    done = evenhand("rubric", "check", str(file), "--judge", "openai/some")

    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        f"{file}:2: warning: criterion 'rubric-1' asks for 'good': what would one see in the output?",
        f"{file}:3: warning: criterion 'b' has no anchors: what earns its lowest, middle and highest score?",
        f"{file}: a valid rubric for score-ranges, 2 warnings",
    ]


def test_check_goes_through_all_files(tmp_path: Path) -> None:
    """A faulty one does not hide the next."""
    (tmp_path / "bad.yaml").write_text("critera: []\n")
    (tmp_path / "good.yaml").write_text("criteria: [Cites a source]\n")
    (tmp_path / "method.yaml").write_text("scale: 0-1\nverdicts: {pass: 1}\nsteps: [points_share]\n")

    done = evenhand("rubric", "check", *(str(tmp_path / f"{name}.yaml") for name in ("bad", "good", "method")))

    assert done.returncode == 2
    assert "bad.yaml:1: unknown field 'critera' (did you mean 'criteria'?)" in done.stderr
    assert "good.yaml: a valid rubric for checklist, no warnings" in done.stdout
    assert "method.yaml: a valid method" in done.stdout


def test_schema_is_json() -> None:
    """For editors."""
    assert json.loads(evenhand("rubric", "schema").stdout)["title"] == "Evenhand rubric"


def test_init_writes_a_rubric_and_never_over_another_file(tmp_path: Path) -> None:
    """What is there stays there."""
    file = tmp_path / "mine.yaml"

    first = evenhand("rubric", "init", str(file))
    text = file.read_text()
    second = evenhand("rubric", "init", str(file))
    checked = evenhand("rubric", "check", str(file), "--judge", "openai/some")

    assert first.stdout == f"wrote {file}; next: evenhand rubric check {file}\n"
    assert (second.returncode, second.stderr) == (2, f"{file}: there is such a file already (name another file)\n")
    assert file.read_text() == text
    assert checked.stdout == f"{file}: a valid rubric for judge-skill, no warnings\n"


def test_init_writes_yaml_only(tmp_path: Path) -> None:
    """YAML under another name would not be read."""
    done = evenhand("rubric", "init", str(tmp_path / "mine.json"))

    assert done.returncode == 2
    assert "the starter is YAML (name a file that ends in .yaml)" in done.stderr


def test_a_method_file_with_criteria_is_used_like_a_rubric(tmp_path: Path) -> None:
    """Like those that ship; one without criteria says how it is used."""
    whole, bare = tmp_path / "whole.yaml", tmp_path / "bare.yaml"
    whole.write_text("scale: 0-1\nsteps: [weighted_mean]\nverdicts: {pass: 0.5}\ncriteria: [Cites a source]\n")
    bare.write_text("scale: 0-1\nsteps: [weighted_mean]\nverdicts: {pass: 0.5}\n")
    given = '{"id": "a", "scores": {"rubric-1": true}}'

    used = evenhand("score", "-r", str(whole), "-", stdin=given)
    refused = evenhand("score", "-r", str(bare), "-", stdin=given)

    assert (used.returncode, "pass" in used.stdout) == (0, True)
    assert refused.returncode == 2
    assert "is no rubric (list criteria in it, or in a rubric that says 'method: bare.yaml')" in refused.stderr


def test_init_where_nothing_can_be_written() -> None:
    """A reason, not a traceback."""
    done = evenhand("rubric", "init", "/proc/nowhere/rubric.yaml")

    assert done.returncode == 2
    assert "cannot be written: no such file or directory" in done.stderr


def test_required_beside_ranges_is_warned_of(tmp_path: Path) -> None:
    """It gates nothing there: only a least score does."""
    ranges = "score_ranges: {0: Bugs, 6: Good}"
    text = f"rubrics:\n  - {{id: a, required: true, {ranges}}}\n  - {{id: b, {ranges}}}\n"
    (tmp_path / "r.yaml").write_text(text, "utf-8")

    done = evenhand("rubric", "check", "r.yaml", "--judge", "openai/x", folder=tmp_path)

    assert done.stdout.count("required: true does nothing beside score_ranges") == 1
    assert "r.yaml:2" in done.stdout


def test_a_criterion_that_takes_a_reference_is_named(tmp_path: Path) -> None:
    """`rubric check` and `judge` without a reference name the same criteria."""
    ranges = "score_ranges: {0: Bugs, 6: Good}"
    (tmp_path / "r.yaml").write_text(
        f"rubrics:\n  - {{id: correctness, {ranges}}}\n  - {{id: style, {ranges}}}\n", "utf-8"
    )
    (tmp_path / "a.md").write_text("Some text.", "utf-8")

    check = evenhand("rubric", "check", "r.yaml", "--judge", "embedded", folder=tmp_path)
    judged = evenhand("judge", "-r", "r.yaml", "a.md", "--model", "embedded", folder=tmp_path)

    told = [" ".join((one.stdout + one.stderr).split()) for one in (check, judged)]
    assert all("cannot answer correctness" in one and "style" in one.partition("cannot answer")[2] for one in told)
