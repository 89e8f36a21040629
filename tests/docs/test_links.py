"""Pages are found from the first one, and links lead somewhere."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT

DOCS = ROOT / "docs"
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")


def test_every_page_is_two_clicks_from_the_first() -> None:
    """A page that nobody finds is a page that nobody reads."""
    first = {DOCS / "README.md"}

    reached = _linked_from(_linked_from(first))

    assert sorted(str(page.relative_to(DOCS)) for page in set(DOCS.rglob("*.md")) - reached) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_page_and_a_heading(page: Path) -> None:
    """Pages move and headings are renamed: a link that is not checked is broken within a year."""
    broken = [
        f"{target}#{anchor}"
        for target, anchor in _links(page)
        if not target.exists() or (anchor and anchor not in _anchors(target))
    ]

    assert broken == []


def _linked_from(pages: set[Path]) -> set[Path]:
    return pages | {target for page in pages for target, _ in _links(page) if target.is_relative_to(DOCS)}


def _links(page: Path) -> list[tuple[Path, str]]:
    found = _LINK.findall(_FENCE.sub("", page.read_text("utf-8")))
    return [((page.parent / target).resolve() if target else page, anchor) for target, anchor in found]


def _anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub writes them in addresses."""
    headings = re.findall(r"^#+ (.*)$", _FENCE.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
