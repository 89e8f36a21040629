"""One set of connections for all models: a name is one model, and both wire formats go out as they should."""

import asyncio

import pytest

from evenhand.errors import JudgeError
from evenhand.models.connections import Connections
from evenhand.models.limits import Limits
from evenhand.models.remote_model import RemoteModel
from evenhand.models.requests import Message, Reply, Request
from tests.models.server import DEMANDING, KEY, Seen, Server, answers, ask, question, says, then_hangs

MESSAGE = {
    "id": "msg_1",
    "model": "claude-x",
    "content": [{"type": "text", "text": "4"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 10, "output_tokens": 2, "cache_read_input_tokens": 90},
}


def test_the_same_name_is_the_same_model() -> None:
    """What one question taught holds for the next."""

    async def run() -> bool:
        async with Connections({"OPENAI_API_KEY": KEY}) as connections:
            return connections.open("openai/a") is connections.open("openai/a") is not connections.open("openai/b")

    assert asyncio.run(run())


def test_a_model_can_be_opened_before_there_is_a_loop() -> None:
    """A plan is checked before anything runs."""
    connections = Connections({"OPENAI_API_KEY": KEY})

    assert connections.open("openai/a").name == "openai/a"
    with pytest.raises(JudgeError, match="ANTHROPIC_API_KEY is not set"):
        connections.open("anthropic/a")


def test_a_question_to_an_openai_server_goes_out_as_it_should() -> None:
    """Path, key, body; and the id of the request comes back."""
    body = b'{"choices": [{"message": {"content": "4"}}], "id": "c9"}'
    reply, server = ask(answers(200, body, {"X-Request-Id": "req_7"}), request=DEMANDING)

    seen = server.seen[0]
    assert (seen.method, seen.path) == ("POST", "/v1/chat/completions")
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.headers["content-type"] == "application/json"
    assert seen.json["model"] == "tiny"
    assert reply.request_id == "req_7"


def test_a_question_to_an_anthropic_server_goes_out_as_it_should() -> None:
    """Another path, other headers, and the system text apart."""

    async def run() -> tuple[Reply, Seen]:
        async with Server(answers(200, MESSAGE)) as server:
            environ = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.base.removesuffix("/v1")}
            async with Connections(environ) as connections:
                turns = (Message("system", "be fair", repeats=True), Message("user", "good?"))
                reply = await connections.open("anthropic/claude-x").ask(Request(dialogue="d", messages=turns))
                return reply, server.seen[0]

    reply, seen = asyncio.run(run())

    assert (seen.method, seen.path) == ("POST", "/v1/messages")
    assert (seen.headers["x-api-key"], seen.headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert "authorization" not in seen.headers
    assert seen.json["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert (reply.text, reply.stop, reply.usage.input, reply.usage.cached) == ("4", "end", 100, 90)


def test_an_anthropic_model_without_structured_output_is_asked_with_a_tool_then_without() -> None:
    """The newest know no forced tool, older ones no output_config."""

    async def run() -> list[set[str]]:
        def refuse(message: str) -> dict[str, object]:
            return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}

        async with Server(
            answers(400, refuse("output_config.format: Extra inputs are not permitted")),
            answers(400, refuse("`temperature` is deprecated for this model.")),
            answers(400, refuse("tool_choice forces tool use, which is not supported")),
            answers(200, MESSAGE),
        ) as server:
            environ = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.base}
            async with Connections(environ) as connections:
                await connections.open("anthropic/claude-x").ask(DEMANDING)
            return [set(seen.json) - {"model", "messages", "max_tokens"} for seen in server.seen]

    assert asyncio.run(run()) == [
        {"output_config", "temperature"},
        {"tools", "tool_choice", "temperature"},
        {"tools", "tool_choice"},
        set(),
    ]


def test_openai_itself_gets_the_newer_limit_first() -> None:
    """Its newer models refuse the older name; other servers often know only that one."""
    _, server = ask(says())

    async def run() -> tuple[str, ...]:
        async with Connections({"OPENAI_API_KEY": KEY}) as connections:
            model = connections.open("openai/gpt-5").model
            assert isinstance(model, RemoteModel)
            return model.accepted.limits

    assert "max_tokens" in server.seen[0].json
    assert asyncio.run(run()) == ("max_completion_tokens", "max_tokens")


def test_a_cancelled_question_leaves_no_trace() -> None:
    """The place is free again, and the next question is answered."""

    async def run() -> str:
        async with Server(then_hangs(), says()) as server, Connections({}, limits=Limits(concurrency=1)) as connections:
            model = connections.open(server.name)
            task = asyncio.create_task(model.ask(question("a")))
            while not server.seen:
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return (await model.ask(question("b"))).text

    assert asyncio.run(run()) == "4"
