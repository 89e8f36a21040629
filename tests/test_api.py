"""From Python: files, plain data and values are the same to score."""

import json
from pathlib import Path

import pytest

from evenhand import Answers, AnswersError, Review, Scored, load_rubric, score
from tests.builders import COUNCIL


def test_answers_come_as_a_file_as_data_or_as_values(tmp_path: Path) -> None:
    """One function for all of them."""
    data = {"outputs": [{"id": "a", "scores": COUNCIL}]}
    (tmp_path / "a.json").write_text(json.dumps(data))
    rubric = load_rubric("council")
    values = [Answers(id="a", scores=rubric.read(COUNCIL)[0])]

    results = [
        score("council", given)
        for given in (data, data["outputs"], values, tmp_path / "a.json", str(tmp_path / "a.json"))
    ]

    assert [str(result["a"].score) for result in results] == ["8.00"] * 5


def test_reviews_come_as_values_too() -> None:
    """For code that has asked judges itself."""
    rubric = load_rubric("council")
    nine = Answers(id="a", scores={id: Scored(value=leaf.scale.max) for id, leaf in rubric.leaves.items()})

    assert str(score(rubric, [Review(judge="x", outputs=(nine,))])["a"].score) == "10.00"


def test_an_output_that_was_not_scored_is_a_key_error() -> None:
    """As with any mapping."""
    with pytest.raises(KeyError, match="no output 'b' was scored"):
        score("council", [{"id": "a", "scores": COUNCIL}])["b"]


def test_wrong_data_names_its_place_without_a_file() -> None:
    """By the way through the data."""
    with pytest.raises(AnswersError, match=r"outputs\[0\].scroes: unknown field 'scroes' \(did you mean 'scores'\?\)"):
        score("council", {"outputs": [{"id": "a", "scroes": {}}]})


def test_a_step_prints_in_a_line() -> None:
    """Not the whole rubric."""
    card = score("council", [{"id": "a", "scores": COUNCIL}])["a"]

    assert len(repr(card.steps[0])) < 120
