"""A rubric has as many criteria as anybody would ask about, and no more: each is asked, scored and told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import RubricError
from evenhand.files import rubrics
from evenhand.files.rubrics import load_rubric
from evenhand.model.method import Method
from evenhand.model.rubric import MOST_CRITERIA, Rubric
from evenhand.model.scale import YES_NO, Criterion

LEAF = {"criteria": ["Is it short?"]}
WAY_OUT = "keep those that matter, or split it into several rubrics"
LONG: dict[str, dict[str, Any]] = {
    "criteria": {"criteria": ["Is it short?"] * (MOST_CRITERIA + 1)},
    "red flags": {**LEAF, "red_flags": ["It shouts."] * (MOST_CRITERIA + 1)},
    "bonuses": {**LEAF, "bonuses": ["It rhymes."] * (MOST_CRITERIA + 1)},
    "gates": {**LEAF, "gates": [{"criterion": "rubric-1", "min": 1}] * (MOST_CRITERIA + 1)},
}


def test_a_rubric_may_have_a_thousand_criteria() -> None:
    """More than any that ships."""
    assert len(load_rubric({"criteria": ["Is it short?"] * MOST_CRITERIA}).leaves) == MOST_CRITERIA


@pytest.mark.parametrize("name", LONG)
def test_a_longer_list_is_refused_before_it_is_read(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading 20,000 entries only to refuse them would hold a service up."""

    def fail(*_: object) -> None:
        raise AssertionError("it was read")

    monkeypatch.setattr(rubrics, "_read_rubric_file_fields", fail)
    with pytest.raises(RubricError) as refused:
        load_rubric(LONG[name])

    where, what = name.replace(" ", "_"), f"1,001 {name}, and 1,000 are the most for a rubric"
    assert str(refused.value) == f"{where}: {what} ({WAY_OUT})"


def test_the_line_is_told(tmp_path: Path) -> None:
    """As of every fault."""
    (tmp_path / "long.yaml").write_text("name: long\ncriteria:\n" + "  - Is it short?\n" * 1_001)

    with pytest.raises(RubricError, match=r"long.yaml:2: 1,001 criteria, and 1,000 are the most for a rubric"):
        load_rubric(tmp_path / "long.yaml")


def test_children_and_what_is_inherited_count_too(tmp_path: Path) -> None:
    """A tree, or a rubric that adds to another, is as long as all of it."""
    children = [{"id": f"c{at}", "asks": "Is it short?"} for at in range(600)]
    more = [{"id": f"d{at}", "asks": "Is it short?"} for at in range(600)]
    (tmp_path / "long.yaml").write_text("criteria:\n" + "  - Is it short?\n" * 600)
    tree = {"criteria": [{"id": "a", "children": children}, {"id": "b", "children": more}]}
    (tmp_path / "more.yaml").write_text("extends: long.yaml\ncriteria:\n" + "  - Is it long?\n" * 600)

    for given, count in ((tree, "1,202"), (tmp_path / "more.yaml", "1,200")):
        with pytest.raises(RubricError, match=f"{count} criteria, and 1,000 are the most"):
            load_rubric(given)


def test_a_rubric_that_a_program_makes_is_bounded_too() -> None:
    """The rule is the rubric's own."""
    method: Method = load_rubric(LEAF).method
    criteria = tuple(Criterion(id=f"c{at}", asks="Is it short?", scale=YES_NO) for at in range(1_001))

    with pytest.raises(RubricError, match="1,001 criteria"):
        Rubric(name="long", method=method, criteria=criteria)
