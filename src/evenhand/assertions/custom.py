"""Custom assertions: the user's own Python function or command, run within limits of time and output."""

from __future__ import annotations

import inspect
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import which
from time import monotonic
from typing import IO

from evenhand.assertions.assertion import AnyAssertion, Assertion, list_outside_assertions
from evenhand.assertions.rule_inputs import AssertionFacts, AssertionMeasurement
from evenhand.errors import EvalError, Fault, InputError
from evenhand.files.python_functions import build_program_environment, import_by_python_path
from evenhand.wording import shorten_text_to_line

CustomFunction = Callable[[dict[str, object]], object]
HideSecrets = Callable[[str], str]

CURRENT_FOLDER = Path()
NO_VARIABLES: Mapping[str, str] = {}


def refuse_unrunnable_assertions(assertions: Iterable[AnyAssertion], folder: Path, hide: HideSecrets) -> None:
    """An EvalError with the own checks that cannot be run: each would fail on every output, once all are paid for."""
    found = (
        _explain_unrunnable_assertion(leaf, folder)
        for leaf in list_outside_assertions(assertions)
        if leaf.kind == "custom"
    )
    if faults := [Fault(shorten_text_to_line(hide(why)), where="assertions") for why in found if why]:
        raise EvalError(*faults)


def _explain_unrunnable_assertion(leaf: Assertion, folder: Path) -> str:
    """Empty where it can be run."""
    arguments = dict(leaf.arguments)
    command, function = arguments.get("command"), arguments.get("function")
    if isinstance(command, tuple):
        program = str(command[0])
        there = (folder / program).is_file() if "/" in program else which(program) is not None
        return "" if there else f"no program is called {program!r}"
    try:
        _load_assertion_function(str(function), folder)
    except (Exception, SystemExit) as problem:
        return f"{function} cannot be loaded: {type(problem).__name__}: {problem}"
    return ""


def run_custom_assertion(
    leaf: Assertion,
    facts: AssertionFacts,
    seconds: float = 30,
    folder: Path = CURRENT_FOLDER,
    hide: HideSecrets = str,
    environ: Mapping[str, str] = NO_VARIABLES,
) -> AssertionMeasurement:
    """What the function or the command of a `custom` assertion says; whatever it does, it ends in a measurement.

    Both are looked for from `folder`, and a command runs there, with what it needs of `environ` and what `env` names.
    `hide` takes out of their words what nobody may read.
    """
    arguments, told = dict(leaf.arguments), _facts_for_custom_assertion(facts)
    match arguments.get("command"), arguments.get("function"):
        case tuple(command), _:
            names = arguments.get("env")
            known = build_program_environment(environ, names if isinstance(names, tuple) else ())
            said = _run_assertion_command(command, told, seconds, folder, known)
        case _, str(function):
            said = _call_assertion_function(function, told, seconds, folder)
        case _:
            raise InputError(f"{leaf.kind} has no function and no command to run")
    # Hidden before it is cut: half a key would not be known for one.
    return replace(said, found=shorten_text_to_line(hide(said.found)), why=shorten_text_to_line(hide(said.why)))


def _facts_for_custom_assertion(facts: AssertionFacts) -> dict[str, object]:
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


def _call_assertion_function(name: str, told: dict[str, object], seconds: float, folder: Path) -> AssertionMeasurement:
    answers: list[AssertionMeasurement] = []

    def run() -> None:
        try:
            answers.append(
                _read_custom_assertion_answer(_load_assertion_function(name, folder)(told), told, f"{name} returned")
            )
        except BaseException as problem:  # Whoever leaves a thread does not leave the process.
            answers.append(AssertionMeasurement(why=f"{name} raised {type(problem).__name__}: {problem}"))

    # A daemon: one that never returns keeps no process alive.
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    return answers[0] if answers else AssertionMeasurement(why=f"{name} gave no answer within {seconds:g} s")


def _load_assertion_function(name: str, folder: Path) -> CustomFunction:
    """The function of that name, looked for from the folder."""
    thing = import_by_python_path(name.removeprefix("python:"), folder.resolve())
    if not callable(thing):
        raise TypeError(f"{name.rpartition(':')[2]} is not a function")
    return thing


