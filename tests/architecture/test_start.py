"""What importing costs, which names are public, and what Python can do that a command can."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import evenhand
from evenhand import __all__
from evenhand.cli.entry import COMMAND_SUMMARIES


@pytest.mark.parametrize(
    ("code", "forbidden"),
    [
        ("import evenhand", ["yaml", "click", "rich", "numpy", "evenhand.model", "typing"]),
        ("sys.argv[1:] = ['--version']; from evenhand.cli.entry import main; main()", ["click", "rich", "yaml"]),
        (
            "sys.argv[1:] = ['--help']\nfrom evenhand.cli.entry import main\ntry: main()\nexcept SystemExit: pass",
            ["click", "rich", "numpy", "yaml", "fastapi", "aiohttp", "httptools"],
        ),
        (
            "from evenhand import score, load_rubric; load_rubric('council')",
            ["click", "rich", "numpy", "aiohttp", "httptools"],
        ),
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_used(code: str, forbidden: list[str]) -> None:
    """A command line that starts at once."""
    # -S leaves out site-packages hooks that load typing on their own; the paths are set by hand.
    path = f"import sys; sys.path[:] = {sys.path!r}\n"
    script = f"{path}{code}\nprint('LOADED', *[name for name in {forbidden!r} if name in sys.modules])"

    done = subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, text=True, check=True)

    assert [line.strip() for line in done.stdout.splitlines() if line.startswith("LOADED")] == ["LOADED"]


def test_the_public_names_are_these() -> None:
    """Adding or losing a public name is a decision, not an accident."""
    assert [name for name in __all__ if getattr(evenhand, name) is None] == []
    assert set(dir(evenhand)) == {
        "Answers", "AnswersError", "Budget", "BudgetError", "BusyError", "CompareResult", "CompareTerms", "Connections",
        "Contest", "ContestError",
        "ContestResult", "Criterion", "Eval", "EvalError", "EvenhandError", "InputError", "JudgeError", "JudgeOptions",
        "JudgedSample", "Limits", "Method", "Missing", "ModelError", "ModelSettings", "OutputError", "Preferences",
        "RefusedError",
        "Review", "Rubric", "RubricError", "RunOptions", "RunResult", "Sample", "Scale", "Scorecard", "Scored",
        "Scores", "StoreError", "Submission", "Task", "__version__", "compare", "compare_runs", "judge",
        "judge_sync", "load_eval", "load_rubric", "prefer", "prefer_sync", "run", "run_contest", "run_sync", "score",
    }  # fmt: skip


def test_every_command_has_its_function_for_python() -> None:
    """docs/python.md names a workflow for each command, and each is there."""
    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (`\w+\.\w+`.*) \|$", page, re.MULTILINE))

    assert list(rows) == list(COMMAND_SUMMARIES)
    for cell in rows.values():
        module = ""
        for named in re.findall(r"`([\w.]+)`", cell):
            module = named.rpartition(".")[0] or module
            assert callable(getattr(import_module(f"evenhand.workflows.{module}"), named.rpartition(".")[2]))
