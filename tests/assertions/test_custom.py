"""Checks of the user's own: real functions, real processes."""

import os
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from evenhand.assertions.assertion import Assertion, check_assertion
from evenhand.assertions.custom import run_custom_assertion
from evenhand.assertions.rule_inputs import AssertionMeasurement
from evenhand.model.sample import ToolCall
from tests.assertions.builders import facts, one

CHECKS = """
import threading

def polite(told):
    return "please" in told["output"]

def told(told):
    return {"passed": True, "found": repr(sorted(told.items()))}

def place(told):
    return {"passed": False, "found": "a curse", "where": [2, 6]}

def worded(told):
    return {"passed": False, "found": "a curse", "where": "in the second line"}

def unsure(told):
    return {"passed": None, "why": "the dictionary is not there"}

def silent(told):
    return {"passed": None, "why": " "}

def leaking(told):
    raise ValueError("the key 0123456789abcdef is refused")

def cut_off(told):
    return {"passed": False, "found": "x" * 290 + " 0123456789abcdef"}

def telling(told):
    return {"passed": False, "found": "0123456789abcdef", "where": "beside 0123456789abcdef"}

def raising(told):
    raise ValueError("no such thing")

def leaving(told):
    raise SystemExit(3)

def odd(told):
    return 0.7

def odder(told):
    return {"passed": "yes"}

async def late(told):
    return True

def endless(told):
    threading.Event().wait()

class Group:
    @staticmethod
    def inner(told):
        return True

NOT_ONE = 5
"""


@pytest.fixture
def checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module in the working directory, under a name of its own so that tests do not see each other's."""
    name = f"checks_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(CHECKS, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return name


@pytest.mark.parametrize(
    ("function", "measured"),
    [
        ("polite", AssertionMeasurement(passed=True)),
        ("place", AssertionMeasurement(passed=False, found="a curse", span=(2, 6))),
        ("worded", AssertionMeasurement(passed=False, found="a curse (in the second line)")),
        ("Group.inner", AssertionMeasurement(passed=True)),
        ("unsure", AssertionMeasurement(why="the dictionary is not there")),
        ("silent", AssertionMeasurement(why="{name} returned no answer")),
        ("raising", AssertionMeasurement(why="{name} raised ValueError: no such thing")),
        ("leaving", AssertionMeasurement(why="{name} raised SystemExit: 3")),
        ("odd", AssertionMeasurement(why="{name} returned 0.7, not true, false or an object with passed")),
        ("odder", AssertionMeasurement(why="{name} returned passed: 'yes', not true or false")),
        ("late", AssertionMeasurement(why="{name} returned a coroutine: write a plain function")),
        ("NOT_ONE", AssertionMeasurement(why="{name} raised TypeError: NOT_ONE is not a function")),
        (
            "nobody",
            AssertionMeasurement(why="{name} raised AttributeError: module '{module}' has no attribute 'nobody'"),
        ),
        ("endless", AssertionMeasurement(why="{name} gave no answer within 0.2 s")),
    ],
)
def test_a_function_answers_or_it_is_said_why_not(checks: str, function: str, measured: AssertionMeasurement) -> None:
    """Whatever it does, it ends in a measurement, and a failure is never a verdict."""
    name = f"python:{checks}:{function}"

    result = run_custom_assertion(_leaf(name), facts("please do"), seconds=0.2 if function == "endless" else 30)

    why = measured.why.format(name=name, module=checks)
    assert result == AssertionMeasurement(passed=measured.passed, found=measured.found, span=measured.span, why=why)


def test_a_function_is_told_everything(checks: str) -> None:
    """As plain data."""
    given = facts(
        "out", input="in", reference="r", context="c", cost=Decimal("0.5"), turns=2, trace=(ToolCall("t", {"a": 1}),)
    )

    result = run_custom_assertion(_leaf(f"python:{checks}:told"), given)

    assert result.found == repr(
        sorted(
            {
                "output": "out", "input": "in", "reference": "r", "context": "c", "cost": 0.5, "latency_ms": None,
                "turns": 2, "trace": [{"name": "t", "input": {"a": 1}, "output": None}],
            }.items()
        )
    )  # fmt: skip


@pytest.mark.parametrize(
    ("script", "measured"),
    [
        ("exit 0", AssertionMeasurement(passed=True)),
        ("exit 1", AssertionMeasurement(passed=False)),
        ("echo 2 curses; exit 1", AssertionMeasurement(passed=False, found="2 curses")),
        ("echo true", AssertionMeasurement(passed=True)),
        ("echo false", AssertionMeasurement(passed=False)),
        (
            'echo \'{"passed": false, "found": "x", "where": [0, 1]}\'',
            AssertionMeasurement(passed=False, found="x", span=(0, 1)),
        ),
        ("echo '{\"passed\": false}'; exit 1", AssertionMeasurement(passed=False)),
        ("grep -q please", AssertionMeasurement(passed=True)),
        ("grep -q thanks", AssertionMeasurement(passed=False)),
        ("echo true; exit 1", AssertionMeasurement(why="sh printed that it passes and ended with exit code 1")),
        ("echo oops >&2; exit 1", AssertionMeasurement(why="sh ended with exit code 1: oops")),
        ("echo one >&2; echo two >&2; exit 2", AssertionMeasurement(why="sh ended with exit code 2: two")),
        ("kill -9 $$", AssertionMeasurement(why="sh ended with exit code -9")),
        (
            "echo '{\"verdict\": 1}'",
            AssertionMeasurement(why="sh printed {'verdict': 1}, not true, false or an object with passed"),
        ),
        ("yes", AssertionMeasurement(why="sh printed more than 1,000,000 bytes")),
    ],
)
def test_a_command_answers_or_it_is_said_why_not(script: str, measured: AssertionMeasurement) -> None:
    """By exit code or on standard output; a crash is not a verdict."""
    result = run_custom_assertion(_leaf({"command": ["sh", "-c", script]}), facts("please do"))

    assert result == measured


