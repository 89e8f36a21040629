"""Judges without a model: replies from a list, from a function, or made up to fit what was asked."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from evenhand.judging.prompts import JudgeSetup, load_prompts
from evenhand.judging.questions import Dialogue
from evenhand.models.requests import NoReply, Reply, Request

R = TypeVar("R")
Answer = str | Reply | NoReply
MANNER = JudgeSetup(judge="judge", prompts=load_prompts("en"))


class Scripted:
    """A model that answers each request with what a function says, and keeps what it was asked."""

    def __init__(self, answer: Callable[[Request], str | Reply], name: str = "scripted") -> None:
        self.name = name
        self.asked: list[Request] = []
        self._answer = answer

    async def ask(self, request: Request) -> Reply:
        self.asked.append(request)
        answer = self._answer(request)
        return Reply(text=answer) if isinstance(answer, str) else answer


def converse(dialogue: Dialogue[R], answer: Callable[[Request], Answer]) -> tuple[R, list[Request]]:
    """Drive a dialogue to its end without a loop; also what it asked."""
    asked: list[Request] = []
    requests = next(dialogue)
    while True:
        asked += requests
        answers = [answer(request) for request in requests]
        try:
            requests = dialogue.send([Reply(text=one) if isinstance(one, str) else one for one in answers])
        except StopIteration as done:
            result: R = done.value
            return result, asked


def in_turn(*answers: Answer) -> Callable[[Request], Answer]:
    """The answers one after the other."""
    left: Iterator[Answer] = iter(answers)
    return lambda _: next(left)


def fitting(quote: str = "", **given: object) -> Callable[[Request], str]:
    """Replies that fit the schema of each request: the middle of every scale, `quote` as evidence.

    A keyword sets an answer by its id: a score, or "yes" and "no".
    """

    def answer(request: Request) -> str:
        assert request.schema is not None
        return json.dumps(_fit(request.schema, quote, given))

    return answer


def _fit(schema: Mapping[str, Any], quote: str, given: Mapping[str, object]) -> Any:
    if "anyOf" in schema:
        return _fit(schema["anyOf"][0], quote, given)
    kind = schema.get("type")
    if kind == "object":
        return {name: _property(name, below, quote, given) for name, below in schema["properties"].items()}
    if kind == "array":
        return [_fit(schema["items"], quote, given) for _ in range(schema.get("minItems", 1))] if quote else []
    if kind == "string":
        return schema["enum"][0] if "enum" in schema else quote
    return (schema["minimum"] + schema["maximum"]) // 2


def _property(name: str, schema: Mapping[str, Any], quote: str, given: Mapping[str, object]) -> Any:
    filled = _fit(schema, quote, given)
    key = name.replace("-", "_")
    if key in given and isinstance(filled, dict):
        said = given[key]
        if isinstance(said, dict):
            return {**filled, **said}
        return {**filled, "score" if "score" in filled else "answer": said}
    return given.get(key, filled)
