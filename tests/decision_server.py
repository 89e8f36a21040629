"""A decision model on loopback: it holds every request against the contract, and answers as it is told to."""

import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import jsonschema

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


class DecisionServer:
    """`with DecisionServer() as server:` answers until the block ends; `first` are statuses of the first requests."""

    def __init__(self, answer: Answerer = answer_by_hash, *, first: Sequence[int] = (), keeps: bool = True) -> None:
        self.answer = answer
        self.asked: list[Json] = []
        self.failed: list[Exception] = []
        self._first = list(first)
        self._keeps = keeps  # Whether its replies keep the contract, which it then checks.
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _make_handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def name(self) -> str:
        return f"openai-decisions-compatible:http://127.0.0.1:{self._server.server_port}/v1/luna"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        if self.failed:
            raise self.failed[0]

    def reply(self, path: str, body: Json) -> tuple[int, Json]:
        assert path == "/v1/decisions"
        self.asked.append(body)
        if self._first:
            return self._first.pop(0), {"error": {"message": "not now", "type": "server_error"}}
        told = decide(body, self.answer)
        if self._keeps:
            jsonschema.validate(told, CONTRACT["reply"])
        return 200, told


def _make_handler(server: DecisionServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                self._send(*server.reply(self.path, body))
            except Exception as problem:  # Said when the block ends: here nobody would see it.
                server.failed.append(problem)
                self._send(400, {"error": {"message": "the server of the test failed"}})

        def do_GET(self) -> None:
            self._send(200, {"data": [{"id": "luna"}]})

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

        def _send(self, status: int, data: Json) -> None:
            text = json.dumps(data).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(text)
            self.wfile.flush()

    return Handler
