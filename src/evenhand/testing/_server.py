"""A server on loopback that speaks OpenAI's chat completions and answers from a function: real HTTP, no model."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Json = dict[str, Any]
Answer = Callable[[Json], str | int]
MODEL = "fake"


class FakeServer:
    """`with FakeServer(answer) as server:` has code under test talk to a model that is a function.

    The function gets the body of each request and returns the text of the reply, or a number for an answer of that
    HTTP status. What it raises is answered with 500 and raised again when the block ends.
    """

    def __init__(self, answer: Answer) -> None:
        self.asked: list[Json] = []  # The bodies of all requests, in order.
        self._answer = answer
        self._problem: Exception | None = None
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """The base URL, as clients of OpenAI's format take it: http://127.0.0.1:PORT/v1."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def judge(self) -> str:
        """The name under which Evenhand asks it as a judge."""
        return f"openai-compatible:{self.url}/{MODEL}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        if self._problem is not None and kind is None:
            raise self._problem

    def completed(self, body: Json) -> tuple[int, Json]:
        """The status and the answer to the body of a request."""
        with self._lock:  # Many may ask at once; the function is called by one at a time.
            self.asked.append(body)
            try:
                said = _checked(self._answer(body))
            except Exception as problem:
                self._problem = self._problem or problem
                return 500, _error(f"the function raised {type(problem).__name__}: {problem}")
            number = len(self.asked)
        return (said, _error(f"status {said}")) if isinstance(said, int) else (200, _completion(number, body, said))


def _handler_of(fake: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # Head and body leave in one packet; apart, the second would wait for the first.

        def do_GET(self) -> None:
            if self.path == "/v1/models":
                self._send(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})
            else:
                self._send(404, _error(f"there is nothing at {self.path}"))

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.path != "/v1/chat/completions":
                self._send(404, _error(f"there is nothing at {self.path}: post to /v1/chat/completions"))
                return
            try:
                body = json.loads(sent)
            except ValueError:
                body = None
            if not isinstance(body, dict):
                self._send(400, _error("the body is not a JSON object"))
            elif body.get("stream"):
                self._send(400, _error("this server does not stream: leave stream out"))
            else:
                self._send(*fake.completed(body))

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: a test's output is the test's."""

        def _send(self, status: int, data: Json) -> None:
            text = json.dumps(data).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
            self.wfile.flush()

    return Handler


def _checked(said: str | int) -> str | int:
    if isinstance(said, (str, int)):
        return said
    raise TypeError(f"a reply is a text or the number of a status, got {type(said).__name__}")


def _completion(number: int, body: Json, text: str) -> Json:
    """As the API answers; what counts as a token here is a word."""
    read = sum(len(str(message.get("content", "")).split()) for message in body.get("messages", []))
    wrote = len(text.split())
    return {
        "id": f"fake-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", MODEL),
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote},
    }


def _error(message: str) -> Json:
    return {"error": {"message": message, "type": "fake", "code": None}}
