"""Pages of the workbench opened in Chromium, with a record of everything on them that should not have happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser

from tests.report.browser import WATCH, Opened, watch_page


@dataclass
class Visitor:
    """Somebody with a browser and the address of a workbench."""

    browser: Browser
    address: str

    def open(self, path: str, **context: Any) -> Opened:
        """Open a page in a context of its own; a request for anything elsewhere is a trouble."""
        page = self.browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **context}).new_page()
        page.set_default_timeout(10_000)
        page.add_init_script(WATCH)
        seen = Opened(page)
        watch_page(seen, lambda url: url.startswith(f"{self.address}/"))
        page.goto(self.address + path)
        return seen
