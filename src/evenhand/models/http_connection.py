"""One connection to a server of HTTP/1.1: a request is written to it as bytes, and what comes back is read and bounded.

The bytes are taken apart by llhttp (`httptools`); what stays here is when an answer is whole, too late or too large.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

import httptools

from evenhand.model.quick_init import set_slots_directly

if TYPE_CHECKING:
    from evenhand.models.http_client import HttpOrigin

LARGEST_HEAD = 65_536  # Bytes of status and headers.
LENIENCIES = {  # Of servers that are nearly right, as other clients show it too.
    "lenient_headers": True,
    "lenient_optional_cr_before_lf": True,
    "lenient_spaces_after_chunk_size": True,
}


@set_slots_directly
@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What a server sent back; the names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpFailure:
    """That no whole answer came: too late, cut off, too large, nobody there, or for a reason that will not change."""

    why: str
    kind: Literal["late", "cut", "large", "unreached", "final"]


CUT_OFF = HttpFailure("the connection was cut off", "cut")
CUT_ANSWER = HttpFailure("the answer was cut off", "cut")
IMPROPER = HttpFailure("the answer is not proper HTTP", "cut")


@dataclass(slots=True)
class HttpExchange:
    """A request that was written, and as much of its answer as has come."""

    answer: asyncio.Future[HttpAnswer | HttpFailure]
    until: float  # By the clock of the loop.
    seconds: float  # That it may take, for whoever is told of it.
    most: int  # Bytes that the answer may have, unpacked.
    has_body: bool  # Whether the answer may have one: that to HEAD has none.
    headers: dict[str, str]
    parts: list[bytes]
    size: int = 0  # Of the body so far; of the head, until that is whole.
    has_head: bool = False


class HttpConnection(asyncio.BufferedProtocol):
    """A connection that carries one exchange at a time, and goes back to its origin after each that it survives."""

    __slots__ = ("_exchange", "_loop", "_origin", "_parser", "_timer", "_transport", "idle_since")

    def __init__(self, origin: HttpOrigin, loop: asyncio.AbstractEventLoop) -> None:
        self._origin = origin
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._exchange: HttpExchange | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(**LENIENCIES)
        self.idle_since = 0.0

    @property
    def is_open(self) -> bool:
        """Whether something could be sent."""
        return self._transport is not None and not self._transport.is_closing()

    async def exchange(
        self, sent: bytes, until: float, seconds: float, most: int, *, has_body: bool = True
    ) -> HttpAnswer | HttpFailure:
        """The answer to a request; whoever is cancelled leaves a closed connection."""
        assert self._transport is not None
        answer: asyncio.Future[HttpAnswer | HttpFailure] = self._loop.create_future()
        self._exchange = HttpExchange(answer, until, seconds, most, has_body, {}, [])
        if self._timer is None or until < self._timer.when():
            self._set_timer(until)
        self._transport.write(sent)
        try:
            return await answer
        except asyncio.CancelledError:
            self._exchange = None
            self.abort()
            raise

    def abort(self) -> None:
        """Close it at once."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop."""
        self._transport = cast(asyncio.Transport, transport)
        self._origin.connections.add(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Called by the loop: what is read is taken apart at once, so that all connections share one buffer."""
        return self._origin.buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Called by the loop."""
        exchange = self._exchange
        if exchange is None:  # Nobody has asked for anything.
            self.abort()
            return
        if not exchange.has_head:
            exchange.size += nbytes
        try:
            self._parser.feed_data(self._origin.buffer[:nbytes])
        except httptools.HttpParserUpgrade:
            self._finish_answer(keeps=False)
        except httptools.HttpParserError:
            self._finish(CUT_ANSWER if exchange.has_head else IMPROPER)
        if not exchange.has_head and exchange.size > LARGEST_HEAD:
            self._finish(IMPROPER)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the loop. An answer of no stated length ends with its connection."""
        self._origin.connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        exchange = self._exchange
        if exchange is None:
            return
        is_open_ended = "content-length" not in exchange.headers and "transfer-encoding" not in exchange.headers
        if exchange.has_head and is_open_ended and exc is None:
            self._finish_answer(keeps=False)
        else:
            self._finish(CUT_ANSWER if exchange.has_head else CUT_OFF)

    def on_message_begin(self) -> None:
        """Called by the parser. After an answer comes nothing until the next request."""
        if self._exchange is None:
            self.abort()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called by the parser. Of several headers of a name the first is kept."""
        if self._exchange is not None:
            self._exchange.headers.setdefault(name.decode("latin-1").lower(), value.decode("utf-8", "replace"))

    def on_headers_complete(self) -> None:
        """Called by the parser."""
        exchange = self._exchange
        if exchange is None or self._parser.get_status_code() < 200:
            return
        exchange.has_head, exchange.size = True, 0
        if not exchange.has_body:
            self._finish_answer(keeps=False)

    def on_body(self, body: bytes) -> None:
        """Called by the parser."""
        exchange = self._exchange
        if exchange is None:
            return
        exchange.parts.append(body)
        exchange.size += len(body)
        if exchange.size > exchange.most:
            self._finish(explain_large_answer(exchange.most))

    def on_message_complete(self) -> None:
        """Called by the parser. What says that an answer will follow is none."""
        exchange = self._exchange
        if exchange is None:
            return
        if exchange.has_head:
            self._finish_answer(keeps=self._parser.should_keep_alive())
        elif self._parser.get_status_code() != 101:
            exchange.headers, exchange.size = {}, 0

    def _finish_answer(self, *, keeps: bool) -> None:
        exchange = self._exchange
        if exchange is None:
            return
        parts, encoding = exchange.parts, exchange.headers.get("content-encoding")
        body: bytes | HttpFailure = parts[0] if len(parts) == 1 else b"".join(parts)
        if encoding and isinstance(body, bytes):
            body = unpack_body(body, encoding.strip().lower(), exchange.most)
        if isinstance(body, HttpFailure):
            self._finish(body)
        else:
            self._finish(HttpAnswer(self._parser.get_status_code(), exchange.headers, body), keeps=keeps)

    def _finish(self, answer: HttpAnswer | HttpFailure, *, keeps: bool = False) -> None:
        exchange, self._exchange = self._exchange, None
        if exchange is not None and not exchange.answer.done():
            exchange.answer.set_result(answer)
        if keeps and self.is_open:
            self.idle_since = self._loop.time()
            self._origin.idle.append(self)
        else:
            self.abort()

    def _set_timer(self, until: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(until, self._look_at_clock)

    def _look_at_clock(self) -> None:
        """One timer lasts for many exchanges: each that ends in time leaves it to the next."""
        self._timer, exchange = None, self._exchange
        if exchange is None:
            return
        if self._loop.time() < exchange.until:
            self._set_timer(exchange.until)
        else:
            self._finish(explain_late_answer(exchange.seconds))


def explain_late_answer(seconds: float) -> HttpFailure:
    """That an answer was not whole in the time it had."""
    return HttpFailure(f"no whole answer within {seconds:.4g} s", "late")


def explain_large_answer(most: int) -> HttpFailure:
    """That an answer has more bytes than it may."""
    return HttpFailure(f"the answer is larger than the {most:,} bytes allowed", "large")


def unpack_body(body: bytes, encoding: str, most: int) -> bytes | HttpFailure:
    """A body as it was before it was packed, if it is no larger then than it may be; one of another kind as it is."""
    if encoding in ("gzip", "x-gzip"):
        unpacker = zlib.decompressobj(16 + zlib.MAX_WBITS)
    elif encoding == "deflate":  # With the header of zlib, as it should be, or without.
        unpacker = zlib.decompressobj(zlib.MAX_WBITS if body[:1] and body[0] & 0x0F == 8 else -zlib.MAX_WBITS)
    else:
        return body
    try:
        unpacked = unpacker.decompress(body, most + 1)
    except zlib.error:
        return CUT_ANSWER
    if len(unpacked) > most:
        return explain_large_answer(most)
    return unpacked if unpacker.eof or not body else CUT_ANSWER
