"""The page that tests share: whoever gets it next finds nothing of whoever had it before."""

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
