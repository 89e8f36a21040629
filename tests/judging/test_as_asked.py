"""Replies in the form asked for: the short way and the reader of real replies agree."""

import json
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from evenhand.judging.answer_form import AnswerGroup
from evenhand.judging.evidence import read_reply_as_asked
from evenhand.judging.reading.reply_reader import read_reply_answers
from evenhand.judging.reading.reply_text import parse_clean_reply_object
from evenhand.judging.reading.score_labels import WantedReplyAnswer
from evenhand.model.scale import YES_NO, Missing, Scale, ScaleBand

BANDS = Scale(
    min=Fraction(0),
    max=Fraction(100),
    integers=True,
    bands=(
        ScaleBand(id="A", min=Fraction(50), max=Fraction(100)),
        ScaleBand(id="B", min=Fraction(0), max=Fraction(49)),
    ),
)
WANTED = (
    WantedReplyAnswer("depth", Scale(min=Fraction(1), max=Fraction(10))),
    WantedReplyAnswer("truth", Scale(min=Fraction(0), max=Fraction(10), integers=True)),
    WantedReplyAnswer("polite", YES_NO),
    WantedReplyAnswer("worth", BANDS),
)
GROUPS = (AnswerGroup("criteria", WANTED),)
number = st.one_of(st.integers(-2, 12), st.decimals(0, 11, places=1).map(float), st.just("cannot assess"))
text = st.text(st.characters(codec="utf-8"), max_size=20)


def _answer(**last: object) -> st.SearchStrategy[dict[str, object]]:
    values = {name: value if isinstance(value, st.SearchStrategy) else st.just(value) for name, value in last.items()}
    return st.fixed_dictionaries({"evidence": st.lists(text.filter(str.strip), max_size=2), "reason": text, **values})


replies = st.fixed_dictionaries(
    {
        "depth": _answer(score=number),
        "truth": _answer(score=number),
        "polite": _answer(answer=st.sampled_from(["yes", "no", "cannot assess"])),
        "worth": _answer(band=st.sampled_from(["A", "B"]), score=st.integers(0, 100)),
    }
)


@given(replies)
def test_both_readers_say_the_same_of_a_reply_in_the_form_asked_for(criteria: dict[str, object]) -> None:
    """The short way is quicker, not another opinion."""
    reply = json.dumps({"criteria": criteria}, ensure_ascii=False)

    short = read_reply_as_asked(parse_clean_reply_object(reply), GROUPS)
    long = read_reply_answers(reply, WANTED).answers

    assert short is not None
    for id, answer in long.items():
        assert isinstance(short[id].score, Missing) is isinstance(answer.score, Missing)
        assert getattr(short[id].score, "value", None) == getattr(answer.score, "value", None)
        assert short[id].evidence == answer.evidence
    assert short.keys() == long.keys()


def test_whatever_differs_from_the_form_is_left_to_the_reader() -> None:
    """One key too many, one too few, a word for a number, a second object."""
    good = {"criteria": {"polite": {"evidence": [], "reason": "r", "answer": "yes"}}}
    groups = (AnswerGroup("criteria", WANTED[2:3]),)
    others = [
        {"criteria": {**good["criteria"], "more": 1}},
        {"criteria": {"polite": {"reason": "r", "answer": "yes"}}},
        {"criteria": {"polite": {"evidence": [], "reason": "r", "answer": "Yes!"}}},
        {"criteria": {"polite": {"evidence": "x", "reason": "r", "answer": "yes"}}},
        {"polite": {"evidence": [], "reason": "r", "answer": "yes"}},
    ]

    assert read_reply_as_asked(parse_clean_reply_object(json.dumps(good)), groups) is not None
    assert [read_reply_as_asked(parse_clean_reply_object(json.dumps(other)), groups) for other in others] == [None] * 5
    assert read_reply_as_asked(parse_clean_reply_object(json.dumps(good) + json.dumps(good)), groups) is None
