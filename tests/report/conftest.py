"""A browser for the tests that open a report in one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.report.browser import Chromium, Reader, Window


@pytest.fixture(scope="module")
def browser(chromium: Chromium) -> Iterator[Browser]:
    """Chromium for the tests of a module."""
    with chromium.entered():
        yield chromium.browser


@pytest.fixture
def window(browser: Browser, chromium: Chromium) -> Iterator[Window]:
    """The page that all tests of this process share, as good as new."""
    yield chromium.window
    chromium.window.leave()


@pytest.fixture
def reader(window: Window, tmp_path: Path) -> Reader:
    """Somebody who opens reports."""
    return Reader(window, tmp_path)
