"""The Anthropic wire format, as plain dictionaries."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.models.anthropic_format import FORMATS, HEADERS, KEY_HEADER, build_request_body, parse_model_reply_body
from evenhand.models.requests import Message, ModelSettings, Reply, Request, TokenUsage
from evenhand.models.server_answers import AcceptedParameters
from tests.models.server import DEMANDING, SCHEMA, question

ALL = AcceptedParameters(formats=FORMATS)


def read(**fields: object) -> Reply:
    found = parse_model_reply_body({
        "id": "msg_1", "model": "claude", "content": [{"type": "text", "text": "4"}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 9, "output_tokens": 2}, **fields,
    })  # fmt: skip
    assert isinstance(found, Reply)
    return found


def test_a_demanding_request_is_written_out() -> None:
    """There is no seed and there are no log probabilities here."""
    sent = build_request_body("m", DEMANDING, ALL)

    assert sent == {
        "model": "m",
        "max_tokens": 4096,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "How good is it?"}]}],
        "temperature": 0.0,
        "output_config": {
            "format": {
                "type": "json_schema",
                "schema": {"type": "object", "properties": {"score": {"type": "integer"}}},
            }
        },
    }


def test_a_model_without_structured_output_gets_a_tool() -> None:
    """Its input is the answer; here the schema may have bounds."""
    sent = build_request_body("m", DEMANDING, AcceptedParameters(formats=("tool",)))

    assert sent["tools"] == [{"name": "answer", "description": "Give the answer.", "input_schema": SCHEMA}]
    assert sent["tool_choice"] == {"type": "tool", "name": "answer"}


def test_a_property_named_like_a_bound_stays() -> None:
    """`maximum` is a word like any other where names stand."""
    schema = {
        "type": "object",
        "properties": {"maximum": {"type": "integer", "maximum": 5}},
        "required": ["maximum"],
        "anyOf": [{"properties": {"minimum": {"minimum": 1}}}],
    }

    sent = build_request_body("m", question(schema=schema), ALL)

    assert sent["output_config"] == {"format": {"type": "json_schema", "schema": {
        "type": "object",
        "properties": {"maximum": {"type": "integer"}},
        "required": ["maximum"],
        "anyOf": [{"properties": {"minimum": {}}}],
    }}}  # fmt: skip


def test_what_repeats_is_marked_to_be_kept() -> None:
    """The system text is a field of its own; at most four marks are allowed, and the last ones hold most."""
    turns = (
        Message("system", "a", True),
        *(Message("user", letter, True) for letter in "bcdef"),
        Message("system", ""),
    )

    sent = build_request_body("m", Request(dialogue="d", messages=turns), ALL)

    assert sent["system"] == [{"type": "text", "text": "a"}]
    blocks = [message["content"][0] for message in sent["messages"]]  # type: ignore[attr-defined]
    assert [("cache_control" in block) for block in blocks] == [False, True, True, True, True]
    assert blocks[1]["cache_control"] == {"type": "ephemeral"}


def test_what_is_not_set_or_not_accepted_is_not_sent() -> None:
    """Newer models refuse a temperature."""
    least = {"model", "messages", "max_tokens"}

    assert set(build_request_body("m", question(settings=ModelSettings(temperature=None)), ALL)) == least
    assert set(build_request_body("m", DEMANDING, AcceptedParameters(formats=(), temperature=False))) == least


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": "4"}, {"type": "text", "text": "2"}], "42"),
        ([{"type": "thinking", "thinking": "hm", "text": "no"}, {"type": "text", "text": "4"}], "4"),
        ([{"type": "text", "text": "so"}, {"type": "tool_use", "name": "answer", "input": {"s": 6.55}}], '{"s": 6.55}'),
        ([], ""),
        ([None, 7, {"type": "text"}], ""),
    ],
)  # fmt: skip
def test_the_text_is_found_in_its_blocks(content: object, text: str) -> None:
    """Text blocks, or the input of the tool; never the thinking."""
    assert read(content=content).text == text


@pytest.mark.parametrize(
    ("reason", "stop"),
    [("end_turn", "end"), ("tool_use", "end"), ("stop_sequence", "end"), ("max_tokens", "length"),
     ("model_context_window_exceeded", "length"), ("refusal", "refusal"), ("pause_turn", "unknown"),
     (None, "unknown"), ({}, "unknown")],
)  # fmt: skip
def test_why_it_stopped_is_told(reason: object, stop: str) -> None:
    """A reply that was cut off must not be read as whole."""
    assert read(stop_reason=reason).stop == stop


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 9, "output_tokens": 2}, TokenUsage(input=9, output=2)),
        (
            {"input_tokens": 9, "output_tokens": 2, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 50},
            TokenUsage(input=159, output=2, cached=100, stored=50),
        ),
        ({"output_tokens": 2, "cache_read_input_tokens": 100}, TokenUsage(output=2, cached=100)),
        (None, TokenUsage()),
    ],
)  # fmt: skip
def test_tokens_that_were_kept_are_input_too(usage: object, expected: TokenUsage) -> None:
    """The server counts them apart."""
    assert read(usage=usage).usage == expected


@pytest.mark.parametrize("data", [None, [], "x", {}, {"content": "4"}, {"content": None}])
def test_another_shape_is_no_reply(data: object) -> None:
    """It is said, not guessed at."""
    assert isinstance(parse_model_reply_body(data), str)


def test_a_key_goes_into_its_header() -> None:
    """With the version, which is always needed."""
    assert KEY_HEADER == ("x-api-key", "{}")
    assert HEADERS["anthropic-version"] == "2023-06-01"
    assert "x-api-key" not in HEADERS


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(value=JSON)
def test_the_input_of_the_tool_comes_back_as_json(value: object) -> None:
    """Whatever the model put there."""
    found = read(content=[{"type": "tool_use", "name": "answer", "input": value}])

    assert json.loads(found.text) == value
