"""The page that tests share: whoever gets it next finds nothing of whoever had it before."""

import socket
from pathlib import Path

import pytest

from tests.report.browser import Window
from tests.web.browsing import Visitor

LEAVE = "() => { localStorage.left = 1; sessionStorage.left = 1; window.left = 1; document.cookie = 'left=1'; }"
FOUND = "[localStorage.length, sessionStorage.length, document.cookie, 'left' in window]"
DARK_OR_PAPER = "matchMedia('print').matches || matchMedia('(prefers-color-scheme: dark)').matches"


def test_what_is_left_on_the_page_is_gone_for_the_next(visitor: Visitor) -> None:
    """Else a test would pass or fail by what ran before it."""
    first = visitor.open("/rubrics", viewport={"width": 390, "height": 844}, color_scheme="dark")
    first.page.emulate_media(media="print")
    first.page.evaluate(LEAVE)
    first.page.evaluate("console.log('left')")
    visitor.leave()

    second = visitor.open("/rubrics")

    assert second.page is first.page
    assert second.page.evaluate(FOUND) == [0, 0, "", False]
    assert second.page.evaluate(DARK_OR_PAPER) is False
    assert second.page.evaluate("innerWidth") == 1280
    second.page.evaluate("console.log('seen')")
    assert (first.troubles, second.troubles) == (["console left"], ["console seen"])


def test_two_that_are_open_at_once_are_two_pages(visitor: Visitor) -> None:
    """Neither is taken from under whoever still looks at it."""
    first, second = visitor.open("/rubrics"), visitor.open("/contests")

    assert first.page.url.endswith("/rubrics")
    assert second.page.url.endswith("/contests")


def test_whoever_else_is_asked_is_noted_and_not_reached(window: Window, tmp_path: Path) -> None:
    """Also by a page that this one opens, and also where somebody would answer."""
    with socket.create_server(("127.0.0.2", 0)) as other:
        other.setblocking(False)
        picture = f"http://127.0.0.2:{other.getsockname()[1]}/one.png"
        file = tmp_path / "page.html"
        file.write_text(f"<img src='{picture}'><img src='https://example.org/two.png'>", "utf-8")
        seen = window.open(file.as_uri(), lambda url: url == file.as_uri())
        with seen.page.expect_popup() as opened:
            seen.page.evaluate("() => { window.open('http://example.com/'); }")
        opened.value.wait_for_load_state()
        opened.value.close()

        with pytest.raises(BlockingIOError):
            other.accept()
    asked = {trouble for trouble in seen.troubles if trouble.startswith("request ")}
    assert asked == {f"request {url}" for url in (picture, "https://example.org/two.png", "http://example.com/")}
