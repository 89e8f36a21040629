"""A server on loopback that behaves as it is told to, badly most of all, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Self

from evenhand.models.budget import Budget
from evenhand.models.connections import Connections
from evenhand.models.limits import Clock, Limits
from evenhand.models.requests import Message, ModelSettings, Reply, Request

KEY = "sk-proj-Zq81LmN0pQrStUvWxYz-7391-secret"
FAST = Limits(attempt_seconds=5.0, total_seconds=60.0, retries=2)


@dataclass(frozen=True)
class Seen:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Behaviour = Callable[[Seen, asyncio.StreamWriter], Awaitable[None]]


class Server:
    """Answers the first request with the first behaviour and so on; the last one goes on for ever."""

    def __init__(self, *behaviours: Behaviour, models: tuple[str, ...] = ()) -> None:
        self._behaviours = list(behaviours)
        self._models = models
        self._tasks: set[asyncio.Task[None]] = set()
        self.connections = 0
        self.under_way = 0
        self.most_under_way = 0
        self.seen: list[Seen] = []
        self.listings = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    @property
    def name(self) -> str:
        return f"openai-compatible:{self.base}/tiny"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            while not writer.is_closing():
                await self._one(await _read(reader), writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _one(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.method == "GET":
            self.listings += 1
            await answers(200, {"data": [{"id": model} for model in self._models]})(seen, writer)
            return
        self.seen.append(seen)
        behaviour = self._behaviours.pop(0) if len(self._behaviours) > 1 else self._behaviours[0]
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await behaviour(seen, writer)
        finally:
            self.under_way -= 1


async def _read(reader: asyncio.StreamReader) -> Seen:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
    return Seen(method, path, headers, await reader.readexactly(int(headers.get("content-length", 0))))


def chat(text: str = "4", **fields: object) -> dict[str, object]:
    """The body of a good answer."""
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return {"id": "c1", "model": "tiny-1", "choices": [choice], "usage": usage, **fields}


def answers(status: int, body: object = b"", headers: dict[str, str] | None = None) -> Behaviour:
    """A whole answer; what is not bytes is sent as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {"Content-Type": "application/json", "Content-Length": str(len(content)), **(headers or {})}
    return sends(_head(status, given) + content)


def says(text: str = "4") -> Behaviour:
    return answers(200, chat(text))


def fails(status: int, message: str = "no", **fields: object) -> Behaviour:
    """An error in the usual shape."""
    return answers(status, {"error": {"message": message, **fields}})


def sends(content: bytes) -> Behaviour:
    """Bytes as they are."""

    async def behave(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(content)
        await writer.drain()

    return behave


def then_closes(content: bytes = b"") -> Behaviour:
    """Bytes, and the end."""

    async def behave(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(content)
        await writer.drain()
        writer.close()

    return behave


def then_resets(content: bytes = b"") -> Behaviour:
    """Bytes, and a connection that is torn down."""

    async def behave(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(content)
        await writer.drain()
        connection: socket.socket = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return behave


def then_hangs(content: bytes = b"") -> Behaviour:
    """Bytes, and nothing more until the server closes."""

    async def behave(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(content)
        await writer.drain()
        await asyncio.Event().wait()

    return behave


def _head(status: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Said", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode()


@dataclass
class Waits:
    """A clock that moves only when somebody waits, and remembers the waits."""

    time: float = 0.0
    waits: list[float] = field(default_factory=list)
    chance: float = 0.0

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds
        await asyncio.sleep(0)

    @property
    def clock(self) -> Clock:
        return Clock(
            now=lambda: self.time, wall=lambda: 1_000_000 + self.time, sleep=self.sleep, chance=lambda: self.chance
        )


def question(text: str = "How good is it?", **fields: Any) -> Request:
    """A request that is about nothing in particular."""
    return Request(dialogue="test", messages=(Message("user", text),), **fields)


SCHEMA = {"type": "object", "properties": {"score": {"type": "integer", "minimum": 1, "maximum": 5}}}
DEMANDING = question(schema=SCHEMA, settings=ModelSettings(temperature=0.0, seed=7, top_logprobs=3))


async def asked(
    *behaviours: Behaviour,
    request: Request | None = None,
    limits: Limits = FAST,
    waits: Waits | None = None,
    environ: dict[str, str] | None = None,
    models: tuple[str, ...] = (),
    budget: Budget | None = None,
) -> tuple[Reply, Server]:
    """One question to a server that behaves so, and the server."""
    async with (
        Server(*behaviours, models=models) as server,
        Connections(
            environ if environ is not None else {"EVENHAND_API_KEY": KEY},
            limits=limits,
            budget=budget,
            clock=(waits or Waits()).clock,
        ) as connections,
    ):
        return await connections.open(server.name).ask(request or question()), server


def ask(*behaviours: Behaviour, **options: Any) -> tuple[Reply, Server]:
    """The same, from outside a loop."""
    return asyncio.run(asked(*behaviours, **options))
