"""One report for the session: nothing unless asked for, the same with one process or with several."""

import csv
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.pytest_plugin.inner import HEAD, STRICT, ran

pytest_plugins = ["pytester"]

TESTS = """
def test_good(evenhand):
    evenhand(ANSWER, rubric=POLITE, judges=BOTH, input="Write to jane.doe@example.com?")

def test_low(evenhand):
    evenhand(ANSWER, rubric=SOFT, judges=NONE)

def test_below(evenhand):
    evenhand(ANSWER, rubric=GRADED, judges=EIGHTS, min_score=9)

def test_open(evenhand):
    evenhand(ANSWER, rubric=POLITE, judges=NONE)

def test_plain():
    pass
"""

KILLED = """
import os

def test_killed(evenhand):
    evenhand(ANSWER, rubric=POLITE, judges=BOTH)
    os._exit(9)
"""


def test_where_nothing_is_scored_nothing_is_said(pytester: pytest.Pytester) -> None:
    """A plugin that is installed and not used does not show."""
    done = ran(pytester, "def test_plain():\n    pass\n")

    done.assert_outcomes(passed=1)
    assert "=== evenhand ===" not in done.stdout.str()


def test_the_end_of_a_session_sums_up_and_names_the_lowest(pytester: pytest.Pytester) -> None:
    """What has no score comes first, and is in no mean; nothing is written."""
    before = sorted(pytester.path.iterdir())

    done = ran(pytester, TESTS)

    done.stdout.fnmatch_lines(
        [
            "*= evenhand =*",
            "4 outputs in 4 tests: 1 passed, 3 fell short (1 of them without a score)",
            "mean composite 3.37 of 1–5, over 3 outputs",
            "     –  test_shop.py::test_open: no score: short: abstained: nothing was scripted",
            "  1.00  test_shop.py::test_low: the verdict is fail",
            "  4.11  test_shop.py::test_below: score 8 is below 9",
        ],
        consecutive=True,
    )
    written = {path.name for path in pytester.path.iterdir()} - {path.name for path in before}
    assert written - {"__pycache__"} == {"test_shop.py"}


def test_the_summary_gives_nobody_away(pytester: pytest.Pytester) -> None:
    """An assertion may be named after what it looks for."""
    done = ran(
        pytester, "def test_to(evenhand):\n    evenhand(ANSWER, assertions=[{'contains': 'jane.doe@example.com'}])\n"
    )

    section = done.stdout.str().partition("= evenhand =")[2].partition("= short test summary info =")[0]
    assert "test_shop.py::test_to: assertion failed: contains '[" in section
    assert "jane.doe" not in section


def test_the_report_is_a_run_whose_samples_are_tests(pytester: pytest.Pytester) -> None:
    """Every test that scored is in it, also those that failed; what a test asks for is a gate."""
    done = ran(pytester, TESTS, "--evenhand-report", "out/report.json")

    report = json.loads(Path("out/report.json").read_text("utf-8"))
    assert report["run"]["name"] == "pytest"
    assert report["decision"]["headline"] == "1 of 4 outputs reach what their tests ask for."
    assert report["decision"]["exit_code"] == 1
    assert [(one["id"], one["results"][0]["state"]) for one in report["samples"]] == [
        ("test_shop.py::test_below", "scored"),
        ("test_shop.py::test_good", "scored"),
        ("test_shop.py::test_low", "scored"),
        ("test_shop.py::test_open", "incomplete"),
    ]
    below = report["samples"][0]["results"][0]
    assert below["scorecard"]["gates_failed"] == ["score 8 is below 9"]
    assert json.loads(below["calls"][0]["reply"])["criteria"]["safety"]["score"] == 8
    assert [one["judge"] for one in report["samples"][1]["results"][0]["calls"]] == ["scripted"]
    done.stdout.fnmatch_lines(["report: out/report.json"])


