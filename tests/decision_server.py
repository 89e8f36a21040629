"""A decision model on loopback: it holds every request against the contract, and answers as it is told to."""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jsonschema

from tests.golden.server import ModelServer

Json = dict[str, Any]
CONTRACT: Json = json.loads((Path(__file__).parent / "models" / "decisions_contract.json").read_text("utf-8"))
Answerer = Callable[[Json], Json]


def answer_by_hash(question: Json) -> Json:
    """Probabilities that follow from the question alone, in the form of the contract."""
    lot = int(hashlib.sha256(question["instructions"].encode()).hexdigest()[:8], 16) / 2**32
    if question["type"] == "predicate":
        return predicate(question, 0.05 + 0.9 * lot)
    options = question.get("levels") or question["choices"]
    place = int(lot * len(options))
    rest = 0.3 / (len(options) - 1)
    return weigh(question, [0.7 if at == place else rest for at in range(len(options))])


def predicate(question: Json, probability: object) -> Json:
    """The answer to a statement."""
    return {"type": "predicate", "name": question["name"], "probability": probability}


def refusal(question: Json) -> Json:
    """That the model declines to answer."""
    return {"type": "refusal", "name": question["name"]}


def weigh(question: Json, chances: Sequence[float]) -> Json:
    """The answer to a choice or a score in which the options are so likely."""
    shared: Json = {"name": question["name"], "confidence": max(chances)}
    if question["type"] == "choice":
        values = [one["value"] for one in question["choices"]]
        listed = [{"value": one, "probability": chance} for one, chance in zip(values, chances, strict=True)]
        return {"type": "choice", **shared, "choice": values[chances.index(max(chances))], "probabilities": listed}
    labels = [one["label"] for one in question["levels"]]
    listed = [
        {"label": one, "value": at, "probability": chance}
        for at, (one, chance) in enumerate(zip(labels, chances, strict=True))
    ]
    mean = sum(at * chance for at, chance in enumerate(chances))
    return {"type": "score", **shared, "score": mean, "probabilities": listed}


def decide(body: Json, answer: Answerer = answer_by_hash) -> Json:
    """The whole reply to a request that keeps the contract; an error where it does not."""
    jsonschema.validate(body, CONTRACT["request"])
    assert 1 <= len(body["questions"]) <= 400
    reads = len(json.dumps(body)) // 4
    return {
        "model": body["model"],
        "answers": [answer(one) for one in body["questions"]],
        "usage": {
            "input_tokens": reads,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 0,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": reads,
        },
    }


class DecisionServer(ModelServer):
    """`with DecisionServer() as server:` decides until the block ends; `first` are statuses of the first requests."""

    def __init__(self, answer: Answerer = answer_by_hash, *, first: Sequence[int] = (), keeps: bool = True) -> None:
        super().__init__()
        self._decide = answer
        self._first = list(first)
        self._keeps = keeps  # Whether its replies keep the contract, which it then checks.

    @property
    def name(self) -> str:
        return f"openai-decisions-compatible:http://127.0.0.1:{self.port}/v1/luna"

    @property
    def bodies(self) -> list[Json]:
        """What it was asked."""
        return [body for _, _, body in self.asked]

    def answer(self, path: str, headers: Json, body: Json) -> tuple[int, Json]:
        """As every model of `golden` to whoever wants text; decisions as it was told."""
        if not path.endswith("/decisions"):
            return super().answer(path, headers, body)
        self.asked.append((path, headers, body))
        if self._first:
            return self._first.pop(0), {"error": {"message": "not now", "type": "server_error"}}
        told = decide(body, refusal if body["model"] == "refuses" else self._decide)
        if self._keeps:
            jsonschema.validate(told, CONTRACT["reply"])
        return 200, told
