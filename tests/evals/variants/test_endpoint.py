"""HTTP addresses as variants: a real server on loopback that behaves well and badly."""

import asyncio
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from evenhand.errors import EvalError
from evenhand.evals.sample import EvalSample
from evenhand.evals.variants import endpoints as _endpoint
from evenhand.evals.variants.variant import EndpointVariant
from evenhand.model.sample import VariantOutput
from tests.evals.variants.making import QUESTION, made, make, texts
from tests.models.server import Behaviour, Server, Waits, answers, then_closes, then_hangs, then_resets

TOKEN = "tok-Zq81LmN0pQrStUvWxYz"


def exchanged(
    *behaviours: Behaviour, environ: Mapping[str, str] | None = None, waits: Waits | None = None, **options: Any
) -> tuple[VariantOutput | str, Server]:
    """What comes of one sample sent to a server that behaves so."""

    async def run() -> tuple[VariantOutput | str, Server]:
        async with Server(*behaviours) as server:
            variant = EndpointVariant(url=server.base, **options)
            (result,) = await made(variant, environ=environ or {}, clock=(waits or Waits()).clock)
            return result, server

    return asyncio.run(run())


def test_a_server_is_sent_the_sample_and_never_the_reference() -> None:
    """JSON out, the same forms back as from a program."""
    result, server = exchanged(answers(200, {"text": "hi", "cost": 0.5, "latency_ms": 7, "model": "x"}))

    (seen,) = server.seen
    assert (seen.method, seen.headers["content-type"]) == ("POST", "application/json")
    assert seen.json == QUESTION.variant_input(0)
    assert result == VariantOutput(text="hi", cost=Decimal("0.5"), latency_ms=7.0)


def test_plain_text_is_an_output_too() -> None:
    """And the time it took is measured."""
    result, _ = exchanged(answers(200, "grüß dich\n".encode()))

    assert isinstance(result, VariantOutput)
    assert result.text == "grüß dich"
    assert result.latency_ms is not None
    assert result.latency_ms > 0


def test_a_body_of_ones_own_is_filled_and_a_field_is_looked_up() -> None:
    """Any JSON interface can be asked."""
    body = {"messages": [{"role": "user", "content": "Q: {input} ({metadata.topic})"}], "n": 1, "stream": False}
    answer = {"choices": [{"message": {"content": "A"}}]}

    result, server = exchanged(answers(200, answer), body=body, field="choices.0.message.content", method="PUT")

    content = [{"role": "user", "content": "Q: Where is it? (late)"}]
    assert server.seen[0].json == {"messages": content, "n": 1, "stream": False}
    assert server.seen[0].method == "PUT"
    assert texts([result]) == ["A"]


