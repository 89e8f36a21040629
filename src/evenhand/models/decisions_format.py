"""The wire format of decision models: questions as a body for decisions, and their probabilities as a reply.

Written against `types/decision_create_params.py` and `types/decision.py` of the openai package, version 3.49.
"""

from __future__ import annotations

from evenhand.files.parsing import encode_plain_json
from evenhand.models.requests import (
    DecisionQuestion,
    Reply,
    Request,
    TokenUsage,
    read_provider_object,
    read_provider_text,
    read_token_count,
)
from evenhand.models.server_answers import AcceptedParameters

PATH = "/decisions"
FORMATS = ()  # Every answer has the form of its question.
HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}
KEY_HEADER = ("Authorization", "Bearer {}")
MOST_QUESTIONS = 400  # In one request.


def find_model_request_fault(request: Request) -> str:
    """Why such a model cannot be asked this; empty where it can."""
    if not request.questions:
        return "a decision model answers the criteria of a rubric and writes no text: name another, as in openai/NAME"
    if len(request.questions) > MOST_QUESTIONS:
        return f"{len(request.questions)} questions in one request, and {MOST_QUESTIONS} are the most"
    return ""


def build_request_body(model: str, request: Request, accepted: AcceptedParameters) -> dict[str, object]:
    """The body to post. Settings such as temperature and seed do not exist here."""
    return {
        "model": model,
        "input": [{"role": message.role, "content": message.text} for message in request.messages],
        "questions": [_build_wire_question(one) for one in request.questions],
    }


def _build_wire_question(question: DecisionQuestion) -> dict[str, object]:
    asked: dict[str, object] = {"type": question.kind, "name": question.name, "instructions": question.asks}
    if question.kind == "choice":
        asked["choices"] = [_describe_wire_option("value", *option) for option in question.options]
    elif question.kind == "score":
        asked["levels"] = [_describe_wire_option("label", *option) for option in question.options]
    return asked


def _describe_wire_option(key: str, label: str, meaning: str) -> dict[str, object]:
    return {key: label, "description": meaning} if meaning else {key: label}


def parse_model_reply_body(
    data: object, request_id: str | None = None, attempts: int = 1, seconds: float = 0.0
) -> Reply | str:
    """The reply in an answer, or what is wrong with the answer. Its text is the list of answers, as JSON."""
    answer = read_provider_object(data)
    answers = answer.get("answers")
    if not isinstance(answers, list):
        return "it has no list of answers"
    usage = read_provider_object(answer.get("usage"))
    details = read_provider_object(usage.get("input_tokens_details"))
    return Reply(
        text=read_provider_text(encode_plain_json({"answers": answers})),
        stop="end",
        model=read_provider_text(answer.get("model")),
        usage=TokenUsage(
            input=read_token_count(usage.get("input_tokens")),
            output=read_token_count(usage.get("output_tokens")),
            cached=read_token_count(details.get("cached_tokens")),
            stored=read_token_count(details.get("cache_write_tokens")),
        ),
        request_id=request_id or read_provider_text(answer.get("id")) or None,
        attempts=attempts,
        seconds=seconds,
    )
