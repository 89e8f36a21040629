"""How much may be asked at once and per minute, and how long to wait before a retry."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime

from evenhand.errors import JudgeError
from evenhand.models.requests import CallNext, Reply, Request


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on asking. Time in a queue counts towards none of them; total_seconds runs from the first attempt."""

    attempt_seconds: float = 120.0
    total_seconds: float = 600.0
    retries: int = 5
    concurrency: int = 50
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    largest_reply: int = 10_000_000

    def __post_init__(self) -> None:
        for name in ("attempt_seconds", "total_seconds", "concurrency", "largest_reply"):
            if not getattr(self, name) > 0:  # Refuses NaN too.
                raise JudgeError(f"{name} must be above 0, got {getattr(self, name)}")
        for name in ("requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise JudgeError(f"{name} must be above 0, got {value}")
        if not self.retries >= 0:
            raise JudgeError(f"retries cannot be below 0, got {self.retries}")


@dataclass(slots=True)
class ConcurrencyGate:
    """Lets so many in at once: half as many after an overload, slowly more again with every success."""

    most: int
    room: float = math.inf  # Below `most` after an overload.
    _inside: int = 0
    _halvings: int = 0
    _shut: bool = False
    _waiting: deque[asyncio.Future[None]] = field(default_factory=deque)

    @property
    def width(self) -> int:
        """How many may be inside now."""
        return int(min(self.most, self.room))

    async def limit_requests(self, request: Request, call_next: CallNext) -> Reply:
        """Middleware that lets only so many requests through at once."""
        await self.enter()
        try:
            return await call_next(request)
        finally:
            self.leave()

    async def enter(self, *, again: bool = False) -> int:
        """Wait for a place; whoever comes again stands in front. Returns a mark for `overloaded`."""
        if self._shut:
            raise asyncio.CancelledError
        if self._inside < int(min(self.most, self.room)) and (again or not self._waiting):
            self._inside += 1
            return self._halvings
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        (self._waiting.appendleft if again else self._waiting.append)(place)
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():
                self.leave()  # The place was given in the same moment: hand it on.
            raise
        return self._halvings

    def leave(self) -> None:
        """Give the place to whoever waits longest."""
        self._inside -= 1
        if self._waiting:
            self._admit()

    def shut(self) -> None:
        """Let nobody in any more; whoever waits is let go, as if cancelled."""
        self._shut = True
        while self._waiting:
            self._waiting.popleft().cancel()

    def overloaded(self, mark: int) -> None:
        """Let in half as many. One burst that meets one overload halves once, not once for every call in it."""
        if mark == self._halvings:
            self._halvings += 1
            self.room = max(1.0, min(self.most, self.room) / 2)

    def report_success(self) -> None:
        """Let in a little more: one more after as many successes as fit inside."""
        if self.room < self.most:
            self.room += 1 / self.room
            self._admit()

    def _admit(self) -> None:
        while self._waiting and self._inside < self.width:
            place = self._waiting.popleft()
            if not place.cancelled():
                self._inside += 1
                place.set_result(None)


@dataclass(slots=True)
class RateLimiter:
    """Spreads what is asked evenly over the minute."""

    _per_minute: float
    _clock: Clock
    _next: float = -math.inf

    async def wait(self, amount: float = 1.0) -> None:
        """Wait for the turn of so much; turns are given in the order of asking."""
        now = self._clock.now()
        turn = max(now, self._next)
        self._next = turn + amount * 60.0 / self._per_minute
        if turn > now:
            await self._clock.sleep(turn - now)

    def correct(self, by: float) -> None:
        """Count what was really used in place of what was expected."""
        self._next += by * 60.0 / self._per_minute


@dataclass(slots=True)
class ServerState:
    """One server as all models on it share it."""

    gate: ConcurrencyGate
    requests: RateLimiter | None
    tokens: RateLimiter | None
    answered: bool = False  # Whether it ever did: if not, it is more likely not there than busy.
    offers: tuple[str, ...] | None = None
    listing: asyncio.Lock = field(default_factory=asyncio.Lock)


_FIRST, _LONGEST = 0.5, 30.0


def parse_retry_after(headers: Mapping[str, str], wall: float) -> float | None:
    """The seconds a server asks to wait; None where it does not say, or says what cannot be."""
    milliseconds = _parse_wait_number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _parse_wait_number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        then: float = parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return then - wall if then > wall else None


def compute_retry_wait(asked: float | None, retries: int, clock: Clock) -> float:
    """The wait before the next try: as asked and a little more, or doubled each time; spread out by chance."""
    if asked:
        return asked * (1 + 0.1 * clock.chance())
    return min(_LONGEST, _FIRST * 2.0 ** min(retries, 20)) * (1 + clock.chance()) / 2


def _parse_wait_number(text: str | None) -> float | None:
    try:
        value = float(text) if text else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


@dataclass(frozen=True, slots=True)
class Clock:
    """How to tell the time, how to wait, and a number from 0 to 1 that spreads waits out."""

    now: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    chance: Callable[[], float] = random.random
