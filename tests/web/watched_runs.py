"""A run that a service carries out while its judge is held, so that it can be watched, stopped and resumed."""

from __future__ import annotations

import json
import threading
from typing import Any

import requests

from evenhand.testing import FakeServer


class HeldJudge:
    """A model that answers some times, and then when it is let."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.limit = 3
        self.server = FakeServer(self.answer)

    def answer(self, body: dict[str, Any]) -> str:
        """Yes to everything."""
        if len(self.server.asked) > self.limit:
            self.free.wait(30)
        schema = body["response_format"]["json_schema"]["schema"]["properties"]["criteria"]["properties"]
        said = {"evidence": [], "reason": "read", "answer": "yes"}
        return json.dumps({"criteria": dict.fromkeys(schema, said)})

    def hold_again(self, more: int) -> None:
        """Answer so many times more."""
        self.limit = len(self.server.asked) + more
        self.free.clear()


def start_watched_run(address: str, held: HeldJudge, **more: Any) -> str:
    """Have the service at an address carry out a run that waits for its judge."""
    eval: dict[str, Any] = {
        "name": "watched",
        "samples": [{"id": f"s{number}", "input": "?", "outputs": {"one": f"Orders {number}"}} for number in range(8)],
        "rubric": {"criteria": ["Does it name the page?"]},
        "judges": [held.server.judge],
        "concurrency": 1,
        **more,
    }
    return str(requests.post(f"{address}/v1/runs", json={"eval": eval}, timeout=30).json()["id"])


def view_run(address: str, run: str) -> dict[str, Any]:
    """A run as the service tells it."""
    found: dict[str, Any] = requests.get(f"{address}/v1/runs/{run}", timeout=30).json()
    return found
