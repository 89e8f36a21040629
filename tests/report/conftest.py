"""A browser for the tests that open a report in one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.report.browser import ARGUMENTS, CHROMIUM, Reader, Window


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, started once for a module."""
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is not here: the report is not opened in a browser")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def kept_window(browser: Browser) -> Window:
    """The page of a module."""
    return Window(browser)


@pytest.fixture
def window(kept_window: Window) -> Iterator[Window]:
    """The same, as good as new."""
    yield kept_window
    kept_window.leave()


@pytest.fixture
def reader(window: Window, tmp_path: Path) -> Reader:
    """Somebody who opens reports."""
    return Reader(window, tmp_path)
