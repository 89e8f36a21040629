"""What Anthropic's messages API refuses, in its words where they are known."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tests.judging.messages_schemas import check_json_schema, check_strict_schema

STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "not_found_error": 404,
    "request_too_large": 413,
    "api_error": 500,
    "overloaded_error": 529,
}
FIELDS = {
    "model",
    "messages",
    "max_tokens",
    "system",
    "temperature",
    "tools",
    "tool_choice",
    "output_config",
    "metadata",
}
NOT_OFFERED = {"stream", "thinking", "stop_sequences", "top_p", "top_k", "service_tier", "container", "mcp_servers"}
MOST_OUTPUT = 8192
BETA_OUTPUT_FORMAT = "structured-outputs-2025-11-13"
TEXT_FIELDS = {"type", "text", "cache_control", "citations"}


class Refused(Exception):  # noqa: N818 - An answer of the server, not a fault of it.
    """A request that is answered with an error."""

    def __init__(self, message: str, kind: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.kind = kind

    @property
    def status(self) -> int:
        """The HTTP status that goes with this kind of error."""
        return STATUS[self.kind]


def check_headers(headers: Mapping[str, str], key: str) -> None:
    """Raise Refused unless the key is the right one and the version is named."""
    if "x-api-key" not in headers:
        raise Refused("x-api-key header is required", "authentication_error")
    if headers["x-api-key"] != key:
        raise Refused("invalid x-api-key", "authentication_error")
    if "anthropic-version" not in headers:
        raise Refused("anthropic-version: header is required")
    if headers["anthropic-version"] not in ("2023-01-01", "2023-06-01"):
        raise Refused(f'anthropic-version: "{headers["anthropic-version"]}" is not a valid version')


def check_body(body: Any, models: Collection[str], newer: str, betas: str) -> None:
    """Raise Refused unless the real API would answer this; `newer` is the model that takes no temperature."""
    if not isinstance(body, dict):
        raise Refused("Input should be a valid dictionary")
    _check_fields(body, betas)
    if body["model"] not in models:
        raise Refused(f"model: {body['model']}", "not_found_error")
    _check_max_tokens(body["max_tokens"], body["model"])
    _check_temperature(body, newer)
    _check_system(body.get("system", ""))
    _check_messages(body["messages"])
    _check_tools(body)
    _check_format(body)
    _check_last(body, newer)
    _check_caching(body)


def _check_fields(body: dict[str, Any], betas: str) -> None:
    for name in ("model", "messages", "max_tokens"):
        if name not in body:
            raise Refused(f"{name}: Field required")
    for name in body:
        if name in NOT_OFFERED:
            raise Refused(f"{name}: the real API takes this, the server for tests does not")
        if name not in FIELDS and not (name == "output_format" and BETA_OUTPUT_FORMAT in betas):
            raise Refused(f"{name}: Extra inputs are not permitted")
    if not isinstance(body["model"], str):
        raise Refused("model: Input should be a valid string")


def _check_max_tokens(most: Any, model: str) -> None:
    if not isinstance(most, int) or isinstance(most, bool):
        raise Refused("max_tokens: Input should be a valid integer")
    if most < 1:
        raise Refused("max_tokens: must be greater than or equal to 1")
    if most > MOST_OUTPUT:
        allowed = f"{MOST_OUTPUT}, which is the maximum allowed number of output tokens for {model}"
        raise Refused(f"max_tokens: {most} > {allowed}")


def _check_temperature(body: dict[str, Any], newer: str) -> None:
    if "temperature" not in body:
        return
    if body["model"] == newer:
        raise Refused("`temperature` is deprecated for this model.")
    given = body["temperature"]
    if not isinstance(given, int | float) or isinstance(given, bool):
        raise Refused("temperature: Input should be a valid number")
    if not 0 <= given <= 1:
        raise Refused("temperature: range: 0..1")


def _check_system(system: Any) -> None:
    if isinstance(system, str):
        return
    if not isinstance(system, list):
        raise Refused("system: Input should be a valid list")
    _check_blocks(system, "system", "system")


def _check_messages(messages: Any) -> None:
    if not isinstance(messages, list):
        raise Refused("messages: Input should be a valid list")
    if not messages:
        raise Refused("messages: at least one message is required")
    for place, message in enumerate(messages):
        _check_message(message, f"messages.{place}", last=place == len(messages) - 1)
    if messages[0]["role"] != "user":
        raise Refused('messages: first message must use the "user" role')


def _check_message(message: Any, at: str, *, last: bool) -> None:
    if not isinstance(message, dict):
        raise Refused(f"{at}: Input should be a valid dictionary")
    for name in ("role", "content"):
        if name not in message:
            raise Refused(f"{at}.{name}: Field required")
    for name in message.keys() - {"role", "content"}:
        raise Refused(f"{at}.{name}: Extra inputs are not permitted")
    _check_role(message["role"])
    content = message["content"]
    if not isinstance(content, str | list):
        raise Refused(f"{at}.content: Input should be a valid list")
    if not content and not (last and message["role"] == "assistant"):
        raise Refused(f"{at}: all messages must have non-empty content except for the optional final assistant message")
    _check_blocks([{"type": "text", "text": content}] if isinstance(content, str) and content else content, at)


def _check_role(role: Any) -> None:
    if role == "system":
        only = 'The Messages API accepts a top-level `system` parameter, not "system" as an input message role.'
        raise Refused(f'messages: Unexpected role "system". {only}')
    if role not in ("user", "assistant"):
        raise Refused(f'messages: Unexpected role "{role}". Allowed roles are "user" or "assistant"')


def _check_blocks(blocks: Any, at: str, where: str = "messages") -> None:
    for place, block in enumerate(blocks):
        if not isinstance(block, dict) or block.get("type") != "text" or not isinstance(block.get("text"), str):
            raise Refused(f"{at}.content.{place}: the server for tests takes text blocks only")
        for name in block.keys() - TEXT_FIELDS:
            raise Refused(f"{at}.content.{place}.text.{name}: Extra inputs are not permitted")
        if not block["text"]:
            raise Refused(f"{where}: text content blocks must be non-empty")
        if not block["text"].strip():
            raise Refused(f"{where}: text content blocks must contain non-whitespace text")


def _check_last(body: dict[str, Any], newer: str) -> None:
    last = body["messages"][-1]
    if last["role"] != "assistant":
        return
    if body["model"] == newer or _format(body) is not None:
        must = "The conversation must end with a user message."
        raise Refused(f"This model does not support assistant message prefill. {must}")
    text = plain(last["content"])
    if text != text.rstrip():
        raise Refused("messages: final assistant content cannot end with trailing whitespace")


def plain(content: str | list[dict[str, Any]]) -> str:
    """The text of a content, which is one already or comes in blocks."""
    return content if isinstance(content, str) else "\n\n".join(block["text"] for block in content)


def _check_caching(body: dict[str, Any]) -> None:
    marks = list(cache_marks(body))
    for mark in marks:
        if not isinstance(mark, dict) or mark.get("type") != "ephemeral" or mark.get("ttl", "5m") not in ("5m", "1h"):
            raise Refused("cache_control: Input should be {'type': 'ephemeral'}, with a ttl of '5m' or '1h' if any")
    if len(marks) > 4:
        raise Refused(f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}.")


def cache_marks(body: dict[str, Any]) -> Iterator[Any]:
    """Every cache_control of a request."""
    contents = [body.get("system", ""), *(message["content"] for message in body["messages"]), body.get("tools", [])]
    for blocks in contents:
        yield from (block["cache_control"] for block in blocks if isinstance(block, dict) and "cache_control" in block)


def _check_tools(body: dict[str, Any]) -> None:
    tools = body.get("tools", [])
    if not isinstance(tools, list):
        raise Refused("tools: Input should be a valid list")
    for place, tool in enumerate(tools):
        _check_tool(tool, f"tools.{place}.custom")
    names = [tool["name"] for tool in tools]
    if len(names) != len(set(names)):
        raise Refused("tools: Tool names must be unique.")
    choice = body.get("tool_choice", {"type": "auto"})
    if "tool_choice" in body and not tools:
        raise Refused("tool_choice may only be specified while providing tools.")
    if not isinstance(choice, dict) or choice.get("type") not in ("auto", "any", "tool", "none"):
        raise Refused("tool_choice: Input tag should be one of 'auto', 'any', 'tool', 'none'")
    if choice["type"] == "tool" and choice.get("name") not in names:
        raise Refused(f"Tool '{choice.get('name')}' not found in provided tools")


def _check_tool(tool: Any, at: str) -> None:
    if not isinstance(tool, dict):
        raise Refused(f"{at}: Input should be a valid dictionary")
    for name in ("name", "input_schema"):
        if name not in tool:
            raise Refused(f"{at}.{name}: Field required")
    if not isinstance(tool["name"], str) or not re.fullmatch("[a-zA-Z0-9_-]{1,128}", tool["name"]):
        raise Refused(f"{at}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
    schema = tool["input_schema"]
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise Refused(f"{at}.input_schema.type: Input should be 'object'")
    if schema.keys() & {"oneOf", "anyOf", "allOf"}:
        raise Refused(f"{at}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level")
    _refuse(check_json_schema(schema), f"{at}.input_schema")
    if tool.get("strict"):
        _refuse(check_strict_schema(schema), at)


def _check_format(body: dict[str, Any]) -> None:
    if not isinstance(body.get("output_config", {}), dict):
        raise Refused("output_config: Input should be a valid dictionary")
    format = _format(body)
    if format is None:
        return
    at = "output_format" if "output_format" in body else "output_config.format"
    if not isinstance(format, dict) or format.get("type") != "json_schema":
        raise Refused(f"{at}.type: Input should be 'json_schema'")
    if "schema" not in format:
        raise Refused(f"{at}.schema: Field required")
    for name in format.keys() - {"type", "schema"}:
        raise Refused(f"{at}.{name}: Extra inputs are not permitted")
    _refuse(check_json_schema(format["schema"]), f"{at}.schema")
    _refuse(check_strict_schema(format["schema"]), f"{at}.schema")


def _refuse(why: str, at: str) -> None:
    if why:
        raise Refused(why if why.startswith("Schemas ") else f"{at}: {why}")


def _format(body: dict[str, Any]) -> Any:
    return body.get("output_format", body.get("output_config", {}).get("format"))


def answer_schema(body: dict[str, Any]) -> tuple[str | None, dict[str, Any] | None]:
    """The tool that must be used, if one must, and the schema the answer must obey, if there is one."""
    choice = body.get("tool_choice", {"type": "auto"})
    if choice["type"] in ("tool", "any"):
        tool = next(tool for tool in body["tools"] if tool["name"] == choice.get("name", tool["name"]))
        return tool["name"], tool["input_schema"]
    format = _format(body)
    return None, format["schema"] if format else None
