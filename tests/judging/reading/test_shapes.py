"""Answers in one JSON value: with their reasons, evidence and all else that came with them."""

from fractions import Fraction

import pytest

from evenhand.files.methods import load_shipped_method_file
from evenhand.judging.reading.json_answers import read_json_reply_answers
from evenhand.judging.reading.reply_reader import read_reply_answers
from evenhand.judging.reading.score_labels import ReadAnswer, WantedReplyAnswer
from evenhand.model.scale import Missing, Scored
from tests.judging.reading.asked import ACCURACY, ASKED, CLARITY, STYLE

EIGHT = Scored(Fraction(8))


def test_an_answer_comes_with_all_that_belongs_to_it() -> None:
    """Nothing a judge wrote about a criterion is lost."""
    data = {"accuracy": {"reason": "one slip", "score": 8, "evidence": ["a", "b"], "revision_hint": "check the date"}}

    assert read_json_reply_answers(data, ASKED) == {
        "accuracy": ReadAnswer(EIGHT, "one slip", ("a", "b"), {"revision_hint": "check the date"})
    }


@pytest.mark.parametrize("key", ["reason", "reasoning", "explanation", "justification", "rationale", "why", "feedback"])
def test_a_reason_goes_by_many_names(key: str) -> None:
    """Models do not keep to one word."""
    assert read_json_reply_answers({"accuracy": {key: "so", "score": 8}}, ASKED)["accuracy"].reason == "so"


@pytest.mark.parametrize(
    "data",
    [
        {"accuracy": 8, "accuracy_reason": "so"},
        {"accuracy": 8, "Accuracy Explanation": "so"},
    ],
)
def test_a_reason_may_stand_beside_the_score(data: dict[str, object]) -> None:
    """A flat object has only its keys to say what belongs together."""
    assert read_json_reply_answers(data, ASKED)["accuracy"].reason == "so"


def test_the_only_reason_belongs_to_the_only_criterion() -> None:
    """But where several were asked it is nobody's in particular."""
    data = {"accuracy": 8, "reasoning": "so", "quotes": "here"}

    assert read_json_reply_answers(data, [ACCURACY])["accuracy"] == ReadAnswer(EIGHT, "so", ("here",))
    assert read_json_reply_answers(data, ASKED)["accuracy"].reason == ""


@pytest.mark.parametrize(
    "word", ["cannot assess", "cannot_assess", "N/A", "not applicable", "unable to assess", "无法评估"]
)
def test_a_judge_may_abstain(word: str) -> None:
    """That it cannot is an answer, with its reason."""
    with_reason = read_json_reply_answers({"accuracy": {"score": word, "reason": "no source"}}, ASKED)["accuracy"]
    without = read_json_reply_answers({"accuracy": word}, ASKED)["accuracy"]

    assert with_reason.score == Missing("abstained", "no source")
    assert without.score == Missing("abstained", "cannot assess")


@pytest.mark.parametrize("more", [{}, {"score": 0}, {"score": "cannot assess"}, {"feedback": "none", "score": None}])
def test_a_band_may_be_an_abstention_too(more: dict[str, object]) -> None:
    """The schema offers it, and so it is no unreadable band."""
    scale = load_shipped_method_file("oracle").criterion_scale
    said = {"reason": "no source", "band": "cannot assess", **more}

    (answer,) = read_json_reply_answers({"depth": said}, [WantedReplyAnswer("depth", scale)]).values()

    assert answer.score == Missing("abstained", "no source")


def test_null_with_a_reason_is_an_abstention() -> None:
    """Null alone says nothing."""
    assert read_json_reply_answers({"accuracy": {"score": None, "reason": "no source"}}, ASKED)[
        "accuracy"
    ].score == Missing("abstained", "no source")
    assert read_json_reply_answers({"accuracy": None}, ASKED)["accuracy"].score == Missing("failed", "not answered")


def test_given_twice_is_said_so() -> None:
    """The caller shows this sentence to people."""
    found = read_reply_answers('{"accuracy": 8, "accuracy": 3}', ASKED)

    assert found.answers["accuracy"].score == Missing("unreadable", "given twice with different answers")


def test_a_lone_score_answers_a_lone_question_only() -> None:
    """Of several it would be anybody's guess whose it is."""
    assert read_json_reply_answers({"score": 8}, [ACCURACY])["accuracy"].score == EIGHT
    assert read_json_reply_answers({"score": 8}, [ACCURACY, CLARITY]) == {}


def test_a_reason_that_speaks_of_another_criterion_is_no_answer() -> None:
    """Only keys name; texts do not."""
    data = {"accuracy": {"score": 8, "reason": {"clarity": 3}}, "examples": [{"clarity": 2}]}

    assert list(read_json_reply_answers(data, ASKED)) == ["accuracy"]


@pytest.mark.parametrize("data", [None, 4, "4", True, [], {}, [[]], [1, 2], {"x": {"y": {}}}, {"accuracy": {}}])
def test_other_data_answers_nothing(data: object) -> None:
    """Whatever the value is, it is looked at without fear."""
    assert read_json_reply_answers(data, ASKED) == {}


def test_the_value_that_bound_is_handed_back() -> None:
    """So that the caller can find what else was in it; prose has none."""
    assert read_reply_answers('x {"accuracy": 8, "note": "n"}', ASKED).data == {"accuracy": 8, "note": "n"}
    assert read_reply_answers("Accuracy: 8", ASKED).data is None


def test_a_reason_on_the_line_is_kept() -> None:
    """- accuracy: 7 — because …"""
    found = read_reply_answers("- accuracy: 7 — because it errs\n- clarity: 6 (long)", ASKED).answers

    assert found["accuracy"].reason == "because it errs"
    assert found["clarity"].reason == "long"


def test_ids_are_the_callers_own() -> None:
    """However the reply spells them, and in the order they were asked."""
    assert list(read_json_reply_answers({"Writing Style": 1, "ACCURACY": 2}, ASKED)) == [ACCURACY.id, STYLE.id]
