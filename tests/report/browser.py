"""A report opened in Chromium, with a record of everything on it that should not have happened."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request, ViewportSize, sync_playwright

from evenhand.report.contest.contest_page import write_contest_report_page
from evenhand.report.html.page_file import write_html
from tests.report.results import Data

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",  # Nobody else is reached.
]  # fmt: skip

SCREEN: ViewportSize = {"width": 1280, "height": 800}
WATCH = """window.violations = [];
document.addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective));"""

# Chromium says so where somebody is quicker than it: a key or a click puts the focus elsewhere before the page does.
HARMLESS = "Autofocus processing was blocked"
FORGET = "() => { try { localStorage.clear(); sessionStorage.clear(); } catch { /* No origin, no store. */ } }"


@dataclass
class Opened:
    """A page, and what went wrong on it: dialogs, errors, messages, requests."""

    page: Page
    troubles: list[str] = field(default_factory=list)
    watchers: list[tuple[Any, str, Callable[[Any], None]]] = field(default_factory=list)

    def violations(self) -> list[str]:
        """What the page's policy has stopped."""
        stopped: list[str] = self.page.evaluate("window.violations")
        return stopped

    def sample(self, name: str) -> None:
        """Open a sample from the table of samples."""
        self.page.locator("#table").get_by_role("link", name=name, exact=True).click()
        self.page.locator("dialog[open] #detail-body > *").first.wait_for(state="attached")


@dataclass
class Window:
    """A browser with one page that all who open something get in turn, as good as new: a new one takes four times as
    long. Whoever opens a second beside it, or wants another kind, gets a new one.
    """

    browser: Browser
    kept: Page | None = None
    shown: Opened | None = None
    beside: list[Page] = field(default_factory=list)

    def open(
        self,
        url: str,
        is_own: Callable[[str], bool],
        viewport: ViewportSize = SCREEN,
        color_scheme: Literal["light", "dark"] = "light",
        **context: Any,
    ) -> Opened:
        """Open an address; a request for another that is not its own is a trouble."""
        seen = Opened(self._take_page() if self.shown is None and not context else self._new_page(**context))
        if seen.page is self.kept:
            self.shown = seen
        else:
            self.beside.append(seen.page)
        seen.page.set_viewport_size(viewport)
        seen.page.emulate_media(media="null", color_scheme=color_scheme)
        watch_page(seen, is_own)
        seen.page.goto(url)
        return seen

    def leave(self) -> None:
        """Close what was opened, and leave nothing on the kept page: nothing stored, nobody who watches it."""
        while self.beside:
            self.beside.pop().context.close()
        if self.shown is not None:
            _clean_page(self.shown)
            self.shown = None

    def _take_page(self) -> Page:
        self.kept = self.kept or self._new_page()
        return self.kept

    def _new_page(self, **context: Any) -> Page:
        page = self.browser.new_context(**context).new_page()
        page.set_default_timeout(10_000)
        page.add_init_script(WATCH)
        return page


def _clean_page(seen: Opened) -> None:
    page = seen.page
    for watched, event, watcher in seen.watchers:
        watched.remove_listener(event, watcher)
    page.unroute_all()
    page.context.unroute_all()
    page.evaluate(FORGET)
    page.context.clear_cookies()
    page.mouse.move(0, 0)
    page.goto("about:blank")


@dataclass(frozen=True)
class Chromium:
    """A browser that stays open for all tests of a process, its window, and the loop that speaks with it.

    While it is open that loop counts as running, also in tests that run one of their own: it is left between uses.
    """

    browser: Browser
    window: Window
    loop: asyncio.AbstractEventLoop

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Let the loop count as running."""
        asyncio._set_running_loop(self.loop)
        try:
            yield
        finally:
            asyncio._set_running_loop(None)


@contextmanager
def open_chromium() -> Iterator[Chromium]:
    """Chromium, until the block ends."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        yield Chromium(browser, Window(browser), loop)
        asyncio._set_running_loop(loop)
        browser.close()


@dataclass
class Reader:
    """Somebody with a browser and a folder for the report."""

    window: Window
    folder: Path

    def open(self, head: Data, samples: Iterable[Data], place: str = "", **how: Any) -> Opened:
        """Write the report and open it; a request for anything but the file is a trouble."""
        file = self.folder / "report.html"
        with file.open("w", encoding="utf-8") as stream:
            write_html(head, samples, stream)
        return self._open(file, place, **how)

    def open_contest(self, record: Data, place: str = "", **how: Any) -> Opened:
        """The same with the report of a contest."""
        file = self.folder / "contest.html"
        with file.open("w", encoding="utf-8") as stream:
            write_contest_report_page(record, stream)
        return self._open(file, place, **how)

    def _open(self, file: Path, place: str, **how: Any) -> Opened:
        return self.window.open(file.as_uri() + place, lambda url: url.split("#")[0] == file.as_uri(), **how)


def watch_page(seen: Opened, is_own: Callable[[str], bool]) -> None:
    """Note what should not happen on a page, and requests for an address that is not its own.

    They are watched, not stopped, which would have each pass through Python: a name that is not this machine's has no
    address in this browser.
    """

    def dialog(one: Dialog) -> None:
        seen.troubles.append(f"dialog {one.message}")
        one.dismiss()

    def note_request(asked: Request) -> None:
        if not is_own(asked.url):
            seen.troubles.append(f"request {asked.url}")

    def note_message(message: ConsoleMessage) -> None:
        if not message.text.startswith(HARMLESS):
            seen.troubles.append(f"console {message.text}")

    seen.watchers = [
        (seen.page, "dialog", dialog),
        (seen.page, "console", note_message),
        (seen.page, "pageerror", lambda error: seen.troubles.append(f"error {error}")),
        (seen.page.context, "request", note_request),  # Those of a page that this one opens, too.
    ]
    for watched, event, watcher in seen.watchers:
        watched.on(event, watcher)
