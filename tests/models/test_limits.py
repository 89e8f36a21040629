"""How much is asked at once and per minute: bounded, in order, and slower where a server is overloaded."""

import asyncio
from collections.abc import Awaitable, Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import JudgeError
from evenhand.models.budget import Budget
from evenhand.models.connections import Connections
from evenhand.models.limits import Limits, ModelRateLimiter, ModelRequestGate
from evenhand.models.remote_model import RemoteModel
from tests.models.server import Seen, Server, Waits, fails, question, says


def test_no_more_than_the_limit_are_under_way() -> None:
    """And all of them are answered."""

    async def run() -> tuple[int, int]:
        async with Server(says()) as server, Connections({}, limits=Limits(concurrency=3)) as connections:
            model = connections.open(server.name)
            await asyncio.gather(*(model.ask(question(str(number))) for number in range(30)))
            return server.most_under_way, len(server.seen)

    most, all_of_them = asyncio.run(run())

    assert most <= 3
    assert all_of_them == 30


def test_connections_are_used_again() -> None:
    """Not one for every call."""

    async def run() -> tuple[int, int]:
        async with Server(says()) as server, Connections({}, limits=Limits(concurrency=5)) as connections:
            for name in (server.name, server.name + "-other"):
                model = connections.open(name)
                await asyncio.gather(*(model.ask(question(str(number))) for number in range(100)))
            return server.connections, len(server.seen)

    opened, requests = asyncio.run(run())

    assert requests == 200
    assert opened <= 5


def test_whoever_came_first_goes_first() -> None:
    """Nobody starves."""

    async def run() -> list[int]:
        gate, order = ModelRequestGate(1), []

        async def pass_through(number: int) -> None:
            await gate.enter()
            order.append(number)
            await asyncio.sleep(0)
            gate.leave()

        await asyncio.gather(*(pass_through(number) for number in range(10)))
        return order

    assert asyncio.run(run()) == list(range(10))


def test_whoever_comes_again_stands_in_front() -> None:
    """It has waited its turn already."""

    async def run() -> list[str]:
        gate, order = ModelRequestGate(1), []
        await gate.enter()

        async def pass_through(name: str, again: bool) -> None:
            await gate.enter(again=again)
            order.append(name)
            gate.leave()

        tasks = [asyncio.create_task(pass_through(name, name == "again")) for name in ("one", "two", "again")]
        await asyncio.sleep(0)
        gate.leave()
        await asyncio.gather(*tasks)
        return order

    assert asyncio.run(run()) == ["again", "one", "two"]


@given(steps=st.lists(st.sampled_from(["cancel", "leave", "settle"]), max_size=30))
def test_no_place_is_lost_when_somebody_gives_up_waiting(steps: list[str]) -> None:
    """Also in the very moment in which the place was given."""

    async def run() -> None:
        gate = ModelRequestGate(1)
        await gate.enter()
        inside = True
        waiting = [asyncio.create_task(gate.enter()) for _ in range(5)]
        patient = list(waiting)
        await asyncio.sleep(0)
        for step in steps:
            if step == "cancel" and patient:
                patient.pop(0).cancel()
            elif step == "leave" and inside:
                gate.leave()
                inside = False
            elif step == "settle":
                await asyncio.sleep(0)
        for task in waiting:
            task.cancel()
        ends = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(end == 0 or isinstance(end, asyncio.CancelledError) for end in ends)
        for _ in range(ends.count(0)):
            gate.leave()
        if inside:
            gate.leave()
        await asyncio.sleep(0)

        await asyncio.wait_for(gate.enter(), 1)

    asyncio.run(run())


def test_an_overload_halves_once_for_a_burst() -> None:
    """Ten refusals of ten calls sent together are one piece of news."""

    async def run() -> list[int]:
        gate, widths = ModelRequestGate(8), []
        marks = [await gate.enter() for _ in range(8)]
        for mark in marks:
            gate.overloaded(mark)
        widths.append(gate.width)
        for _ in range(8):
            gate.leave()
        gate.overloaded(await gate.enter())
        gate.leave()
        widths.append(gate.width)
        for _ in range(50):
            gate.overloaded(await gate.enter())
            gate.leave()
        widths.append(gate.width)
        for _ in range(200):
            gate.report_success()
        widths.append(gate.width)
        return widths

    assert asyncio.run(run()) == [4, 2, 1, 8]


def test_a_question_asked_again_goes_before_those_that_wait() -> None:
    """Otherwise a long queue would use up its time."""

    async def run() -> list[str]:
        async with (
            Server(fails(500), says()) as server,
            Connections({}, limits=Limits(concurrency=1), clock=Waits().clock) as connections,
        ):
            model = connections.open(server.name)
            await asyncio.gather(*(model.ask(question(text)) for text in "abcd"))
            return [seen.json["messages"][0]["content"] for seen in server.seen]

    assert asyncio.run(run()) == ["a", "b", "a", "c", "d"]


