"""Programs as variants: real processes, bounded in time and in words, and gone when it is over."""

import asyncio
import base64
import json
import os
import sys
import time
from decimal import Decimal
from pathlib import Path

import pytest

from evenhand.errors import EvalError
from evenhand.evals.sample import EvalSample
from evenhand.evals.variants import programs as _command
from evenhand.evals.variants.programs import _VariantProcessExchange
from evenhand.evals.variants.variant import CommandVariant
from evenhand.model.sample import ToolCall, VariantOutput
from tests.evals.variants.making import QUESTION, made, make, texts


def python(code: str, seconds: float = 30.0) -> CommandVariant:
    """A program in a few lines."""
    return CommandVariant(argv=(sys.executable, "-c", code), seconds=seconds)


def test_a_program_is_given_the_sample_and_never_the_reference() -> None:
    """JSON on standard input, plain text back."""
    (result,) = make(python("import sys; print(sys.stdin.read(), end='')"))

    assert isinstance(result, VariantOutput)
    assert json.loads(result.text) == QUESTION.variant_input(0)
    assert "secret answer" not in result.text


def test_a_program_may_say_how_it_came_about() -> None:
    """What it says of itself counts; fields of others are not looked at."""
    answer = {"output": "hi", "trace": [{"name": "t"}], "cost": 0.5, "latency_ms": 7, "turns": 2, "usage": {"x": 1}}

    (result,) = make(python(f"print({json.dumps(answer)!r})"))

    assert result == VariantOutput(text="hi", trace=(ToolCall("t"),), cost=Decimal("0.5"), latency_ms=7.0, turns=2)


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        ("plain\n", "plain"),
        ("two\n\n", "two\n"),
        ("", ""),
        ('{"name": "Ada"}', '{"name": "Ada"}'),
        ('{"text": 3}', '{"text": 3}'),
        ("{not json", "{not json"),
        ('"quoted"', '"quoted"'),
        ('{"text": "\\ud83d!"}', "{\"text\": \"\\ud83d!\"}"),
        ("a\0b", "a�b"),
    ],
)  # fmt: skip
def test_what_is_no_object_with_a_text_is_the_text(printed: str, text: str) -> None:
    """A program whose answer is JSON of its own is not misread."""
    (result,) = make(python(f"import sys; sys.stdout.write({printed!r})"))

    assert isinstance(result, VariantOutput)
    assert result.text == text
    assert result.latency_ms is not None
    assert result.latency_ms > 0


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise SystemExit(3)", "exit code 3"),
        ("import sys; print('first\\nthe last line', file=sys.stderr); sys.exit(1)", "exit code 1: the last line"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "ended by SIGSEGV"),
        ("import sys; sys.stdout.buffer.write(b'\\xff')", "it wrote something that is not UTF-8 text"),
        ("print('{\"text\": \"a\", \"cost\": -1}')", "it gave back what cannot be used: cost: cost must be "
         "a number from 0 up, got -1"),
        ("import sys; print('sk-abcdefghijklmnop1234', file=sys.stderr); sys.exit(1)", "exit code 1: [key hidden]"),
    ],
)  # fmt: skip
def test_a_program_that_fails_says_why(code: str, why: str) -> None:
    """How it ended and its last words, never a key."""
    assert make(python(code)) == [why]


@pytest.mark.parametrize("end", [4_000, 100_000])
def test_of_words_that_are_too_many_no_half_of_a_key_is_shown(end: int) -> None:
    """Only the end is read, and what it begins with may be the rest of a key that nobody would know for one."""
    key = base64.b64encode(b"other=Canary-55501234567").decode()
    code = f"import sys; sys.stderr.write({key!r} + '.' * ({end} - {len(key)} + 2)); sys.exit(3)"

    (why,) = make(python(code), environ={**os.environ, "BOT_TOKEN": "other=Canary-55501234567"})

    assert str(why).startswith("exit code 3: ")
    assert key[8:-4] not in str(why)


