"""`evenhand run` and what stands around it, as a user calls them."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import evenhand

EVAL = """
name: greetings
samples:
  - {id: plain, input: Hi, outputs: {old: Go away, new: Hello}}
  - {id: late, input: Hey, outputs: {old: No, new: "Hello, good evening"}}
variants: {old: {}, new: {}}
assertions: [{contains: Hello}]
rubric:
  criteria: [{id: greets, asks: "Does it contain the word 'Hello'?", required: false}]
gates: {pass_rate: 0.5}
"""
SCALED = "{id: warmth, asks: How warm is it?, scale: 1-5, anchors: {1: Cold, 5: Warm}}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "eval.yaml").write_text(EVAL, "utf-8")
    return tmp_path


def head_of(folder: Path, *arguments: str) -> dict[str, Any]:
    done = evenhand("run", "eval.yaml", "--json", *arguments, folder=folder)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_run_prints_a_table_a_verdict_and_the_next_step(folder: Path) -> None:
    """Two samples decide nothing, and it says so."""
    done = evenhand("run", "eval.yaml", folder=folder)

    assert done.returncode == 1
    assert "greetings · 2 samples · 2 variants" in done.stdout
    assert "UNDERPOWERED: " in done.stdout
    assert "next: " in done.stdout
    assert "report: evenhand report" in done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_what_the_judge_cannot_answer_is_said_before_the_run_and_after_it(folder: Path) -> None:
    """In the plan, when the run starts, and as the verdict where nothing could be judged."""
    scaled = EVAL.replace("{id: greets, asks: \"Does it contain the word 'Hello'?\", required: false}", SCALED)
    (folder / "eval.yaml").write_text(scaled.replace("assertions: [{contains: Hello}]\n", ""), "utf-8")

    planned = evenhand("run", "eval.yaml", "--plan", folder=folder)
    data = json.loads(evenhand("run", "eval.yaml", "--plan", "--json", folder=folder).stdout)
    done = evenhand("run", "eval.yaml", folder=folder)

    note = "the judge embedded cannot answer warmth (it asks for a score from 1 to 5)"
    assert note in " ".join(planned.stdout.split())
    assert data["unanswerable"] == [
        {
            "rubric": "eval",
            "criterion": "warmth",
            "why": "it asks for a score from 1 to 5",
            "is_score": True,
            "judge": "embedded",
        }
    ]
    assert f"note: {note}" in done.stderr
    assert "UNDECIDED: No output could be judged: embedded on warmth: abstained" in " ".join(done.stdout.split())
    assert "UNDERPOWERED" not in done.stdout


def test_the_exit_code_says_what_was_decided(folder: Path) -> None:
    """A single variant that passes its gates is 0; one gate below is 1; --report-only is always 0."""
    alone = EVAL.replace("variants: {old: {}, new: {}}", "variants: {new: {}}")
    (folder / "good.yaml").write_text(alone, "utf-8")
    (folder / "bad.yaml").write_text(alone.replace("{new: {}}", "{old: {}}"), "utf-8")

    codes = [
        evenhand("run", name, *more, folder=folder).returncode
        for name, more in (("good.yaml", ()), ("bad.yaml", ()), ("bad.yaml", ("--report-only",)))
    ]

    assert codes == [0, 1, 0]


def test_one_failed_required_criterion_fails_the_run(folder: Path) -> None:
    """Nine of ten is no pass where each one is required."""
    required = EVAL.replace("required: false", "required: true").replace("gates: {pass_rate: 0.5}", "")
    only_new = required.replace("variants: {old: {}, new: {}}", "variants: {new: {}}")
    (folder / "eval.yaml").write_text(only_new.replace("new: Hello}", "new: Hm}"), "utf-8")

    head = head_of(folder)

    gates = {gate["gate"]: gate for gate in head["decision"]["gates"]["new"]}
    short = {"samples": ["plain"], "count": 1, "criteria": ["greets"]}
    assert gates["required"] == {
        "gate": "required",
        "min": 1.0,
        "mean": 0.5,
        "outputs": 2,
        "passed": False,
        "short": short,
    }
    assert "pass_rate" not in gates
    assert head["decision"]["exit_code"] == 1
    told = "new: 1 of 2 outputs fails a required criterion; not passed: plain (criterion greets)."
    assert told in head["decision"]["reasons"]


@pytest.mark.parametrize("option", ["--limit", "--repeats"])
def test_more_than_anything_counts_to_is_refused(folder: Path, option: str) -> None:
    """A limit of so many digits was a fault of ours."""
    done = evenhand("run", "eval.yaml", option, "1" + "0" * 40, folder=folder)

    assert done.returncode == 2
    assert re.search(r"limit must be from 1 to 1,000,000,000|repeats must be at most 1,000,000", done.stderr)


def test_a_plan_asks_nothing_and_makes_no_store(folder: Path) -> None:
    """What would be asked, before any call."""
    done = evenhand("run", "eval.yaml", "--plan", "--json", folder=folder)

    plan = json.loads(done.stdout)
    assert [(one["name"], one["calls"], one["kept"]) for one in plan["judges"]] == [("embedded", 4, 0)]
    assert plan["samples"] == 2
    assert not (folder / ".evenhand").exists()


def test_a_plan_knows_what_is_kept(folder: Path) -> None:
    """After a run, the same questions cost nothing."""
    evenhand("run", "eval.yaml", folder=folder)

    plan = json.loads(evenhand("run", "eval.yaml", "--plan", "--json", folder=folder).stdout)

    assert [(one["calls"], one["kept"]) for one in plan["judges"]] == [(4, 4)]


def test_resuming_a_finished_run_shows_it_again(folder: Path) -> None:
    """Nothing changed: the same run, and no new one."""
    first = head_of(folder)
    second = head_of(folder, "--resume")

    assert first["run"]["id"] == second["run"]["id"]
    assert len(json.loads(evenhand("runs", "list", "--json", folder=folder).stdout)) == 1


def test_a_changed_eval_is_a_new_run(folder: Path) -> None:
    """A run never changes afterwards."""
    first = head_of(folder)
    (folder / "eval.yaml").write_text(EVAL.replace("contains: Hello", "contains: Hell"), "utf-8")

    second = head_of(folder, "--resume")

    assert second["run"]["id"] != first["run"]["id"]
    assert second["run"]["taken_from"] == first["run"]["id"]
    assert [(one["calls"], one["cached"]) for one in second["judges"]] == [(4, 4)]


def test_a_fresh_run_asks_all_again(folder: Path) -> None:
    """Whatever the store has."""
    head_of(folder)

    again = head_of(folder, "--fresh")

    assert [(one["calls"], one["cached"]) for one in again["judges"]] == [(4, 0)]


def test_resuming_says_why_a_run_cannot_be_continued(folder: Path) -> None:
    """A changed criterion, or a judge of another version, makes another run."""
    head_of(folder)
    (folder / "eval.yaml").write_text(EVAL.replace("word 'Hello'", "word 'Hell'"), "utf-8")

    done = evenhand("run", "eval.yaml", "--resume", folder=folder)

    assert "cannot be continued, as this changed: criterion greets" in done.stderr
    assert "a new run that takes over what stayed the same" in done.stderr


def test_resume_and_fresh_exclude_each_other(folder: Path) -> None:
    """One keeps what was asked, the other asks it anew."""
    done = evenhand("run", "eval.yaml", "--resume", "--fresh", folder=folder)

    assert done.returncode == 2
    assert "give one of them" in done.stderr


def test_a_file_with_faults_asks_nothing(folder: Path) -> None:
    """Exit 2, the line, and no store."""
    (folder / "eval.yaml").write_text(EVAL + "asertions: []\n", "utf-8")

    done = evenhand("run", "eval.yaml", folder=folder)

    assert done.returncode == 2
    assert "eval.yaml:11: unknown field 'asertions'" in done.stderr
    assert not (folder / ".evenhand").exists()


def test_every_format_is_written_and_reads_back(folder: Path) -> None:
    """One run, six views."""
    evenhand("run", "eval.yaml", folder=folder)
    names = ["r.html", "r.md", "r.xml", "r.json", "r.csv", "r.parquet"]

    codes = [evenhand("report", "latest", "-o", name, folder=folder).returncode for name in names]

    assert codes == [0] * 6
    assert (folder / "r.html").read_text("utf-8").startswith("<!")
    assert "UNDERPOWERED" in (folder / "r.md").read_text("utf-8")
    assert ET.parse(folder / "r.xml").getroot().tag == "testsuites"
    assert [one["id"] for one in json.loads((folder / "r.json").read_text("utf-8"))["samples"]] == ["plain", "late"]
    assert len((folder / "r.csv").read_text("utf-8").splitlines()) == 5


def test_a_report_without_a_format_needs_a_known_ending(folder: Path) -> None:
    """Guessing would write something nobody asked for."""
    evenhand("run", "eval.yaml", folder=folder)

    done = evenhand("report", "latest", "-o", "r.txt", folder=folder)

    assert done.returncode == 2
    assert "which format is 'r.txt'?" in done.stderr


def test_a_run_moves_to_another_store_unchanged(folder: Path, tmp_path: Path) -> None:
    """The same report, to the last number, and a mark that it was imported."""
    evenhand("run", "eval.yaml", folder=folder)
    before = json.loads(evenhand("report", "latest", "--json", folder=folder).stdout)
    evenhand("runs", "export", "latest", "-o", "run.evenhand", folder=folder)
    other = tmp_path / "other"
    other.mkdir()

    evenhand("runs", "import", "../run.evenhand", folder=other)

    after = json.loads(evenhand("report", before["run"]["id"], "--json", folder=other).stdout)
    assert after["run"].pop("imported") == "guest"
    assert after["sensitivity"].pop("imported") is True
    assert after == before


def test_rescoring_asks_nobody_and_is_a_run_of_its_own(folder: Path) -> None:
    """Half the weight on something else: the stored judgments under another rubric."""
    first = head_of(folder)
    (folder / "strict.yaml").write_text("criteria: [{id: greets, asks: x, required: true}]\n", "utf-8")

    done = evenhand("runs", "rescore", "latest", "--rubric", "strict.yaml", "--json", folder=folder)

    second = json.loads(done.stdout)
    assert second["run"]["id"] != first["run"]["id"]
    assert second["run"]["fingerprint"] != first["run"]["fingerprint"]
    assert [one["verdicts"] for one in second["variants"]] == [{"fail": 2}, {"pass": 2}]
    assert [one["composite"]["mean"] for one in second["variants"]] == [1.0, 5.0]
    assert [(one["calls"], one["cached"]) for one in second["judges"]] == [(4, 4)]


def test_rescoring_by_a_rubric_that_asks_something_else_is_refused(folder: Path) -> None:
    """It would leave every scorecard incomplete."""
    evenhand("run", "eval.yaml", folder=folder)
    (folder / "other.yaml").write_text("criteria: [{id: tone, asks: Is it kind?}]\n", "utf-8")

    done = evenhand("runs", "rescore", "latest", "--rubric", "other.yaml", folder=folder)

    assert done.returncode == 2
    assert "the run has no judgments on tone" in done.stderr


def test_history_marks_a_change_of_fingerprint(folder: Path) -> None:
    """Numbers before and after it are not comparable."""
    head_of(folder, "--fresh")
    (folder / "eval.yaml").write_text(EVAL.replace("word 'Hello'", "word 'Hell'"), "utf-8")
    head_of(folder)

    lines = json.loads(evenhand("history", "greetings/new", "--json", folder=folder).stdout)

    assert [line["fingerprint_changed"] for line in lines] == [False, True]
    assert [line["consistency"] for line in lines] == ["no history yet", "no history yet"]


def test_history_flags_what_strays_and_counts_no_run_that_asked_nothing(folder: Path) -> None:
    """Two earlier evaluations with sd 0: any change is flagged, and a run out of the store is no evaluation."""
    for output in ("Hello", "Hello!", "Hello!", "Hm"):
        (folder / "eval.yaml").write_text(EVAL.replace("new: Hello}", f"new: {output}}}"), "utf-8")
        head = head_of(folder)

    told = {one["variant"]: one["says"] for one in head["consistency"]}
    assert "greets 0.5 differs from the 1.00 that each of the last 2 evaluations scored" in told["new"]
    assert told["old"] == "no history yet"


def test_runs_with_the_same_replies_are_one_evaluation(folder: Path) -> None:
    """Asked anew or taken from the store: what came out word for word as before shows no spread."""
    for more in (("--fresh",), ("--fresh",), ()):
        head_of(folder, *more)
    first, *others = json.loads(evenhand("history", "greetings/new", "--json", folder=folder).stdout)
    (folder / "eval.yaml").write_text(EVAL.replace("new: Hello}", "new: Hm}"), "utf-8")

    head = head_of(folder)

    assert first["same_as"] is None
    assert {one["same_as"] for one in others} == {first["run"]}
    assert {one["consistency"] for one in (first, *others)} == {"no history yet"}
    told = {one["variant"]: one["says"] for one in head["consistency"]}
    assert told["new"] == "one earlier evaluation: too few to flag"
    assert "unchanged" in evenhand("history", "greetings/new", folder=folder).stdout


def test_an_unknown_subject_names_those_there_are(folder: Path) -> None:
    """A hint in place of an empty table."""
    evenhand("run", "eval.yaml", folder=folder)

    done = evenhand("history", "greeting", folder=folder)

    assert done.returncode == 2
    assert "did you mean 'greetings'?" in done.stderr


def test_nothing_is_there_before_the_first_run(tmp_path: Path) -> None:
    """Every reading command says how to begin."""
    done = [evenhand(*words, folder=tmp_path) for words in (("runs", "list"), ("report", "latest"), ("history", "x"))]

    assert [one.returncode for one in done] == [2, 2, 2]
    assert all("evenhand run eval.yaml starts one" in one.stderr for one in done)
    assert not (tmp_path / ".evenhand").exists()


def test_init_writes_an_eval_that_runs(tmp_path: Path) -> None:
    """Two commands from nothing to a verdict."""
    begun = evenhand("init", folder=tmp_path)
    done = evenhand("run", "eval.yaml", folder=tmp_path)

    assert begun.returncode == 0
    assert done.returncode == 0
    assert "PROGRESS: new is better than old" in done.stdout


def test_the_starter_fits_on_a_screen(tmp_path: Path) -> None:
    """Verdict, one table, what to look at; everything else under --full."""
    evenhand("init", folder=tmp_path)

    short = evenhand("run", "eval.yaml", folder=tmp_path).stdout
    full = evenhand("runs", "show", "latest", "--full", folder=tmp_path).stdout

    assert len(short.splitlines()) <= 25
    assert short.startswith("PROGRESS: ")
    assert short.splitlines()[:8] == full.splitlines()[:8]
    assert all(part in full and part not in short for part in ("Audit\n", "Gates\n", "criterion ", "\ntag "))
    assert evenhand("report", "latest", "--full", folder=tmp_path).stdout == full


def test_scores_by_tag_and_notable_samples_are_data(tmp_path: Path) -> None:
    """Means over the samples of a tag, and the samples that changed most with their criteria."""
    evenhand("init", folder=tmp_path)

    head = head_of(tmp_path)

    tags = {one["tag"]: one for one in head["tags"]}
    assert sum(one["samples"] for one in tags.values()) == 24
    assert tags["sales"]["variants"]["new"]["mean"] == 3.3333
    assert head["notable"]["worse"] == []
    best, lowest = head["notable"]["better"][0], head["notable"]["lowest"][0]
    assert (best["sample"], best["before"], round(best["after"], 2)) == ("refund-time", 1.0, 4.67)
    assert best["criteria"]["page"] == {"before": 0.0, "after": 1.0}
    assert (lowest["sample"], lowest["criteria"]["page"]) == ("bulk", 0.0)


def test_init_overwrites_nothing(tmp_path: Path) -> None:
    """What is there stays."""
    (tmp_path / "eval.yaml").write_text("mine", "utf-8")

    done = evenhand("init", folder=tmp_path)

    assert done.returncode == 2
    assert "it exists already" in done.stderr
    assert (tmp_path / "eval.yaml").read_text("utf-8") == "mine"
    assert not (tmp_path / "samples.jsonl").exists()


def test_in_github_actions_failures_are_annotated(folder: Path) -> None:
    """Beside the change that made them."""
    done = evenhand("run", "eval.yaml", folder=folder, GITHUB_ACTIONS="true")

    assert "::warning" in done.stdout or "::error" in done.stdout


def test_an_output_gives_github_actions_no_orders(folder: Path) -> None:
    """A line of the log that begins with two colons would be obeyed."""
    (folder / "eval.yaml").write_text(EVAL.replace("name: greetings", 'name: "::error::gone"'), "utf-8")

    done = evenhand("run", "eval.yaml", folder=folder, GITHUB_ACTIONS="true")

    assert "\\::error::gone" in done.stdout
    assert not any(line.startswith("::error::gone") for line in done.stdout.splitlines())


def test_hostile_names_do_nothing_on_a_terminal(folder: Path) -> None:
    """Escape codes in outputs, ids and tags are shown, not obeyed."""
    hostile = {"id": "\x1b[2J\x1b]0;gone\x07", "input": "x", "outputs": {"old": "\x1b[31mHello", "new": "Hello\u202e"}}
    (folder / "s.jsonl").write_text(json.dumps(hostile) + "\n", "utf-8")
    (folder / "eval.yaml").write_text(
        'samples: s.jsonl\nassertions: [{contains: Hello}, {contains: Bye, name: "a\\e[1m"}]\n', "utf-8"
    )

    run = evenhand("run", "eval.yaml", folder=folder)
    reports = [evenhand("report", "latest", f"--{one}", folder=folder) for one in ("markdown", "junit", "json", "csv")]

    assert "\x1b" not in run.stdout + run.stderr
    assert "\u202e" not in run.stdout
    assert all("\x1b" not in one.stdout for one in reports[:3])
