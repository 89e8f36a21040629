"""The OpenAI-compatible wire format: a request as a body for chat/completions, and its answer as a reply."""

from __future__ import annotations

from evenhand.models.requests import (
    Reply,
    Request,
    StopReason,
    TokenLogprobs,
    TokenUsage,
    read_provider_object,
    read_provider_text,
    read_token_count,
)
from evenhand.models.server_answers import AcceptedParameters

PATH = "/chat/completions"
FORMATS = ("json_schema", "json_object")
HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}
KEY_HEADER = ("Authorization", "Bearer {}")

_STOPS: dict[object, StopReason] = {"stop": "end", "eos": "end", "length": "length", "content_filter": "refusal"}

_LEAST_LOGPROB = -1e6  # Servers write such numbers for what cannot come; anything beyond is no logarithm of a chance.


def build_request_body(model: str, request: Request, accepted: AcceptedParameters) -> dict[str, object]:
    """The body to post."""
    settings = request.settings
    body: dict[str, object] = {
        "model": model,
        "messages": [{"role": message.role, "content": message.text} for message in request.messages],
        accepted.limits[0]: settings.max_tokens,
    }
    if settings.temperature is not None and accepted.temperature:
        body["temperature"] = settings.temperature
    if settings.seed is not None and accepted.seed:
        body["seed"] = settings.seed
    if settings.top_logprobs and accepted.logprobs:
        body["logprobs"] = True
        body["top_logprobs"] = settings.top_logprobs
    if request.schema is not None and accepted.formats:
        form: dict[str, object] = {"type": accepted.formats[0]}
        if accepted.formats[0] == "json_schema":
            form["json_schema"] = {"name": "answer", "strict": True, "schema": request.schema}
        body["response_format"] = form
    return body


def parse_model_reply_body(
    data: object, request_id: str | None = None, attempts: int = 1, seconds: float = 0.0
) -> Reply | str:
    """The reply in an answer, or what is wrong with the answer."""
    answer = read_provider_object(data)
    choices = answer.get("choices")
    choice = read_provider_object(choices[0]) if isinstance(choices, list) and choices else {}
    if "message" not in choice:
        return "it has no choices[0].message"
    reason = choice.get("finish_reason")
    if reason == "error":
        return "the model stopped with an error"
    message = read_provider_object(choice["message"])
    refusal = read_provider_text(message.get("refusal"))
    usage = read_provider_object(answer.get("usage"))
    details = read_provider_object(usage.get("prompt_tokens_details"))
    return Reply(
        text=refusal or read_provider_text(message.get("content")),
        stop="refusal" if refusal else _STOPS.get(reason, "unknown") if isinstance(reason, str) else "unknown",
        model=read_provider_text(answer.get("model")),
        usage=TokenUsage(
            input=read_token_count(usage.get("prompt_tokens")),
            output=read_token_count(usage.get("completion_tokens")),
            cached=read_token_count(details.get("cached_tokens")),
            stored=read_token_count(details.get("cache_write_tokens")),
        ),
        places=_parse_token_logprobs(choice["logprobs"]) if choice.get("logprobs") else (),
        request_id=request_id or read_provider_text(answer.get("id")) or None,
        attempts=attempts,
        seconds=seconds,
    )


def _parse_token_logprobs(logprobs: object) -> tuple[TokenLogprobs, ...]:
    content = read_provider_object(logprobs).get("content")
    if not isinstance(content, list):
        return ()
    return tuple(
        TokenLogprobs(read_provider_text(place.get("token")), _parse_likely_tokens(place.get("top_logprobs")))
        for place in map(read_provider_object, content)
        if isinstance(place.get("token"), str)
    )


def _parse_likely_tokens(entries: object) -> tuple[tuple[str, float], ...]:
    found: list[tuple[str, float]] = []
    for entry in map(read_provider_object, entries if isinstance(entries, list) else ()):
        token, logprob = entry.get("token"), entry.get("logprob")
        if isinstance(token, str) and isinstance(logprob, (int, float)) and _LEAST_LOGPROB <= logprob <= 0.01:
            found.append((read_provider_text(token), float(logprob)))
    return tuple(found)
