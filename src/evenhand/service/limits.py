"""How much is taken on at once: what is above it is told to come back, so that what was taken on is done."""

from __future__ import annotations

import asyncio
from typing import Self

from starlette.types import ASGIApp, Receive, Scope, Send

from evenhand.service.problems import ProblemError, build_problem

WATCHED_PATHS = ("/healthz", "/readyz", "/metrics")  # Whoever watches a service that is overloaded learns that it is.
STREAM_ENDING = "/events"
RETRY_AFTER = "1"


class LimitedRequests:
    """Lets so many requests in at once, and beside them so many streams, which take no work and may stay for hours."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app, self._most = app, most
        self._under_way = {"requests": 0, "streams": 0}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, or say when to come back."""
        if scope["type"] != "http" or scope["path"] in WATCHED_PATHS:
            await self._app(scope, receive, send)
            return
        kind = "streams" if scope["path"].endswith(STREAM_ENDING) else "requests"
        if self._under_way[kind] >= self._most:
            what = f"{self._most} {kind} are under way"
            fault = {"where": "", "what": what, "would_work": f"try again in {RETRY_AFTER} s"}
            await build_problem(503, [fault], **{"Retry-After": RETRY_AFTER})(scope, receive, send)
            return
        self._under_way[kind] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._under_way[kind] -= 1


class LimitedTurns:
    """`async with turns:` is entered by so many at once; a few more wait, and the rest is told to come back."""

    def __init__(self, at_once: int, waiting: int) -> None:
        self._free, self._most_waiting, self._waiting = asyncio.Semaphore(at_once), waiting, 0

    async def __aenter__(self) -> Self:
        if self._free.locked() and self._waiting >= self._most_waiting:
            what = "more requests for judges are waiting than can be answered soon"
            raise ProblemError(503, what, "try again in 5 s", Retry_After="5")
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        return self

    async def __aexit__(self, *_: object) -> None:
        self._free.release()
