"""A workbench behind a socket over a store that was filled once, and a browser that opens its pages."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from starlette.testclient import TestClient

from evenhand.service.app import build_service
from evenhand.service.settings import ServiceSettings
from evenhand.web.workbench import add_workbench
from tests.report.browser import Window
from tests.report.conftest import browser, window
from tests.service.serving import wait_until
from tests.store.databases import free_port
from tests.web.browsing import Visitor
from tests.web.stored_runs import StoredRuns, fill_store
from tests.web.watched_runs import HeldJudge

__all__ = ["browser", "window"]


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> StoredRuns:
    """A store that tests only read, or add to."""
    return fill_store(tmp_path_factory.mktemp("workbench"))


@pytest.fixture(scope="session")
def workbench(stored: StoredRuns) -> Iterator[str]:
    """The address of a workbench over it, in a thread."""
    port = free_port()
    app = build_service(ServiceSettings(store=stored.place, port=port, requests_per_minute=100_000))
    add_workbench(app)
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning"))
    serving = threading.Thread(target=server.run, daemon=True)
    serving.start()
    wait_until(lambda: server.started)
    yield f"http://127.0.0.1:{port}"
    app.state.closing.set()
    server.should_exit = True
    serving.join(30)


@pytest.fixture
def visitor(window: Window, workbench: str) -> Visitor:
    """Somebody who opens pages."""
    return Visitor(window, workbench)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    """A workbench over a store of its own, called without a browser."""
    settings = ServiceSettings(store=tmp_path / "store")
    app = build_service(settings)
    add_workbench(app)
    with TestClient(app, base_url="http://127.0.0.1:8321", follow_redirects=False) as found:
        yield found


@pytest.fixture
def held() -> Iterator[HeldJudge]:
    """A judge that answers when it is let."""
    judge = HeldJudge()
    with judge.server:
        yield judge
        judge.free.set()
