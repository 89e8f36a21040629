"""A Python function as a model: whatever it does, it ends in a reply or in an error that names it."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from evenhand.errors import BusyError, Fault, JudgeError, ModelError, RefusedError
from evenhand.files.python_functions import import_by_name
from evenhand.models.limits import Limits
from evenhand.models.model_names import FunctionPath, Secrets
from evenhand.models.requests import Reply, Request

ModelFunction = Callable[[Request], object]


@dataclass(slots=True)
class FunctionModel:
    """A model that is a function: it gets the request and returns the text of the reply, or a Reply."""

    name: str
    _call: ModelFunction
    _limits: Limits
    _secrets: Secrets
    source: str = ""  # A hash of its code, where that is known.
    version: str = ""  # As it states it itself.

    async def ask(self, request: Request) -> Reply:
        """What the function returns; the time it took does not include waiting for its turn."""
        began = time.monotonic()
        try:
            async with asyncio.timeout(self._limits.attempt_seconds) as limit:
                # A plain function runs in a thread, so that it holds nobody else up.
                call = self._call
                if inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(type(call).__call__):
                    answer = call(request)
                else:
                    answer = await call_model_in_thread(call, request)
                answer = await answer if inspect.isawaitable(answer) else answer
        except ModelError:
            raise
        except (Exception, SystemExit, asyncio.CancelledError) as problem:
            if isinstance(problem, TimeoutError) and limit.expired():
                raise BusyError(f"{self.name}: no reply within {self._limits.attempt_seconds:g} s") from None
            task = asyncio.current_task()
            if isinstance(problem, asyncio.CancelledError) and task is not None and task.cancelling() > 0:
                raise  # We are being stopped: it is not the function that says so of itself.
            kind = "" if isinstance(problem, UnraisableError) else f"{type(problem).__name__}: "
            said = self._secrets.hide_keys(f"{kind}{problem}")
            why = f"{self.name}: the function raised {said}"
            # A server behind the function that is down may be up again; a fault in the function stays one.
            raise (BusyError(why) if isinstance(problem, OSError) else RefusedError(why)) from None
        took = time.monotonic() - began
        if isinstance(answer, Reply) and isinstance(answer.text, str):
            return answer if answer.seconds or answer.recorded else replace(answer, seconds=took)
        if isinstance(answer, str):
            return Reply(text=answer, stop="end", model=self.name, seconds=took)
        raise RefusedError(f"{self.name}: the function returned {type(answer).__name__}, not a text or a Reply")


def name_function_model(judge: object) -> str | None:
    """What a judge of one's own is called: its `name`, its class, or its function; None where it is no judge."""
    if isinstance(judge, type):
        return None
    name = getattr(judge, "name", None)
    if callable(getattr(judge, "ask", None)):
        return name if isinstance(name, str) and name else type(judge).__name__
    own = getattr(judge, "__name__", None)
    return own if callable(judge) and isinstance(own, str) else None


async def call_model_in_thread(call: ModelFunction, request: Request) -> object:
    """What a plain function returns. The thread is a daemon: one that never returns keeps no process alive."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[object, BaseException | None]] = loop.create_future()

    def finish(value: object, problem: BaseException | None) -> None:
        if not done.done():
            done.set_result((value, problem))

    def run() -> None:
        value: object = None
        problem: BaseException | None = None
        try:
            value = call(request)
        except BaseException as error:
            # No coroutine can pass a StopIteration on, and whoever leaves a thread does not leave the process.
            passes = isinstance(error, Exception) and not isinstance(error, StopIteration)
            problem = error if passes else UnraisableError(f"{type(error).__name__}: {error}")
        with suppress(RuntimeError):  # Nobody waits any more.
            loop.call_soon_threadsafe(finish, value, problem)

    threading.Thread(target=run, daemon=True).start()
    value, problem = await done
    if problem is not None:
        raise problem
    return value


class UnraisableError(Exception):
    """Something a function raised that cannot travel as it is."""


def load_model_function(name: str, meant: FunctionPath) -> ModelFunction:
    """The function of that name, looked for from the working directory."""
    try:
        thing = import_by_name(f"{meant.module}:{meant.function}", Path())
    except (Exception, SystemExit) as problem:
        why = f"cannot be loaded: {type(problem).__name__}: {problem}"
        hint = "as in python:my_judges:strict, for strict() in my_judges.py"
        if isinstance(problem, ModuleNotFoundError) and problem.name == meant.module.partition(".")[0]:
            hint = f"it is looked for from the working directory: run this where {problem.name}.py is"
        raise JudgeError(Fault(why, hint, where=name)) from None
    if not callable(thing):
        raise JudgeError(Fault(f"{meant.function} is not a function", where=name))
    return thing


def hash_model_function_source(meant: FunctionPath) -> str:
    """A hash of the file that a function which was found is in; empty where there is no such file."""
    file = getattr(sys.modules.get(meant.module), "__file__", None)
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""
    except OSError:
        return ""
