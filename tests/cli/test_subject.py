"""`--subject` makes the whole pipeline one command: score, grade, flags, comparison with history, stored."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.command import evenhand

SEVEN = ("correctness", "completeness", "adherence", "actionability", "efficiency", "safety", "consistency")
RUBRIC = """\
method: judge-skill
red_flags: [{id: secret, asks: A key is shown., amount: 1}]
bonuses: [{id: test, asks: A test comes with it.}]
"""
JUDGE = """\
import json, pathlib

def judge(request):
    pathlib.Path("asked").write_text("yes")
    text = request.about.texts["output"]
    level = 4 if "guess" in text else 8.5 if "retry" in text else 8
    one = {"evidence": [text.split(".")[0]], "reason": "as it reads", "score": level}
    seven = "correctness completeness adherence actionability efficiency safety consistency".split()
    no = {"evidence": [], "reason": "none seen", "answer": "no"}
    return json.dumps({"criteria": {id: one for id in seven}, "red_flags": {"secret": no}, "bonuses": {"test": no}})
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rubric.yaml").write_text(RUBRIC)
    (tmp_path / "stub.py").write_text(JUDGE)
    return tmp_path


def write_answers(folder: Path, *values: float, **more: object) -> str:
    """A file with an output for each value."""
    entries = [{"id": f"work-{value}", "scores": dict.fromkeys(SEVEN, value), **more} for value in values]
    (folder / "answers.json").write_text(json.dumps(entries))
    return "answers.json"


def test_one_command_gives_all_that_the_document_wants_reported(folder: Path) -> None:
    """Grade with label and description, the sum before deductions, each flag with amount and why, the final score."""
    answers = write_answers(folder, 8, red_flags={"secret": "token in line 3"}, bonuses={"test": "test_empty"})

    done = evenhand("score", "-r", "rubric.yaml", answers, "--subject", "notes", folder=folder)

    told = " ".join(done.stdout.split())
    assert done.returncode == 0
    for part in (
        "work-8 7.25 B- Satisfactory B-: The basics are there; at least one criterion needs work.",
        "weighted sum 8.00: correctness 8 × 0.25",
        "took off 1.00: secret 1 (token in line 3) (was 8.00)",
        "added 0.25: test 0.25 (test_empty) (was 7.00)",
        "History of notes no history yet stored as evaluation",
    ):
        assert part in told


def test_the_third_score_that_strays_is_named_and_changes_nothing(folder: Path) -> None:
    """Neither the score nor the exit code."""
    for value in (8, 8.5):
        evenhand("score", "-r", "rubric.yaml", write_answers(folder, value), "--subject", "notes", folder=folder)

    done = evenhand("score", "-r", "rubric.yaml", write_answers(folder, 4), "--subject", "notes", folder=folder)

    assert done.returncode == 0
    assert "work-4 4.00 D Very Poor" in done.stdout
    assert done.stdout.count("more than 2 standard deviations from the earlier mean") == 1
    assert done.stdout.count("latest ") == 7  # A row for each, not the same sentence seven times.
    assert re.search(r"^latest +correctness +4", done.stdout, re.MULTILINE)


def test_json_has_the_subject_and_its_history(folder: Path) -> None:
    """And without a subject neither key."""
    plain = evenhand("score", "-r", "rubric.yaml", write_answers(folder, 8), "--json", folder=folder)
    for value in (8, 8.5):
        evenhand("score", "-r", "rubric.yaml", write_answers(folder, value), "--subject", "notes", folder=folder)
    write_answers(folder, 8.25)

    done = evenhand("score", "-r", "rubric.yaml", "answers.json", "--subject", "notes", "--json", folder=folder)

    found = json.loads(done.stdout)
    assert not {"subject", "evaluation", "history"} & json.loads(plain.stdout).keys()
    assert (found["subject"], found["history"]["n"], found["history"]["consistency"]) == (
        "notes", 2, "consistent with the last 2",
    )  # fmt: skip
    assert found["history"]["earlier"]["safety"] == {"mean": 8.25, "sd": 0.353553, "n": 2}
    assert [one["evaluation"] for one in json.loads(evenhand("history", "notes", "--json", folder=folder).stdout)][
        -1
    ] == found["evaluation"]


def test_judged_outputs_have_a_history_too(folder: Path) -> None:
    """The file's name may differ; what the judge quotes of the output is not in the store."""
    for text in ("Adds a check here. Done.", "Adds a retry here. Done.", "A guess by jane.doe@example.com. Done."):
        (folder / "work.md").write_text(text)
        done = evenhand(
            "judge", "-r", "rubric.yaml", "work.md", "-m", "python:stub:judge", "--subject", "notes", folder=folder
        )

    listed = evenhand("history", "notes", folder=folder).stdout
    stored = (folder / ".evenhand" / "store.sqlite").read_bytes()
    stored += b"".join(path.read_bytes() for path in (folder / ".evenhand").glob("*-wal"))
    assert "work.md 4.00 D Very Poor" in done.stdout
    assert re.search(r"^latest +correctness +4", done.stdout, re.MULTILINE)
    assert listed.count("work.md") == 3
    assert (b"jane.doe" in stored, b"A guess" in stored) == (False, False)


def test_an_id_is_no_personal_data(folder: Path) -> None:
    """What is masked in the JSON of a judge is what is quoted; the id that was stored is found again."""
    (folder / "work.md").write_text("Adds a check. Write to jane.doe@example.com. Done.")
    command = ("judge", "-r", "rubric.yaml", "work.md", "-m", "python:stub:judge", "--subject", "notes", "--json")

    found = json.loads(evenhand(*command, folder=folder).stdout)

    stored = json.loads(evenhand("history", "notes", "--json", folder=folder).stdout)
    assert [one["evaluation"] for one in stored] == [found["evaluation"]]
    assert "jane.doe" not in json.dumps(found)


