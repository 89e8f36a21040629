"""Tables and blocks that pages keep and tests make, each below a comment that names it."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.cascade import cascade_tables
from benchmarks.embedded import table as embedded_table
from benchmarks.guards import SHARED, by_guard
from benchmarks.guards import table as guard_table
from benchmarks.label_coverage import coverage_tables

from tests.docs.contest_blocks import contest_blocks
from tests.docs.pages import ROOT

_KEPT = re.compile(
    r"<!-- (?P<name>[\w-]+) -->\n\n?(?P<table>```\w+\n.*?^```\n|(?:\|[^\n]*\n)*)", re.MULTILINE | re.DOTALL
)


def guard_tables() -> dict[str, str]:
    """What the guards measure now, by name; they need the shared data."""
    return {name: guard_table(rows) for name, rows in by_guard().items()}


def judge_tables() -> dict[str, str]:
    """What the embedded judge measures now."""
    return {"embedded": embedded_table()}


PAGES: dict[Path, Callable[[], dict[str, str]]] = {
    ROOT / "docs" / "guards.md": guard_tables,
    ROOT / "docs" / "embedded.md": judge_tables,
    ROOT / "docs" / "contests.md": contest_blocks,
}
# Measured anew when they are named, and by `make soak`: they take minutes.
SLOW_PAGES: dict[Path, Callable[[], dict[str, str]]] = {
    ROOT / "docs" / "calibration.md": coverage_tables,
    ROOT / "docs" / "cascade.md": cascade_tables,
}


def kept(page: str) -> Iterator[tuple[str, str]]:
    """The names of the tables of a page, and the tables as they stand."""
    yield from ((match["name"], match["table"]) for match in _KEPT.finditer(page))


def renewed(page: str, tables: dict[str, str]) -> str:
    """The page with its tables as measured now."""
    return _KEPT.sub(lambda match: f"<!-- {match['name']} -->\n\n{tables[match['name']]}", page)


def measurable(page: Path) -> bool:
    """Whether the data that a page's tables rest on is here."""
    return PAGES[page] is not guard_tables or SHARED.is_dir()
