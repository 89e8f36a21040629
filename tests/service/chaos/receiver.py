"""Whoever is told by webhooks: checks every signature with the library of the format, and drops half of what comes."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from standardwebhooks import Webhook

from evenhand.workflows.webhooks import derive_hook_secret

Json = dict[str, Any]


class Receiver:
    """A server on loopback; `drops` says how often one message may be dropped before it is heard."""

    def __init__(self, drops: int) -> None:
        self.heard: dict[str, list[Json]] = {}  # By id: what was accepted.
        self.tries: Counter[str] = Counter()
        self.forged: list[str] = []  # What did not verify.
        self._drops, self._chance, self._lock = drops, random.Random(5), threading.Lock()
        self._server = _HookServer(("127.0.0.1", 0), _build_handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}/hook"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def take_message(self, headers: dict[str, str], body: bytes) -> bool:
        """Whether it is heard; one in two is not, as long as it may be dropped."""
        with self._lock:
            try:
                told = Webhook(derive_hook_secret(self.url)).verify(body, headers)
            except Exception as problem:
                self.forged.append(f"{problem}: {body[:200]!r}")
                return False
            id = headers["webhook-id"]
            self.tries[id] += 1
            if self.tries[id] <= self._drops and self._chance.random() < 0.5:
                return False
            self.heard.setdefault(id, []).append(dict(told))
            return True

    def payments(self) -> dict[str, set[tuple[str, str]]]:
        """By contest: under which ids whom to pay was heard."""
        found: dict[str, set[tuple[str, str]]] = {}
        for id, bodies in self.heard.items():
            for body in bodies:
                if body["type"] == "contest.payment":
                    found.setdefault(body["contest"], set()).add((id, json.dumps(body, sort_keys=True)))
        return found


class _HookServer(ThreadingHTTPServer):
    request_queue_size = 256  # It drops messages by chance, and not because several workers call at once.


def _build_handler(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            heard = receiver.take_message({name.lower(): value for name, value in self.headers.items()}, body)
            if not heard and len(body) % 2:
                self.close_connection = True  # Without a word.
                return
            self.send_response(204 if heard else 503)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler
