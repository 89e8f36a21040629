"""Finding out about a model: what it can do, and why not."""

import asyncio
from datetime import date
from decimal import Decimal

from evenhand.models.connections import Connections, ModelProbe, send_model_probe_request
from evenhand.models.prices import Price, Prices
from tests.models.server import FAST, KEY, Behaviour, Server, Waits, answers, chat, fails, says

PRICE = Price(input=Decimal(1), output=Decimal(2), cached=Decimal(1), stored=Decimal(1))
PRICES = Prices(as_of=date(2026, 11, 5), models={"openai-compatible:*": PRICE})
PLACES = {"content": [{"token": "y", "top_logprobs": [{"token": "y", "logprob": -0.1}]}]}
YES = '{"answer": "yes"}'


def probed(*behaviours: Behaviour, models: tuple[str, ...] = ()) -> ModelProbe:
    async def run() -> ModelProbe:
        async with (
            Server(*behaviours, models=models) as server,
            Connections({}, limits=FAST, prices=PRICES, clock=Waits().clock) as connections,
        ):
            return await send_model_probe_request(connections, server.name)

    return asyncio.run(run())


def test_a_model_that_can_do_all() -> None:
    """One small question tells."""
    good = answers(200, chat(choices=[{"message": {"content": YES}, "logprobs": PLACES, "finish_reason": "stop"}]))

    found = probed(good, models=("tiny", "other"))

    assert found.reachable
    assert (found.structured, found.logprobs, found.seed) == (True, True, True)
    assert (found.offers, found.model, found.price) == (("tiny", "other"), "tiny-1", PRICE)
    assert found.seconds is not None


def test_a_model_that_can_do_little() -> None:
    """What is refused, ignored or broken is not there."""
    refusals = [fails(400, f"{word} is not supported") for word in ("seed", "json_schema")]

    found = probed(*refusals, says("yes, of course"))

    assert found.reachable
    assert (found.structured, found.logprobs, found.seed) == (False, False, False)


def test_a_model_that_ignores_the_form_does_not_keep_to_it() -> None:
    """Accepting the parameter is not obeying it."""
    assert probed(says("Water is wet.")).structured is False


def test_why_a_model_cannot_be_reached_is_told() -> None:
    """A probe never raises."""
    found = probed(fails(401, "no key"))

    assert not found.reachable
    assert "EVENHAND_API_KEY" in found.why


def test_a_name_that_cannot_be_opened_is_told() -> None:
    """So that a list of many goes on."""

    async def run() -> list[ModelProbe]:
        async with Connections({}) as connections:
            return [
                await send_model_probe_request(connections, name)
                for name in ("openai/gpt-4o", "nonsense", "python:builtins:str", "python:json:dumps")
            ]

    without_key, nonsense, function, broken = asyncio.run(run())

    assert "OPENAI_API_KEY is not set" in without_key.why
    assert not nonsense.reachable
    assert function.reachable
    assert not broken.reachable
    assert "TypeError" in broken.why


def test_a_provider_alone_lists_what_it_offers() -> None:
    """An ollama is found by asking it."""

    async def run() -> tuple[ModelProbe, ModelProbe, int]:
        async with Server(says(), models=("llama3:8b",)) as server:
            host = server.base.removesuffix("/v1")
            async with Connections({"OLLAMA_HOST": host, "OPENAI_API_KEY": KEY}) as connections:
                there = await send_model_probe_request(connections, "ollama")
        async with Connections({"OLLAMA_HOST": host}) as connections:
            return there, await send_model_probe_request(connections, "ollama"), len(server.seen)

    there, gone, asked = asyncio.run(run())

    assert (there.reachable, there.offers, asked) == (True, ("llama3:8b",), 0)
    assert not gone.reachable
    assert "is the server running" in gone.why
