"""The Anthropic wire format: a request as a body for messages, and its answer as a reply."""

from __future__ import annotations

import json
from collections.abc import Mapping

from evenhand.models.requests import (
    Message,
    Reply,
    Request,
    StopReason,
    TokenUsage,
    read_provider_object,
    read_provider_text,
    read_token_count,
)
from evenhand.models.server_answers import AcceptedParameters

PATH = "/messages"
FORMATS = ("output_config", "tool")  # Newer models know the first only, older ones the second only.
TOOL = "answer"
HEADERS = {"Content-Type": "application/json", "Accept": "application/json", "anthropic-version": "2023-06-01"}
KEY_HEADER = ("x-api-key", "{}")

_MOST_KEPT = 4  # The server refuses more marks than this.
_STOPS: dict[object, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "end",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
# Structured output refuses schemas with these; whoever reads the answer checks it against its scale anyway.
_BOUNDS = frozenset({
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
    "minLength", "maxLength", "minItems", "maxItems", "uniqueItems",
})  # fmt: skip


def build_request_body(model: str, request: Request, accepted: AcceptedParameters) -> dict[str, object]:
    """The body to post. Seeds and log probabilities do not exist here."""
    kept = [one for one in request.messages if (one.repeats or one.opening) and one.text][-_MOST_KEPT:]
    system = [
        block
        for message in request.messages
        if message.role == "system" and message.text
        for block in _build_request_content_blocks(message, kept)
    ]
    turns = [message for message in request.messages if message.role != "system"]
    body: dict[str, object] = {
        "model": model,
        "max_tokens": request.settings.max_tokens,
        "messages": [
            {"role": message.role, "content": _build_request_content_blocks(message, kept)} for message in turns
        ],
    }
    if system:
        body["system"] = system
    if request.settings.temperature is not None and accepted.temperature:
        body["temperature"] = request.settings.temperature
    format = accepted.formats[0] if accepted.formats else ""
    if request.schema is not None and format == "output_config":
        body["output_config"] = {
            "format": {"type": "json_schema", "schema": _drop_request_schema_bounds(request.schema)}
        }
    elif request.schema is not None and format == "tool":
        body["tools"] = [{"name": TOOL, "description": "Give the answer.", "input_schema": request.schema}]
        body["tool_choice"] = {"type": "tool", "name": TOOL}
    return body


def parse_model_reply_body(
    data: object, request_id: str | None = None, attempts: int = 1, seconds: float = 0.0
) -> Reply | str:
    """The reply in an answer, or what is wrong with the answer."""
    answer = read_provider_object(data)
    content = answer.get("content")
    if not isinstance(content, list):
        return "it has no list of content"
    reason = answer.get("stop_reason")
    return Reply(
        text=_join_anthropic_content_text(content),
        stop=_STOPS.get(reason, "unknown") if isinstance(reason, str) else "unknown",
        model=read_provider_text(answer.get("model")),
        usage=_parse_anthropic_usage(read_provider_object(answer.get("usage"))),
        request_id=request_id or read_provider_text(answer.get("id")) or None,
        attempts=attempts,
        seconds=seconds,
    )


def _build_request_content_blocks(message: Message, kept: list[Message]) -> list[dict[str, object]]:
    """The text of a turn, with a mark behind what the server may keep of it."""
    cut = len(message.text) if message.repeats else message.opening
    if not any(message is other for other in kept):
        return [{"type": "text", "text": message.text}]
    first: dict[str, object] = {"type": "text", "text": message.text[:cut], "cache_control": {"type": "ephemeral"}}
    return [first, {"type": "text", "text": message.text[cut:]}] if cut < len(message.text) else [first]


def _drop_request_schema_bounds(schema: Mapping[str, object], *, names: bool = False) -> dict[str, object]:
    """The schema without bounds; under `properties` the keys are names, whatever they look like."""
    less: dict[str, object] = {}
    for key, value in schema.items():
        if not names and key in _BOUNDS:
            continue
        less[key] = value
        if isinstance(value, dict):
            less[key] = _drop_request_schema_bounds(
                value, names=not names and key in ("properties", "$defs", "definitions")
            )
        elif isinstance(value, (list, tuple)) and key not in ("enum", "required", "examples"):
            less[key] = [_drop_request_schema_bounds(entry) if isinstance(entry, dict) else entry for entry in value]
    return less


def _join_anthropic_content_text(content: list[object]) -> str:
    blocks = [read_provider_object(block) for block in content]
    for block in blocks:
        if block.get("type") == "tool_use" and block.get("name") == TOOL:
            return read_provider_text(json.dumps(block.get("input"), ensure_ascii=False))
    return "".join(read_provider_text(block.get("text")) for block in blocks if block.get("type") == "text")


def _parse_anthropic_usage(usage: Mapping[str, object]) -> TokenUsage:
    plain = read_token_count(usage.get("input_tokens"))
    read = read_token_count(usage.get("cache_read_input_tokens"))
    written = read_token_count(usage.get("cache_creation_input_tokens"))
    return TokenUsage(
        input=None if plain is None else plain + (read or 0) + (written or 0),
        output=read_token_count(usage.get("output_tokens")),
        cached=read,
        stored=written,
    )