@pytest.mark.parametrize("ending", ["html", "md", "xml", "csv"])
def test_the_ending_of_the_file_is_the_format(pytester: pytest.Pytester, ending: str) -> None:
    """As `evenhand report -o` has it; personal data is masked in each."""
    ran(pytester, TESTS, f"--evenhand-report=report.{ending}")

    text = Path(f"report.{ending}").read_text("utf-8")
    assert "test_below" in text.replace("\\", "")
    assert "jane.doe" not in text
    if ending == "html":
        assert text.startswith("<!doctype html>")
    if ending == "csv":
        assert {row["state"] for row in csv.DictReader(text.splitlines())} == {"scored", "incomplete"}
    if ending == "xml":
        cases = {one.get("name"): one for one in ElementTree.fromstring(text).iter("testcase")}
        assert cases["test_shop.py::test_below"].find("failure") is not None
        assert cases["test_shop.py::test_open"].find("error") is not None
        assert len(cases["test_shop.py::test_good"].findall("*")) == 1


def test_a_project_can_ask_for_the_report_once_for_all(pytester: pytest.Pytester) -> None:
    """In its ini file, from the root folder; the option goes before it."""
    pytester.makeini("[pytest]\nevenhand_report = reports/answers.md\n")
    inner = pytester.mkdir("inner")

    ran(pytester, TESTS, "--rootdir", str(pytester.path))
    ran(pytester, TESTS, "--evenhand-report", str(inner / "answers.csv"))

    assert sorted(path.name for path in pytester.path.rglob("answers.*")) == ["answers.csv", "answers.md"]


def test_an_ending_that_is_no_format_is_refused_before_any_test(pytester: pytest.Pytester) -> None:
    """Not after the judges were paid."""
    done = ran(pytester, TESTS, "--evenhand-report=report.pdf")

    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(
        ["ERROR: the evenhand report 'report.pdf' must end in one of .html, .md, .xml, .json, .csv"]
    )


def test_a_report_that_cannot_be_written_fails_the_session(pytester: pytest.Pytester) -> None:
    """It was asked for: a build must not go on without it."""
    pytester.mkdir("report.html")

    done = ran(
        pytester,
        "def test_good(evenhand):\n    evenhand(ANSWER, rubric=POLITE, judges=BOTH)\n",
        "--evenhand-report=report.html",
    )

    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.stdout.fnmatch_lines(["the report cannot be written: *report.html*", "*1 passed*"])


def test_a_report_without_outputs_is_not_written_and_that_is_said(pytester: pytest.Pytester) -> None:
    """An empty one would read as if all were well."""
    done = ran(pytester, "def test_plain():\n    pass\n", "--evenhand-report=report.html")

    assert done.ret == 0
    assert not Path("report.html").exists()
    done.stdout.fnmatch_lines(["no output was scored: report.html is not written"])


def test_variants_of_a_test_share_a_sample_where_they_were_asked_the_same(pytester: pytest.Pytester) -> None:
    """Side by side in the report; the same variant again, or another input, is another sample."""
    ran(
        pytester,
        """
def test_answer(evenhand):
    for question in ("Where?", "When?"):
        for variant in ("old", "new"):
            evenhand(f"{variant} {question}", input=question, variant=variant, assertions=[{"contains": variant}])
    evenhand("again", input="When?", variant="new", assertions=[{"contains": "again"}])
    evenhand("third", input="Who?", variant="third", assertions=[{"contains": "third"}])
""",
        "--evenhand-report=report.json",
    )

    samples = json.loads(Path("report.json").read_text("utf-8"))["samples"]
    assert [(one["id"], one["input"], sorted(result["variant"] for result in one["results"])) for one in samples] == [
        ("test_shop.py::test_answer", "Where?", ["new", "old"]),
        ("test_shop.py::test_answer #2", "When?", ["new", "old"]),
        ("test_shop.py::test_answer #3", "When?", ["new"]),
        ("test_shop.py::test_answer #4", "Who?", ["third"]),
    ]


