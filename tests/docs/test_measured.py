"""What a page says was measured is what is measured."""

from pathlib import Path

import pytest

from tests.docs.measured import PAGES, kept, measurable
from tests.docs.pages import ROOT


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_tables_of_a_page_are_those_that_are_measured(page: Path) -> None:
    """scripts/refresh-docs writes them anew after a change of rules, weights or data."""
    if not measurable(page):
        pytest.skip("the folder ../shared is not here: the figures of the guards are not checked")

    tables = PAGES[page]()

    assert dict(kept(page.read_text("utf-8"))) == tables