def test_one_failure_is_one_failure() -> None:
    """The others are made all the same."""
    code = "import json, sys; print(1 / int(json.load(sys.stdin)['input']))"

    results = make(python(code), *(EvalSample(id=text, input=text) for text in ("1", "0", "2")))

    assert texts(results) == ["1.0", "no output: exit code 1: ZeroDivisionError: division by zero", "0.5"]


def test_a_program_need_not_read_and_may_write_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full pipe in either direction stops nobody; what is too much is dropped and said."""
    monkeypatch.setattr(_command, "LARGEST_COMMAND_OUTPUT", 1_000_000)
    large = EvalSample(id="a", input="x" * 300_000)
    code = "import sys; sys.stderr.write('e' * 300_000); sys.stdout.write('o' * {})"

    results = make(python(code.format(900_000)), large) + make(python(code.format(1_100_000)), large)

    assert texts(results)[0] == "o" * 900_000
    assert results[1] == "it wrote more than the 1,000,000 bytes allowed"


def test_what_is_too_much_is_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that writes for ever fills no memory while it is waited for."""
    monkeypatch.setattr(_command, "LARGEST_COMMAND_OUTPUT", 10)
    exchange = _VariantProcessExchange()

    for _ in range(200):
        exchange.pipe_data_received(1, b"1234567")
        exchange.pipe_data_received(2, b"x" * 1000)

    assert (exchange.size, len(exchange.written), len(exchange.said)) == (1400, 7, 100_000)


def test_a_program_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    """A child that holds the pipes would keep everybody waiting."""
    script = f"sleep 600 & echo $! > {tmp_path / 'pid'}; wait"

    results = make(CommandVariant(argv=("sh", "-c", script), seconds=1.0))

    assert results == ["no output within 1 s: it was stopped"]
    assert _gone(int((tmp_path / "pid").read_text()))


def test_whoever_is_cancelled_leaves_no_process_behind(tmp_path: Path) -> None:
    """Ctrl-C ends what was started."""
    os.mkfifo(tmp_path / "started")
    code = (
        "import os, pathlib, time\n"
        f"pathlib.Path({str(tmp_path / 'started')!r}).write_text(str(os.getpid()))\n"
        "time.sleep(600)"
    )

    async def cancelled() -> int:
        task = asyncio.create_task(made(python(code, seconds=600.0)))
        pid = await asyncio.to_thread((tmp_path / "started").read_text)  # Until the program has written it.
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return int(pid)

    assert _gone(asyncio.run(cancelled()))


def test_only_so_many_run_at_once(tmp_path: Path) -> None:
    """Each process sees how many others there are, and stays for a moment to be seen."""
    code = (
        "import os, pathlib, sys, time\n"
        f"folder = pathlib.Path({str(tmp_path)!r})\n"
        "mine = folder / str(os.getpid())\n"
        "mine.touch()\n"
        "print(len(list(folder.iterdir())))\n"
        "time.sleep(0.2)\n"
        "mine.unlink()"
    )

    results = asyncio.run(made(python(code), *(EvalSample(id=str(n)) for n in range(3)), concurrency=1))

    assert texts(results) == ["1"] * 3


def test_a_program_beside_the_eval_file_is_started_there(tmp_path: Path) -> None:
    """Wherever the command was given from; no shell reads its words."""
    script = tmp_path / "bot.sh"
    script.write_text('#!/bin/sh\npwd\necho "$1"\n')
    script.chmod(0o755)

    (result,) = make(CommandVariant(argv=("./bot.sh", "$(id); *"), folder=tmp_path))

    assert texts([result]) == [f"{tmp_path}\n$(id); *"]


def test_a_program_that_is_not_there_is_told_before_anything_is_made(tmp_path: Path) -> None:
    """All variants that cannot be opened, at once."""
    with pytest.raises(EvalError) as caught:
        make(CommandVariant(argv=("./no-such-bot",), folder=tmp_path))

    hint = "is it there, and may it be executed?"
    assert str(caught.value) == f"variant 'new': no program './no-such-bot' can be started ({hint})"


def _gone(pid: int) -> bool:
    """Whether a process that was killed ends: a signal takes a moment, and nobody here ends by itself so soon."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in ("Z", "X"):  # It has ended and waits to be collected.
            return True
        time.sleep(0.01)
    return False
