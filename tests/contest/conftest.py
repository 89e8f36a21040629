"""A store of its own for each test."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store of its own."""
    with Store.open(tmp_path, os.environ) as opened:
        yield opened
