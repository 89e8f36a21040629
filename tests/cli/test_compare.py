"""`evenhand compare` as a user calls it: what it prints, what it refuses, and its exit code."""

import json
from pathlib import Path

import pytest
import yaml

from evenhand.store.store import Store
from tests.cli.command import evenhand
from tests.docs.pages import ROOT, blocks
from tests.runs.stored import keep_run, result

A, B = "20261116-090000-aaaaaa", "20261116-100000-bbbbbb"
LOW = [2.0, 2.5, 2.0, 1.5] * 6
HIGH = [4.0, 4.5, 3.5, 4.5] * 6


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two runs, the second better, the first pinned as main."""
    with Store.open(tmp_path / ".evenhand", {}) as store:
        keep_run(store, A, {"output": LOW})
        keep_run(store, B, {"output": HIGH})
        store.set_baseline("main", A)
    return tmp_path


def test_a_comparison_prints_differences_badges_and_a_verdict(folder: Path) -> None:
    """The verdict with its reasons, its rule and one next step comes last."""
    done = evenhand("compare", A, B, folder=folder)

    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert lines[:3] == [
        f"control: desk · output · run {A}",
        f"treatment: desk · output · run {B}",
        "24 samples in both",
    ]
    assert "composite" in done.stdout
    assert "fact" in done.stdout
    assert sum(line.strip().startswith(("✓", "✗", "–", "◆")) for line in lines) == 4
    verdict = next(place for place, line in enumerate(lines) if line.startswith("PROGRESS: "))
    told = [line.split(":")[0].strip() for line in lines[verdict + 1 :] if line[2:3].isalpha() and ":" in line[:12]]
    assert told == ["why", "rule", "how sure", "next"]
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((A, B), 0),
        ((B, A), 1),
        ((B, A, "--report-only"), 0),
        (("--baseline", "main", "latest"), 0),
        (("latest",), 0),
        ((A,), 1),
        ((A, B, "--not-worse-by", "nan"), 2),
        ((A, B, A), 2),
        (("--baseline", "mian", B), 2),
        ((), 2),
    ],
)
def test_the_exit_code_says_what_was_decided(folder: Path, arguments: tuple[str, ...], code: int) -> None:
    """0 may be shipped, 1 may not, 2 was not understood."""
    assert evenhand("compare", *arguments, folder=folder).returncode == code


def test_json_is_the_whole_comparison(folder: Path) -> None:
    """Stable keys for programs."""
    found = json.loads(evenhand("compare", "--baseline", "main", "latest", "--json", "--power", folder=folder).stdout)

    assert sorted(found) == [
        "control", "decision", "forced", "notes", "power", "samples", "scales", "treatments"
    ]  # fmt: skip
    assert found["control"] == {
        "name": "baseline main", "run": A, "variant": "output", "eval": "desk", "state": "finished",
        "ended": "2026-11-16T09:01:00+00:00", "fingerprint": "f", "samples": 24, "imported": False,
    }  # fmt: skip
    assert found["decision"]["verdict"] == "PROGRESS"
    assert found["power"]["output"]["pairs"] == 24


def test_what_is_refused_says_what_differs_and_how_to_insist(folder: Path) -> None:
    """And by force it is marked in the headline and below it."""
    with Store.open(folder / ".evenhand", {}) as store:
        changes = {"prompts": {"system": "Judge."}}
        keep_run(store, "20261117-000000-cccccc", {"output": HIGH}, fingerprint="g", setup_changes=changes)

    refused = evenhand("compare", A, "latest", folder=folder)
    forced = evenhand("compare", A, "latest", "--force", folder=folder)
    reported = evenhand("compare", A, "latest", "--force", "--report-only", folder=folder)

    assert (refused.returncode, refused.stdout) == (2, "")
    assert "the runs were not scored alike: prompt system: added (" in refused.stderr
    assert "--force" in refused.stderr
    assert (forced.returncode, reported.returncode) == (1, 0)
    assert "(forced: the runs were not scored alike; the difference may come from that)." in _joined(forced.stdout)
    assert "next: Ship nothing by this" in forced.stdout
    assert "  forced: prompt system: added\n" in forced.stdout


def test_power_is_shown_as_a_small_table(folder: Path) -> None:
    """How many more samples, and what they would see."""
    with Store.open(folder / ".evenhand", {}) as store:
        keep_run(store, "20261117-000000-cccccc", {"output": [one + 0.5 * (at % 3 - 1) for at, one in enumerate(LOW)]})

    done = evenhand("compare", A, "latest", "--power", folder=folder)

    assert "Power: run cccccc, 24 pairs" in done.stdout
    assert "the difference that was seen (0.00 points): no number of samples would" in done.stdout
    assert "samples  observed 0.00  smallest 0.50" in done.stdout
    assert "over 99%" in done.stdout
    assert "100%" not in done.stdout  # No number of samples makes it certain.


def test_several_treatments_have_a_table_each(folder: Path) -> None:
    """Each with its own verdict; the headline is the worst."""
    with Store.open(folder / ".evenhand", {}) as store:
        keep_run(store, "20261117-000000-cccccc", {"old": LOW, "new": HIGH, "next": LOW})

    done = evenhand("compare", "latest", folder=folder)

    assert "new against old: PROGRESS" in done.stdout
    assert "next against old: UNDERPOWERED" in done.stdout
    assert done.stdout.count("\np of the composite is adjusted for 2 treatments\n") == 2
    lines = done.stdout.split("\nTreatments\n")[1].split("\n\n")[0]
    assert lines.startswith("  new: PROGRESS (rule 7. the composite is significantly higher")
    assert "Ship new.\n  next: UNDERPOWERED (rule 6. the composite does not differ, and the interval" in lines
    assert done.returncode == 1


def test_a_layer_that_is_held_back_below_progress_says_why(folder: Path) -> None:
    """The word alone in the table leaves its reader guessing."""
    fact = {"old": ["3/1"] * 12, "new": ["5/1", "16/5", "4/1", "16/5"] * 3}  # Scattered: higher, but not by how much.
    rows = [
        result(at, name, 2.0 if name == "old" else 4.0 + at % 2 / 5, layers={"fact": fact[name][at]})
        for at in range(12)
        for name in ("old", "new")
    ]
    with Store.open(folder / ".evenhand", {}) as store:
        keep_run(store, "20261117-000000-cccccc", {"old": [], "new": []}, results=rows)

    done = evenhand("compare", "latest", folder=folder)

    assert "PROGRESS: new is better than old" in done.stdout
    says = "The fact layer is CAUTIOUS: The fact layer is significantly higher. 12 pairs: below 20 the whole interval must lie at"
    assert says in _joined(done.stdout)


def _joined(text: str) -> str:
    """What was wrapped to the width, on one line."""
    return " ".join(text.split())


def test_names_of_samples_and_variants_are_shown_and_not_obeyed(folder: Path) -> None:
    """Whoever named a variant does not command a terminal."""
    with Store.open(folder / ".evenhand", {}) as store:
        hostile = "\x1b[2J::error::"
        rows = [result(at, name, 4.0) for at in range(6) for name in ("old", hostile)]
        keep_run(store, "20261117-000000-cccccc", {"old": [], hostile: []}, results=rows)

    done = evenhand("compare", "latest", folder=folder, GITHUB_ACTIONS="true")

    assert "\x1b" not in done.stdout
    assert not any(line.lstrip().startswith("::") for line in done.stdout.splitlines())


def test_a_run_that_was_made_by_the_command_can_be_compared_at_once(tmp_path: Path) -> None:
    """From an eval file to a comparison, with the columns that the run left behind."""
    (tmp_path / "eval.yaml").write_text(EVAL, "utf-8")
    evenhand("run", "eval.yaml", folder=tmp_path)
    with Store.open(tmp_path / ".evenhand", {}) as store:
        kept = store.rows.load_columns(store.find_run("latest")["id"])

    done = evenhand("compare", "latest", "--json", folder=tmp_path)

    assert kept is not None
    assert json.loads(done.stdout)["decision"]["comparisons"][0]["wins"] == 5


EVAL = """
name: greetings
samples: [{id: a, input: Hi}, {id: b, input: Hi}, {id: c, input: Hi}, {id: d, input: Hi}, {id: e, input: Hi}]
variants: {old: {command: "echo Go away"}, new: {command: "echo Hello"}}
assertions: [{contains: Hello}]
"""


def test_the_commands_of_the_recipe_are_run_on_its_page() -> None:
    """A recipe that nobody runs fails in somebody's first pull request."""
    shown = blocks((ROOT / "docs" / "commands" / "compare.md").read_text("utf-8"))
    (recipe,) = (yaml.safe_load(block.text) for block in shown if block.file == "evals.yaml")
    steps = [step.get("run", "") for step in recipe["jobs"]["compare"]["steps"]]
    run = "".join(block.text for block in shown if block.language == "console")

    commands = [step for step in steps if step.startswith("evenhand ")]

    assert [command.split()[1] for command in commands] == ["run", "baseline", "compare"]
    assert [command for command in commands if f"$ {command}" not in run] == []


def test_a_comparison_is_written_as_a_page(folder: Path) -> None:
    """One file that needs nothing else, with the samples that moved; the exit code is that of the decision."""
    done = evenhand("compare", A, B, "--html", "-o", "compare.html", folder=folder)
    page = (folder / "compare.html").read_text("utf-8")
    bare = evenhand("compare", A, B, "--html", folder=folder)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "written: compare.html\n")
    assert page.startswith("<!doctype html>") and "Samples that moved most" in page and "PROGRESS" in page
    assert "<script" not in page and "http" not in page.replace("http-equiv", "")
    assert bare.returncode == 2 and "as in --html -o compare.html" in bare.stderr