def test_a_secret_is_sent_and_never_shown() -> None:
    """Not where a server repeats it in an error, not where it repeats it in an answer."""
    options: dict[str, Any] = {"headers": {"Authorization": "Bearer ${TOKEN}"}, "environ": {"TOKEN": TOKEN}}

    refused, server = exchanged(answers(401, f"bad token {TOKEN}".encode()), **options)
    repeated, _ = exchanged(answers(200, {"text": f"you sent {TOKEN}"}), **options)

    assert server.seen[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert refused == "status 401: bad token [key hidden]"
    assert texts([repeated]) == ["you sent [key hidden]"]


@pytest.mark.parametrize("bad", [answers(429), answers(500), answers(503), then_closes(), then_resets(b"HTTP/1.1 2")])
def test_what_may_pass_is_tried_again(bad: Behaviour) -> None:
    """Overloaded, broken, cut off: twice is no reason to lose an output."""
    waits = Waits()

    result, server = exchanged(bad, bad, answers(200, {"text": "hi"}), waits=waits)

    assert texts([result]) == ["hi"]
    assert len(server.seen) == 3
    assert waits.waits == [0.25, 0.5]


def test_a_server_says_how_long_to_wait() -> None:
    """Within reason."""
    waits = Waits()

    short, _ = exchanged(answers(429, headers={"retry-after": "7"}), answers(200, {"text": "hi"}), waits=waits)
    long, _ = exchanged(answers(429, headers={"retry-after": "3600"}))

    assert (texts([short]), waits.waits) == (["hi"], [7.0])
    assert long == "status 429; the server asks to wait 3,600 s"


@pytest.mark.parametrize(
    ("behaviour", "why", "tries"),
    [
        (answers(500, b"oh no"), "status 500: oh no, after 5 attempts", 5),
        (then_closes(), "the connection was cut off, after 5 attempts", 5),
        (answers(400, b"what?"), "status 400: what?", 1),
        (answers(302, headers={"Location": "http://elsewhere"}), "status 302: redirects are not followed", 1),
        (answers(200, b"\xff\xfe"), "the answer is not UTF-8 text", 1),
        (answers(200, {"text": "a", "turns": -1}), "it gave back what cannot be used: turns: turns must be a number "
         "from 0 up, got -1", 1),
    ],
)  # fmt: skip
def test_what_does_not_pass_is_said(behaviour: Behaviour, why: str, tries: int) -> None:
    """A bounded number of times, and no more."""
    result, server = exchanged(behaviour)

    assert result == why
    assert len(server.seen) == tries


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"plain", "the answer cannot be read: not valid JSON: Expecting value (column 1)"),
        (b'{"a": []}', "the answer has no a.0.b"),
        (b'{"a": [{"b": 3}]}', "a.0.b of the answer is not text"),
        (b"[" * 100_000, "the answer cannot be read: nested more than 60 deep"),
    ],
)
def test_an_answer_without_the_field_is_no_output(answer: bytes, why: str) -> None:
    """Nothing is guessed."""
    result, _ = exchanged(answers(200, answer), field="a.0.b")

    assert result == why


def test_an_answer_without_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """In time and in size."""
    monkeypatch.setattr(_endpoint, "LARGEST_ENDPOINT_ANSWER", 1000)

    slow, _ = exchanged(then_hangs(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhi"), seconds=0.2)
    large, _ = exchanged(answers(200, b"x" * 5000))

    assert slow == "no whole answer within 0.2 s"
    assert large == "the answer is larger than the 1,000 bytes allowed"


def test_a_server_that_is_not_there_is_not_waited_for() -> None:
    """A thousand samples must not wait for nobody, one after the other."""
    waits = Waits()

    results = asyncio.run(made(EndpointVariant(url="http://127.0.0.1:9/"), environ={}, clock=waits.clock))

    assert texts(results)[0].startswith("no output: no connection: ")
    assert waits.waits == []


def test_only_so_many_are_under_way_at_once() -> None:
    """The system under test is not to be overrun."""

    async def run() -> int:
        async with Server(answers(200, {"text": "hi"})) as server:
            samples = [EvalSample(id=str(n)) for n in range(20)]
            results = await made(EndpointVariant(url=server.base), *samples, environ={}, concurrency=3)
            assert texts(results) == ["hi"] * 20
            return server.connections

    assert asyncio.run(run()) <= 3


def test_a_variable_that_is_not_set_is_told_before_anything_is_sent() -> None:
    """All of them at once."""
    with pytest.raises(EvalError) as caught:
        make(EndpointVariant(url="http://x/${A_PLACE}", headers={"X": "${A_KEY}"}), environ={})

    assert str(caught.value).splitlines() == [
        "variant 'new': the environment variable A_PLACE is not set (export A_PLACE=…)",
        "variant 'new': the environment variable A_KEY is not set (export A_KEY=…)",
    ]


def test_what_is_sent_is_json_whatever_the_sample_holds() -> None:
    """Letters of all scripts and quotation marks."""
    sample = EvalSample(id="ä", input='"\n\u2028😀', metadata={"x": [None, 1.5]})

    async def run() -> object:
        async with Server(answers(200, {"text": "hi"})) as server:
            await made(EndpointVariant(url=server.base), sample, environ={})
            return json.loads(server.seen[0].body)

    assert asyncio.run(run()) == sample.variant_input(0)
