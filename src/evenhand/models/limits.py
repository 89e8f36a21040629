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
from typing import Literal

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
    largest_reply: int = 1_000_000  # Bytes of an answer, before any of it is read.

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


FIRST_WIDTH = 8  # Calls at once until it is known that a server gains from more.
WORTH_DOUBLING = 1.4  # How much faster replies must come for twice as many calls at once to be kept.
SAME_RATE = 0.75  # Of the rate before: half as many calls at once that keep so much of it are enough.
LEAST_ROUND = 16  # Replies: fewer say too little about how fast they come.
ROUNDS_HELD = 8  # Before more is tried once more.


@dataclass(slots=True)
class ModelRequestPace:
    """Finds how many calls at once a server gains from: beyond that they only wait in its queue.

    It goes by replies per second, in rounds of at least as many replies as calls may be under way: twice as many where
    that came with clearly more replies per second, half as many where half as many bring nearly as many replies.
    """

    most: int
    width: int = 0
    _step: Literal["grow", "shrink", "hold"] = "grow"
    _rate: float | None = None  # Of the round before, in replies per second.
    _since: float | None = None
    _replies: int = 0
    _passed_over: int = 0  # Replies still to come to calls that were sent at another width.
    _held: int = 0

    def __post_init__(self) -> None:
        self.width = min(self.most, FIRST_WIDTH)

    def note_reply(self, now: float, under_way: int, *, queued: bool) -> None:
        """Count a reply, and change the width at the end of a round; without a queue the width tells nothing."""
        if self._since is None or not queued:
            self._since, self._replies = now, 0
            return
        if self._passed_over > 0:
            self._passed_over -= 1
            self._since = now
            return
        self._replies += 1
        if self._replies < max(self.width, LEAST_ROUND) or now <= self._since:
            return
        before, rate = self.width, self._replies / (now - self._since)
        self._end_round(rate)
        self._since, self._replies, self._passed_over = now, 0, under_way if self.width < before else 0

    def _end_round(self, rate: float) -> None:
        before = self._rate
        if self._step == "hold":
            self._held -= 1
            if self._held > 0 or self.width >= self.most:
                return
            self._step, before = "grow", None
        if self._step == "grow" and (before is None or rate >= WORTH_DOUBLING * before):
            self._rate, self.width = rate, min(2 * self.width, self.most)
            if self.width == self.most and before is not None:
                self._hold()
        elif self._step == "grow":
            self._step, self.width = "shrink", max(1, self.width // 2)
        elif rate < SAME_RATE * (before or rate):  # Half as many were too few.
            self.width = min(2 * self.width, self.most)
            self._hold()
        elif self.width == 1:
            self._hold()
        else:
            self._rate, self.width = rate, self.width // 2

    def _hold(self) -> None:
        self._step, self._held, self._rate = "hold", ROUNDS_HELD, None


@dataclass(slots=True)
class ModelRequestGate:
    """Lets so many in at once: half as many after an overload, slowly more again with every success.

    With a pace, no more than the server gains from.
    """

    most: int
    room: float = math.inf  # Below `most` after an overload, or where others have the rest.
    pace: ModelRequestPace | None = None
    _inside: int = 0
    _halvings: int = 0
    _shut: bool = False
    _waiting: deque[asyncio.Future[None]] = field(default_factory=deque)

    @property
    def width(self) -> int:
        """How many may be inside now."""
        return int(min(self.most, self.room, self.most if self.pace is None else self.pace.width))

    @property
    def inside(self) -> int:
        """How many are inside now."""
        return self._inside

    @property
    def wanted(self) -> int:
        """How many are inside or wait for a place."""
        return self._inside + len(self._waiting)

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
        if self._inside < self.width and (again or not self._waiting):
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

    def resize(self, room: int) -> None:
        """Let in so many from now on; whoever is inside stays."""
        self.room = float(room)
        self._admit()

    def overloaded(self, mark: int) -> None:
        """Let in half as many. One burst that meets one overload halves once, not once for every call in it."""
        if mark == self._halvings:
            self._halvings += 1
            self.room = max(1.0, min(self.most, self.room) / 2)

    def note_reply(self, now: float) -> None:
        """Tell the pace that a reply has come."""
        if self.pace is not None:
            self.pace.note_reply(now, self._inside, queued=bool(self._waiting))
            if self._waiting:
                self._admit()

    def report_success(self) -> None:
        """Let in a little more: one more after as many successes as fit inside."""
        if self.room < self.most:
            self.room += 1 / self.room
            self._admit()

    def _admit(self) -> None:
        width = self.width
        while self._waiting and self._inside < width:
            place = self._waiting.popleft()
            if not place.cancelled():
                self._inside += 1
                place.set_result(None)


@dataclass(slots=True)
class ModelRateLimiter:
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

    gate: ModelRequestGate
    requests: ModelRateLimiter | None
    tokens: ModelRateLimiter | None
    answered: bool = False  # Whether it ever did: if not, it is more likely not there than busy.
    offers: tuple[str, ...] | None = None
    listing: asyncio.Lock = field(default_factory=asyncio.Lock)


_FIRST, _LONGEST = 0.5, 30.0


def parse_provider_retry_after(headers: Mapping[str, str], wall: float) -> float | None:
    """The seconds a server asks to wait; None where it does not say, or says what cannot be."""
    milliseconds = _parse_server_wait_number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _parse_server_wait_number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        then: float = parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return then - wall if then > wall else None


def compute_model_retry_wait(asked: float | None, retries: int, clock: Clock) -> float:
    """The wait before the next try: as asked and a little more, or doubled each time; spread out by chance."""
    if asked:
        return asked * (1 + 0.1 * clock.chance())
    return min(_LONGEST, _FIRST * 2.0 ** min(retries, 20)) * (1 + clock.chance()) / 2


def _parse_server_wait_number(text: str | None) -> float | None:
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
