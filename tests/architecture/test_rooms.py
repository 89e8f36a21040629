"""Rooms and who may enter: a unit imports from lines below its own only, lazy imports included."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import evenhand
from evenhand import __all__
from evenhand.files.methods import list_method_names

PACKAGE = Path(evenhand.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

# From the ground up; units on one line do not know each other.
LINES = [
    ["errors", "_version"],
    ["model"],
    ["scoring", "stats", "loading"],
    ["assertions", "guards", "judging"],
    ["runs"],
    ["calibrate", "compare"],
    ["report"],
    ["contest"],
    ["api", "asking", "deciding"],
    ["auditing", "calibrating", "comparing", "contesting", "history", "planning", "reporting", "rescoring", "running"],
    ["testing"],
    ["cli", "pytest_plugin"],
    ["__init__", "__main__"],
]
LINE_OF = {unit: number for number, line in enumerate(LINES) for unit in line}
THIRD_PARTY = {
    "loading": {"yaml"},
    "scoring": {"numpy"},
    "stats": {"numpy"},
    "compare": {"numpy"},
    "calibrate": {"numpy"},
    "assertions": {"jsonschema", "rapidfuzz", "referencing", "regex"},
    "runs": {"aiohttp", "alembic", "numpy", "pyarrow", "sqlalchemy"},
    "report": {"jinja2", "pyarrow"},
    "pytest_plugin": {"pytest"},
    "judging": {"aiohttp", "wordllama", "yarl"},
    "cli": {"click", "rich"},
}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_a_unit_imports_only_from_below(file: Path) -> None:
    """What is low stays low: arithmetic never learns of files, files never of screens."""
    unit = _unit(file)

    wrong = [
        f"line {line}: {target}"
        for target, line in _own_imports(file)
        if target != unit and not LINE_OF[target] < LINE_OF[unit]
    ]

    assert wrong == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_third_party_packages_stay_in_their_room(file: Path) -> None:
    """The model needs the standard library only; NumPy is for columns, Rich for what is drawn."""
    outside = {name.split(".")[0] for name, _ in _imports(file)} - set(sys.stdlib_module_names) - {"evenhand"}

    assert outside <= THIRD_PARTY.get(_unit(file), set())


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_a_module_opens_with_its_purpose(file: Path) -> None:
    """Whoever reads only first lines learns the architecture."""
    docstring = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""

    assert len(docstring.splitlines()[0]) > 15


def test_only_the_driver_and_the_clients_wait() -> None:
    """Asking is data, sending is elsewhere: prompts, readers and dialogues are tested without a loop."""
    may_wait = {"_driver.py", "_opinion.py", "_judge.py", "_cascade.py", "_request.py"}
    pure = [
        file for file in FILES if _unit(file) == "judging" and "models" not in file.parts and file.name not in may_wait
    ]

    waiting = [
        str(file.relative_to(PACKAGE))
        for file in pure
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, (ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith))
    ]

    assert len(pure) > 30
    assert waiting == []


def test_no_arithmetic_knows_a_method_by_name() -> None:
    """The engine knows steps, never methods; "points" is also a field of a criterion, "checklist" also a dialogue."""
    names = set(list_method_names()) - {"points", "checklist"}
    rooms = [file for file in FILES if _unit(file) in ("model", "scoring", "judging", "api")]

    found = [
        (str(file.relative_to(PACKAGE)), node.value)
        for file in rooms
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in names
    ]

    assert found == []


@pytest.mark.parametrize(
    ("code", "forbidden"),
    [
        ("import evenhand", ["yaml", "click", "rich", "numpy", "evenhand.model", "typing"]),
        ("sys.argv[1:] = ['--version']; from evenhand.cli.entry import main; main()", ["click", "rich", "yaml"]),
        (
            "sys.argv[1:] = ['--help']\nfrom evenhand.cli.entry import main\ntry: main()\nexcept SystemExit: pass",
            ["rich", "numpy", "yaml", "fastapi", "aiohttp"],
        ),
        ("from evenhand import score, load_rubric; load_rubric('council')", ["click", "rich", "numpy", "aiohttp"]),
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_used(code: str, forbidden: list[str]) -> None:
    """A command line that starts at once."""
    script = f"import sys\n{code}\nprint('LOADED', *[name for name in {forbidden!r} if name in sys.modules])"

    done = subprocess.run([sys.executable, "-S", "-c", _path() + script], capture_output=True, text=True, check=True)

    assert [line.strip() for line in done.stdout.splitlines() if line.startswith("LOADED")] == ["LOADED"]


def test_the_public_names_are_these() -> None:
    """Adding or losing a public name is a decision, not an accident."""
    assert [name for name in __all__ if getattr(evenhand, name) is None] == []
    assert set(dir(evenhand)) == {
        "Answers", "AnswersError", "Budget", "BudgetError", "BusyError", "Connections", "Contest", "ContestError",
        "Criterion", "Eval", "EvalError", "EvenhandError", "How", "InputError", "JudgeError", "Judged", "Limits",
        "Method", "Missing", "ModelError", "Options", "OutputError", "Played", "Preferred", "Ran", "RefusedError",
        "Review", "Rubric", "RubricError", "Sample", "Scale", "Scorecard", "Scored", "Scores", "Settings", "StoreError",
        "Submission", "Task", "__version__", "compare_runs", "judge", "load_eval", "load_rubric",
        "prefer", "run", "run_contest", "score",
    }  # fmt: skip


def _path() -> str:
    # -S leaves out site-packages hooks that load typing on their own; the paths are set by hand.
    return f"import sys; sys.path[:] = {sys.path!r}\n"


def _unit(file: Path) -> str:
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _imports(file: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: imports are written in full"
            yield node.module or "", node.lineno


def _own_imports(file: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "evenhand":
            yield from ((alias.name, node.lineno) for alias in node.names)
    for name, line in _imports(file):
        parts = name.split(".")
        if parts[0] == "evenhand" and len(parts) > 1:
            yield parts[1], line
