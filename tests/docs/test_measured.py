"""What a page says was measured is what is measured."""

from pathlib import Path

import pytest
from benchmarks.embedded import table

from tests.docs.measured import PAGES, kept, measurable
from tests.docs.pages import ROOT
from tests.soak import SOAK

FITTED = ROOT / "docs" / "embedded.md"  # Its weights are fitted ten times over for two of the columns.
NOW = [page for page in PAGES if SOAK or page != FITTED]


def test_the_held_out_columns_of_the_embedded_judge_are_those_that_are_measured() -> None:
    """The cross-validated ones are checked in `make soak`."""
    shown = [_split_row(row) for row in dict(kept(FITTED.read_text("utf-8")))["embedded"].splitlines()]
    held_out = [number for number, head in enumerate(shown[0]) if not head.endswith("cross-validated")]

    measured = [_split_row(row) for row in table(crossed=False).splitlines()]

    assert [[row[number] for number in held_out] for row in shown] == measured


def _split_row(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("| ").split(" | ")]


@pytest.mark.parametrize("page", NOW, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_tables_of_a_page_are_those_that_are_measured(page: Path) -> None:
    """scripts/refresh-docs writes them anew after a change of rules, weights or data."""
    if not measurable(page):
        pytest.skip("the folder ../shared is not here: the figures of the guards are not checked")

    tables = PAGES[page]()

    assert dict(kept(page.read_text("utf-8"))) == tables
