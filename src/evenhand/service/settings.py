"""How a service is run: where it listens, what it keeps, and how much it takes on at once before it refuses."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Self

from starlette.types import ASGIApp, Receive, Scope, Send

from evenhand.errors import Fault, InputError
from evenhand.service.problems import ProblemError, build_http_problem
from evenhand.workflows.models import ConnectionOptions

LOOPBACK_NAMES = ("localhost",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """The settings of a service; every one is an option of `evenhand serve`."""

    host: str = "127.0.0.1"
    port: int = 8321
    store: str | Path | None = None  # A folder or an address; None is the one that the environment names.
    connect: ConnectionOptions = field(default_factory=ConnectionOptions)
    body_bytes: int = 2_000_000
    requests_per_minute: int = 600  # Of one token.
    requests_at_once: int = 200  # What comes above it is told to come back.
    judging_at_once: int = 8  # Requests that ask judges; others wait for their turn.
    runs_at_once: int = 2  # Others wait for their turn.
    allow_private_hooks: bool = False
    longest_gap: timedelta = timedelta(days=7)  # That the clock may be away from the last sign of a contest.

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback_host(self.host)


def is_loopback_host(host: str) -> bool:
    """Whether a host is this machine: a name or an address of the loopback interface."""
    name = host.strip("[]").lower()
    if name in LOOPBACK_NAMES:
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


_HOST_HEADER = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9.-]{1,253})(?::[0-9]{1,5})?", re.IGNORECASE)


def is_loopback_host_header(header: str) -> bool:
    """Whether a Host header is nothing but a name or an address of this machine, with or without a port."""
    host = _HOST_HEADER.fullmatch(header)
    return host is not None and is_loopback_host(host[1])


def refuse_open_bind(settings: ServiceSettings, *, has_tokens: bool) -> None:
    """Others may reach only a service that asks for tokens."""
    if not settings.is_loopback and not has_tokens:
        what = f"--host {settings.host} can be reached from other machines, and there is no token to ask for"
        raise InputError(Fault(what, "make one first: evenhand token create --role operator --name NAME"))


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
            await build_http_problem(503, [fault], **{"Retry-After": RETRY_AFTER})(scope, receive, send)
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
