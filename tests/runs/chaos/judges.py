"""Judges behind a server in a thread: what they answer depends on what they are asked, and all of it is remembered."""

import asyncio
import hashlib
import json
import random
import re
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Self

from tests.models.server import (
    Behaviour,
    Seen,
    Server,
    answers,
    chat,
    sends,
    then_closes,
    then_resets,
)
from tests.warm.processes import wait_until

NAMES = ("first", "second")
MARK = re.compile(r"\[([^]\s]+)\]")  # Outputs say whose they are: [sample/variant].
PARCEL = re.compile(r"Where is parcel (\d+)")
CUT = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{"id": "c1", "cho'

Asked = tuple[str, str]  # Which judge, about which outputs.


@dataclass
class Judges:
    """The server, and how often each judge was asked about each output."""

    delay: float = 0.0  # Seconds until an answer.
    bad: float = 0.0  # The share of requests that are answered badly.
    seed: int = 0
    most: int | None = None  # After so many requests nothing is answered, until `go_on`.
    babbling: str = ""  # The judge whose answers cannot be read.
    asked: Counter[Asked] = field(default_factory=Counter)

    def __enter__(self) -> Self:
        ready = threading.Event()
        self._chance = random.Random(self.seed)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)))
        self._thread.start()
        assert ready.wait(30)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    def name(self, judge: str) -> str:
        """As an eval names it."""
        return f"openai-compatible:{self._base}/{judge}"

    def hold(self) -> None:
        """Answer nothing from now on."""
        self._loop.call_soon_threadsafe(self._free.clear)

    def go_on(self) -> None:
        """Answer again, what was held too."""
        self.most = None
        self._loop.call_soon_threadsafe(self._free.set)

    def sitting(self) -> Counter[Asked]:
        """What was asked since the last time; nobody may be connected any more."""
        wait_until(lambda: self._server.open == 0)
        asked, self.asked = self.asked, Counter()
        return asked

    async def _serve(self, ready: threading.Event) -> None:
        self._loop, self._over, self._free = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
        self._free.set()
        async with _Open(self._behave) as server:
            self._server, self._base = server, server.base
            ready.set()
            await self._over.wait()

    async def _behave(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        body = seen.json
        judge, marks = body["model"], marks_in(body)
        self.asked[judge, marks] += 1
        if self.most is not None and self.asked.total() > self.most:
            self._free.clear()
        if self._chance.random() < self.bad:
            await self._chance.choice(TROUBLES)(seen, writer)
            return
        await asyncio.sleep(self.delay)
        await self._free.wait()
        text = "Well." if judge == self.babbling else reply_to(body, marks)
        await answers(200, chat(text))(seen, writer)


def marks_in(body: Any) -> str:
    """Which outputs a question is about, or which one is to be made for a question of a customer."""
    text = body["messages"][-1]["content"]
    return " ".join(sorted(MARK.findall(text))) or f"s{PARCEL.findall(text)[0]}/{body['model']}"


def reply_to(body: Any, marks: str) -> str:
    """A reply that fits what was asked: the same every time, and different for every question."""
    if "response_format" not in body:
        return f"[{marks}] Please wait for the refund."
    return json.dumps(_fitting(body["response_format"]["json_schema"]["schema"], f"{body['model']} {marks}"))


def _fitting(schema: Any, about: str) -> Any:
    chance = hashlib.sha256(about.encode()).digest()[0]
    if "anyOf" in schema:
        return _fitting(schema["anyOf"][0], about)
    if "enum" in schema:
        return schema["enum"][chance % 2]
    match schema.get("type"):
        case "object":
            return {name: _fitting(part, f"{about} {name}") for name, part in schema["properties"].items()}
        case "array":
            return []
        case "string":
            return f"read: {about}"
        case _:
            return schema["minimum"] + chance % (schema["maximum"] - schema["minimum"] + 1)


TROUBLES: tuple[Behaviour, ...] = (
    answers(429, {"error": {"message": "slow down"}}, {"Retry-After": "0.02"}),
    answers(429, {"error": {"message": "slow down"}}),
    answers(500, {"error": {"message": "broken"}}),
    answers(200, b'{"id": "c1", "choices": [{"mess'),
    answers(200, {"id": "c1", "choices": "none"}),
    answers(200, b"<html>Bad gateway</html>"),
    then_closes(),
    then_closes(CUT),
    then_resets(),
    then_resets(CUT),
    sends(CUT),  # And then nothing.
    sends(b""),
    sends(b"\x00\xff not HTTP at all\r\n\r\n"),
)


class _Open(Server):
    """A server that counts who is connected."""

    open = 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        try:
            await super()._serve(reader, writer)
        finally:
            self.open -= 1
