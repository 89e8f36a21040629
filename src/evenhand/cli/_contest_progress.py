"""While a contest is played: one line on a terminal that says how far it is, and nothing in a file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, TextIO

from evenhand.cli._progress import CLEAR, PAUSE

if TYPE_CHECKING:
    from evenhand.contest._play import Progress

DOING = {"gate_checked": "gate", "scored": "scored alone", "ranked": "side by side", "resolved": "challenge"}


@asynccontextmanager
async def told(stream: TextIO | None) -> AsyncIterator[Callable[[Progress], None]]:
    """What to tell of each step; the line is gone when the contest is."""
    if stream is None or not stream.isatty():
        yield lambda _: None
        return
    seen: list[Progress] = []
    teller = asyncio.create_task(_tell(seen, stream))
    try:
        yield seen.append
    finally:
        teller.cancel()
        _write(stream, CLEAR)


def line(latest: Progress | None, seconds: int) -> str:
    """The submissions judged, what was done last, and for how long it has been going on."""
    if latest is None:
        return f"asking · {seconds} s"
    return f"submission {latest.done} of {latest.total} · {DOING[latest.doing]} · {seconds} s"


async def _tell(seen: list[Progress], stream: TextIO) -> None:
    loop = asyncio.get_running_loop()
    started = loop.time()
    while True:
        _write(stream, CLEAR + line(seen[-1] if seen else None, int(loop.time() - started)))
        await asyncio.sleep(PAUSE)


def _write(stream: TextIO, text: str) -> None:
    with suppress(OSError, ValueError):  # Closed, or read by nobody any more.
        stream.write(text)
        stream.flush()
