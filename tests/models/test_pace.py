"""How many calls at once: as many as a server gains from, found by watching how fast replies come."""

import asyncio
import heapq
import random

import pytest

from evenhand.models.connections import Connections
from evenhand.models.limits import Limits, ModelRequestPace
from evenhand.models.remote_model import RemoteModel
from tests.models.server import Server, Waits, fails, question, says


def served(slots: int, calls: int, most: int = 50, spread: float = 0.0, seconds: float = 9.0) -> tuple[int, float]:
    """The width at the end, and the longest wait for a reply from its sending, at a server with so many slots."""
    rng, pace = random.Random(7), ModelRequestPace(most)
    free = [0.0] * slots  # When each slot is free again.
    under_way: list[tuple[float, float]] = []  # When a reply comes, when it was asked for.
    now, sent, longest, widths = 0.0, 0, 0.0, []
    while sent < calls or under_way:
        while sent < calls and len(under_way) < pace.width:
            began = max(now, heapq.heappop(free))
            end = began + seconds * (1 + spread * rng.uniform(-1, 1))
            heapq.heappush(free, end)
            heapq.heappush(under_way, (end, now))
            sent += 1
        now, asked = heapq.heappop(under_way)
        longest = max(longest, now - asked)
        pace.note_reply(now, len(under_way), queued=sent < calls)
        widths.append(pace.width)
    return sorted(widths[len(widths) // 2 :])[len(widths) // 4], longest


@pytest.mark.parametrize("spread", [0.0, 0.3, 0.5])
def test_a_server_that_takes_one_at_a_time_is_not_flooded(spread: float) -> None:
    """Fifty calls at once would have waited 450 seconds in its queue."""
    width, longest = served(1, 400, spread=spread)

    assert width <= 4
    assert longest <= 18 * 9


@pytest.mark.parametrize("spread", [0.0, 0.3, 0.5])
@pytest.mark.parametrize("slots", [4, 16])
def test_the_width_comes_near_to_what_the_server_has_room_for(slots: int, spread: float) -> None:
    """Neither a queue there, nor slots that stand empty."""
    width, _ = served(slots, 1000, spread=spread)

    assert slots / 2 <= width <= 2 * slots


@pytest.mark.parametrize("spread", [0.0, 0.3, 0.5])
def test_a_server_with_room_for_all_gets_all(spread: float) -> None:
    """Large providers are asked as fast as before, after a few rounds."""
    width, _ = served(1000, 1000, spread=spread)

    assert width >= 32


def test_without_a_queue_nothing_changes() -> None:
    """A few calls now and then say nothing about what a server could do."""
    pace = ModelRequestPace(50)
    for second in range(100):
        pace.note_reply(float(second), 1, queued=False)

    assert pace.width == 8


def test_time_is_counted_from_the_sending_that_was_answered() -> None:
    """Waiting for a turn, and for a server that was busy, is not how long the model takes."""
    waits = Waits()

    async def run() -> list[float]:
        async with (
            Server(fails(500), fails(500), says()) as server,
            Connections({}, limits=Limits(concurrency=1), clock=waits.clock) as connections,
        ):
            model = connections.open(server.name)
            replies = await asyncio.gather(*(model.ask(question(text)) for text in "abc"))
            return [reply.seconds for reply in replies]

    assert max(asyncio.run(run())) < 0.25 < waits.time


def test_a_server_starts_with_few_and_gets_more() -> None:
    """All of them answered, and more at once in the end than in the beginning."""

    async def run() -> tuple[int, list[int], int]:
        async with Server(says()) as server, Connections({}, limits=Limits(concurrency=32)) as connections:
            model = connections.open(server.name)
            remote = model.model
            assert isinstance(remote, RemoteModel)
            begin = remote.width

            async def ask(number: int) -> int:
                await model.ask(question(str(number)))
                return remote.width

            widths = await asyncio.gather(*map(ask, range(200)))
            return begin, widths, len(server.seen)

    begin, widths, asked = asyncio.run(run())
    assert (begin, asked) == (8, 200)
    assert max(widths) > begin  # After a first round it tries twice as many, whatever it then keeps.
