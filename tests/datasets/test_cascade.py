"""Cascades on recorded pairs of judges: the tables of the manual are what is measured, and keep the promise."""

import re
from pathlib import Path

import pytest
from benchmarks.cascade import AT_MOST, CORRELATED, PROMISED, cascade_tables, measure_cascade, read_judge_pairs

from tests.conftest import ROOT
from tests.docs.measured import kept
from tests.soak import SOAK

PAGE = ROOT / "docs" / "cascade.md"
ROW = re.compile(r"([0-9.]+) \| ([0-9.]+)% \| [0-9.]+ \| \d+ \| \d+ \| ([0-9.]+) × \|$", re.MULTILINE)


@pytest.mark.parametrize("name", ["PaLM2 → GPT-4"])
def test_a_row_of_the_manual_is_what_is_measured(shared: Path, name: str) -> None:
    """scripts/refresh-docs docs/cascade.md writes all of them anew."""
    pair = next(one for one in read_judge_pairs() if one.name == name)

    assert measure_cascade(pair).to_row() in kept_tables()["cascade-drawn"]


if SOAK:  # Minutes.

    def test_the_tables_of_the_manual_are_what_is_measured(shared: Path) -> None:
        """Every row."""
        assert kept_tables() == cascade_tables()


def test_every_interval_covers_as_promised_and_good_pairs_ask_half_as_often() -> None:
    """All pairs of judges, with a threshold and without: 93%; and from a correlation of 0.75 on, half of the calls."""
    drawn, near = (ROW.findall(kept_tables()[name]) for name in ("cascade-drawn", "cascade-near"))

    assert (len(drawn), len(near)) == (27, 10)
    assert min(float(covered) for _, covered, _ in [*drawn, *near]) >= 100 * PROMISED
    assert max(float(ratio) for together, _, ratio in drawn if float(together) >= CORRELATED) <= AT_MOST


def kept_tables() -> dict[str, str]:
    """The tables as the manual has them."""
    return dict(kept(PAGE.read_text("utf-8")))
