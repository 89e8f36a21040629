"""One line that says how far a judging, a run or a contest is, while models are asked."""

from __future__ import annotations

import asyncio
import math
import shutil
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, TextIO

from evenhand.cli.output import escape_to_terminal_line
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
    counters = [ProgressCallCounter(model.name) for model in models]

    def describe_replies(seconds: int) -> str:
        asked, answered = sum(one.asked for one in counters), sum(one.answered for one in counters)
        waiting = [one.model for one in counters if one.asked > one.answered]
        on = f" · waiting for {', '.join(waiting)}" if waiting else ""
        return f"{answered} of {asked} replies · {seconds} s{on}"[:74]

    async with _redraw_until_done(stream, describe_replies):
        yield [ChainedModel(model, [one.count_call]) for model, one in zip(models, counters, strict=True)]


@dataclass(slots=True)
class ProgressCallCounter:
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


REDRAW_SECONDS = 0.2  # Seconds between two drawings on a terminal.
LOG_SECONDS = 10.0  # Seconds between two lines in a file.
RATE_WINDOW_SECONDS = 30.0  # That the rate looks back: long enough to be calm, short enough to see a server slow down.


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressState:
    """How far a run is."""

    total: int
    done: int = 0
    failed: int = 0
    rate: float | None = None  # Results a second, lately.
    cost: Decimal | None = None  # US dollars, where every price is known.
    tokens: int = 0


def format_run_progress(state: ProgressState, width: int) -> str:
    """The state in at most `width` characters; what matters least is left out first."""
    rate = ""
    if state.rate:
        rate = f"{state.rate:.{0 if state.rate >= 10 else 1}f}/s" if state.rate >= 1 else f"{state.rate * 60:.1f}/min"
    parts = {  # The higher the number, the sooner it is left out.
        0: f"{state.done:,} of {state.total:,}",
        4: rate,
        3: _format_spent_so_far(state),
        1: f"{state.failed:,} failed" if state.failed else "",
        2: _format_time_left(state),
    }
    shown = {number: text for number, text in parts.items() if text}
    while len(shown) > 1 and len(" · ".join(shown.values())) > width:
        del shown[max(shown)]
    return " · ".join(shown.values())[: max(width, 0)]


def _format_spent_so_far(state: ProgressState) -> str:
    if state.cost is not None:
        return f"${state.cost:.2f}" if state.cost >= 1 else f"${state.cost:.4f}" if state.cost else ""
    return f"{state.tokens:,} tokens" if state.tokens else ""


def _format_time_left(state: ProgressState) -> str:
    if not state.rate or state.done >= state.total:
        return ""
    seconds = (state.total - state.done) / state.rate
    if seconds < 10:
        return "a few seconds left"
    if seconds < 90:
        return f"about {10 * math.ceil(seconds / 10)} s left"
    if seconds < 90 * 60:
        return f"about {round(seconds / 60)} min left"
    return f"about {round(seconds / 3600)} h left" if seconds < 100 * 3600 else "days left"


class ProgressLine:
    """The line on its way to a terminal, or now and then into a file; trouble with the stream never stops a run."""

    def __init__(self, stream: TextIO | None, clock: Callable[[], float]) -> None:
        self._stream = stream
        self._clock = clock
        self._terminal = stream is not None and stream.isatty()
        self._state = ProgressState(total=0)
        self._seen: deque[tuple[float, int]] = deque()
        self._drawn = clock()

    def begin(self, what: str, *, total: int, before: int = 0) -> None:
        """Say what will be asked, before anything is waited for; what was done before does not count as fast."""
        self._state = ProgressState(total=total, done=before)
        self._seen = deque([(self._clock(), before)])
        self._drawn = self._clock()
        _write_progress_text(self._stream, f"{escape_to_terminal_line(what)}\n")

    def update(self, *, done: int, failed: int = 0, cost: Decimal | None = None, tokens: int = 0) -> None:
        """Take in how far it is, and draw it if the last drawing is old enough."""
        self._state = replace(self._state, done=done, failed=failed, cost=cost, tokens=tokens)
        self.tick()

    def tick(self) -> None:
        """Draw again if the last drawing is old enough, also when nothing has come meanwhile."""
        now = self._clock()
        if now - self._drawn < (REDRAW_SECONDS if self._terminal else LOG_SECONDS):
            return
        self._drawn = now
        state = replace(self._state, rate=self._rate(now))
        width = shutil.get_terminal_size().columns - 1
        line = format_run_progress(state, width if self._terminal else 200)
        _write_progress_text(self._stream, f"{CLEAR_LINE}{line}" if self._terminal else f"{line}\n")

    def end(self) -> None:
        """Leave the terminal as it was; in a file, say how far it came."""
        _write_progress_text(
            self._stream, CLEAR_LINE if self._terminal else f"{format_run_progress(self._state, 200)}\n"
        )

    def _rate(self, now: float) -> float | None:
        self._seen.append((now, self._state.done))
        while len(self._seen) > 2 and self._seen[1][0] <= now - RATE_WINDOW_SECONDS:
            self._seen.popleft()
        since, done = self._seen[0]
        return (self._state.done - done) / (now - since) if now > since else None


@asynccontextmanager
async def keep_progress_fresh(
    progress: ProgressLine, refresh: Callable[[], None] | None = None
) -> AsyncIterator[ProgressLine]:
    """Keep the line fresh while something is awaited, by `refresh` if there is news, and take it away in the end."""

    async def tick() -> None:
        while True:
            (refresh or progress.tick)()
            await asyncio.sleep(REDRAW_SECONDS)

    ticker = asyncio.create_task(tick())
    try:
        yield progress
    finally:
        ticker.cancel()
        progress.end()


STEP_WORDS = {"gate_checked": "gate", "scored": "scored alone", "ranked": "side by side", "resolved": "challenge"}


@asynccontextmanager
async def show_contest_progress(stream: TextIO | None) -> AsyncIterator[Callable[[ContestProgress], None]]:
    """What to tell of each step; the line is gone when the contest is."""
    if stream is None or not stream.isatty():
        yield lambda _: None
        return
    seen: list[ContestProgress] = []
    async with _redraw_until_done(stream, lambda seconds: format_contest_progress(seen[-1] if seen else None, seconds)):
        yield seen.append


def format_contest_progress(latest: ContestProgress | None, seconds: int) -> str:
    """The submissions judged, what was done last, and for how long it has been going on."""
    if latest is None:
        return f"asking · {seconds} s"
    return f"submission {latest.done} of {latest.total} · {STEP_WORDS[latest.doing]} · {seconds} s"


@asynccontextmanager
async def _redraw_until_done(stream: TextIO, describe: Callable[[int], str]) -> AsyncIterator[None]:
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


def _write_progress_text(stream: TextIO | None, text: str) -> None:
    if stream is not None:
        with suppress(OSError, ValueError):  # Closed, or read by nobody any more.
            stream.write(text)
            stream.flush()
