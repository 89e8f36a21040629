"""A Python function as a model: whatever it does, it ends in a reply or in an error that names it."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from evenhand.errors import BusyError, Fault, JudgeError, ModelError, RefusedError
from evenhand.files.python_functions import import_by_name
from evenhand.models.limits import Limits, ServerState
from evenhand.models.model_names import FunctionPath, Secrets
from evenhand.models.requests import Reply, Request

ModelFunction = Callable[[Request], object]


class FunctionModel:
    """A model that is a function: it gets the request and returns the text of the reply, or a Reply."""

    def __init__(
        self, name: str, call: ModelFunction, server: ServerState, limits: Limits, secrets: Secrets, source: str = ""
    ) -> None:
        self.name = name
        self.source = source  # A hash of its code, where that is known.
        self._call = call
        self._server = server
        self._limits = limits
        self._secrets = secrets

    async def ask(self, request: Request) -> Reply:
        """What the function returns. A plain function runs in a thread, so that it holds nobody else up."""
        await self._server.gate.enter()
        try:
            async with asyncio.timeout(self._limits.attempt_seconds) as limit:
                answer = await self._answer(request)
        except ModelError:
            raise
        except (Exception, SystemExit, asyncio.CancelledError) as problem:
            if isinstance(problem, TimeoutError) and limit.expired():
                raise BusyError(f"{self.name}: no reply within {self._limits.attempt_seconds:g} s") from None
            if isinstance(problem, asyncio.CancelledError) and _is_task_cancelled():
                raise
            kind = "" if isinstance(problem, UnraisableError) else f"{type(problem).__name__}: "
            said = self._secrets.hide_keys(f"{kind}{problem}")
            why = f"{self.name}: the function raised {said}"
            # A server behind the function that is down may be up again; a fault in the function stays one.
            raise (BusyError(why) if isinstance(problem, OSError) else RefusedError(why)) from None
        finally:
            self._server.gate.leave()
        if isinstance(answer, Reply) and isinstance(answer.text, str):
            return answer
        if isinstance(answer, str):
            return Reply(text=answer, stop="end", model=self.name)
        raise RefusedError(f"{self.name}: the function returned {type(answer).__name__}, not a text or a Reply")

    async def _answer(self, request: Request) -> object:
        if inspect.iscoroutinefunction(self._call) or inspect.iscoroutinefunction(type(self._call).__call__):
            answer: object = self._call(request)
        else:
            answer = await call_in_thread(self._call, request)
        return await answer if inspect.isawaitable(answer) else answer


def _is_task_cancelled() -> bool:
    """Whether we are being stopped, and not a function that says so of itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def call_in_thread(call: ModelFunction, request: Request) -> object:
    """What a plain function returns. The thread is a daemon: one that never returns keeps no process alive."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Callable[[], object]] = loop.create_future()

    def tell(outcome: Callable[[], object]) -> None:
        if not done.done():
            done.set_result(outcome)

    def run() -> None:
        outcome = _capture_call_outcome(call, request)
        with suppress(RuntimeError):  # Nobody waits any more.
            loop.call_soon_threadsafe(tell, outcome)

    threading.Thread(target=run, daemon=True).start()
    return (await done)()


def _capture_call_outcome(call: ModelFunction, request: Request) -> Callable[[], object]:
    """What happened, as something to be done over again in the right place."""
    try:
        value = call(request)
    except BaseException as problem:
        # No coroutine can pass a StopIteration on, and whoever leaves a thread does not leave the process.
        odd = isinstance(problem, StopIteration) or not isinstance(problem, Exception)
        said = UnraisableError(f"{type(problem).__name__}: {problem}") if odd else problem
        return lambda: _raise_captured_error(said)
    return lambda: value


class UnraisableError(Exception):
    """Something a function raised that cannot travel as it is."""


def _raise_captured_error(problem: BaseException) -> object:
    raise problem


def load_model_function(name: str, meant: FunctionPath) -> ModelFunction:
    """The function of that name, looked for from the working directory."""
    try:
        thing = import_by_name(f"{meant.module}:{meant.function}", Path())
    except (Exception, SystemExit) as problem:
        why = f"cannot be loaded: {type(problem).__name__}: {problem}"
        raise JudgeError(Fault(why, _hint_function_path(problem, meant), where=name)) from None
    if not callable(thing):
        raise JudgeError(Fault(f"{meant.function} is not a function", where=name))
    return thing


def _hint_function_path(problem: BaseException, meant: FunctionPath) -> str:
    if isinstance(problem, ModuleNotFoundError) and problem.name == meant.module.partition(".")[0]:
        return f"it is looked for from the working directory: run this where {problem.name}.py is"
    return "as in python:my_judges:strict, for strict() in my_judges.py"


def hash_function_source(meant: FunctionPath) -> str:
    """A hash of the file that a function which was found is in; empty where there is no such file."""
    file = getattr(sys.modules.get(meant.module), "__file__", None)
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""
    except OSError:
        return ""
