"""The service as tests call it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.report.conftest import browser
from tests.service.serving import Served, serve
from tests.store.databases import database, postgresql_server

__all__ = ["browser", "database", "postgresql_server"]


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A service without tokens, on loopback."""
    with serve(tmp_path, monkeypatch) as found:
        yield found