@pytest.mark.parametrize("function", ["leaking", "telling", "cut_off"])
def test_no_word_of_a_function_carries_a_key(checks: str, function: str) -> None:
    """Hidden before a long text is cut: half a key is a part of it too."""
    result = run_custom_assertion(_leaf(f"python:{checks}:{function}"), facts(""), hide=_without_key)

    assert "0123" not in result.found + result.why
    assert "[" in result.found + result.why


@pytest.mark.parametrize(
    ("script", "measured"),
    [
        ("echo the key 0123456789abcdef; exit 1", AssertionMeasurement(passed=False, found="the key [hidden]")),
        ("echo 0123456789abcdef >&2; exit 3", AssertionMeasurement(why="sh ended with exit code 3: [hidden]")),
        (
            'echo \'{"passed": null, "why": "0123456789abcdef is refused"}\'',
            AssertionMeasurement(why="[hidden] is refused"),
        ),
        (
            "echo '{\"0123456789abcdef\": 1}'",
            AssertionMeasurement(why="sh printed {'[hidden]': 1}, not true, false or an object with passed"),
        ),
    ],
)
def test_no_word_of_a_command_carries_a_key(script: str, measured: AssertionMeasurement) -> None:
    """Whichever way it gets out."""
    result = run_custom_assertion(_leaf({"command": ["sh", "-c", script]}), facts(""), hide=_without_key)

    assert result == measured


def test_a_command_that_is_not_there_is_not_answered() -> None:
    """With the reason of the system."""
    result = run_custom_assertion(_leaf({"command": ["./no-such-check"]}), facts(""))

    assert result.passed is None
    assert "./no-such-check cannot be run" in result.why


def test_a_command_is_no_shell_line() -> None:
    """What an argument holds is never obeyed."""
    code = (
        "import json, sys; print(json.dumps({'passed': True, 'found': sys.argv[1] + json.load(sys.stdin)['output']}))"
    )

    result = run_custom_assertion(_leaf({"command": [sys.executable, "-c", code, "$(id); "]}), facts("ü\ud800"))

    assert result.found == "$(id); ü�"


def test_a_large_output_reaches_a_command_that_does_not_read() -> None:
    """A full pipe holds nobody up."""
    result = run_custom_assertion(_leaf({"command": ["true"]}), facts("x" * 1_000_000))

    assert result == AssertionMeasurement(passed=True)


def test_time_runs_out_for_the_whole_process_group(tmp_path: Path) -> None:
    """The pipe ends only when the last process that holds it is gone: the child of the command too."""
    fifo = tmp_path / "held"
    os.mkfifo(fifo)
    reading = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    script = f"exec 9>{fifo}; echo started >&9; sleep 600 & wait"

    result = run_custom_assertion(_leaf({"command": ["sh", "-c", script]}), facts(""), seconds=1)

    os.set_blocking(reading, True)
    assert result == AssertionMeasurement(why="sh gave no answer within 1 s")
    assert os.read(reading, 100) == b"started\n"
    assert os.read(reading, 100) == b""
    os.close(reading)


def test_what_a_command_leaves_running_ends_with_it(tmp_path: Path) -> None:
    """A child in the background neither outlives the check nor holds it up."""
    fifo = tmp_path / "held"
    os.mkfifo(fifo)
    reading = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)

    result = run_custom_assertion(_leaf({"command": ["sh", "-c", f"exec 9>{fifo}; sleep 600 & exit 0"]}), facts(""))

    os.set_blocking(reading, True)
    assert result == AssertionMeasurement(passed=True)
    assert os.read(reading, 100) == b""
    os.close(reading)


def test_a_measurement_becomes_a_finding() -> None:
    """With its place in the output."""
    leaf = _leaf("python:checks:place")

    result = check_assertion(
        leaf, facts("ab cd"), {leaf: AssertionMeasurement(passed=False, found="a curse", span=(0, 2))}
    )

    assert (result.passed, result.found, result.start, result.end) == (False, "a curse", 0, 2)


def _leaf(custom: object) -> Assertion:
    leaf = one({"custom": custom})
    assert isinstance(leaf, Assertion)
    return leaf


def _without_key(text: str) -> str:
    return text.replace("0123456789abcdef", "[hidden]")
