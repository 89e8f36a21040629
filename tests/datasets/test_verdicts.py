"""What the page says about wrong verdicts is what comes out of the data."""

import re
from pathlib import Path

import pytest

from tests.datasets.verdicts import CRITERIA, JUDGES, experts, judge, said, table
from tests.soak import SOAK

PAGE = Path(__file__).parent.parent.parent / "docs" / "how-often-wrong.md"
CASES = [(name, criterion) for name in JUDGES for criterion in CRITERIA]


@pytest.mark.parametrize(("name", "criterion"), CASES if SOAK else [("letters", "coherence")])
def test_verdicts_stand_beside_the_experts_as_the_page_says(shared: Path, name: str, criterion: str) -> None:
    """66 pairs of systems; the criterion with the wrong ones here, all in `make soak`."""
    found = table(said(judge(shared, name), criterion), said(experts(shared), criterion))

    counts = [found[kind] for kind in ("right", "wrong", "experts undecided", "not decided")]
    assert f"| {name} | {criterion} | {' | '.join(map(str, counts))} |" in PAGE.read_text("utf-8")


def test_the_sums_on_the_page_are_those_of_its_table() -> None:
    """Eight rows of 66 pairs."""
    text = PAGE.read_text("utf-8")
    rows = [[int(cell) for cell in row] for row in re.findall(r"\| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", text)]

    right, wrong, open_, _ = (sum(column) for column in zip(*rows, strict=True))
    decided = right + wrong + open_

    assert [sum(row) for row in rows] == [66] * 8
    assert f"Of {decided} decided verdicts {right} agreed" in text
    assert f"{wrong} contradicted them ({wrong / decided:.1%}), and in {open_} the experts" in text
    assert f"When both decided, {wrong / (right + wrong):.1%} were wrong" in text.replace("\n", " ")
