"""Python functions as models: whatever they do ends in a reply or an error that names them."""

import asyncio
import sys
from pathlib import Path

import pytest

from evenhand.errors import BusyError, JudgeError, RefusedError
from evenhand.models.connections import Connections
from evenhand.models.limits import Limits
from evenhand.models.requests import Reply
from tests.models.server import KEY, question

SOURCE = """
import asyncio, os, threading
from evenhand.errors import BusyError
from evenhand.models.requests import Reply, TokenUsage

WORD = "4"
main = threading.get_ident()

def plain(request): return request.messages[0].text.upper()
async def waiting(request):
    await asyncio.sleep(0)
    return "async"
class Judge:
    def __call__(self, request): return "object"
    async def method(self, request): return "method"
    class Nested:
        @staticmethod
        def judge(request): return "nested"
judge = Judge()
def whole(request): return Reply(text="whole", usage=TokenUsage(input=3, output=1))
def hands_on(request): return waiting(request)
def raises(request): raise KeyError("the key %s" % os.environ.get("NO_SUCH", "sk-abcdefghijkl"))
def leaves(request): raise SystemExit(3)
def stops(request): return next(iter(()))
def interrupts(request): raise KeyboardInterrupt
async def cancels(request): raise asyncio.CancelledError
def half(request): return Reply(text=5)
def busy(request): raise BusyError("later, please")
def times_out(request): raise TimeoutError("its own")
def nothing(request): return None
def number(request): return 4
def two(a, b): return "x"
async def hangs(request): await asyncio.Event().wait()
def elsewhere(request): return str(threading.get_ident() != main)
"""


@pytest.fixture
def judges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module in the working directory."""
    (tmp_path / "some_judges.py").write_text(SOURCE)
    (tmp_path / "broken_judges.py").write_text("raise RuntimeError('not today')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    for module in ("some_judges", "broken_judges"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    return "python:some_judges"


def ask(name: str, limits: Limits | None = None) -> Reply:
    async def run() -> Reply:
        async with Connections({"OPENAI_API_KEY": KEY}, limits=limits) as connections:
            return await connections.open(name).ask(question("good?"))

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("function", "text"),
    [
        ("plain", "GOOD?"),
        ("waiting", "async"),
        ("judge", "object"),
        ("judge.method", "method"),
        ("Judge.Nested.judge", "nested"),
        ("whole", "whole"),
        ("hands_on", "async"),
        ("elsewhere", "True"),
    ],
)
def test_a_function_answers(judges: str, function: str, text: str) -> None:
    """Async or plain, a function or an object; a plain one in a thread, so that it holds nobody up."""
    assert ask(f"{judges}:{function}").text == text


def test_a_reply_is_passed_on_with_its_usage(judges: str) -> None:
    """A function may know what it cost."""
    assert ask(f"{judges}:whole").usage.input == 3


@pytest.mark.parametrize(
    ("function", "says"),
    [
        ("raises", "the function raised KeyError"),
        ("leaves", "the function raised SystemExit: 3"),
        ("stops", "the function raised StopIteration"),
        ("interrupts", "the function raised KeyboardInterrupt"),
        ("cancels", "the function raised CancelledError"),
        ("half", "the function returned Reply, not a text or a Reply"),
        ("nothing", "the function returned NoneType, not a text or a Reply"),
        ("number", "the function returned int"),
        ("two", "the function raised TypeError"),
    ],
)
def test_a_function_that_fails_is_named(judges: str, function: str, says: str) -> None:
    """It does not take the run down with it, nor show what looks like a key."""
    with pytest.raises(RefusedError) as caught:
        ask(f"{judges}:{function}")

    assert f"{judges}:{function}: {says}" in str(caught.value)
    assert "abcdefghijkl" not in str(caught.value)


def test_a_server_behind_a_function_may_be_up_again(judges: str) -> None:
    """What the system raises for a connection is no fault of the question: a later try may help."""
    with pytest.raises(BusyError, match="the function raised TimeoutError: its own"):
        ask(f"{judges}:times_out")


def test_a_function_may_be_busy(judges: str) -> None:
    """Then a later try may help, and it is the caller's to make."""
    with pytest.raises(BusyError, match="later, please"):
        ask(f"{judges}:busy")


def test_a_function_that_hangs_is_left(judges: str) -> None:
    """After the time of one attempt."""
    with pytest.raises(BusyError, match=r"some_judges:hangs: no reply within 0\.05 s"):
        ask(f"{judges}:hangs", Limits(attempt_seconds=0.05))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("python:no_such_module:f", "looked for from the working directory: run this where no_such_module.py is"),
        ("python:some_judges:no_such", "cannot be loaded: AttributeError"),
        ("python:some_judges:WORD", "WORD is not a function"),
        ("python:broken_judges:f", "cannot be loaded: RuntimeError: not today"),
        ("python:..:f", "cannot be loaded"),
    ],
)
def test_a_function_that_is_not_there_is_said_at_once(judges: str, name: str, says: str) -> None:
    """When the model is opened, not in the middle of a run."""
    with pytest.raises(JudgeError) as caught:
        ask(name)

    assert says in str(caught.value)
    assert name in str(caught.value)
