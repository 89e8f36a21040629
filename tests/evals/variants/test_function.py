"""Python functions as variants: whatever they do ends in an output, or fails for that sample only."""

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import count
from pathlib import Path

import pytest

from evenhand.errors import EvalError
from evenhand.evals.sample import EvalSample
from evenhand.evals.variants.makers import open_variant_output_makers
from evenhand.evals.variants.variant import FunctionVariant
from evenhand.model.sample import VariantOutput
from evenhand.models.connections import Connections
from tests.evals.variants.making import QUESTION, make, texts

SOURCE = """
import asyncio, threading
from decimal import Decimal
from evenhand.model.sample import VariantOutput

def seen(sample): return repr(sample)
def facts(sample): return {"text": "t", "cost": 0.5, "turns": 3}
def whole(sample): return VariantOutput(text="whole", cost=Decimal("0.25"))
async def waiting(sample):
    await asyncio.sleep(0)
    return "waited"
class Bot:
    async def __call__(self, sample): return "object"
    class inner:
        @staticmethod
        def answer(sample): return "inner"
bot = Bot()
def raises(sample): raise KeyError("sk-abcdefghijklmnop1234")
def leaves(sample): raise SystemExit(3)
def stops(sample): return next(iter(()))
async def cancels(sample): raise asyncio.CancelledError
def number(sample): return 5
def no_text(sample): return {"cost": 1}
def odd_trace(sample): return {"text": "t", "trace": [{"name": "n", "input": {1, 2}}]}
def odd_keys(sample): return {"text": "t", "trace": [{"name": "n", "input": {1: 2}}]}
def odd_made(sample): return VariantOutput(text="t", trace=({"name": "n"},))
def odd_text(sample): return VariantOutput(text=5)
def half(sample): return "\\ud83d!"
def never(sample): threading.Event().wait()
async def never_async(sample): await asyncio.Event().wait()
def picky(sample): return str(1 / int(sample["input"]))
WORD = 3
"""


@pytest.fixture
def bots(tmp_path: Path) -> Iterator[Path]:
    """A folder with a module of functions."""
    (tmp_path / "some_bots.py").write_text(SOURCE)
    path = list(sys.path)
    yield tmp_path
    sys.path[:] = path
    sys.modules.pop("some_bots", None)


@pytest.mark.parametrize(
    ("name", "text"),
    [("seen", repr(QUESTION.variant_input(0))), ("waiting", "waited"), ("bot", "object"), ("Bot.inner.answer", "inner"),
     ("half", "�!")],
)  # fmt: skip
def test_a_function_beside_the_eval_file_is_called(bots: Path, name: str, text: str) -> None:
    """Plain, async, an object, nested; the time it took is measured."""
    (result,) = make(FunctionVariant(name=f"some_bots:{name}", folder=bots))

    assert isinstance(result, VariantOutput)
    assert result.text == text
    assert result.latency_ms is not None


def test_a_function_may_say_how_it_came_about(bots: Path) -> None:
    """A dict as in a sample file, or a VariantOutput as it is."""
    (facts,) = make(FunctionVariant(name="some_bots:facts", folder=bots))
    (whole,) = make(FunctionVariant(name="some_bots:whole", folder=bots))

    assert isinstance(facts, VariantOutput)
    assert (facts.text, facts.cost, facts.turns) == ("t", Decimal("0.5"), 3)
    assert isinstance(whole, VariantOutput)
    assert (whole.text, whole.cost, whole.latency_ms is None) == ("whole", Decimal("0.25"), False)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("raises", "the function raised KeyError: '[key hidden]"),
        ("leaves", "the function raised OutputError: SystemExit: 3"),
        ("stops", "the function raised OutputError: StopIteration:"),
        ("cancels", "the function raised CancelledError:"),
        ("number", "the function returned int, not a text, a dict or a VariantOutput"),
        ("no_text", "it gave back what cannot be used: the output has no text (leave the output out where there "
         "is none)"),
        ("odd_text", "it gave back what cannot be used: the output has a text that is a number (leave the output out "
         "where there is none)"),
        ("odd_trace", "it gave back what cannot be used: a value of the type set, which JSON does not know"),
        ("odd_keys", "it gave back what cannot be used: a key that is not text"),
        ("odd_made", "the function returned a VariantOutput whose trace is not made of ToolCall"),
    ],
)  # fmt: skip
def test_what_a_function_does_wrong_is_said(bots: Path, name: str, why: str) -> None:
    """It fails for the sample, and the run goes on."""
    assert [text.rstrip("'") for text in texts(make(FunctionVariant(name=f"some_bots:{name}", folder=bots)))] == [
        f"no output: {why}"
    ]


@pytest.mark.parametrize("name", ["never", "never_async"])
def test_a_function_that_never_returns_is_not_waited_for(bots: Path, name: str) -> None:
    """Its thread ends with the process."""
    assert make(FunctionVariant(name=f"some_bots:{name}", folder=bots, seconds=0.05)) == ["no output within 0.05 s"]


def test_cancelling_is_not_a_failure_of_the_function(bots: Path) -> None:
    """Whoever stops the run stops it."""

    async def cancelled() -> None:
        variant = FunctionVariant(name="some_bots:never_async", folder=bots)
        async with (
            Connections({}) as connections,
            open_variant_output_makers({"new": variant}, connections, {}, 1) as makers,
        ):
            task = asyncio.ensure_future(makers["new"].make(QUESTION, 0))
            await asyncio.sleep(0)  # It has begun, and waits for ever.
            task.cancel()
            await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())


def test_one_failure_is_one_failure(bots: Path) -> None:
    """The others are made all the same."""
    samples = [EvalSample(id=text, input=text) for text in ("1", "0", "2")]

    results = make(FunctionVariant(name="some_bots:picky", folder=bots), *samples)

    assert texts(results) == ["1.0", "no output: the function raised ZeroDivisionError: division by zero", "0.5"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("some_bots:none", "cannot be loaded: AttributeError: module 'some_bots' has no attribute 'none'"),
        ("no_such_bots:x", "cannot be loaded: ModuleNotFoundError: No module named 'no_such_bots'"),
        ("some_bots:WORD", "is not a function"),
    ],
)
def test_a_function_that_is_not_there_is_told_before_anything_is_made(bots: Path, name: str, why: str) -> None:
    """Before anything is paid for."""
    with pytest.raises(EvalError) as caught:
        make(FunctionVariant(name=name, folder=bots))

    assert str(caught.value).split(" (")[0] == f"variant 'new': python:{name} {why}"


def deferred(sample: object) -> object:
    """A plain function that returns something to wait for."""

    async def answer() -> str:
        return "later"

    return answer()


@pytest.mark.parametrize(("call", "expected"), [(lambda _: "at once", 250.0), (deferred, 1250.0)])
def test_the_clock_runs_while_the_function_does(
    call: Callable[[object], object], expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the thread of the function 0.25 s pass; around it any amount of time may, which is not the function's."""
    inside, outside = iter([5.0, 5.25]), count(1000.0)

    def read() -> float:
        return next(outside if threading.current_thread() is threading.main_thread() else inside)

    monkeypatch.setattr(time, "perf_counter", read)

    (result,) = make(FunctionVariant(name="a:b", call=call))

    assert isinstance(result, VariantOutput)
    assert result.latency_ms == expected
