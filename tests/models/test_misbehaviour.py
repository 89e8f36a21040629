"""Servers that misbehave: each ends in a reply or in an error that says what to do, never in a hang or a crash."""

import asyncio
import gzip
import json
import socket
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import BusyError, ModelError, RefusedError
from evenhand.models.connections import Connections
from evenhand.models.limits import Limits
from evenhand.models.requests import ModelSettings
from tests.models.server import (
    FAST,
    KEY,
    Behaviour,
    Server,
    Waits,
    answers,
    ask,
    asked,
    chat,
    fails,
    question,
    says,
    sends,
    then_closes,
    then_hangs,
    then_resets,
)

GOOD = json.dumps(chat("4")).encode()
HURRIED = Limits(attempt_seconds=0.05, total_seconds=60.0, retries=1)


def whole(headers: str, body: bytes = b"") -> bytes:
    return f"HTTP/1.1 200 OK\r\n{headers}\r\n\r\n".encode() + body


PASSING = {
    "an empty body": answers(200, b""),
    "no content": answers(204, b""),
    "text that is not JSON": answers(200, b"Internal hiccup"),
    "a web page": answers(200, b"<html><title>Bad gateway</title></html>", {"Content-Type": "text/html"}),
    "a number": answers(200, b"7"),
    "a list": answers(200, b"[]"),
    "null": answers(200, b"null"),
    "an object of another kind": answers(200, {"hello": 1}),
    "no choices": answers(200, {"choices": []}),
    "choices that are no list": answers(200, {"choices": {"0": {}}}),
    "a choice that is a text": answers(200, {"choices": ["4"]}),
    "a choice without message": answers(200, {"choices": [{"finish_reason": "stop"}]}),
    "a choice that ended in an error": answers(
        200, {"choices": [{"message": {"content": "4"}, "finish_reason": "error"}]}
    ),
    "JSON nested too deep": answers(200, b"[" * 100_000),
    "a number of too many digits": answers(200, b'{"choices": ' + b"1" * 5000 + b"}"),
    "cut JSON": answers(200, GOOD[:-20]),
    "bytes that are not UTF-8": answers(200, GOOD.replace(b"4", b"\xff\xfe", 1)),
    "an overload inside a 200": answers(200, {"error": {"type": "overloaded_error", "message": "busy"}}),
    "an upstream fault inside a 200": answers(200, {"error": {"code": 502, "message": "upstream"}}),
    "an error beside a reply": answers(200, chat("4", error={"message": "generation failed"})),
    "an error text inside a 200": answers(200, {"error": "something broke"}),
    "a body shorter than it says": then_closes(whole(f"Content-Length: {len(GOOD) + 50}", GOOD)),
    "a chunk cut off": then_closes(whole("Transfer-Encoding: chunked", b"ff\r\nabc")),
    "a chunk of no size": then_closes(whole("Transfer-Encoding: chunked", b"zz\r\nabc\r\n0\r\n\r\n")),
    "gzip that is not gzip": answers(200, GOOD, {"Content-Encoding": "gzip"}),
    "gzip cut off": answers(200, gzip.compress(GOOD)[:-12], {"Content-Encoding": "gzip"}),
    "an encoding nobody knows": answers(200, b"\x00\x01\x02", {"Content-Encoding": "rot13"}),
    "the end before a word": then_closes(),
    "a reset before a word": then_resets(),
    "a reset in the body": then_resets(whole("Content-Length: 500", b"{")),
    "what is not HTTP": then_closes(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "a status that is no number": then_closes(b"HTTP/1.1 abc OK\r\n\r\n"),
    "a content length that is no number": then_closes(whole("Content-Length: lots")),
    "two content lengths": then_closes(whole("Content-Length: 1\r\nContent-Length: 2", b"{}")),
    "a header without end": then_closes(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000),
    **{
        f"status {status}": fails(status)
        for status in (408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529)
    },
}


@pytest.mark.parametrize("behaviour", PASSING.values(), ids=PASSING)
def test_what_may_pass_is_tried_again(behaviour: Behaviour) -> None:
    """The next answer is good: nobody has to know of the first."""
    reply, server = ask(behaviour, says("4"))

    assert (reply.text, reply.attempts, len(server.seen)) == ("4", 2, 2)


@pytest.mark.parametrize("behaviour", PASSING.values(), ids=PASSING)
def test_what_does_not_pass_is_busy_in_the_end(behaviour: Behaviour) -> None:
    """A bounded number of tries, then an error that says that a later one may help."""
    with pytest.raises(BusyError, match="after 3 attempts; try again later") as caught:
        ask(behaviour)
    assert caught.value.attempts == 3


LATE = {
    "no answer": then_hangs(),
    "no body": then_hangs(whole("Content-Length: 500")),
    "a body that stops": then_hangs(whole("Content-Length: 500", b'{"choices"')),
    "chunks that stop": then_hangs(whole("Transfer-Encoding: chunked", b"3\r\nabc\r\n")),
    "a promise of more headers": then_hangs(b"HTTP/1.1 200 OK\r\nX-Slow: "),
    "wait, wait": then_hangs(b"HTTP/1.1 100 Continue\r\n\r\n" * 3),
}


@pytest.mark.parametrize("behaviour", LATE.values(), ids=LATE)
def test_nothing_waits_for_ever(behaviour: Behaviour) -> None:
    """A server that never finishes costs its time limit, and no more."""
    with pytest.raises(BusyError, match=r"no whole answer within 0\.05 s, after 2 attempts"):
        ask(behaviour, limits=HURRIED)


REFUSED: dict[str, tuple[Behaviour, str]] = {
    "a bad request": (fails(400, "messages are too long"), "400: messages are too long"),
    "payment": (fails(402, "pay first"), "402: pay first"),
    "a method": (fails(405, "post what?"), "405: post what?"),
    "a body too large": (answers(413, b"<h1>Too large</h1>"), "413"),
    "a teapot": (answers(418, b""), "status 418"),
    "an unknown request": (fails(501, "cannot do that"), "501: cannot do that"),
    "no credit": (fails(429, "You exceeded your current quota", code="insufficient_quota"), "no credit is left"),
    "no credit, said otherwise": (fails(400, "Your credit balance is too low"), "no credit is left"),
    "a redirect": (answers(302, b"", {"Location": "http://elsewhere.example/secret?q=1"}), "to elsewhere.example, "),
    "a redirect at home": (answers(307, b"", {"Location": "/v2"}), "another path of the same server"),
    "a redirect to nowhere": (answers(301, b"", {"Location": "http://[bad"}), "cannot be read"),
    "a redirect without place": (answers(308, b""), "redirects are not followed"),
    "another protocol": (answers(101, b"", {"Upgrade": "h2c", "Connection": "Upgrade"}), "status 101"),
    "a refusal inside a 200": (answers(200, {"error": {"code": 400, "message": "bad input"}}), "400: bad input"),
    "an error list": (answers(400, [{"error": {"message": "as a list"}}]), "400: as a list"),
    "an error text": (answers(400, {"error": "as a text"}), "400: as a text"),
    "an error detail": (answers(422, {"detail": [{"loc": ["body", "n"], "msg": "wrong"}]}), "422: body.n: wrong"),
    "an error without words": (answers(400, b""), "status 400"),
}  # fmt: skip


@pytest.mark.parametrize(("behaviour", "says"), REFUSED.values(), ids=REFUSED)
def test_what_stays_refused_is_not_tried_again(behaviour: Behaviour, says: str) -> None:
    """Asking again would cost time and change nothing."""

    async def run() -> tuple[str, int]:
        async with Server(behaviour) as server, Connections({}, limits=FAST, clock=Waits().clock) as connections:
            with pytest.raises(RefusedError) as caught:
                await connections.open(server.name).ask(question())
            return str(caught.value), len(server.seen)

    message, requests = asyncio.run(run())

    assert says in message
    assert requests == 1


@pytest.mark.parametrize(
    "behaviour",
    [
        answers(200, GOOD, {"Content-Type": "text/html"}),
        answers(200, b"\xef\xbb\xbf" + GOOD, {"Content-Type": "text/plain; charset=latin-1"}),
        answers(201, GOOD),
        answers(200, gzip.compress(GOOD), {"Content-Encoding": "gzip"}),
        sends(b"HTTP/1.1 100 Continue\r\n\r\n" + whole(f"Content-Length: {len(GOOD)}", GOOD)),
        sends(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + whole(f"Content-Length: {len(GOOD)}", GOOD)),
        then_closes(whole("Connection: close", GOOD)),
        sends(whole("Transfer-Encoding: chunked", b"".join(b"1\r\n%c\r\n" % byte for byte in GOOD) + b"0\r\n\r\n")),
    ],
    ids=["html type", "byte order mark", "created", "gzip", "continue", "early hints", "no length", "tiny chunks"],
)
def test_odd_but_whole_answers_are_replies(behaviour: Behaviour) -> None:
    """The JSON is what counts."""
    reply, _ = ask(behaviour)

    assert (reply.text, reply.attempts) == ("4", 1)


@pytest.mark.parametrize(
    "behaviour",
    [
        answers(200, json.dumps(chat("x" * 30_000)).encode()),
        answers(200, gzip.compress(json.dumps(chat("x" * 5_000_000)).encode()), {"Content-Encoding": "gzip"}),
        then_hangs(whole("Content-Length: 99999999999", b"x" * 30_000)),
        then_hangs(whole("Transfer-Encoding: chunked", b"7530\r\n" + b"x" * 30_000 + b"\r\n")),
    ],
    ids=["plain", "gzip bomb", "endless", "endless chunks"],
)
def test_a_giant_answer_is_not_read_to_its_end(behaviour: Behaviour) -> None:
    """Unpacked size counts, and reading stops at the limit."""
    limits = Limits(largest_reply=20_000, attempt_seconds=5.0, retries=0)

    with pytest.raises(RefusedError, match="larger than the 20,000 bytes allowed") as caught:
        ask(behaviour, limits=limits)
    assert not caught.value.always  # The next answer may be smaller.


def test_an_answer_may_have_a_megabyte_and_ten_where_likely_tokens_come_with_it() -> None:
    """Twenty likely tokens at every place take more room than the text."""
    large = answers(200, chat("x" * 1_000_000))

    with pytest.raises(RefusedError, match="larger than the 1,000,000 bytes allowed"):
        ask(large)
    reply, _ = ask(large, request=question(settings=ModelSettings(top_logprobs=3)))

    assert len(reply.text) == 1_000_000


def test_nobody_there_is_said_at_once() -> None:
    """A server that never answered is more likely not running than busy: no minute of retries."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]

        async def run() -> list[float]:
            waits = Waits()
            async with Connections({}, clock=waits.clock) as connections:
                with pytest.raises(BusyError, match="is the server running"):
                    await connections.open(f"openai-compatible:http://127.0.0.1:{port}/v1/m").ask(question())
            return waits.waits

        assert asyncio.run(run()) == []


def test_a_server_that_went_away_is_waited_for() -> None:
    """It has answered before, so it may be starting again."""

    async def run() -> list[float]:
        waits = Waits()
        async with Connections({}, limits=FAST, clock=waits.clock) as connections:
            async with Server(says()) as server:
                model = connections.open(server.name)
                await model.ask(question())
            with pytest.raises(BusyError, match="after 3 attempts"):
                await model.ask(question())
        return waits.waits

    assert len(asyncio.run(run())) == 2


def test_an_unknown_host_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name is wrong, or the network is down."""

    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    async def run() -> None:
        async with Connections({}) as connections:
            await connections.open("openai-compatible:http://nowhere.example/v1/m").ask(question())

    monkeypatch.setattr(socket, "getaddrinfo", unknown)

    with pytest.raises(BusyError, match="no server of that name is known"):
        asyncio.run(run())


def test_a_secure_connection_to_a_plain_server_is_refused() -> None:
    """TLS errors do not pass by themselves."""

    async def speak_plainly(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 No\r\n\r\n")
        writer.close()

    async def run() -> None:
        plain = await asyncio.start_server(speak_plainly, "127.0.0.1", 0)
        port = plain.sockets[0].getsockname()[1]
        async with plain, Connections({}) as connections:
            await connections.open(f"openai-compatible:https://127.0.0.1:{port}/v1/m").ask(question())

    with pytest.raises(RefusedError, match="no secure connection"):
        asyncio.run(run())


def test_asking_after_the_end_is_refused() -> None:
    """No session is opened that nobody would close."""

    async def run() -> None:
        async with Server(says()) as server:
            async with Connections({}) as connections:
                model = connections.open(server.name)
            await model.ask(question())

    with pytest.raises(RefusedError, match="closed"):
        asyncio.run(run())


def test_a_large_request_is_sent() -> None:
    """A long text to judge is no reason for a warning, and warnings are errors here."""
    reply, server = ask(says(), request=question("x" * 3_000_000))

    assert reply.text == "4"
    assert len(server.seen[0].body) > 3_000_000


def test_half_a_character_can_be_stored() -> None:
    """A reply may spell half a character in JSON, which no file can hold."""
    reply, _ = ask(answers(200, json.dumps(chat("a\ud83d b")).encode()))

    assert reply.text == "a� b"
    assert reply.text.encode()


STATUSES = st.sampled_from([200, 200, 201, 204, 301, 400, 401, 403, 404, 422, 429, 500, 503, 529, 599])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8) | st.just(KEY) | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["error", "message", "choices", "content", "usage", "type", "code", "param", "detail", "loc", "msg", "model",
         "id", "finish_reason", "logprobs", "refusal", "prompt_tokens", "stop_reason"]), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(status=STATUSES, data=JSON | st.builds(lambda c: {"choices": [{"message": {"content": c}}]}, JSON))
def test_whatever_a_server_says_ends_in_a_reply_or_a_model_error_without_the_key(status: int, data: Any) -> None:
    """No other exception, no hang, and never the key in what is shown or stored."""
    try:
        reply, _ = ask(answers(status, data), limits=Limits(retries=1, attempt_seconds=5.0))
    except ModelError as error:
        shown = f"{error} {error!r} {error.__context__!r} {error.__cause__!r}"
    else:
        shown = repr(reply)

    assert KEY not in shown


@given(content=st.binary(max_size=200))
def test_whatever_bytes_a_server_sends_end_in_a_reply_or_a_model_error(content: bytes) -> None:
    """Also what was never HTTP."""
    run: Callable[[], Any] = lambda: asyncio.run(asked(then_closes(content), limits=Limits(retries=0)))  # noqa: E731

    with pytest.raises(ModelError):
        run()
