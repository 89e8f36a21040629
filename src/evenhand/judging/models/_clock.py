"""Time and chance as values: whoever waits is handed them, so that tests wait for nothing."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """How to tell the time, how to wait, and a number from 0 to 1 that spreads waits out."""

    now: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    chance: Callable[[], float] = random.random
