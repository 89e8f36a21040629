"""So many outputs at once, and no new one once somebody has said stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

Stopping = Callable[[], bool]


class Places:
    """Lets so many in at once; whoever still waits when it is stopped is let go, as if cancelled."""

    def __init__(self, most: int, stopping: Stopping) -> None:
        self._slots = asyncio.Semaphore(most)
        self._stopping = stopping

    async def __aenter__(self) -> None:
        await self._slots.acquire()
        if self._stopping():
            self._slots.release()
            raise asyncio.CancelledError

    async def __aexit__(self, *_: object) -> None:
        self._slots.release()
