"""A Python function as a variant: whatever it does, it ends in an output or in an error that says what it did."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

from evenhand.errors import EvalError, Fault, OutputError
from evenhand.judging.models._secrets import Secrets
from evenhand.model import Made
from evenhand.runs._sample import RunSample, made_content
from evenhand.runs.variants._made import made_from_facts, storable
from evenhand.runs.variants._places import Places
from evenhand.runs.variants._variant import Function

Call = Callable[[dict[str, object]], object]


class Called:
    """Calls the function of a variant, so often at once."""

    def __init__(self, variant: Function, secrets: Secrets, places: Places) -> None:
        self._variant = variant
        self._call = _found(variant)
        self._secrets = secrets
        self._places = places

    async def make(self, sample: RunSample, repeat: int) -> Made:
        """What the function returns, or an OutputError that says what it did in place of that."""
        async with self._places:
            began = time.perf_counter()
            try:
                async with asyncio.timeout(self._variant.seconds) as limit:
                    value = await self._answer(sample.sent(repeat))
            except (Exception, SystemExit, asyncio.CancelledError) as problem:
                raise self._failure(problem, limit) from None
            took = (time.perf_counter() - began) * 1000
        return _made(value, took)

    async def _answer(self, sample: dict[str, object]) -> object:
        waits = inspect.iscoroutinefunction(self._call) or inspect.iscoroutinefunction(type(self._call).__call__)
        answer = self._call(sample) if waits else await _in_a_thread(self._call, sample)
        return await answer if inspect.isawaitable(answer) else answer

    def _failure(self, problem: BaseException, limit: asyncio.Timeout) -> BaseException:
        if isinstance(problem, TimeoutError) and limit.expired():
            return OutputError(f"no output within {self._variant.seconds:g} s")
        task = asyncio.current_task()
        if isinstance(problem, asyncio.CancelledError) and task is not None and task.cancelling():
            return problem
        return OutputError(f"the function raised {self._secrets.hidden(f'{type(problem).__name__}: {problem}')}")


def _made(value: object, took: float) -> Made:
    """What the function returned, read as strictly as what comes from a file: it is stored."""
    if isinstance(value, str):
        return Made(text=storable(value), latency_ms=took)
    if isinstance(value, Made):
        try:
            value = made_content(value)
        except (AttributeError, TypeError):
            raise OutputError("the function returned a Made whose trace is not made of ToolCall") from None
    if isinstance(value, dict):
        return made_from_facts(value, took)
    raise OutputError(f"the function returned {type(value).__name__}, not a text, a dict or a Made")


async def _in_a_thread(call: Call, sample: dict[str, object]) -> object:
    """The thread is a daemon: a function that never returns keeps no process alive."""
    done: Future[object] = Future()

    def run() -> None:
        try:
            result = call(sample)
        except BaseException as problem:
            # No coroutine can pass a StopIteration on, and whoever leaves a thread does not leave the process.
            passes = isinstance(problem, Exception) and not isinstance(problem, StopIteration)
            done.set_exception(problem if passes else OutputError(f"{type(problem).__name__}: {problem}"))
        else:
            done.set_result(result)

    threading.Thread(target=run, daemon=True).start()
    return await asyncio.wrap_future(done)


def _found(variant: Function) -> Call:
    """The function of that name, looked for from the folder of the eval file too."""
    folder = str(variant.folder.absolute())
    if folder not in sys.path:
        sys.path.insert(0, folder)  # It stays: the function may import its neighbours later.
    module, _, function = variant.name.partition(":")
    try:
        thing: object = importlib.import_module(module)
        for part in function.split("."):
            thing = getattr(thing, part)
    except (Exception, SystemExit) as problem:
        what = f"python:{variant.name} cannot be loaded: {type(problem).__name__}: {problem}"
        raise EvalError(Fault(what, "as in python: my_bot:answer, for answer() in my_bot.py")) from None
    if not callable(thing):
        raise EvalError(Fault(f"python:{variant.name} is not a function"))
    return thing
