"""The OpenAI-compatible wire format: a request as a body for chat/completions, and its answer as a reply."""

from __future__ import annotations

from collections.abc import Mapping

from evenhand.judging._request import Place, Reply, Request, Usage
from evenhand.judging.models._accepted import Accepted
from evenhand.judging.models._values import Stop, count, mapping, text_of

PATH = "/chat/completions"
FORMATS = ("json_schema", "json_object")

_STOPS: dict[object, Stop] = {"stop": "end", "eos": "end", "length": "length", "content_filter": "refusal"}

_LEAST_LOGPROB = -1e6  # Servers write such numbers for what cannot come; anything beyond is no logarithm of a chance.


def body(model: str, request: Request, accepted: Accepted) -> dict[str, object]:
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
    if request.schema is not None and accepted.format == "json_schema":
        form = {"name": "answer", "strict": True, "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    elif request.schema is not None and accepted.format:
        body["response_format"] = {"type": accepted.format}
    return body


def reply(data: object, request_id: str | None = None, attempts: int = 1, seconds: float = 0.0) -> Reply | str:
    """The reply in an answer, or what is wrong with the answer."""
    answer = mapping(data)
    choices = answer.get("choices")
    choice = mapping(choices[0]) if isinstance(choices, list) and choices else {}
    if "message" not in choice:
        return "it has no choices[0].message"
    if choice.get("finish_reason") == "error":
        return "the model stopped with an error"
    message = mapping(choice["message"])
    refusal = text_of(message.get("refusal"))
    return Reply(
        text=refusal or text_of(message.get("content")),
        stop="refusal" if refusal else _stop(choice.get("finish_reason")),
        model=text_of(answer.get("model")),
        usage=_usage(mapping(answer.get("usage"))),
        places=_places(choice.get("logprobs")),
        request_id=request_id or text_of(answer.get("id")) or None,
        attempts=attempts,
        seconds=seconds,
    )


def headers(key: str | None) -> dict[str, str]:
    """The headers of a request."""
    plain = {"Content-Type": "application/json", "Accept": "application/json"}
    return {**plain, "Authorization": f"Bearer {key}"} if key else plain


def _stop(reason: object) -> Stop:
    return _STOPS.get(reason, "unknown") if isinstance(reason, str) else "unknown"


def _usage(usage: Mapping[str, object]) -> Usage:
    details = mapping(usage.get("prompt_tokens_details"))
    return Usage(
        input=count(usage.get("prompt_tokens")),
        output=count(usage.get("completion_tokens")),
        cached=count(details.get("cached_tokens")),
    )


def _places(logprobs: object) -> tuple[Place, ...]:
    content = mapping(logprobs).get("content")
    if not isinstance(content, list):
        return ()
    return tuple(
        Place(text_of(place.get("token")), _likely(place.get("top_logprobs")))
        for place in map(mapping, content)
        if isinstance(place.get("token"), str)
    )


def _likely(entries: object) -> tuple[tuple[str, float], ...]:
    found: list[tuple[str, float]] = []
    for entry in map(mapping, entries if isinstance(entries, list) else ()):
        token, logprob = entry.get("token"), entry.get("logprob")
        if isinstance(token, str) and isinstance(logprob, (int, float)) and _LEAST_LOGPROB <= logprob <= 0.01:
            found.append((text_of(token), float(logprob)))
    return tuple(found)
