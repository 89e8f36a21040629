"""The example of each shipped rubric, judged without a key or a network."""

import asyncio
from pathlib import Path

import pytest

from evenhand import JudgedSample, Missing, Sample, Scored, judge, load_rubric
from evenhand.files.methods import list_method_yaml_names, list_rubric_file_names
from tests.conftest import ROOT

EXAMPLES = ROOT / "examples" / "rubrics"
NAMES = sorted(path.name for path in EXAMPLES.iterdir())


def test_every_shipped_rubric_and_method_has_an_example() -> None:
    """A newcomer tries what ships before writing something new."""
    assert set(NAMES) == {*list_rubric_file_names(), *list_method_yaml_names()}


@pytest.mark.parametrize("name", NAMES)
def test_the_embedded_judge_says_something_useful_and_names_what_it_cannot_assess(name: str) -> None:
    """Every criterion, flag and bonus is answered or abstained from with a reason, and nothing is unreadable."""
    judged = _judged(name)

    rubric = judged.scores.rubric
    asked = [*(leaf.id for leaf in rubric.leaves.values() if leaf.judged),
             *(one.id for one in (*rubric.red_flags, *rubric.bonuses))]  # fmt: skip
    reasons = {one.criterion: _reason(one.score) for one in judged.judgments}
    assert sorted(reasons) == sorted(asked)
    assert [why for why in reasons.values() if not why.startswith(("abstained: ", "answered"))] == []
    assert judged.heuristic == ("embedded",)
    assert any(why == "answered" or any(letter.isdigit() for letter in why) for why in reasons.values()), reasons


def _reason(score: Scored | Missing) -> str:
    return "answered" if isinstance(score, Scored) else score.text


def _judged(name: str) -> JudgedSample:
    folder = EXAMPLES / name
    own = folder / "rubric.yaml"
    rubric = load_rubric(own if own.exists() else name)
    sample = Sample(
        outputs={"output": _text(folder / "output.md")},
        input=_text(folder / "question.md"),
        reference=_text(folder / "reference.md"),
        context=_text(folder / "context.md"),
    )
    return asyncio.run(judge(rubric, sample))


def _text(path: Path) -> str:
    return path.read_text("utf-8") if path.exists() else ""
