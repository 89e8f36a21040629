"""A report opened in Chromium, with a record of everything on it that should not have happened."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Dialog, Page, Route

from evenhand.report.contest.contest_page import write_contest_report_page
from evenhand.report.html.page_file import write_html
from tests.report.results import Data

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip

WATCH = """window.violations = [];
document.addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective));"""


@dataclass
class Opened:
    """A page, and what went wrong on it: dialogs, errors, messages, requests."""

    page: Page
    troubles: list[str] = field(default_factory=list)

    def violations(self) -> list[str]:
        """What the page's policy has stopped."""
        stopped: list[str] = self.page.evaluate("window.violations")
        return stopped

    def sample(self, name: str) -> None:
        """Open a sample from the table of samples."""
        self.page.locator("#table").get_by_role("link", name=name, exact=True).click()
        self.page.locator("dialog[open] #detail-body > *").first.wait_for(state="attached")


@dataclass
class Reader:
    """Somebody with a browser and a folder for the report."""

    browser: Browser
    folder: Path

    def open(self, head: Data, samples: Iterable[Data], place: str = "", **context: Any) -> Opened:
        """Write the report and open it in a context of its own; a request for anything but the file is a trouble."""
        file = self.folder / "report.html"
        with file.open("w", encoding="utf-8") as stream:
            write_html(head, samples, stream)
        return self._opened(file, place, **context)

    def open_contest(self, record: Data, place: str = "", **context: Any) -> Opened:
        """The same with the report of a contest."""
        file = self.folder / "contest.html"
        with file.open("w", encoding="utf-8") as stream:
            write_contest_report_page(record, stream)
        return self._opened(file, place, **context)

    def _opened(self, file: Path, place: str, **context: Any) -> Opened:
        page = self.browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **context}).new_page()
        page.set_default_timeout(10_000)
        page.add_init_script(WATCH)
        seen = Opened(page)
        watch_page(seen, lambda url: url.split("#")[0] == file.as_uri())
        page.goto(file.as_uri() + place)
        return seen


def watch_page(seen: Opened, is_own: Callable[[str], bool]) -> None:
    """Note what should not happen on a page; a request for an address that is not its own is stopped."""

    def dialog(one: Dialog) -> None:
        seen.troubles.append(f"dialog {one.message}")
        one.dismiss()

    def request(route: Route) -> None:
        if is_own(route.request.url):
            return route.continue_()
        seen.troubles.append(f"request {route.request.url}")
        return route.abort()

    seen.page.on("dialog", dialog)
    seen.page.on("console", lambda message: seen.troubles.append(f"console {message.text}"))
    seen.page.on("pageerror", lambda error: seen.troubles.append(f"error {error}"))
    seen.page.context.route("**/*", request)
