"""The service behind a socket: told to end, it takes nothing more and answers what is under way."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType

import uvicorn
from fastapi import FastAPI

from evenhand.service.app import build_service
from evenhand.service.settings import ServiceSettings
from evenhand.workflows.telemetry import open_user_telemetry

GRACE_SECONDS = 30  # For requests under way.


def serve_until_stopped(settings: ServiceSettings, announce: Callable[[], None]) -> None:
    """Serve until SIGTERM or Ctrl-C; `announce` is called once nothing stands against it."""
    with open_user_telemetry() as telemetry:
        app = build_service(settings, telemetry)
        announce()
        config = uvicorn.Config(
            app,
            host=settings.host,
            port=settings.port,
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        _ServiceServer(config, app).run()


class _ServiceServer(uvicorn.Server):
    """Tells the application that the end is near: streams would be waited for, and they end by that alone."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Note that it is to end; being told so by a supervisor is no failure, so SIGTERM is not raised again."""
        self._app.state.closing.set()
        if sig == signal.SIGTERM:
            self.should_exit = True
        else:
            super().handle_exit(sig, frame)
