"""Limits that many processes keep together: each waits for its turn in slices that one place hands out."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from evenhand.models.limits import Clock, Limits, ModelRequestGate

SILENT_SECONDS = 30.0  # After which the places of a process that gave no sign of life are handed out again.
TURN_SECONDS = 10.0  # After which the places that cannot be divided go to the next ones.


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceShare:
    """The places of one process, how many it has use for, and when it last said so."""

    places: int
    wanted: int
    beat: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLimitSlices:
    """What has been handed out of the limits of one model, by a clock in seconds."""

    at: float = 0.0  # When it last changed.
    ends: Mapping[str, float] = field(default_factory=dict)  # By rate: when the last of its slices ends.
    shares: Mapping[str, PlaceShare] = field(default_factory=dict)  # By process.

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        shares = {name: [one.places, one.wanted, one.beat] for name, one in self.shares.items()}
        return {"at": self.at, "ends": dict(self.ends), "shares": shares}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ModelLimitSlices:
        """What `to_json` wrote."""
        shares = {
            name: PlaceShare(places=places, wanted=wanted, beat=beat)
            for name, (places, wanted, beat) in data["shares"].items()
        }
        return cls(at=data["at"], ends=data["ends"], shares=shares)


def cut_model_rate_slice(
    state: ModelLimitSlices, now: float, *, rate: str, amount: float, per_minute: float
) -> tuple[ModelLimitSlices, float]:
    """Hand out so much of a rate behind all that was handed out before; in how many seconds it begins.

    It lasts for as long as the rate takes for it: whoever uses it then, and not later, keeps the rate with all others.
    """
    state = _follow_model_limit_clock(state, now)
    begins = max(now, state.ends.get(rate, now))
    ends = {**state.ends, rate: begins + amount * 60.0 / per_minute}
    return replace(state, ends=ends), begins - now


def share_model_places(
    state: ModelLimitSlices, now: float, *, holder: str, most: int, held: int, wanted: int
) -> tuple[ModelLimitSlices, int]:
    """How many calls a process may have under way at once, of the `most` that all may have together.

    `held` are those that it may have until it knows the answer: they stay its own until it asks with fewer.
    """
    state = _follow_model_limit_clock(state, now)
    others = {name: one for name, one in state.shares.items() if name != holder and now - one.beat < SILENT_SECONDS}
    free = most - sum(one.places for one in others.values())
    wants = {holder: wanted, **{name: one.wanted for name, one in others.items()}}
    places = max(0, min(free, divide_model_places(most, wants, first=int(now // TURN_SECONDS))[holder]))
    if held or wanted:
        others[holder] = PlaceShare(places=max(held, places), wanted=wanted, beat=now)
    return replace(state, shares=others), places


def divide_model_places(most: int, wanted: Mapping[str, int], *, first: int = 0) -> dict[str, int]:
    """Divide places evenly: nobody gets more than it wants, and what one leaves goes to the others.

    Those that cannot be divided go round, beginning with the process whose number is `first`.
    """
    given, left = dict.fromkeys(wanted, 0), most
    while left > 0 and (open := [name for name in sorted(wanted) if given[name] < wanted[name]]):
        begin, each = first % len(open), max(1, left // len(open))
        for name in open[begin:] + open[:begin]:
            more = min(each, wanted[name] - given[name], left)
            given[name] += more
            left -= more
    return given


def _follow_model_limit_clock(state: ModelLimitSlices, now: float) -> ModelLimitSlices:
    """A clock that was set back takes all with it: nobody waits for a time that comes again."""
    back = min(0.0, now - state.at)
    if not back:
        return replace(state, at=now)
    shares = {name: replace(one, beat=one.beat + back) for name, one in state.shares.items()}
    return ModelLimitSlices(at=now, ends={name: end + back for name, end in state.ends.items()}, shares=shares)


T = TypeVar("T")
LARGEST_SLICE = 1.0  # Seconds of a rate that are handed out at once, at most; one request may be more than that.
SMALLEST_SLICE = 0.1  # As much is handed out even to those who have use for less: they may have more in a moment.
SHARE_SECONDS = 1.0  # Between two signs of life of whoever has places.
SHORT_SECONDS = 0.25  # The same where it has fewer than it wants.
LEAST_PAUSE = 0.02
CLOSE_SECONDS = 5.0


class LimitSource(Protocol):
    """The one place that hands out slices."""

    async def change_slices(
        self, model: str, change: Callable[[ModelLimitSlices, float], tuple[ModelLimitSlices, T]]
    ) -> T:
        """Change what has been handed out of a model's limits, given that and the time; one change after another."""
        ...


@dataclass(frozen=True, slots=True)
class SharedLimits:
    """How much all processes together may ask of each model, and who hands it out."""

    limits: Limits
    source: LimitSource
    holder: Callable[[], str]  # A new name for each set of connections.
    rates_only: bool = False  # Places were divided before; rates are those of a server, as in one process.


