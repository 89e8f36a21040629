"""The OpenAI-compatible wire format, as plain dictionaries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.models.openai_format import FORMATS, HEADERS, KEY_HEADER, build_request_body, parse_model_reply_body
from evenhand.models.requests import Message, ModelSettings, Reply, TokenLogprobs, TokenUsage
from evenhand.models.server_answers import AcceptedParameters
from tests.models.server import DEMANDING, SCHEMA, chat, question

ALL = AcceptedParameters(formats=FORMATS, limits=("max_tokens", "max_completion_tokens"))


def read(**fields: object) -> Reply:
    found = parse_model_reply_body(chat(**fields))  # type: ignore[arg-type]
    assert isinstance(found, Reply)
    return found


def chosen(message: object, **choice: object) -> Reply:
    return read(choices=[{"message": message, "finish_reason": "stop", **choice}])


def test_a_demanding_request_is_written_out() -> None:
    """Every setting has its parameter."""
    assert build_request_body("m", DEMANDING, ALL) == {
        "model": "m",
        "messages": [{"role": "user", "content": "How good is it?"}],
        "max_tokens": 4096,
        "temperature": 0.0,
        "seed": 7,
        "logprobs": True,
        "top_logprobs": 3,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
        },
    }


def test_what_is_not_set_is_not_sent() -> None:
    """The server's own settings hold."""
    request = question(settings=ModelSettings(temperature=None, max_tokens=9))

    assert set(build_request_body("m", request, ALL)) == {"model", "messages", "max_tokens"}


def test_what_is_not_accepted_is_not_sent() -> None:
    """What was learnt once is kept to."""
    few = AcceptedParameters(
        formats=(), limits=("max_completion_tokens",), temperature=False, seed=False, logprobs=False
    )

    assert set(build_request_body("m", DEMANDING, few)) == {"model", "messages", "max_completion_tokens"}
    assert build_request_body("m", DEMANDING, AcceptedParameters(formats=("json_object",)))["response_format"] == {
        "type": "json_object"
    }


def test_every_turn_keeps_its_role() -> None:
    """Also a system text that repeats: such servers keep it on their own."""
    request = question()
    turns = (
        Message("system", "s", repeats=True),
        Message("user", "u"),
        Message("assistant", "a"),
        Message("user", "v"),
    )

    sent = build_request_body("m", type(request)(dialogue="d", messages=turns), ALL)["messages"]

    assert sent == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "v"},
    ]


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "4"}, "4"),
        ({"content": ""}, ""),
        ({"content": None}, ""),
        ({}, ""),
        ({"content": [{"type": "text", "text": "4"}, {"type": "text", "text": "2"}, {"type": "image"}, "!"]}, "42!"),
        ({"content": 4}, ""),
        (None, ""),
    ],
)
def test_the_text_is_found_in_its_shapes(message: object, text: str) -> None:
    """A string, parts, or nothing."""
    assert chosen(message).text == text


@pytest.mark.parametrize(
    ("reason", "stop"),
    [("stop", "end"), ("length", "length"), ("content_filter", "refusal"), ("tool_calls", "unknown"),
     (None, "unknown"), ([], "unknown")],
)  # fmt: skip
def test_why_it_stopped_is_told(reason: object, stop: str) -> None:
    """A reply that was cut off must not be read as whole."""
    assert chosen({"content": "4"}, finish_reason=reason).stop == stop


def test_a_refusal_is_its_text() -> None:
    """The refusal field holds it, and content is null."""
    found = chosen({"content": None, "refusal": "I will not."})

    assert (found.text, found.stop) == ("I will not.", "refusal")


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2}, TokenUsage(input=9, output=2)),
        (
            {"prompt_tokens": 9, "completion_tokens": 2,
             "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3}},
            TokenUsage(input=9, output=2, cached=4, stored=3),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": None}, TokenUsage(input=9, output=2)),
        ({"prompt_tokens": "9", "completion_tokens": -2}, TokenUsage()),
        ({"prompt_tokens": True, "completion_tokens": 1.5}, TokenUsage()),
        ({"prompt_tokens": 10**30}, TokenUsage()),
        (None, TokenUsage()),
        ([], TokenUsage()),
    ],
)  # fmt: skip
def test_tokens_are_as_the_server_counted_them(usage: object, expected: TokenUsage) -> None:
    """What it did not say is None, never 0."""
    assert read(usage=usage).usage == expected


def test_likely_tokens_come_with_their_logarithms() -> None:
    """What is no token or no number is left out."""
    places = [
        {"token": "4", "top_logprobs": [{"token": "4", "logprob": -0.1}, {"token": "5", "logprob": -3}]},
        {"token": "x", "top_logprobs": [{"token": 1, "logprob": 0}, {"token": "y", "logprob": None}, 7]},
        {"token": None},
        "odd",
    ]  # fmt: skip

    found = chosen({"content": "4"}, logprobs={"content": places}).places

    assert found == (TokenLogprobs("4", (("4", -0.1), ("5", -3.0))), TokenLogprobs("x", ()))


def test_the_request_has_an_id() -> None:
    """The header's, else the answer's own."""
    assert read().request_id == "c1"
    assert read(id=None).request_id is None
    found = parse_model_reply_body(chat(), "r9", 3, 1.5)
    assert isinstance(found, Reply)
    assert (found.request_id, found.attempts, found.seconds, found.model) == ("r9", 3, 1.5, "tiny-1")


def test_a_key_goes_into_its_header() -> None:
    """And nothing where there is none."""
    assert KEY_HEADER == ("Authorization", "Bearer {}")
    assert "Authorization" not in HEADERS


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("a\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(content=JSON, usage=JSON, logprobs=JSON, reason=JSON, refusal=JSON, model=JSON)
def test_no_shape_of_an_answer_breaks_the_reader(
    content: object, usage: object, logprobs: object, reason: object, refusal: object, model: object
) -> None:
    """Any JSON may stand anywhere."""
    message = {"content": content, "refusal": refusal}

    found = read(
        choices=[{"message": message, "finish_reason": reason, "logprobs": {"content": logprobs}}],
        usage=usage,
        model=model,
    )

    assert found.text.encode().decode() == found.text
