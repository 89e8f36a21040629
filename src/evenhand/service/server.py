"""The service behind a socket: told to end, it takes nothing more and answers what is under way."""

from __future__ import annotations

import errno
import signal
import socket
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI

from evenhand.errors import Fault, InputError
from evenhand.service.app import build_service
from evenhand.service.settings import ServiceSettings
from evenhand.workflows.telemetry import open_user_telemetry

GRACE_SECONDS = 30  # For requests under way.
BACKLOG = 2048


def serve_until_stopped(
    settings: ServiceSettings, announce: Callable[[], None], *, extend: Callable[[FastAPI], None] = lambda app: None
) -> None:
    """Serve until SIGTERM or Ctrl-C; `announce` is called once it answers, `extend` before it starts."""
    with open_user_telemetry() as telemetry:
        app = build_service(settings, telemetry)
        extend(app)
        sockets = open_listening_sockets(settings.host, settings.port)
        config = uvicorn.Config(
            app,
            host=settings.host,
            port=settings.port,
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        _ServiceServer(config, app, announce).run(sockets)


def open_listening_sockets(host: str, port: int) -> list[socket.socket]:
    """A socket for each address of a host; a port that is taken is refused before anything else is begun."""
    opened: list[socket.socket] = []
    refused: OSError | None = None
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            try:
                opened.append(_open_listening_socket(family, kind, protocol, address))
            except OSError as error:
                refused = error
                if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):  # A machine may have no IPv6.
                    raise
        if not opened and refused is not None:
            raise refused
    except OSError as error:
        for one in opened:
            one.close()
        if error.errno == errno.EADDRINUSE:
            raise InputError(Fault(f"port {port} of {host} is taken", "name another one: --port N")) from None
        what = f"{host}:{port} cannot be listened on: {(error.strerror or str(error)).lower()}"
        raise InputError(Fault(what, "name another --host or --port")) from None
    return opened


def _open_listening_socket(family: int, kind: int, protocol: int, address: tuple[Any, ...]) -> socket.socket:
    opened = socket.socket(family, kind, protocol)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        opened.bind(address)
        opened.listen(BACKLOG)
    except OSError:
        opened.close()
        raise
    return opened


class _ServiceServer(uvicorn.Server):
    """Says when it answers, and tells the application that the end is near: streams end by that alone."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._app, self._announce = app, announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        self._announce()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end; being told so by a supervisor is no failure, so SIGTERM is not raised again."""
        if not self._app.state.closing.is_set() and self.started:
            self._app.state.begin_closing()
        if sig == signal.SIGTERM:
            self.should_exit = True
        else:
            super().handle_exit(sig, frame)
