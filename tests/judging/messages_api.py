"""Anthropic's messages API in front of a llama.cpp server: strict about what it takes, true to the shape it gives."""

import json
import secrets
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import ClientError, ClientSession, web

from tests.judging.messages_rules import STATUS, Refused, answer_schema, cache_marks, check_body, check_headers, plain

KEY = "sk-ant-for-tests-only"
STOPS = {"stop": "end_turn", "length": "max_tokens"}
LARGEST_BODY = 32 * 1024 * 1024

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def newer(model: str) -> str:
    """The same model under a name that, as the newer real ones, takes no temperature and no prefill."""
    return f"{model}-newer"


def messages_app(llama: ClientSession, model: str) -> web.Application:
    """The API for one model, which answers through this session."""
    models = (model, newer(model))

    async def create(request: web.Request) -> web.Response:
        body = await _body(request)
        check_body(body, models, newer(model), request.headers.get("anthropic-beta", ""))
        return web.json_response(_message(body, await _ask(llama, body)))

    async def listed(_: web.Request) -> web.Response:
        data = [{"type": "model", "id": id, "display_name": id, "created_at": "2024-11-01T00:00:00Z"} for id in models]
        return web.json_response({"data": data, "has_more": False, "first_id": models[0], "last_id": models[-1]})

    app = web.Application(middlewares=[_errors], client_max_size=LARGEST_BODY)
    app.router.add_post("/v1/messages", create)
    app.router.add_get("/v1/models", listed)
    return app


@web.middleware
async def _errors(request: web.Request, handler: _Handler) -> web.StreamResponse:
    id = f"req_{secrets.token_hex(12)}"
    try:
        check_headers(request.headers, KEY)
        response = await handler(request)
    except Refused as refused:
        response = _error(refused.kind, str(refused), refused.status, id)
    except web.HTTPRequestEntityTooLarge:
        response = _error("request_too_large", "Request exceeds the maximum size", 413, id)
    except web.HTTPException as wrong:
        kind = next((kind for kind, status in STATUS.items() if status == wrong.status), "invalid_request_error")
        response = _error(kind, wrong.reason, wrong.status, id)
    response.headers["request-id"] = id
    return response


def _error(kind: str, message: str, status: int, id: str) -> web.Response:
    return web.json_response(
        {"type": "error", "error": {"type": kind, "message": message}, "request_id": id}, status=status
    )


async def _body(request: web.Request) -> Any:
    try:
        return json.loads(await request.read())
    except ValueError as wrong:
        raise Refused(f"The request body is not valid JSON: {wrong}") from None


async def _ask(llama: ClientSession, body: dict[str, Any]) -> Any:
    _, schema = answer_schema(body)
    asked: dict[str, Any] = {"messages": _turns(body), "max_tokens": body["max_tokens"]}
    if "temperature" in body:
        asked["temperature"] = body["temperature"]
    if schema is not None:
        wanted = {"name": "answer", "strict": True, "schema": schema}
        asked["response_format"] = {"type": "json_schema", "json_schema": wanted}
    try:
        async with llama.post("/v1/chat/completions", json=asked) as response:
            data = await response.json()
    except ClientError as failed:
        raise Refused(f"the model behind this server is gone: {failed}", "api_error") from None
    if "error" in data:
        raise _refusal(data["error"])
    return data


def _turns(body: dict[str, Any]) -> list[dict[str, str]]:
    system = plain(body.get("system", ""))
    turns = [{"role": message["role"], "content": plain(message["content"])} for message in body["messages"]]
    return [*([{"role": "system", "content": system}] if system else []), *turns]


def _refusal(error: dict[str, Any]) -> Refused:
    if error["type"] == "exceed_context_size_error":
        return Refused(f"prompt is too long: {error['n_prompt_tokens']} tokens > {error['n_ctx']} maximum")
    if error["code"] == 503:
        return Refused("Overloaded", "overloaded_error")
    return Refused(error["message"], "invalid_request_error" if error["code"] == 400 else "api_error")


def _message(body: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    choice = data["choices"][0]
    stop = STOPS[choice["finish_reason"]]
    tool, _ = answer_schema(body)
    text = choice["message"]["content"] or ""
    if body["messages"][-1]["role"] == "assistant":  # llama.cpp repeats a prefill; the real API goes on after it.
        text = text.removeprefix(plain(body["messages"][-1]["content"]))
    return {
        "id": f"msg_{secrets.token_hex(12)}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": _content(tool, text),
        "stop_reason": "tool_use" if tool and stop == "end_turn" else stop,
        "stop_sequence": None,
        "usage": _usage(data["usage"], caches=any(True for _ in cache_marks(body))),
    }


def _content(tool: str | None, text: str) -> list[dict[str, Any]]:
    if tool is None:
        return [{"type": "text", "text": text}] if text else []
    try:
        given = json.loads(text)
    except ValueError:  # Cut off by max_tokens.
        given = {}
    return [{"type": "tool_use", "id": f"toolu_{secrets.token_hex(12)}", "name": tool, "input": given}]


def _usage(usage: dict[str, Any], *, caches: bool) -> dict[str, Any]:
    # llama.cpp keeps whatever it saw; the real API reads only what a request has marked.
    kept = usage["prompt_tokens_details"]["cached_tokens"] if caches else 0
    return {
        "input_tokens": usage["prompt_tokens"] - kept,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": kept,
        "output_tokens": usage["completion_tokens"],
        "service_tier": "standard",
    }
