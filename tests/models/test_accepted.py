"""What a server does not accept is given up, once, for good, and nothing else with it."""

import asyncio

import pytest

from evenhand.errors import RefusedError
from evenhand.models.connections import Connections
from evenhand.models.server_answers import AcceptedParameters, drop_refused_request_parameter
from tests.models.server import (
    DEMANDING,
    FAST,
    Behaviour,
    Server,
    answers,
    ask,
    chat,
    fails,
    question,
    says,
)

ALL = AcceptedParameters(formats=("json_schema", "json_object"), limits=("max_tokens", "max_completion_tokens"))
SENT = {"model": 1, "max_tokens": 1, "temperature": 1, "seed": 1, "logprobs": 1, "response_format": 1}

REFUSALS = [
    ("logprobs", "", "logprobs are not supported with reasoning models"),
    ("logprobs", "", "This model does not support `logprobs`"),
    ("seed", "", "Unknown parameter: 'seed'"),
    ("seed", "body.seed", "Extra inputs are not permitted"),
    ("temperature", "temperature", "Unsupported value: 'temperature' does not support 0 with this model."),
    ("temperature", "temperature", "Only the default (1) value is supported."),
    ("temperature", "", "`temperature` is deprecated for this model."),
    ("limits", "max_tokens", "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
    ("formats", "", "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."),
    ("formats", "", "Failed to parse grammar"),
    ("formats", "", "output_config.format: Extra inputs are not permitted"),
    ("formats", "", "Invalid schema for response_format 'answer': 'additionalProperties' is required"),
    (None, "", "'messages' must contain the word 'yes'"),
    (None, "max_tokens", "max_tokens is too large: 4096. This model supports at most 2048 completion tokens"),
    (None, "temperature", "temperature must be between 0 and 2"),
    (None, "", "The prompt is too long"),
]  # fmt: skip


@pytest.mark.parametrize(("field", "named", "message"), REFUSALS)
def test_only_what_is_named_is_given_up(field: str | None, named: str, message: str) -> None:
    """In the words that servers use; a value out of range is a fault of the request, not of the parameter."""
    less = drop_refused_request_parameter(ALL, SENT, named, message)

    changed = [name for name in ALL.__slots__ if less is not None and getattr(less, name) != getattr(ALL, name)]
    assert changed == ([field] if field else [])


def test_what_was_not_sent_is_not_given_up() -> None:
    """A message that names it must be about something else."""
    assert drop_refused_request_parameter(ALL, {"model": 1}, "", "temperature is not supported") is None


STRICT = "is not supported"
STORIES = {
    "schema, then object": (
        [fails(400, f"response_format json_schema {STRICT}"), says()],
        lambda sent: sent["response_format"] == {"type": "json_object"},
    ),
    "schema, object, then none": (
        [fails(422, f"json_schema {STRICT}"), fails(400, f"response_format {STRICT}"), says()],
        lambda sent: "response_format" not in sent,
    ),
    "the other limit": (
        [fails(400, f"'max_tokens' {STRICT}", param="max_tokens"), says()],
        lambda sent: "max_tokens" not in sent and sent["max_completion_tokens"] == 4096,
    ),
    "one after the other": (
        [fails(400, f"temperature {STRICT}"), fails(400, f"seed {STRICT}"), fails(501, f"logprobs {STRICT}"), says()],
        lambda sent: not {"temperature", "seed", "logprobs", "top_logprobs"} & set(sent) and "response_format" in sent,
    ),
}  # fmt: skip


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_a_server_that_knows_less_still_answers(story: tuple[list[Behaviour], object]) -> None:
    """Each refusal costs one more request, at once and without a wait."""
    behaviours, holds = story

    reply, server = ask(*behaviours, request=DEMANDING)

    assert reply.text == "4"
    assert reply.attempts == len(behaviours)
    assert callable(holds)
    assert holds(server.seen[-1].json)


def test_what_was_learnt_is_remembered() -> None:
    """The next request does not pay for it again; another model on the same server learns for itself."""

    async def run() -> list[bool]:
        async with Server(fails(400, "seed is not supported"), says()) as server, Connections({}) as connections:
            for name in (server.name, server.name, server.name + "-other"):
                await connections.open(name).ask(DEMANDING)
            return ["seed" in seen.json for seen in server.seen]

    assert asyncio.run(run()) == [True, False, False, True]


def test_many_at_once_learn_one_lesson() -> None:
    """Twenty refusals of json_schema give up json_schema, not json_object with it."""

    async def refuse_schemas(seen: object, writer: asyncio.StreamWriter) -> None:
        strict = b"json_schema" in seen.body  # type: ignore[attr-defined]
        behaviour = fails(400, "json_schema is not supported") if strict else answers(200, chat())
        await behaviour(seen, writer)  # type: ignore[arg-type]

    async def run() -> tuple[int, dict[str, str]]:
        async with Server(refuse_schemas) as server, Connections({}, limits=FAST) as connections:
            model = connections.open(server.name)
            await asyncio.gather(*(model.ask(DEMANDING) for _ in range(20)))
            await model.ask(DEMANDING)
            return len(server.seen), server.seen[-1].json["response_format"]

    requests, form = asyncio.run(run())

    assert requests <= 41
    assert form == {"type": "json_object"}


def test_a_server_that_refuses_everything_is_asked_a_few_times_only() -> None:
    """Each parameter is given up at most once."""
    everything = "temperature seed logprobs max_tokens response_format json_schema tools: not supported"

    async def run() -> int:
        async with Server(fails(400, everything)) as server, Connections({}, limits=FAST) as connections:
            with pytest.raises(RefusedError):
                await connections.open(server.name).ask(DEMANDING)
            return len(server.seen)

    assert asyncio.run(run()) == 7


def test_an_echo_of_the_request_names_nothing() -> None:
    """Some servers send the whole body back with the fault; only place and message count."""
    echo = {"detail": [{"loc": ["body", "messages"], "msg": "too long", "input": {"temperature": "not supported"}}]}

    with pytest.raises(RefusedError, match=r"422: body\.messages: too long"):
        ask(answers(422, echo), request=DEMANDING)


def test_a_request_without_demands_meets_no_refusal() -> None:
    """Nothing to give up: the refusal stands."""
    with pytest.raises(RefusedError, match="json_schema"):
        ask(fails(400, "json_schema is not supported"), request=question())