class ModelShare:
    """What one process may ask of one model: places for calls at once, and turns of each rate."""

    def __init__(self, model: str, shared: SharedLimits, clock: Clock) -> None:
        limits = shared.limits
        change = partial(shared.source.change_slices, model)
        self._places = None if shared.rates_only else SharedModelPlaces(limits.concurrency, shared.holder(), change)
        requests, tokens = limits.requests_per_minute, limits.tokens_per_minute
        self._requests = SharedModelRate("requests", requests, clock, change) if requests else None
        self.tokens = SharedModelRate("tokens", tokens, clock, change) if tokens else None
        self._turns, self._waiting = asyncio.Lock(), 0

    @asynccontextmanager
    async def hold_place(self, tokens: int) -> AsyncIterator[None]:
        """Wait for a place and for the turn of a request of so many tokens."""
        if self._places is not None:
            await self._places.enter()
        try:
            await self._wait_for_turn(tokens)
            yield
        finally:
            if self._places is not None:
                self._places.leave()

    async def _wait_for_turn(self, tokens: int) -> None:
        self._waiting += 1
        try:
            # Until the turn has come: nobody has a turn and waits with it, and a process that dies has one slice.
            async with self._turns:
                if self.tokens:
                    await self.tokens.wait(tokens, self._waiting)
                if self._requests:
                    await self._requests.wait(1, self._waiting)
        finally:
            self._waiting -= 1

    def shut(self) -> None:
        """Let nobody in any more; whoever waits for a place is let go, as if cancelled."""
        if self._places is not None:
            self._places.shut()

    async def close(self) -> None:
        """Give all places back."""
        if self._places is not None:
            await self._places.close()


ChangeSlices = Callable[[Callable[[ModelLimitSlices, float], tuple[ModelLimitSlices, T]]], Awaitable[T]]


@dataclass(slots=True)
class SharedModelRate:
    """Turns in the slices of one rate: never before their time, and what is not used in time is lost."""

    _name: str
    _per_minute: float
    _clock: Clock
    _change: ChangeSlices[float]
    _left: float = 0.0  # Of the last slice; below 0 where more was used than was expected.
    _next: float = -math.inf
    _ends: float = -math.inf

    async def wait(self, amount: float, turns: int) -> None:
        """Wait for the turn of so much; one waits at a time, and so many turns are wanted in all."""
        while True:
            if self._left < amount or self._clock.now() >= self._ends:
                await self._take_slice(amount - min(self._left, 0.0), turns)
            turn, now = self._next, self._clock.now()
            if turn > now:
                await self._clock.sleep(turn - now)
            if self._clock.now() <= self._ends:
                self._left -= amount
                self._next = turn + amount * 60.0 / self._per_minute
                return

    def correct(self, by: float) -> None:
        """Count what was really used in place of what was expected."""
        self._left -= by

    async def _take_slice(self, amount: float, turns: int) -> None:
        """As many turns of this size as are wanted and fit into a slice, and at least one; what was left is lost."""
        in_second = self._per_minute / 60.0 / amount
        size = amount * max(1, math.floor(min(max(turns, SMALLEST_SLICE * in_second), LARGEST_SLICE * in_second)))
        cut = partial(cut_model_rate_slice, rate=self._name, amount=size, per_minute=self._per_minute)
        wait = await self._change(cut)
        begins = self._clock.now() + wait
        self._left = min(self._left, 0.0) + size
        self._next = begins
        self._ends = begins + size * 60.0 / self._per_minute


class SharedModelPlaces:
    """Places for calls at once, as many as this process has of all that may be under way together."""

    def __init__(self, most: int, holder: str, change: ChangeSlices[int]) -> None:
        self._most, self._holder, self._change = most, holder, change
        self._gate = ModelRequestGate(most, room=0.0)
        self._has_all = True  # That it asked for the last time.
        self._woken = asyncio.Event()
        self._sharing: asyncio.Task[None] | None = None

    async def enter(self) -> None:
        """Wait for a place."""
        if self._sharing is None:
            self._sharing = asyncio.create_task(self._keep_sharing())
        if self._gate.wanted >= self._gate.width and self._has_all:
            self._woken.set()
        await self._gate.enter()

    def leave(self) -> None:
        """Give a place up."""
        self._gate.leave()
        if self._gate.inside >= self._gate.width:  # One that another is to have.
            self._woken.set()

    def shut(self) -> None:
        """Let nobody in any more; whoever waits is let go, as if cancelled."""
        self._gate.shut()

    async def close(self) -> None:
        """Give all places back; whoever waits for one is let go."""
        self.shut()
        if self._sharing is not None:
            self._sharing.cancel()
            with suppress(asyncio.CancelledError):
                await self._sharing
            with suppress(TimeoutError):  # Otherwise they are handed out again after some silence.
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self._ask_for_places(0, 0)

    async def _keep_sharing(self) -> None:
        """Ask for as many as there is use for, again and again as long as there is any."""
        gate = self._gate
        while True:
            self._woken.clear()
            held, wanted = max(gate.inside, gate.width), gate.wanted
            places = await self._ask_for_places(held, wanted)
            self._has_all = places >= min(wanted, self._most)
            gate.resize(places)
            if held > max(places, gate.inside):
                continue  # What is not needed any more is given back at once.
            await asyncio.sleep(LEAST_PAUSE)
            seconds = SHARE_SECONDS if self._has_all else SHORT_SECONDS
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), seconds if held or wanted else None)

    async def _ask_for_places(self, held: int, wanted: int) -> int:
        asked = partial(share_model_places, holder=self._holder, most=self._most, held=held, wanted=wanted)
        return await self._change(asked)
