"""The driver: the one place that waits. It sends the requests that a dialogue yields and hands the replies back."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenhand.errors import ModelError
from evenhand.judging.questions import Dialogue, R, T
from evenhand.judging.results import JudgeCall
from evenhand.models.requests import Model, NoReply, Reply, Request


async def await_judges_in_order(waiting: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """What each of several gives, in their order; one alone needs no task of its own."""
    return [await waiting[0]] if len(waiting) == 1 else await asyncio.gather(*waiting)


@dataclass(slots=True)
class DialogueDriver:
    """Runs the dialogues of one judge and keeps every call; after its deadline nothing more is waited for."""

    model: Model
    deadline: float | None = None  # Seconds from the first request.
    calls: list[JudgeCall] = field(default_factory=list)
    _until: float | None = None

    async def run(self, dialogue: Dialogue[R]) -> R:
        """The result of a dialogue. A request that fails is answered with why, so that the dialogue decides."""
        if self.deadline is not None and self._until is None:
            self._until = asyncio.get_running_loop().time() + self.deadline
        requests = next(dialogue)
        while True:
            replies = await await_judges_in_order(list(map(self._ask, requests)))
            try:
                requests = dialogue.send(replies)
            except StopIteration as done:
                result: R = done.value
                return result

    async def _ask(self, request: Request) -> Reply | NoReply:
        reply: Reply | NoReply
        try:
            if self._until is None:
                reply = await self.model.ask(request)
            else:
                async with asyncio.timeout_at(self._until):
                    reply = await self.model.ask(request)
        except ModelError as error:
            reply = NoReply(why=str(error))
        except TimeoutError:
            late = "" if self.deadline is None else f" of {self.deadline:g} s"
            reply = NoReply(why=f"missed its deadline{late}")
        self.calls.append(JudgeCall(self.model.name, request, reply))
        return reply