def test_each_sample_shows_the_reply_that_its_own_test_got(pytester: pytest.Pytester) -> None:
    """The same question to judges of one name, scripted otherwise."""
    ran(
        pytester,
        """
@pytest.mark.parametrize("judge", [BOTH, ONE], ids=["both", "one"])
def test_answer(evenhand, judge):
    evenhand(ANSWER, rubric=POLITE, judges=judge)
""",
        "--evenhand-report=report.json",
    )

    samples = json.loads(Path("report.json").read_text("utf-8"))["samples"]
    replies = {one["id"]: json.loads(one["results"][0]["calls"][0]["reply"]) for one in samples}
    assert {id: reply["criteria"]["short"]["answer"] for id, reply in replies.items()} == {
        "test_shop.py::test_answer[both]": "yes",
        "test_shop.py::test_answer[one]": "no",
    }


def test_processes_write_one_report_and_a_killed_one_loses_only_its_own_test(pytester: pytest.Pytester) -> None:
    """What was scored travels with the report of each test, so it is safe once that test has ended."""
    alone = ran(pytester, TESTS, "--evenhand-report=alone.json")
    pytester.makepyfile(test_shop=HEAD + TESTS + KILLED)

    others = ("-p", "no:schemathesis", "-p", "no:hypothesispytest")  # Seconds to load in each of the processes.
    done = pytester.runpytest_subprocess(*STRICT, *others, "-n", "2", "--evenhand-report=several.json")

    assert (alone.ret, done.ret) == (1, 1)
    assert _lasting(Path("several.json")) == _lasting(Path("alone.json"))
    done.stdout.fnmatch_lines(["4 outputs in 4 tests: 1 passed, 3 fell short (1 of them without a score)"])


def test_no_other_keeper_of_test_reports_gets_the_outputs(pytester: pytest.Pytester) -> None:
    """Logs and JUnit files of pytest itself would keep them unmasked."""
    pytester.makeconftest(
        """
        def pytest_runtest_logreport(report):
            assert not hasattr(report, "evenhand_scored")
        """
    )

    done = ran(pytester, TESTS, "--junit-xml=junit.xml", "-o", "junit_logging=all")

    done.assert_outcomes(passed=2, failed=3)
    assert "jane.doe" not in Path("junit.xml").read_text("utf-8")


def _lasting(path: Path) -> dict[str, Any]:
    """A report without what is another each time: its id and its times."""
    report: dict[str, Any] = json.loads(path.read_text("utf-8"))
    for name in ("id", "started", "ended", "seconds"):
        del report["run"][name]
    report["judges"] = [{**one, "seconds": None} for one in report["judges"]]
    for sample in report["samples"]:
        for result in sample["results"]:
            result["calls"] = [{**one, "seconds": None} for one in result["calls"]]
    return report


@pytest.mark.parametrize("ending", ["json", "html", "csv", "md", "xml"])
def test_the_report_repeats_no_key_that_a_test_knew(pytester: pytest.Pytester, ending: str) -> None:
    """Wherever it stood in the sample, and also if only the test itself has set the variable."""
    ran(
        pytester,
        """
        def test_key(evenhand, monkeypatch):
            monkeypatch.setenv("MY_TOKEN", KEY)
            texts = {name: f"{name} {KEY}" for name in ("input", "context", "reference")}
            evenhand(f"output {KEY}", assertions=[{"contains": "zzz"}], rubric=POLITE, judges=BOTH, **texts)
        """.replace("\n        ", "\n")
        .replace("KEY", "'tok-Canary-22'")
        .replace("{'tok-Canary-22'}", "tok-Canary-22"),
        f"--evenhand-report=report.{ending}",
    )

    report = (pytester.path / f"report.{ending}").read_text("utf-8")
    assert "shop" in report
    assert "Canary" not in report