def test_one_overloaded_burst_and_its_successes_leave_five_of_eight_places() -> None:
    """Half of eight is four, and eight successes later it is five."""

    async def run() -> int:
        async with (
            Server(*[fails(429)] * 8, says()) as server,
            Connections({}, limits=Limits(concurrency=8), clock=Waits().clock) as connections,
        ):
            model = connections.open(server.name)
            await asyncio.gather(*(model.ask(question(str(number))) for number in range(8)))
            assert isinstance(model.model, RemoteModel)
            return model.model.width

    assert asyncio.run(run()) == 5


def test_growth_is_slow() -> None:
    """One more after about as many successes as fit."""

    async def run() -> int:
        gate = ModelRequestGate(40)
        gate.overloaded(await gate.enter())
        for _ in range(20):
            gate.report_success()
        return gate.width

    assert asyncio.run(run()) == 20


def overloading(most: int) -> tuple[Callable[[Seen, asyncio.StreamWriter], Awaitable[None]], list[int]]:
    """A server that refuses whenever more than so many are under way."""
    under_way, refused = [0], [0]

    async def behave(seen: Seen, writer: asyncio.StreamWriter) -> None:
        under_way[0] += 1
        try:
            for _ in range(5):
                await asyncio.sleep(0)
            if under_way[0] > most:
                refused[0] += 1
                await fails(429, "too many at once")(seen, writer)
            else:
                await says()(seen, writer)
        finally:
            under_way[0] -= 1

    return behave, refused


def test_a_server_that_is_overloaded_is_asked_more_slowly_until_all_is_answered() -> None:
    """Everything is answered in the end, though the server takes only two at once."""
    behave, _ = overloading(2)

    async def run() -> int:
        limits = Limits(concurrency=32, retries=50, total_seconds=1e9)
        async with Server(behave) as server, Connections({}, limits=limits, clock=Waits().clock) as connections:
            model = connections.open(server.name)
            replies = await asyncio.gather(*(model.ask(question(str(number))) for number in range(60)))
            return len(replies)

    assert asyncio.run(run()) == 60


@given(amounts=st.lists(st.integers(1, 50), min_size=1, max_size=20), rate=st.integers(1, 600))
def test_a_pace_is_even_and_in_order(amounts: list[int], rate: int) -> None:
    """Each turn begins once all before it have had their share of the minute."""
    waits = Waits()

    async def run() -> list[float]:
        pace, turns = ModelRateLimiter(rate, waits.clock), []
        for amount in amounts:
            await pace.wait(amount)
            turns.append(waits.time)
        return turns

    turns = asyncio.run(run())

    expected = [sum(amounts[:place]) * 60 / rate for place in range(len(amounts))]
    assert turns == pytest.approx(expected)


def test_time_without_questions_is_not_saved_up() -> None:
    """After a quiet hour the pace is the same as before it."""
    waits = Waits()

    async def run() -> None:
        pace = ModelRateLimiter(6, waits.clock)
        await pace.wait()
        waits.time += 3600
        await pace.wait()
        await pace.wait()

    asyncio.run(run())

    assert waits.waits == [10.0]


def test_requests_per_minute_are_kept() -> None:
    """Six a minute: one every ten seconds, retries counted."""
    waits = Waits()

    async def run() -> None:
        limits = Limits(requests_per_minute=6, retries=1)
        async with (
            Server(says(), says(), fails(500), says()) as server,
            Connections({}, limits=limits, clock=waits.clock) as connections,
        ):
            for _ in range(3):
                await connections.open(server.name).ask(question())

    asyncio.run(run())

    assert waits.waits == [10.0, 10.0, 0.25, 9.75]


def test_tokens_per_minute_are_corrected_by_what_was_used() -> None:
    """The server counted 110 tokens; at 660 a minute that is ten seconds, whatever was expected."""
    waits = Waits()

    async def run() -> None:
        async with (
            Server(says()) as server,
            Connections({}, limits=Limits(tokens_per_minute=660), clock=waits.clock) as connections,
        ):
            for _ in range(3):
                await connections.open(server.name).ask(question())

    asyncio.run(run())

    assert waits.waits == pytest.approx([10.0, 10.0])


@pytest.mark.parametrize(
    "fields",
    [{"attempt_seconds": 0}, {"total_seconds": float("nan")}, {"concurrency": 0}, {"retries": -1},
     {"requests_per_minute": 0}, {"tokens_per_minute": -1}, {"largest_reply": 0}],
)  # fmt: skip
def test_limits_that_cannot_be_are_refused(fields: dict[str, float]) -> None:
    """At birth, by their name."""
    with pytest.raises(JudgeError, match=next(iter(fields))):
        Limits(**fields)  # type: ignore[arg-type]


def test_a_budget_below_nothing_is_refused() -> None:
    """Also one that is not a number."""
    with pytest.raises(JudgeError, match="money"):
        Budget(money=Decimal("-1"))
    with pytest.raises(JudgeError, match="tokens"):
        Budget(tokens=-1)
