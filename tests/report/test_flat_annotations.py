"""Annotations of GitHub Actions: few, for what failed, and no text gives a command of its own."""

import re
from collections import Counter
from typing import Any

import pytest

from evenhand.report.ci_reports import render_github_report_annotations, render_github_report_command
from tests.report.example import head, hostile_head, hostile_samples, samples
from tests.report.texts import hostile, with_text

COMMAND = re.compile(r"::(error|warning|notice) title=([^:,\r\n]*)::([^\r\n]*)")


def told(whole: dict[str, Any], some: Any) -> list[str]:
    return list(render_github_report_annotations(whole, some))


@pytest.mark.parametrize(
    ("verdict", "exit_code", "level"),
    [
        ("PROGRESS", 0, "notice"),
        ("SOLO", 0, "notice"),
        ("SOLO", 1, "error"),
        ("REGRESS", 1, "error"),
        ("CAUTIOUS", 1, "warning"),
        ("NOISE", 1, "warning"),
        ("NOISE", 0, "notice"),
        ("UNDERPOWERED", 1, "warning"),
    ],
)
def test_the_verdict_comes_first_and_as_loud_as_it_is(verdict: str, exit_code: int, level: str) -> None:
    """Worse is an error; not known to be better is a warning; good is a note."""
    decision = {**head()["decision"], "verdict": verdict, "exit_code": exit_code}

    first = told({**head(), "decision": decision}, [])[0]

    assert first.startswith(f"::{level} title=Evenhand%3A {verdict}::new is better than old")


def test_failures_and_failed_checks_of_the_treatment_are_told() -> None:
    """What the control always did is no news, and a sample that passed is none either."""
    lines = told(head(), samples())

    why = "the command ended with code 1: connection reset by peer"
    assert f"::error title=old%3A 1 output failed::{why} (first in sample q-011)" in lines
    assert [line for line in lines if line.startswith("::warning title=old")] == []
    assert any(line.startswith("::warning title=new%3A q-023::assertion failed: contains refund") for line in lines)
    assert not any("q-001" in line for line in lines)


def test_a_gate_of_the_treatment_that_was_not_passed_is_an_error() -> None:
    """Measured too low, or not measured."""
    gates = {
        "old": [{"gate": "fact", "min": 3.5, "mean": 2.0, "passed": False}],
        "new": [
            {"gate": "fact", "min": 3.5, "mean": 3.0, "passed": False},
            {"gate": "near", "min": 3.5, "mean": 3.49996, "passed": False},
            {"gate": "judge", "min": 3.5, "mean": None, "passed": None},
            {"gate": "behavior", "min": 3.5, "mean": 4.0, "passed": True},
        ],
    }

    lines = told({**head(failures=[]), "decision": {**head()["decision"], "gates": gates}}, [])

    assert lines[1:] == [
        "::error title=new%3A gate fact::the mean is 3.00, the gate is 3.50",
        "::error title=new%3A gate near::the mean is 3.49996, the gate is 3.50",
        "::error title=new%3A gate rubric layer::nothing was measured, the gate is 3.50",
    ]


def test_a_command_is_escaped_by_the_rules_of_the_runner() -> None:
    """What stands there as %0A was %0A before, and no line break."""
    assert render_github_report_command("error", "a,b:c%", "100 %0A,:\n::error::x") == (
        "::error title=a%2Cb%3Ac%25::100 %250A,: ::error::x"
    )


def test_there_are_at_most_ten_of_a_level() -> None:
    """GitHub drops the rest anyway."""
    whole = head(failures=head()["failures"] * 20)
    failing = [one for one in samples() if one["id"] == "q-023"] * 30

    levels = Counter(re.findall(r"^::(\w+)", "\n".join(told(whole, failing)), re.MULTILINE))

    assert levels == {"notice": 1, "error": 10, "warning": 10}


@hostile
def test_every_annotation_is_one_command_on_one_line(text: str) -> None:
    """Nothing in a text ends the line, the title or the command."""
    lines = told(*with_text(text))

    assert lines
    for line in lines:
        assert COMMAND.fullmatch(line)
        assert len(line.splitlines()) == 1
        assert not re.search(r"%(?!25|0A|0D|3A|2C)", line)


def test_hostile_samples_do_nothing() -> None:
    """The texts that are also tried in a browser."""
    lines = told(hostile_head(), hostile_samples())

    assert [line for line in lines if not COMMAND.fullmatch(line)] == []
