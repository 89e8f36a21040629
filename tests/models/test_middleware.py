"""Middleware: one list in front of a model, which stays visible behind it."""

import asyncio
from pathlib import Path

import pytest

from evenhand.errors import BudgetError, JudgeError, RefusedError
from evenhand.judging.open_judge import find_judge_by_name, probe_judge_by_prompt
from evenhand.models.budget import Budget
from evenhand.models.connections import Connections
from evenhand.models.limits import Limits
from evenhand.models.requests import (
    EMBEDDED,
    CallNext,
    ChainedModel,
    Middleware,
    Reply,
    Request,
    TokenUsage,
    read_model_version,
)
from tests.models.server import question


class Scholar:
    """A model that tells all that a model can tell of itself."""

    name, version, origin, source = "scholar", "v2", "http://here", "abc"

    async def ask(self, request: Request) -> Reply:
        return Reply(text=request.messages[0].text)


def marking(letter: str) -> Middleware:
    """Middleware that leaves a letter on the way in and on the way out."""

    async def mark(request: Request, call_next: CallNext) -> Reply:
        reply = await call_next(question(request.messages[0].text + letter))
        return Reply(text=reply.text + letter)

    return mark


def test_the_first_of_the_list_is_the_outermost() -> None:
    """It sees a request first and its reply last."""
    model = ChainedModel(Scholar(), [marking("a"), marking("b")])

    reply = asyncio.run(model.ask(question("?")))

    assert reply.text == "?abba"


def test_the_model_behind_stays_visible_through_every_link() -> None:
    """What names a reply in the cache must not depend on how many links there are."""
    behind = Scholar()

    model = ChainedModel(ChainedModel(behind, [marking("a")]), [marking("b")])

    assert (model.name, read_model_version(model), model.origin, model.source) == (
        "scholar",
        "v2",
        "http://here",
        "abc",
    )
    assert model.model is behind


def test_middleware_may_answer_by_itself() -> None:
    """A plan counts questions so, and a cache keeps them from being asked twice."""

    async def refuse(request: Request, call_next: CallNext) -> Reply:
        raise RefusedError("planned, not asked")

    with pytest.raises(RefusedError, match="planned"):
        asyncio.run(ChainedModel(Scholar(), [refuse]).ask(question()))


def test_a_refused_request_is_neither_recorded_nor_counted(tmp_path: Path) -> None:
    """The budget stands before the model and behind the record."""
    record = tmp_path / "record.jsonl"

    async def run() -> int:
        async with Connections({}, budget=Budget(tokens=1), record=record) as connections:
            with pytest.raises(BudgetError):
                await connections.adopt(Scholar()).ask(question())
            return connections.spent.requests

    assert asyncio.run(run()) == 0
    assert record.read_bytes() == b""


def test_a_function_is_asked_by_so_many_at_once() -> None:
    """A judge of your own is limited like a server."""
    inside, most = 0, 0

    async def busy(request: Request) -> Reply:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0)
        inside -= 1
        return Reply(text="", usage=TokenUsage(input=1, output=1))

    async def run() -> int:
        async with Connections({}, limits=Limits(concurrency=2)) as connections:
            model = connections.adopt(busy)
            await asyncio.gather(*(model.ask(question(str(number))) for number in range(6)))
            return connections.spent.requests

    assert asyncio.run(run()) == 6
    assert most == 2


def test_the_embedded_judge_is_opened_as_a_judge() -> None:
    """It is the same object each time; whoever looks for it among the models is told where it is."""

    async def run() -> None:
        async with Connections({}) as connections:
            with pytest.raises(JudgeError, match="open_judge"):
                connections.open(EMBEDDED)
            assert find_judge_by_name(connections, EMBEDDED) is find_judge_by_name(connections, EMBEDDED)

    asyncio.run(run())


def test_the_embedded_judge_is_probed_without_a_question() -> None:
    """It has no prompt to answer, and is always there."""

    async def run() -> None:
        async with Connections({}) as connections:
            found = await probe_judge_by_prompt(connections, EMBEDDED)

            assert (found.reachable, found.structured, found.logprobs) == (True, True, False)
            assert found.model == read_model_version(find_judge_by_name(connections, EMBEDDED))
            assert connections.spent.requests == 0

    asyncio.run(run())
