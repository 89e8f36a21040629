"""From Python: files, plain data and values are the same to score."""

import json
from pathlib import Path

import numpy as np
import pytest

from evenhand import (
    Answers,
    AnswersError,
    InputError,
    Review,
    RubricError,
    Scored,
    judge_sync,
    load_rubric,
    prefer_sync,
    score,
)
from evenhand.testing import scripted_judge
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


def test_scores_are_gone_through_card_by_card() -> None:
    """In the order of the answers."""
    scores = score("council", [{"id": id, "scores": COUNCIL} for id in ("b", "a")])

    assert [card.id for card in scores] == ["b", "a"]


def test_wrong_data_names_its_place_without_a_file() -> None:
    """By the way through the data."""
    with pytest.raises(AnswersError, match=r"outputs\[0\].scroes: unknown field 'scroes' \(did you mean 'scores'\?\)"):
        score("council", {"outputs": [{"id": "a", "scroes": {}}]})


def test_numpy_numbers_are_numbers() -> None:
    """They come out of data frames."""
    scores = {**COUNCIL, "accuracy": np.float64(6.55), "clarity": np.int64(8)}

    assert str(score("council", [{"id": "a", "scores": scores}])["a"].score) == "7.00"


def test_keys_that_are_no_text_are_noted() -> None:
    """Not a crash."""
    scores: dict[object, object] = {id: value for id, value in COUNCIL.items()}  # noqa: C416
    scores[1] = 5
    card = score("council", [{"id": "a", "scores": scores}])["a"]

    assert card.notes == ("'1' is not a criterion of this rubric: ignored",)


def test_values_and_plain_data_do_not_mix() -> None:
    """What is neither would be dropped without a word."""
    with pytest.raises(InputError, match="either values or plain data"):
        score("council", [Answers(id="a"), {"id": "b", "scores": COUNCIL}])


@pytest.mark.parametrize("source", [None, 3, [1]])
def test_what_is_no_rubric_is_said(source: object) -> None:
    """By name of its type."""
    with pytest.raises(RubricError, match="a rubric is a name, a file or a mapping"):
        load_rubric(source)  # type: ignore[arg-type]


def test_a_step_prints_in_a_line() -> None:
    """Not the whole rubric."""
    card = score("council", [{"id": "a", "scores": COUNCIL}])["a"]

    assert len(repr(card.steps[0])) < 120


def test_scores_print_in_a_line() -> None:
    """A console shows the scores, not the rubric they came from."""
    answers = [{"id": f"v{at}", "scores": COUNCIL} for at in range(7)]

    told = repr(score("council", [*answers[:1], {"id": "none", "scores": {}}]))

    assert told == "<Scores v0: 8.00, none: incomplete>"
    assert repr(score("council", answers)).endswith("v4: 8.00, and 2 more>")


def test_judged_samples_print_in_a_line() -> None:
    """Without prompts and raw replies."""
    rubric, sample = {"criteria": ["Is kind"]}, {"outputs": {"a": "Hi", "b": "Go"}}
    reply = '{"preference": "A", "reason": "It is kinder."}'

    judged = judge_sync(rubric, sample, judges=[scripted_judge({"rubric-1": 1})])
    preferred = prefer_sync(rubric, sample, judges=[scripted_judge(reply, reply)])

    assert repr(judged) == "<JudgedSample a: 1.0, b: 1.0; judged by scripted>"
    assert repr(preferred).startswith("<Preferences a: ")
