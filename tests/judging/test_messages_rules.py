"""What the stand-in for Anthropic's API refuses: all that the real one does, and nothing breaks it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judging.messages_rules import Refused, check_body

MODELS = ("older", "newer")
QUESTION = {"role": "user", "content": "How good is it?"}
SCORE = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}
TOOL = {"name": "answer", "input_schema": SCORE}


def refusal(body: object) -> str:
    try:
        check_body(body, MODELS, "newer", betas="")
    except Refused as refused:
        return str(refused)
    return ""


def changed(**changes: object) -> dict[str, object]:
    """A right request with these changes; a field changed to None is left out."""
    body = {"model": "older", "messages": [QUESTION], "max_tokens": 60, **changes}
    return {name: value for name, value in body.items() if value is not None}


def schema_of(**score: object) -> dict[str, object]:
    schema = {"type": "object", "properties": {"score": score}, "required": ["score"], "additionalProperties": False}
    return {"format": {"type": "json_schema", "schema": schema}}


MARKED = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}
UNIONS = {f"c{n}": {"anyOf": [{"type": "integer"}, {"type": "null"}]} for n in range(17)}
TOO_MANY = {"type": "object", "properties": UNIONS, "required": [*UNIONS], "additionalProperties": False}
OPTIONS = {f"c{n}": {"type": "integer"} for n in range(25)}
TOO_OPEN = {"type": "object", "properties": OPTIONS, "required": [], "additionalProperties": False}


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"max_tokens": None}, "max_tokens: Field required"),
        ({"max_tokens": 0}, "max_tokens: must be greater than or equal to 1"),
        ({"max_tokens": 100_000}, "max_tokens: 100000 > 8192"),
        ({"model": None}, "model: Field required"),
        ({"temperature": 1.5}, "temperature: range: 0..1"),
        ({"temperature": "hot"}, "temperature: Input should be a valid number"),
        ({"temperature": 0, "model": "newer"}, "`temperature` is deprecated for this model."),
        ({"seed": 1}, "seed: Extra inputs are not permitted"),
        ({"response_format": {"type": "json_object"}}, "response_format: Extra inputs are not permitted"),
        ({"output_format": {}}, "output_format: Extra inputs are not permitted"),
        ({"messages": []}, "messages: at least one message is required"),
        ({"messages": [{"role": "system", "content": "a"}]}, 'messages: Unexpected role "system"'),
        ({"messages": [{"role": "wizard", "content": "a"}]}, 'messages: Unexpected role "wizard"'),
        ({"messages": [{"role": "assistant", "content": "a"}, QUESTION]}, 'first message must use the "user" role'),
        ({"messages": [{"role": "user", "content": ""}]}, "must have non-empty content"),
        ({"messages": [{"role": "user", "content": " "}]}, "must contain non-whitespace text"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]}, "blocks must be non-empty"),
        ({"messages": [{**QUESTION, "name": "a"}]}, "messages.0.name: Extra inputs are not permitted"),
        ({"messages": [QUESTION, {"role": "assistant", "content": "{ "}]}, "cannot end with trailing whitespace"),
        ({"messages": [QUESTION, {"role": "assistant", "content": "{"}], "model": "newer"}, "prefill"),
        ({"system": [{"type": "text", "text": ""}]}, "system: text content blocks must be non-empty"),
        ({"system": [{"type": "text", "text": "a", "cache_control": {"type": "long"}}]}, "cache_control: Input should"),
        ({"system": [MARKED] * 5}, "A maximum of 4 blocks with cache_control may be provided. Found 5."),
        ({"stream": True}, "stream: the real API takes this, the server for tests does not"),
        ({"tools": [{"name": "a b", "input_schema": SCORE}]}, "tools.0.custom.name: String should match"),
        ({"tools": [{"name": "a", "input_schema": {"type": "array"}}]}, "Input should be 'object'"),
        ({"tools": [TOOL, TOOL]}, "Tool names must be unique"),
        ({"tool_choice": {"type": "any"}}, "only be specified while providing tools"),
        ({"tools": [TOOL], "tool_choice": {"type": "tool", "name": "b"}}, "Tool 'b' not found"),
        ({"tools": [{**TOOL, "strict": True}]}, "tools.0.custom: For 'object' type, 'additionalProperties' must be"),
        ({"output_config": schema_of(type="integer", minimum=1, maximum=5)}, "properties maximum, minimum are not"),
        ({"output_config": schema_of(type="number", minimum=1)}, "For 'number' type, property 'minimum' is not"),
        ({"output_config": schema_of(type="array", minItems=2)}, "'minItems' values other than 0 or 1"),
        ({"output_config": schema_of(type="object")}, "must be explicitly set to false"),
        ({"output_config": schema_of(type="colour")}, "JSON schema is invalid"),
        ({"output_config": {"format": {"type": "json_schema", "schema": TOO_MANY}}}, "too many parameters with union"),
        ({"output_config": {"format": {"type": "json_schema", "schema": TOO_OPEN}}}, "too many optional parameters"),
        ({"output_config": schema_of(type="string", maxLength=9)}, "property 'maxLength' is not supported"),
        ({"output_config": {"format": {"type": "json_object"}}}, "Input should be 'json_schema'"),
    ],
)
def test_a_body_that_the_real_api_refuses_is_refused(changes: dict[str, Any], what: str) -> None:
    """A lenient server for tests would let through what fails on the first real call."""
    assert what in refusal(changed(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"temperature": 0},
        {"temperature": 1.0},
        {"model": "newer"},
        {"system": "Be brief."},
        {"system": [MARKED] * 4},
        {"messages": [QUESTION, QUESTION]},
        {"messages": [QUESTION, {"role": "assistant", "content": "{"}]},
        {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "answer"}},
        {"output_config": schema_of(enum=[1, 2, 3])},
        {"output_config": schema_of(anyOf=[{"type": "integer"}, {"type": "null"}])},
    ],
)
def test_a_body_that_the_real_api_takes_is_taken(changes: dict[str, Any]) -> None:
    """Strict is not the same as narrow."""
    assert refusal(changed(**changes)) == ""


def test_an_unknown_model_is_another_kind_of_error() -> None:
    """404, where every other fault of a body is 400."""
    with pytest.raises(Refused) as caught:
        check_body(changed(model="oldest"), MODELS, "newer", betas="")

    assert (caught.value.status, caught.value.kind) == (404, "not_found_error")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "user", "text", "older", "object"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["type", "text", "role"]), inner),
    max_leaves=8,
)
PARTS = ("model", "messages", "max_tokens", "system", "temperature", "tools", "tool_choice", "output_config")


@pytest.mark.parametrize("part", PARTS)
@given(value=JSON)
def test_no_body_breaks_the_checks(part: str, value: object) -> None:
    """A server that fails with 500 on a bad request would hide what was bad about it."""
    assert isinstance(refusal({**changed(), part: value}), str)