def _run_assertion_command(
    command: tuple[str, ...], told: dict[str, object], seconds: float, folder: Path, environ: Mapping[str, str]
) -> AssertionMeasurement:
    try:
        ended = run_assertion_command(command, json.dumps(told, default=str).encode(), seconds, folder, environ)
    except (OSError, ValueError, RecursionError) as problem:
        return AssertionMeasurement(why=f"{command[0]} cannot be run: {problem}")
    if ended.cut_short:
        return AssertionMeasurement(why=f"{command[0]} {ended.cut_short}")
    said = ended.stdout.decode("utf-8", "replace").strip()
    answer = _parse_custom_assertion_stdout(said)
    # A script that crashes ends with 1 as well, but has something to say about it.
    if ended.code not in (0, 1) or (ended.code == 1 and answer is None and ended.stderr.strip()):
        lines = ended.stderr.decode("utf-8", "replace").strip().splitlines()
        last = f": {lines[-1]}" if lines else ""
        return AssertionMeasurement(why=f"{command[0]} ended with exit code {ended.code}{last}")
    if answer is None:
        return AssertionMeasurement(passed=ended.code == 0, found=said)
    read = _read_custom_assertion_answer(answer, told, f"{command[0]} printed")
    if ended.code == 1 and read.passed:
        return AssertionMeasurement(why=f"{command[0]} printed that it passes and ended with exit code 1")
    return read


def _parse_custom_assertion_stdout(said: str) -> object:
    """The answer on standard output, where there is one; any other text is only what was found."""
    try:
        value = json.loads(said)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (bool, dict)) else None


def _read_custom_assertion_answer(answer: object, told: Mapping[str, object], who: str) -> AssertionMeasurement:
    """The measurement that an answer means: true, false, or {passed, found, where, why}."""
    if inspect.iscoroutine(answer):
        answer.close()
        return AssertionMeasurement(why=f"{who} a coroutine: write a plain function")
    if isinstance(answer, bool):
        return AssertionMeasurement(passed=answer)
    if not isinstance(answer, Mapping) or "passed" not in answer:
        return AssertionMeasurement(why=f"{who} {answer!r}, not true, false or an object with passed")
    passed = answer["passed"]
    if passed is None:
        return AssertionMeasurement(why=str(answer.get("why") or "").strip() or f"{who} no answer")
    if not isinstance(passed, bool):
        return AssertionMeasurement(why=f"{who} passed: {passed!r}, not true or false")
    found, where = str(answer.get("found") or ""), answer.get("where")
    match where:
        case [int(start), int(end)] if 0 <= start < end <= len(str(told["output"])):
            return AssertionMeasurement(passed=passed, found=found, span=(start, end))
    return AssertionMeasurement(passed=passed, found=found if where is None else f"{found} ({where})")


MOST_PRINTED_BYTES = 1_000_000  # Bytes.


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """How a command ended; `cut_short` says why it was not let run on."""

    code: int
    stdout: bytes
    stderr: bytes
    cut_short: str = ""


def run_assertion_command(
    command: Sequence[str], stdin: bytes, seconds: float, folder: Path, environ: Mapping[str, str]
) -> CommandResult:
    """Run a command without a shell, in a process group of its own that ends with it."""
    until = monotonic() + seconds
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, env=environ, start_new_session=True
    )
    assert process.stdin and process.stdout and process.stderr
    stdout, stderr = (_AssertionCommandReader(one, process.pid) for one in (process.stdout, process.stderr))
    writer = threading.Thread(target=_write_assertion_command_input, args=(process.stdin, stdin), daemon=True)
    writer.start()
    cut_short = ""
    try:
        process.wait(max(0.0, until - monotonic()))
    except subprocess.TimeoutExpired:
        cut_short = f"gave no answer within {seconds:g} s"
    finally:
        _kill_assertion_command(process.pid)
        process.wait()
    for thread in (writer, stdout.thread, stderr.thread):
        thread.join(1)  # A child that left the group may hold a pipe open for ever.
    if stdout.full or stderr.full:
        cut_short = f"printed more than {MOST_PRINTED_BYTES:,} bytes"
    return CommandResult(
        code=process.returncode, stdout=bytes(stdout.read), stderr=bytes(stderr.read), cut_short=cut_short
    )


class _AssertionCommandReader:
    """Reads what a command prints, and ends the command when that is too much."""

    def __init__(self, stream: IO[bytes], group: int) -> None:
        self.read = bytearray()
        self.full = False
        self._stream = stream
        self._group = group
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        with self._stream:
            while chunk := os.read(self._stream.fileno(), 65536):
                self.read += chunk
                if len(self.read) > MOST_PRINTED_BYTES:
                    self.full = True
                    _kill_assertion_command(self._group)
                    return


def _write_assertion_command_input(stream: IO[bytes], content: bytes) -> None:
    with suppress(OSError), stream:  # A command need not read what it is told.
        stream.write(content)


def _kill_assertion_command(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
