"""Checks of the user's own: a Python function or a command that says whether an output passes."""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from shutil import which

from evenhand.assertions._assertion import Assertion
from evenhand.assertions._command import Ended, run_command
from evenhand.assertions._facts import Facts, Measured, Span
from evenhand.assertions._shown import cut
from evenhand.errors import InputError

Function = Callable[[dict[str, object]], object]
Hide = Callable[[str], str]

HERE = Path()


def unknown_custom(leaf: Assertion, folder: Path = HERE) -> str:
    """Why the function or the command of a `custom` assertion cannot be run; empty where it can."""
    arguments = dict(leaf.arguments)
    command, function = arguments.get("command"), arguments.get("function")
    if isinstance(command, tuple):
        program = str(command[0])
        there = (folder / program).is_file() if "/" in program else which(program) is not None
        return "" if there else f"no program is called {program!r}"
    try:
        _function(str(function), folder)
    except (Exception, SystemExit) as problem:
        return cut(f"{function} cannot be loaded: {type(problem).__name__}: {problem}")
    return ""


def run_custom(leaf: Assertion, facts: Facts, seconds: float = 30, folder: Path = HERE, hide: Hide = str) -> Measured:
    """What the function or the command of a `custom` assertion says; whatever it does, it ends in a measurement.

    Both are looked for from `folder`, and a command runs there. `hide` takes out of their words what nobody may read.
    """
    said = _said(leaf, _told(facts), seconds, folder)
    # Hidden before it is cut: half a key would not be known for one.
    return replace(said, found=cut(hide(said.found)), why=cut(hide(said.why)))


def _said(leaf: Assertion, told: dict[str, object], seconds: float, folder: Path) -> Measured:
    arguments = dict(leaf.arguments)
    match arguments.get("command"), arguments.get("function"):
        case tuple(command), _:
            return _of_command(command, told, seconds, folder)
        case _, str(function):
            return _of_function(function, told, seconds, folder)
    raise InputError(f"{leaf.kind} has no function and no command to run")


def _told(facts: Facts) -> dict[str, object]:
    """What a check of the user's own gets to see, as plain data."""
    made = facts.made
    calls = [{"name": call.name, "input": call.input, "output": call.output} for call in made.trace or ()]
    return {
        "output": made.text,
        "input": facts.input,
        "reference": facts.reference,
        "context": facts.context,
        "trace": None if made.trace is None else calls,
        "cost": None if made.cost is None else float(made.cost),
        "latency_ms": made.latency_ms,
        "turns": made.turns,
    }


def _of_function(name: str, told: dict[str, object], seconds: float, folder: Path) -> Measured:
    answers: list[Measured] = []

    def run() -> None:
        try:
            answers.append(_answer(_function(name, folder)(told), told, f"{name} returned"))
        except BaseException as problem:  # Whoever leaves a thread does not leave the process.
            answers.append(Measured(why=f"{name} raised {type(problem).__name__}: {problem}"))

    # A daemon: one that never returns keeps no process alive.
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    return answers[0] if answers else Measured(why=f"{name} gave no answer within {seconds:g} s")


def _function(name: str, folder: Path) -> Function:
    """The function of that name, looked for from the folder."""
    here = str(folder.resolve())
    if here not in sys.path:
        sys.path.insert(0, here)  # As `python -m` does; the function may import its neighbours later.
    _, module, path = name.split(":")
    thing: object = importlib.import_module(module)
    for part in path.split("."):
        thing = getattr(thing, part)
    if not callable(thing):
        raise TypeError(f"{path} is not a function")
    return thing


def _of_command(command: tuple[str, ...], told: dict[str, object], seconds: float, folder: Path) -> Measured:
    try:
        ended = run_command(command, json.dumps(told, default=str).encode(), seconds, folder)
    except (OSError, ValueError, RecursionError) as problem:
        return Measured(why=f"{command[0]} cannot be run: {problem}")
    if ended.cut_short:
        return Measured(why=f"{command[0]} {ended.cut_short}")
    said = ended.stdout.decode("utf-8", "replace").strip()
    answer = _printed(said)
    # A script that crashes ends with 1 as well, but has something to say about it.
    if ended.code not in (0, 1) or (ended.code == 1 and answer is None and ended.stderr.strip()):
        return Measured(why=f"{command[0]} ended with exit code {ended.code}{_complaint(ended)}")
    if answer is None:
        return Measured(passed=ended.code == 0, found=said)
    read = _answer(answer, told, f"{command[0]} printed")
    if ended.code == 1 and read.passed:
        return Measured(why=f"{command[0]} printed that it passes and ended with exit code 1")
    return read


def _printed(said: str) -> object:
    """The answer on standard output, where there is one; any other text is only what was found."""
    try:
        value = json.loads(said)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (bool, dict)) else None


def _complaint(ended: Ended) -> str:
    lines = ended.stderr.decode("utf-8", "replace").strip().splitlines()
    return f": {lines[-1]}" if lines else ""


def _answer(answer: object, told: Mapping[str, object], who: str) -> Measured:
    """The measurement that an answer means: true, false, or {passed, found, where, why}."""
    if inspect.iscoroutine(answer):
        answer.close()
        return Measured(why=f"{who} a coroutine: write a plain function")
    if isinstance(answer, bool):
        return Measured(passed=answer)
    if not isinstance(answer, Mapping) or "passed" not in answer:
        return Measured(why=f"{who} {answer!r}, not true, false or an object with passed")
    passed = answer["passed"]
    if passed is None:
        return Measured(why=str(answer.get("why") or "").strip() or f"{who} no answer")
    if not isinstance(passed, bool):
        return Measured(why=f"{who} passed: {passed!r}, not true or false")
    span = _span(answer.get("where"), len(str(told["output"])))
    where = answer.get("where")
    shown_where = f" ({where})" if where is not None and span is None else ""
    return Measured(passed=passed, found=f"{answer.get('found') or ''}{shown_where}", span=span)


def _span(where: object, length: int) -> Span | None:
    """A place in the output, where two whole numbers say one."""
    match where:
        case [int(start), int(end)] if 0 <= start < end <= length:
            return start, end
    return None
