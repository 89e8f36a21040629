"""A service in this process, with a clock that is moved by hand, and clients of every role."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import requests
from starlette.testclient import TestClient

from evenhand.service.app import build_service
from evenhand.service.settings import ServiceSettings
from evenhand.store.store import Store
from evenhand.workflows.tokens import TokenRole, create_service_token
from tests.store.databases import free_port
from tests.warm.processes import Process, started

Json = dict[str, Any]
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
ADDRESS = "http://127.0.0.1:8321"
LONGEST_WAIT = 60.0


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.at = NOON

    def __call__(self) -> datetime:
        return self.at

    def pass_hours(self, hours: float) -> None:
        """Move it."""
        self.at += timedelta(hours=hours)


@dataclass
class Served:
    """A service that runs, its store, and whoever calls it."""

    client: TestClient
    store: Store
    clock: Clock

    def make_token(self, role: TokenRole, name: str, expires_in: str | None = None) -> dict[str, str]:
        """The headers of somebody who has a token."""
        return bearer(create_service_token(self.store, role=role, name=name, expires_in=expires_in).secret)


def bearer(secret: str) -> dict[str, str]:
    """The header with a token."""
    return {"authorization": f"Bearer {secret}"}


@contextmanager
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> Iterator[Served]:
    """A service over a store of its own; faults of Evenhand are answered, as over a socket."""
    clock = Clock()

    @contextmanager
    def open_with_clock(place: Any, *, create: bool) -> Iterator[Store]:
        with Store.open(place, {}, create=create, clock=clock) as store:
            yield store

    monkeypatch.setattr("evenhand.service.app.open_user_store", open_with_clock)
    monkeypatch.setenv("EVENHAND_WEBHOOK_SECRET", "a long random text")
    folder = tmp_path / "store"
    app = build_service(ServiceSettings(store=folder, **settings))
    with (
        TestClient(app, base_url=ADDRESS, raise_server_exceptions=False) as client,
        Store.open(folder, {}, clock=clock) as store,
    ):
        yield Served(client, store, clock)


@dataclass
class ServingProcess:
    """`evenhand serve` as a process of its own."""

    address: str
    process: Process

    def end(self, sign: signal.Signals) -> int:
        """Send it a signal and wait for its end; its exit code."""
        self.process.signal(sign)
        return self.process.done(LONGEST_WAIT).code


@contextmanager
def serve_in_process(store: Path | str, *options: str, **environ: str) -> Iterator[ServingProcess]:
    """A service behind a real socket; killed at last, if it still lives."""
    port = str(free_port())
    command = ("serve", "--store", str(store), "--port", port, *options)
    with (
        TemporaryDirectory() as aside,
        started(Path.cwd(), *command, environ={**os.environ, **environ}, aside=Path(aside)) as process,
    ):
        served = ServingProcess(f"http://127.0.0.1:{port}", process)
        wait_until(lambda: _is_answering(served))
        yield served


def _is_answering(served: ServingProcess) -> bool:
    assert not served.process.over(), f"it did not start: {served.process.said}"
    with suppress(requests.ConnectionError):
        return requests.get(f"{served.address}/readyz", timeout=30).ok
    return False


def wait_until(happened: Callable[[], Any]) -> Any:
    """What comes of it as soon as it is true; the engine plays in another thread."""
    end, pause = time.monotonic() + LONGEST_WAIT, 0.02
    while not (found := happened()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(pause)
        pause = min(1.3 * pause, 0.5)  # A caller may ask ten times a second at most, over a minute.
    return found
