"""Turns at a budget: what calls under way have set aside and do not use goes to those who wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from evenhand.errors import BudgetError

T = TypeVar("T")


class Turns:
    """A call sets aside the most it may cost, and many are under way at once: the money is spent when none is."""

    def __init__(self) -> None:
        self._under_way = 0
        self._freed = asyncio.Event()

    async def take(self, call: Callable[[], Awaitable[T]]) -> T:
        """What a call gives; a BudgetError only where no other call could leave enough for it."""
        while True:
            self._under_way += 1
            refused = False
            try:
                return await call()
            except BudgetError:
                refused = True
                if self._under_way == 1:
                    raise
            finally:
                self._under_way -= 1
                if not refused:
                    self._wake()
            await self._freed.wait()

    async def settle(self) -> None:
        """Wait for all that is under way, also where whoever asked has left."""
        while self._under_way:
            await self._freed.wait()

    def _wake(self) -> None:
        self._freed.set()
        self._freed = asyncio.Event()