def test_the_same_text_judged_the_same_counts_once(folder: Path) -> None:
    """Under another file name as well."""
    for name in ("one.md", "two.md"):
        (folder / name).write_text("Adds a check. Done.")
        done = evenhand(
            "judge", "-r", "rubric.yaml", name, "-m", "python:stub:judge", "--subject", "notes", folder=folder
        )

    assert "no history yet" in done.stdout
    assert "the two count as one" in done.stdout


def test_a_subject_has_one_output_at_a_time(folder: Path) -> None:
    """Said before any judge is asked, and nothing is stored."""
    for name in ("one.md", "two.md"):
        (folder / name).write_text("Adds a check. Done.")
    write_answers(folder, 8, 9)
    asking = ("judge", "-r", "rubric.yaml", "one.md", "two.md", "-m", "python:stub:judge", "--subject", "notes")

    scored = evenhand("score", "-r", "rubric.yaml", "answers.json", "--subject", "notes", folder=folder)
    judged = evenhand(*asking, folder=folder)
    paired = evenhand(*(one for one in asking if one != "two.md"), "--pairwise", folder=folder)

    assert (scored.returncode, judged.returncode, paired.returncode) == (2, 2, 2)
    assert scored.stderr.startswith("--subject: an evaluation of a subject is of one output, got 2 outputs: work-8")
    assert judged.stderr.startswith("--subject: an evaluation of a subject is of one output, got 2 outputs: one.md")
    assert paired.stderr.startswith("--subject: pairs have no scores to store")
    assert not (folder / "asked").exists()
    assert not (folder / ".evenhand").exists()


def test_a_store_that_cannot_be_written_is_known_before_judges_are_asked(folder: Path) -> None:
    """What is paid for must be kept."""
    (folder / "work.md").write_text("Adds a check. Done.")
    (folder / ".evenhand").write_text("a file where the folder should be")

    done = evenhand(
        "judge", "-r", "rubric.yaml", "work.md", "-m", "python:stub:judge", "--subject", "notes", folder=folder
    )

    assert done.returncode == 2
    assert "cannot be opened" in done.stderr
    assert not (folder / "asked").exists()


def test_an_incomplete_evaluation_is_stored_and_exits_with_1(folder: Path) -> None:
    """Missing is not zero, here too."""
    write_answers(folder, 8)
    entry = json.loads((folder / "answers.json").read_text())[0]
    del entry["scores"]["safety"]
    (folder / "answers.json").write_text(json.dumps([entry]))

    done = evenhand("score", "-r", "rubric.yaml", "answers.json", "--subject", "notes", folder=folder)

    assert done.returncode == 1
    assert "stored as evaluation" in done.stdout
    assert done.stdout.count("safety missing") == 1
    assert "incomplete" in evenhand("history", "notes", folder=folder).stdout


def test_limits_hold_with_a_subject(folder: Path) -> None:
    """The exit code is that of the command without one."""
    answers = write_answers(folder, 8)

    done = evenhand("score", "-r", "rubric.yaml", answers, "--subject", "notes", "--min-grade", "A", folder=folder)

    assert done.returncode == 1
    assert "B+ is below --min-grade A" in done.stdout


def test_history_lists_and_deletes(folder: Path) -> None:
    """Without a name all that has one; --delete needs a name."""
    assert "no history yet: evenhand run" in evenhand("history", folder=folder).stderr
    evenhand("score", "-r", "rubric.yaml", write_answers(folder, 8), "--subject", "notes", folder=folder)

    listed = evenhand("history", folder=folder)
    nameless = evenhand("history", "--delete", "all", folder=folder)
    deleted = evenhand("history", "notes", "--delete", "latest", folder=folder)

    assert "notes  subject            1" in listed.stdout
    assert nameless.returncode == 2
    assert deleted.stdout.endswith("is gone\n")
    assert "no subject an evaluation" in evenhand("history", folder=folder).stdout


@pytest.mark.parametrize("columns", ["80", "160"])
def test_what_strayed_is_a_table_and_no_wall_of_text(folder: Path, columns: str) -> None:
    """Seven criteria in two evaluations: one line each, with the numbers in columns."""
    for values in (8, 8.5, 6, 3):
        evenhand("score", "-r", "rubric.yaml", write_answers(folder, values), "--subject", "notes", folder=folder)

    lines = evenhand("history", "notes", folder=folder, COLUMNS=columns).stdout.splitlines()

    start = lines.index("For review: more than 2 standard deviations from the earlier mean")
    table = [line.split() for line in lines[start + 1 :]]
    assert table[0] == ["in", "criterion", "score", "earlier", "mean", "sd", "n"]
    assert [row[1:] for row in table[1:8]] == [[id, "6", "8.25", "0.35", "2"] for id in SEVEN]
    assert [row[0] for row in table[8:]] == ["latest"] * 7
    assert f"  latest: for review: {', '.join(SEVEN[:-1])} and {SEVEN[-1]}" in "\n".join(lines).replace(",\n  ", ", ")
    assert max(map(len, lines)) <= int(columns)


def test_a_subject_is_no_run_and_the_error_says_what_shows_it(folder: Path) -> None:
    """By its name, as the latest of it, or by the id of an evaluation."""
    stored = evenhand("score", "-r", "rubric.yaml", write_answers(folder, 8), "--subject", "notes", folder=folder)
    id = stored.stdout.rpartition("stored as evaluation ")[2].strip()

    for wanted in ("notes", "latest:notes", id):
        done = evenhand("report", wanted, "--html", folder=folder)
        assert done.returncode == 2
        assert "not a run (evenhand history notes shows its evaluations; --json has their scorecards)" in done.stderr
