"""While a run is under way: one line that says how far it is, what it has cost and how long it will take."""

from __future__ import annotations

import asyncio
import math
import shutil
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TextIO

from evenhand.cli._text import one_line

CLEAR = "\r\033[K"
REDRAWN = 0.2  # Seconds between two drawings on a terminal.
WRITTEN = 10.0  # Seconds between two lines in a file.
RECENT = 30.0  # Seconds that the rate looks back: long enough to be calm, short enough to see a server slow down.


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """How far a run is."""

    total: int
    done: int = 0
    failed: int = 0
    rate: float | None = None  # Results a second, lately.
    cost: Decimal | None = None  # US dollars, where every price is known.
    tokens: int = 0


def line(state: State, width: int) -> str:
    """The state in at most `width` characters; what matters least is left out first."""
    parts = [
        (0, f"{state.done:,} of {state.total:,}"),
        (4, _rate(state)),
        (3, _spent(state)),
        (1, f"{state.failed:,} failed" if state.failed else ""),
        (2, _left(state)),
    ]
    shown = [part for part in parts if part[1]]
    while len(shown) > 1 and len(_joined(shown)) > width:
        shown.remove(max(shown))
    return _joined(shown)[: max(width, 0)]


def _joined(parts: list[tuple[int, str]]) -> str:
    return " · ".join(text for _, text in parts)


def _rate(state: State) -> str:
    if not state.rate:
        return ""
    return (
        f"{state.rate:.0f}/s" if state.rate >= 10 else f"{state.rate:.1f}/s" if state.rate >= 1 else _slow(state.rate)
    )


def _slow(rate: float) -> str:
    return f"{rate * 60:.1f}/min"


def _spent(state: State) -> str:
    if state.cost is not None:
        return f"${state.cost:.2f}" if state.cost >= 1 else f"${state.cost:.4f}" if state.cost else ""
    return f"{state.tokens:,} tokens" if state.tokens else ""


def _left(state: State) -> str:
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


class Progress:
    """The line on its way to a terminal, or now and then into a file; trouble with the stream never stops a run."""

    def __init__(self, stream: TextIO | None, clock: Callable[[], float]) -> None:
        self._stream = stream
        self._clock = clock
        self._terminal = stream is not None and stream.isatty()
        self._state = State(total=0)
        self._seen: deque[tuple[float, int]] = deque()
        self._drawn = clock()

    def begin(self, what: str, *, total: int, before: int = 0) -> None:
        """Say what will be asked, before anything is waited for; what was done before does not count as fast."""
        self._state = State(total=total, done=before)
        self._seen = deque([(self._clock(), before)])
        self._drawn = self._clock()
        self._write(f"{one_line(what)}\n")

    def update(self, *, done: int, failed: int = 0, cost: Decimal | None = None, tokens: int = 0) -> None:
        """Take in how far it is, and draw it if the last drawing is old enough."""
        self._state = replace(self._state, done=done, failed=failed, cost=cost, tokens=tokens)
        self.tick()

    def tick(self) -> None:
        """Draw again if the last drawing is old enough, also when nothing has come meanwhile."""
        now = self._clock()
        if now - self._drawn < (REDRAWN if self._terminal else WRITTEN):
            return
        self._drawn = now
        state = replace(self._state, rate=self._rate(now))
        width = shutil.get_terminal_size().columns - 1
        self._write(f"{CLEAR}{line(state, width)}" if self._terminal else f"{line(state, 200)}\n")

    def end(self) -> None:
        """Leave the terminal as it was; in a file, say how far it came."""
        self._write(CLEAR if self._terminal else f"{line(self._state, 200)}\n")

    def _rate(self, now: float) -> float | None:
        self._seen.append((now, self._state.done))
        while len(self._seen) > 2 and self._seen[1][0] <= now - RECENT:
            self._seen.popleft()
        since, done = self._seen[0]
        return (self._state.done - done) / (now - since) if now > since else None

    def _write(self, text: str) -> None:
        if self._stream is not None:
            with suppress(OSError, ValueError):  # Closed, or read by nobody any more.
                self._stream.write(text)
                self._stream.flush()


@asynccontextmanager
async def ticking(progress: Progress) -> AsyncIterator[Progress]:
    """Keep the line fresh while something is awaited, and take it away in the end."""
    ticker = asyncio.create_task(_tick(progress))
    try:
        yield progress
    finally:
        ticker.cancel()
        progress.end()


async def _tick(progress: Progress) -> None:
    while True:
        progress.tick()
        await asyncio.sleep(REDRAWN)
