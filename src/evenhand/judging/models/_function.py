"""A Python function as a model: whatever it does, it ends in a reply or in an error that names it."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path

from evenhand.errors import BusyError, Fault, JudgeError, ModelError, RefusedError
from evenhand.judging._request import Reply, Request
from evenhand.judging.models import _names
from evenhand.judging.models._limits import Limits, Server
from evenhand.judging.models._secrets import Secrets


class Function:
    """A model that is a function: it gets the request and returns the text of the reply, or a Reply."""

    def __init__(self, name: str, meant: _names.Function, server: Server, limits: Limits, secrets: Secrets) -> None:
        self.name = name
        self._call = _found(name, meant)
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
        except (Exception, SystemExit) as problem:
            if isinstance(problem, TimeoutError) and limit.expired():
                raise BusyError(f"{self.name}: no reply within {self._limits.attempt_seconds:g} s") from None
            said = self._secrets.hidden(f"{type(problem).__name__}: {problem}")
            raise RefusedError(f"{self.name}: the function raised {said}") from None
        finally:
            self._server.gate.leave()
        if isinstance(answer, str):
            return Reply(text=answer, stop="end", model=self.name)
        if isinstance(answer, Reply):
            return answer
        raise RefusedError(f"{self.name}: the function returned {type(answer).__name__}, not a text or a Reply")

    async def _answer(self, request: Request) -> object:
        if inspect.iscoroutinefunction(self._call) or inspect.iscoroutinefunction(type(self._call).__call__):
            answer: object = self._call(request)
        else:
            answer = await asyncio.to_thread(self._call, request)
        return await answer if inspect.isawaitable(answer) else answer


def _found(name: str, meant: _names.Function) -> Callable[[Request], object]:
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)  # As `python -m` does; the function may import its neighbours later.
    try:
        found: object = importlib.import_module(meant.module)
        for part in meant.function.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as problem:
        why = f"cannot be loaded: {type(problem).__name__}: {problem}"
        raise JudgeError(
            Fault(why, "as in python:my_judges:strict, for strict() in my_judges.py", where=name)
        ) from None
    if not callable(found):
        raise JudgeError(Fault(f"{meant.function} is not a function", where=name))
    return found
