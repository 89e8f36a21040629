"""A browser for the tests that open a report in one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.report.browser import ARGUMENTS, CHROMIUM, Reader


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, started once for a module."""
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is not here: the report is not opened in a browser")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def reader(browser: Browser, tmp_path: Path) -> Iterator[Reader]:
    """Somebody who opens reports, each in a context of its own."""
    yield Reader(browser, tmp_path)
    for context in browser.contexts:
        context.close()
