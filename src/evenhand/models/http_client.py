"""Exchanges over HTTP: one session for all servers, answers bounded in size, and what became of one that failed."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp

from evenhand.models.server_answers import (
    HttpAnswer,
    HttpFailure,
)

_SMALL = 2**20  # aiohttp wants larger bodies as a file.


@dataclass(slots=True)
class HttpClient:
    """One session for all servers, opened at the first exchange; redirects are not followed, cookies not kept."""

    largest: int  # Bytes that an answer may have.
    _session: aiohttp.ClientSession | None = None
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
        try:
            if self._session is None:
                self._session = aiohttp.ClientSession(
                    connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
                    cookie_jar=aiohttp.DummyCookieJar(),
                    timeout=aiohttp.ClientTimeout(),
                )
            data = body if body is None or len(body) < _SMALL else io.BytesIO(body)
            sending = self._session.request(method, url, data=data, headers=headers, allow_redirects=False)
            async with asyncio.timeout(seconds), sending as response:
                parts, size, most = [], 0, self.largest * times_as_large
                # Counted as it is unpacked, so that a small file cannot fill the memory.
                while part := await response.content.readany():
                    parts.append(part)
                    size += len(part)
                    if size > most:
                        response.close()
                        return HttpFailure(f"the answer is larger than the {most:,} bytes allowed", "large")
                return HttpAnswer(response.status, response.headers, b"".join(parts))
        except (aiohttp.ClientError, OSError, ValueError, RuntimeError, EOFError) as problem:
            return _explain_http_error(problem, seconds)

    async def close(self) -> None:
        """Close every connection; nothing can be asked afterwards."""
        self._closed = True
        if self._session is not None:
            await self._session.close()


def _explain_http_error(problem: Exception, seconds: float) -> HttpFailure:
    """What became of an exchange, in words that hold nothing of the request."""
    if isinstance(problem, aiohttp.ClientConnectorDNSError):
        return HttpFailure("no server of that name is known", "unreached")
    if isinstance(problem, aiohttp.ClientConnectorError):
        cause = problem.os_error
        found = getattr(cause, "verify_message", "") or getattr(cause, "reason", "") or cause.strerror or str(cause)
        if isinstance(problem, aiohttp.ClientSSLError):
            return HttpFailure(f"no secure connection: {str(found).lower()}", "final")
        return HttpFailure(f"no connection: {str(found).lower()}", "unreached")
    if isinstance(problem, TimeoutError):
        return HttpFailure(f"no whole answer within {seconds:.4g} s", "late")
    if isinstance(problem, aiohttp.InvalidURL):
        return HttpFailure("the URL cannot be used", "final")
    if isinstance(problem, aiohttp.ClientResponseError):
        return HttpFailure("the answer is not proper HTTP", "cut")
    if isinstance(problem, aiohttp.ClientPayloadError):
        return HttpFailure("the answer was cut off", "cut")
    return HttpFailure("the connection was cut off", "cut")
