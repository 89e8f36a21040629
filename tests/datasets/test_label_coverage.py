"""Intervals from few labels on recorded judges and people: the tables of the manual are what is measured."""

import re
from pathlib import Path

import pytest
from benchmarks.label_coverage import PROMISED, WAYS, WIDEST, coverage_tables, measure_coverage
from benchmarks.labelled_data import DATA

from tests.conftest import ROOT
from tests.docs.measured import kept
from tests.soak import SOAK

PAGE = ROOT / "docs" / "calibration.md"
TABLES = {way: f"coverage-{way.replace(' ', '-')}" for way in WAYS}
# Cells that are quick to measure again, of both ways of drawing; `make soak` measures all.
AGAIN = [
    ("PandaLM", 20, "difference", WAYS[0]),
    ("council", 20, "mean", WAYS[1]),
    ("LLM-Rubric", 20, "wrongly passed", WAYS[1]),
]


@pytest.mark.parametrize(("name", "count", "figure", "way"), AGAIN)
def test_a_cell_of_the_manual_is_what_is_measured(shared: Path, name: str, count: int, figure: str, way: str) -> None:
    """scripts/refresh-docs docs/calibration.md writes all of them anew."""
    heads, _, *rows = dict(kept(PAGE.read_text("utf-8")))[TABLES[way]].splitlines()
    row = next(one for one in rows if one.startswith(f"| {name} | {count} |"))

    cell = row.split(" | ")[heads.split(" | ").index(figure)]

    assert str(measure_coverage(DATA[name](), figure, count, way)) == cell.removesuffix(" |")


if SOAK:  # Two minutes.

    def test_the_tables_of_the_manual_are_what_is_measured(shared: Path) -> None:
        """Every row, and how far judges narrow the interval."""
        assert dict(kept(PAGE.read_text("utf-8"))) == coverage_tables()


def test_every_figure_keeps_the_promise() -> None:
    """All data sets, 20 to 80 labels, both ways: 93% are covered, and no interval is 3% wider than labels alone."""
    tables = dict(kept(PAGE.read_text("utf-8")))
    for table in TABLES.values():
        covered = [float(one) for one in re.findall(r"([0-9.]+)%", tables[table])]
        widths = [float(one) for one in re.findall(r"([0-9.]+) ×", tables[table])]

        assert len(re.findall(r"^\| [A-Za-z-]+ \| [248]0 ", tables[table], re.MULTILINE)) == 3 * len(DATA)
        assert min(covered) >= 100 * PROMISED
        assert max(widths) <= WIDEST


def test_a_judge_that_goes_with_people_narrows_the_interval() -> None:
    """The more the better: by correlation, each band is narrower than the one before."""
    ratios = [float(one) for one in re.findall(r"([0-9.]+) ×", dict(kept(PAGE.read_text("utf-8")))["narrowing"])]

    assert ratios == sorted(ratios, reverse=True)
    assert ratios[0] <= WIDEST and ratios[-1] < 0.9
