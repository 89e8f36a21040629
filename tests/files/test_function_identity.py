"""The version of a function: another one wherever its outputs may be others, and the same in every process."""

import functools
import json
import subprocess
import sys
from collections.abc import Callable
from os import environ
from pathlib import Path

import pytest

from evenhand.files.python_functions import hash_python_function, hash_python_module_file, name_python_function

PROMPT = "Answer briefly."


def shorten(text: str) -> str:
    return text[:80]


def answer(sample: dict[str, str]) -> str:
    return shorten(PROMPT + json.dumps(sample))


def make_closure(prompt: str) -> Callable[[str], str]:
    return lambda text: prompt + text


class Bot:
    def __init__(self, prompt: str) -> None:
        self.prompt = prompt

    def __call__(self, text: str) -> str:
        return self.prompt + text


def test_a_function_has_the_same_version_each_time() -> None:
    """Else nothing could ever be resumed."""
    assert hash_python_function(answer) == hash_python_function(answer)
    assert hash_python_function(Bot("a")) == hash_python_function(Bot("a"))
    assert hash_python_function(make_closure("a")) == hash_python_function(make_closure("a"))


@pytest.mark.parametrize(("name", "value"), [("PROMPT", "Answer at length."), ("shorten", lambda text: text)])
def test_what_a_function_uses_is_part_of_its_version(name: str, value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """A prompt is seldom written inside the function that sends it."""
    before = hash_python_function(answer)

    monkeypatch.setitem(globals(), name, value)

    assert hash_python_function(answer) != before


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (make_closure("a"), make_closure("b")),
        (Bot("a"), Bot("b")),
        (Bot("a").__call__, Bot("b").__call__),
        (functools.partial(answer, {"a": "1"}), functools.partial(answer, {"a": "2"})),
        (lambda text: text.upper(), lambda text: text.lower()),
        (lambda text, most=1: text[:most], lambda text, most=2: text[:most]),
    ],
)
def test_another_behavior_is_another_version(one: object, other: object) -> None:
    """By what they close over, hold, have bound, say or default to."""
    assert hash_python_function(one) != hash_python_function(other)


def test_the_environment_is_no_part_of_a_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """It differs from shell to shell, and holds secrets."""

    def read_key(_: str) -> str:
        return environ.get("HOUSE_KEY", "")

    before = hash_python_function(read_key)
    monkeypatch.setenv("HOUSE_KEY", "another")

    assert hash_python_function(read_key) == before


def test_a_stated_version_counts_alone() -> None:
    """For what cannot be seen from the code, such as a model behind a server."""
    one, other = Bot("a"), Bot("b")
    one.version = other.version = "2026-11"  # type: ignore[attr-defined]

    assert hash_python_function(one) == hash_python_function(other) == "stated 2026-11"


def test_the_version_does_not_depend_on_the_process() -> None:
    """Sets and hashes of texts have another order in each."""
    code = (
        "from evenhand.files.python_functions import hash_python_function\n"
        "WORDS = {'a', 'b', 'c', 'd'}\n"
        "def f(text): return text in WORDS or text in {'x', 'y', 'z'}\n"
        "print(hash_python_function(f))"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(2)]

    assert runs[0].stdout == runs[1].stdout


def test_a_name_says_where_a_function_is() -> None:
    """A lambda has no name of its own: its line is one."""
    here = __name__

    assert name_python_function(answer) == f"{here}:answer"
    assert name_python_function(Bot("a")) == f"{here}:Bot"
    assert name_python_function(Bot("a").__call__) == f"{here}:Bot.__call__"
    assert name_python_function(make_closure("a")).startswith(
        f"{here}:make_closure.<lambda> in {Path(__file__).name}, line "
    )
    assert name_python_function(functools.partial(answer)) == f"{here}:answer"
    assert name_python_function(str.upper) == "builtins:str.upper"


def test_a_module_is_versioned_by_its_file_and_not_imported(tmp_path: Path) -> None:
    """An eval file is read before anything of it may run."""
    (tmp_path / "pack").mkdir()
    bot = tmp_path / "pack" / "bot.py"
    bot.write_text("raise SystemExit('imported')")
    before = hash_python_module_file("pack.bot", tmp_path)

    bot.write_text("raise SystemExit('imported again')")

    assert "" != before != hash_python_module_file("pack.bot", tmp_path)
    assert (
        hash_python_module_file("pack.missing", tmp_path) == hash_python_module_file("no_such_module", tmp_path) == ""
    )
