"""One line that says how far a judging or a contest is, while models are asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from evenhand.models.requests import CallNext, ChainedModel, Model, Reply, Request

if TYPE_CHECKING:
    from evenhand.contest.play import ContestProgress


REDRAW_PAUSE = 0.25
CLEAR_LINE = "\r\033[K"


@asynccontextmanager
async def show_model_progress(models: Sequence[Model], stream: TextIO | None) -> AsyncIterator[list[Model]]:
    """The models with their calls counted and shown; the line is gone when they are done."""
    if stream is None or not stream.isatty():
        yield list(models)
        return
    counters = [CliProgressCounter(model.name) for model in models]

    def describe_printed_replies(seconds: int) -> str:
        asked, answered = sum(one.asked for one in counters), sum(one.answered for one in counters)
        waiting = [one.model for one in counters if one.asked > one.answered]
        on = f" · waiting for {', '.join(waiting)}" if waiting else ""
        return f"{answered} of {asked} replies · {seconds} s{on}"[:74]

    async with _redraw_progress_until_done(stream, describe_printed_replies):
        yield [ChainedModel(model, [one.count_call]) for model, one in zip(models, counters, strict=True)]


@dataclass(slots=True)
class CliProgressCounter:
    """Middleware that counts what a model was asked and what it has answered."""

    model: str
    asked: int = 0
    answered: int = 0

    async def count_call(self, request: Request, call_next: CallNext) -> Reply:
        """Pass the request on, and count it."""
        self.asked += 1
        try:
            return await call_next(request)
        finally:
            self.answered += 1


STEP_WORDS = {"gate_checked": "gate", "scored": "scored alone", "ranked": "side by side", "resolved": "challenge"}


@asynccontextmanager
async def show_contest_progress(stream: TextIO | None) -> AsyncIterator[Callable[[ContestProgress], None]]:
    """What to tell of each step; the line is gone when the contest is."""
    if stream is None or not stream.isatty():
        yield lambda _: None
        return
    seen: list[ContestProgress] = []
    async with _redraw_progress_until_done(
        stream, lambda seconds: format_contest_progress(seen[-1] if seen else None, seconds)
    ):
        yield seen.append


def format_contest_progress(latest: ContestProgress | None, seconds: int) -> str:
    """The submissions judged, what was done last, and for how long it has been going on."""
    if latest is None:
        return f"asking · {seconds} s"
    return f"submission {latest.done} of {latest.total} · {STEP_WORDS[latest.doing]} · {seconds} s"


@asynccontextmanager
async def _redraw_progress_until_done(stream: TextIO, describe: Callable[[int], str]) -> AsyncIterator[None]:
    """Keep a line fresh that says how far something is after so many seconds, and take it away in the end."""
    loop = asyncio.get_running_loop()
    started = loop.time()

    async def redraw() -> None:
        while True:
            _write_progress_text(stream, CLEAR_LINE + describe(int(loop.time() - started)))
            await asyncio.sleep(REDRAW_PAUSE)

    teller = asyncio.create_task(redraw())
    try:
        yield
    finally:
        teller.cancel()
        _write_progress_text(stream, CLEAR_LINE)


def _write_progress_text(stream: TextIO, text: str) -> None:
    with suppress(OSError, ValueError):  # Closed, or read by nobody any more.
        stream.write(text)
        stream.flush()
