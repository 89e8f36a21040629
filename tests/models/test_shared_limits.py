"""Limits kept by many processes together, in a time that passes as soon as everybody waits."""

from __future__ import annotations

import asyncio
import random
import selectors
from bisect import bisect_right
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest

from evenhand.models.limits import Clock, Limits
from evenhand.models.shared_limits import SILENT_SECONDS, ModelLimitSlices, ModelShare, SharedLimits

T = TypeVar("T")
RATE = 600.0  # A minute.
SLICE = RATE / 60


class TravellingLoop(asyncio.SelectorEventLoop):
    """Time passes in it only when nothing else is left to do, and then at once."""

    def __init__(self) -> None:
        self.passed = 0.0
        super().__init__(_Waiting(self))

    def time(self) -> float:
        return self.passed


class _Waiting(selectors.SelectSelector):
    def __init__(self, loop: TravellingLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        assert timeout is not None, "everybody waits for ever"
        self._loop.passed += timeout
        return super().select(0)


class OnePlace:
    """Hands out slices from memory, as slowly as a database, by a clock of its own."""

    def __init__(self) -> None:
        self.state, self._turn = ModelLimitSlices(), asyncio.Lock()

    async def change_slices(
        self, model: str, change: Callable[[ModelLimitSlices, float], tuple[ModelLimitSlices, T]]
    ) -> T:
        await asyncio.sleep(random.uniform(0.001, 0.02))
        async with self._turn:
            self.state, result = change(self.state, asyncio.get_running_loop().time() + 5000.0)
        await asyncio.sleep(random.uniform(0.001, 0.02))
        return result


def travel(story: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What comes of a story, told in no time."""
    with asyncio.Runner(loop_factory=TravellingLoop) as runner:
        return runner.run(story())


def open_shares(place: OnePlace, count: int, **limits: Any) -> list[ModelShare]:
    """What so many processes may ask of one model."""
    names = iter(range(count))
    shared = SharedLimits(Limits(**limits), place, lambda: f"process {next(names)}")
    clock = Clock(now=asyncio.get_running_loop().time)
    return [ModelShare("tiny", shared, clock) for _ in range(count)]


def find_excess(sent: list[tuple[float, float]], per_minute: float) -> float:
    """By how much the amounts that were sent exceed a rate, in the worst of all windows of time."""
    sums, worst = [0.0], 0.0
    for _, amount in sent:
        sums.append(sums[-1] + amount)
    times = [at for at, _ in sent]
    for number, at in enumerate(times):
        for last in range(bisect_right(times, at), len(times) + 1):
            worst = max(worst, sums[last] - sums[number] - (times[last - 1] - at) * per_minute / 60)
    return worst


@pytest.mark.parametrize("kind", ["requests", "tokens"])
def test_no_window_of_time_has_more_than_the_rate_and_a_slice(kind: str) -> None:
    """Four that ask in bursts and pauses, two of whom are killed: nobody makes up for what they lost."""
    sent: list[tuple[float, float]] = []
    chance = random.Random(3)

    async def ask(share: ModelShare, count: int) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(count):
            await asyncio.sleep(chance.choice([0.0, 0.0, 0.0, 3.0 * chance.random()]))
            tokens = chance.randint(1, 9)
            async with share.hold_place(tokens):
                sent.append((loop.time(), tokens if kind == "tokens" else 1))

    async def story() -> float:
        shares = open_shares(OnePlace(), 4, **{f"{kind}_per_minute": RATE})
        tasks = [asyncio.create_task(ask(share, 30)) for share in shares for _ in range(4)]
        await asyncio.sleep(7)
        for task in tasks[:8]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return asyncio.get_running_loop().time()

    seconds = travel(story)

    largest = 9 if kind == "tokens" else 1
    assert find_excess(sent, RATE) <= SLICE + largest
    assert sum(amount for _, amount in sent) > 0.5 * RATE / 60 * seconds  # It is used, too.


def test_what_was_really_used_counts() -> None:
    """Ten times as many tokens as expected: ten times as long."""

    async def story() -> float:
        [share] = open_shares(OnePlace(), 1, tokens_per_minute=RATE)
        for _ in range(40):
            async with share.hold_place(1):
                pass
            assert share.tokens is not None
            share.tokens.correct(9)
        return asyncio.get_running_loop().time()

    assert travel(story) == pytest.approx(40 * 10 / SLICE, rel=0.1)


def test_all_together_have_no_more_calls_under_way_than_allowed() -> None:
    """Three that want more than there are: each gets its part, and one that is killed leaves its own to the others."""
    under_way, most, done = 0, 0, [0, 0, 0]

    async def ask(share: ModelShare, number: int) -> None:
        nonlocal under_way, most
        while True:
            async with share.hold_place(1):
                under_way += 1
                most = max(most, under_way)
                try:
                    await asyncio.sleep(1.0)
                finally:
                    under_way -= 1
                done[number] += 1

    async def story() -> tuple[list[int], list[int]]:
        shares = open_shares(OnePlace(), 3, concurrency=4)
        tasks = [[asyncio.create_task(ask(share, number)) for _ in range(5)] for number, share in enumerate(shares)]
        await asyncio.sleep(60)
        before = list(done)
        share_of_the_dead = shares[2]._places
        assert share_of_the_dead is not None and share_of_the_dead._sharing is not None
        for task in (*tasks[2], share_of_the_dead._sharing):
            task.cancel()
        await asyncio.sleep(2 * SILENT_SECONDS)
        middle = list(done)
        await asyncio.sleep(30)
        for task in (*tasks[0], *tasks[1]):
            task.cancel()
        return before, [after - then for after, then in zip(done, middle, strict=True)]

    before, after = travel(story)

    assert most <= 4
    assert min(before) > 0.25 * sum(before) and sum(before) > 0.8 * 4 * 60
    assert sum(after) > 0.8 * 4 * 30 and after[2] == 0


def test_one_place_is_passed_on() -> None:
    """A model that takes one call at a time is asked by everybody in turn."""
    done = [0, 0, 0]

    async def ask(share: ModelShare, number: int) -> None:
        while True:
            async with share.hold_place(1):
                await asyncio.sleep(0.5)
                done[number] += 1

    async def story() -> None:
        shares = open_shares(OnePlace(), 3, concurrency=1)
        tasks = [asyncio.create_task(ask(share, number)) for number, share in enumerate(shares)]
        await asyncio.sleep(120)
        for task in tasks:
            task.cancel()

    travel(story)

    assert min(done) > 40 and sum(done) < 240


def test_whoever_has_nothing_to_ask_leaves_no_trace_and_asks_nobody() -> None:
    """A service that is idle writes nothing, and one that ends gives its places back."""

    async def story() -> tuple[ModelLimitSlices, ModelLimitSlices, ModelLimitSlices]:
        place = OnePlace()
        [share] = open_shares(place, 1, concurrency=4)
        async with share.hold_place(1):
            held = place.state
        await asyncio.sleep(5)
        idle = place.state
        await asyncio.sleep(1000)
        assert place.state is idle
        async with share.hold_place(1):
            pass
        await share.close()
        return held, idle, place.state

    held, idle, closed = travel(story)

    assert [one.places for one in held.shares.values()] == [1]
    assert dict(idle.shares) == dict(closed.shares) == {}
