"""A model that stays silent is probed once and asked no more; one that answers again is asked again."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

import pytest

from evenhand.errors import BusyError, CircuitOpenError, ModelError
from evenhand.models.circuit_breaker import FAILURES_TO_OPEN, ModelCircuitBreaker
from evenhand.models.connections import Connections
from evenhand.models.limits import FIRST_WIDTH, Clock, Limits
from evenhand.models.requests import Reply, Request
from tests.models.server import Behaviour, Seen, Server, fails, question, says
from tests.store.databases import free_port

SHORT = Limits(attempt_seconds=0.2, total_seconds=60.0, retries=5)
QUESTIONS = 40


def in_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test that waits, as one that does not."""

    @wraps(test)
    def run(**given: Any) -> None:
        asyncio.run(test(**given))

    return run


def hangs_until(alive: Callable[[], bool]) -> Behaviour:
    async def behave(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if alive():
            await says()(seen, writer)
        else:
            await asyncio.Event().wait()

    return behave


async def ask_all(connections: Connections, name: str) -> list[Reply | BaseException]:
    model = connections.open(name)
    asked = (model.ask(question(f"What is {number} + 1?")) for number in range(QUESTIONS))
    return await asyncio.gather(*asked, return_exceptions=True)


@in_loop
async def test_a_server_that_hangs_is_asked_a_few_times_and_no_more() -> None:
    """Each question alone would wait for six timeouts; all of them together wait for two."""
    async with Server(hangs_until(lambda: False)) as server, Connections({}, limits=SHORT) as connections:
        outcomes = await ask_all(connections, server.name)

        assert {type(one) for one in outcomes} == {CircuitOpenError}
        assert FAILURES_TO_OPEN < len(server.seen) <= 2 * FIRST_WIDTH + 1
        assert "times in a row, the last after a pause of 0.2 s: it is asked no more" in str(outcomes[0])


@in_loop
async def test_a_server_that_is_back_when_it_is_probed_answers_everything() -> None:
    """One probe goes first; the others wait for it and are not lost."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.extend([seconds] if seconds == SHORT.attempt_seconds else [])
        await asyncio.sleep(seconds)

    async with (
        Server(hangs_until(lambda: bool(pauses))) as server,
        Connections({}, limits=SHORT, clock=Clock(sleep=sleep)) as connections,
    ):
        outcomes = await ask_all(connections, server.name)

    assert [type(one) for one in outcomes] == [Reply] * QUESTIONS
    assert len(pauses) == 1


@pytest.mark.parametrize("status", [429, 500])
@in_loop
async def test_a_server_that_answers_with_errors_is_no_silent_one(status: int) -> None:
    """It is there; each question has its own retries."""
    clock = Clock(sleep=lambda _: asyncio.sleep(0))
    async with Server(fails(status)) as server, Connections({}, limits=SHORT, clock=clock) as connections:
        outcomes = await ask_all(connections, server.name)

    assert {type(one) for one in outcomes} == {BusyError}


@in_loop
async def test_a_server_that_was_never_there_is_not_waited_for() -> None:
    """A wrong port stays one."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async with Connections({}, limits=SHORT, clock=Clock(sleep=sleep)) as connections:
        outcomes = await ask_all(connections, f"openai-compatible:http://127.0.0.1:{free_port()}/v1/tiny")

    assert pauses == []
    assert {type(one) for one in outcomes[FIRST_WIDTH + FAILURES_TO_OPEN :]} == {CircuitOpenError}
    assert "5 times in a row: it is asked no more" in str(outcomes[-1])


@in_loop
async def test_a_function_that_hangs_is_called_a_few_times_and_no_more() -> None:
    """A judge of one's own may stand before a dead server too."""
    called = []

    async def hang(request: Request) -> str:
        called.append(request)
        await asyncio.Event().wait()
        return ""

    async with Connections({}, limits=SHORT) as connections:
        model = connections.adopt(hang)
        asked = (model.ask(question(f"What is {number} + 1?")) for number in range(QUESTIONS))
        outcomes = await asyncio.gather(*asked, return_exceptions=True)

    assert all(isinstance(one, ModelError) for one in outcomes)
    assert isinstance(outcomes[-1], CircuitOpenError)
    assert len(called) <= 2 * FIRST_WIDTH + 1


@in_loop
async def test_a_probe_that_is_cancelled_leaves_its_place_to_another() -> None:
    """A deadline of one question must not keep all others waiting for ever."""
    breaker = ModelCircuitBreaker("judge", 0.01, Clock())
    for _ in range(FAILURES_TO_OPEN):
        breaker.note_failure("no answer", probe=False)
    first = asyncio.create_task(breaker.wait_until_closed())
    second = asyncio.create_task(breaker.wait_until_closed())
    await asyncio.sleep(0)
    first.cancel()

    assert await second is True
    breaker.note_answer()
    assert await breaker.wait_until_closed() is False


@in_loop
async def test_whoever_waits_for_a_probe_is_let_go_when_all_is_stopped() -> None:
    """Ctrl-C does not wait for a pause."""
    breaker = ModelCircuitBreaker("judge", 3600, Clock())
    for _ in range(FAILURES_TO_OPEN):
        breaker.note_failure("no answer", probe=False)
    waiting = [asyncio.create_task(breaker.wait_until_closed()) for _ in range(2)]
    await asyncio.sleep(0)

    breaker.shut()

    with pytest.raises(asyncio.CancelledError):
        await waiting[1]
    waiting[0].cancel()
