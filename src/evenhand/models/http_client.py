"""Exchanges over HTTP/1.1, with connections that are kept: one client for all servers of a set of connections.

Redirects are not followed, cookies not kept, proxies not used. A request that got no answer is not sent again here.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aiohappyeyeballs import AddrInfoType, start_connection
from yarl import URL

from evenhand._version import __version__
from evenhand.models.http_connection import HttpAnswer, HttpConnection, HttpFailure, explain_late_answer

KEPT_IDLE = 15.0  # Seconds after which a server may have closed a connection that carried nothing.
ADDRESSES_LAST = 300.0  # Seconds for which the addresses of a name are kept.
NEXT_ADDRESS_AFTER = 0.25  # Seconds until the next address is tried beside the first.
_BUFFER = 2**18
_MOST_HEADS = 1000  # Kept at once: an eval may have an address for each sample.
_OUR_OWN = ("content-length", "transfer-encoding", "connection")  # Headers that follow from what is sent.
_ROUNDS_TO_CLOSE = 3  # Of the loop, in which it tells connections and what is below them that they are closed.
_WITH_BODY = ("POST", "PUT", "PATCH")


@dataclass(slots=True)
class HttpOrigin:
    """A server, its addresses and the connections to it; those that are idle are taken by the latest first."""

    host: str
    port: int
    secure: ssl.SSLContext | None
    buffer: memoryview  # Of the client.
    connections: set[HttpConnection] = field(default_factory=set)
    idle: list[HttpConnection] = field(default_factory=list)
    _lookup: asyncio.Task[Sequence[AddrInfoType]] | None = None
    _looked_up: float = 0.0
    _turn: int = 0

    def take_idle(self, now: float) -> HttpConnection | None:
        """A connection that carried something a short while ago."""
        while self.idle:
            connection = self.idle.pop()
            if connection.is_open and now - connection.idle_since < KEPT_IDLE:
                return connection
            connection.abort()
        return None

    async def connect_within(self, seconds: float) -> HttpConnection | HttpFailure:
        """A new connection, if one comes about in that time."""
        try:
            async with asyncio.timeout(seconds):
                return await self._connect()
        except TimeoutError:
            return explain_late_answer(seconds)

    async def _connect(self) -> HttpConnection | HttpFailure:
        loop = asyncio.get_running_loop()
        try:
            addresses = await self._find_addresses(loop)
        except (OSError, ValueError):
            return HttpFailure("no server of that name is known", "unreached")
        try:
            taken = await start_connection(addresses, happy_eyeballs_delay=NEXT_ADDRESS_AFTER, interleave=1)
            named = self.host if self.secure is not None else None
            _, connection = await loop.create_connection(
                lambda: HttpConnection(self, loop), sock=taken, ssl=self.secure, server_hostname=named
            )
        except ssl.SSLError as problem:
            found = getattr(problem, "verify_message", "") or problem.reason or str(problem)
            return HttpFailure(f"no secure connection: {found.lower()}", "final")
        except OSError as problem:
            return HttpFailure(f"no connection: {(problem.strerror or str(problem)).lower()}", "unreached")
        return connection

    async def _find_addresses(self, loop: asyncio.AbstractEventLoop) -> Sequence[AddrInfoType]:
        """The addresses of the server, another one first each time; many who ask at once look them up once."""
        now = loop.time()
        if self._lookup is None or (self._lookup.done() and now - self._looked_up > ADDRESSES_LAST):
            self._lookup, self._looked_up = loop.create_task(self._look_up(loop)), now
            self._lookup.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            found = await asyncio.shield(self._lookup)
        except (OSError, ValueError):
            self._lookup = None
            raise
        self._turn = (self._turn + 1) % len(found)
        return [*found[self._turn :], *found[: self._turn]]

    async def _look_up(self, loop: asyncio.AbstractEventLoop) -> Sequence[AddrInfoType]:
        found = await loop.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        if not found:
            raise OSError("no address")
        return found


@dataclass(slots=True)
class ModelHttpClient:
    """Sends requests to any server."""

    largest: int  # Bytes that an answer may have.
    _origins: dict[tuple[str, str, int], HttpOrigin] = field(default_factory=dict)
    _heads: dict[tuple[object, ...], tuple[HttpOrigin, bytes]] = field(default_factory=dict, repr=False)
    _secure: ssl.SSLContext | None = None
    _buffer: memoryview = field(default_factory=lambda: memoryview(bytearray(_BUFFER)), repr=False)
    _closed: bool = False

    async def exchange(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        seconds: float,
        *,
        times_as_large: int = 1,
    ) -> HttpAnswer | HttpFailure:
        """The answer to a request. Problems are values: an exception would carry the request, and so the key."""
        if self._closed:
            return HttpFailure("the connections are closed", "final")
        key = (method, url, *headers.items())
        try:
            origin, head = self._heads.get(key) or self._prepare_head(key, method, URL(url), headers)
        except ValueError:
            return HttpFailure("the URL cannot be used", "final")
        now = asyncio.get_running_loop().time()
        connection = origin.take_idle(now) or await origin.connect_within(seconds)
        if isinstance(connection, HttpFailure):
            return connection
        if body is not None:
            head = b"%bContent-Length: %d\r\n\r\n%b" % (head, len(body), body)
        else:
            head += b"Content-Length: 0\r\n\r\n" if method in _WITH_BODY else b"\r\n"
        most = self.largest * times_as_large
        return await connection.exchange(head, now + seconds, seconds, most, has_body=method != "HEAD")

    async def close(self) -> None:
        """Close every connection; nothing can be asked afterwards."""
        self._closed = True
        open_ones = [connection for origin in self._origins.values() for connection in origin.connections]
        for connection in open_ones:
            connection.abort()
        for _ in range(_ROUNDS_TO_CLOSE if open_ones else 0):
            await asyncio.sleep(0)

    def _prepare_head(
        self, key: tuple[object, ...], method: str, url: URL, headers: Mapping[str, str]
    ) -> tuple[HttpOrigin, bytes]:
        """Where a request goes, and what it begins with; a ValueError where it cannot be sent."""
        if url.scheme not in ("http", "https") or url.host is None or url.port is None or url.raw_host is None:
            raise ValueError("not an address of HTTP")
        given = {name: value for name, value in headers.items() if name.lower() not in _OUR_OWN}
        named = {name.lower() for name in given}
        shown = f"[{url.raw_host}]" if ":" in url.raw_host else url.raw_host
        more = {
            "Host": shown if url.is_default_port() else f"{shown}:{url.port}",
            "User-Agent": f"evenhand/{__version__}",
            "Accept": "*/*",
            "Accept-Encoding": "gzip, deflate",
        }
        if url.user is not None:
            pair = f"{url.user}:{url.password or ''}".encode()
            more["Authorization"] = f"Basic {b64encode(pair).decode()}"
        first = {name: value for name, value in more.items() if name.lower() not in named}
        lines = [
            f"{method} {url.raw_path_qs} HTTP/1.1",
            *(f"{name}: {value}" for name, value in (first | given).items()),
        ]
        if any("\r" in line or "\n" in line or "\0" in line for line in lines):
            raise ValueError("a header of several lines")
        if len(self._heads) >= _MOST_HEADS:
            self._heads.clear()
        head = "".join(f"{line}\r\n" for line in lines).encode("utf-8", "surrogateescape")
        self._heads[key] = found = (self._find_origin(url.scheme, url.raw_host, url.port), head)
        return found

    def _find_origin(self, scheme: str, host: str, port: int) -> HttpOrigin:
        origin = self._origins.get((scheme, host, port))
        if origin is None:
            if scheme == "https" and self._secure is None:
                self._secure = ssl.create_default_context()
                self._secure.set_alpn_protocols(["http/1.1"])
            secure = self._secure if scheme == "https" else None
            origin = self._origins[scheme, host, port] = HttpOrigin(host, port, secure, self._buffer)
        return origin
