"""Whatever the criterion and whatever the text: no fault, no made-up quotation, the same answer, and no long wait."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.judging.embedded.decisions import judge_criterion_claim
from evenhand.judging.embedded.forms import count_form_of_claim, find_feature_of_claim, parse_fenced_json_of_claim
from evenhand.judging.embedded.lexicon import load_judge_lexicon
from evenhand.judging.embedded.texts import JudgedText, detect_judged_language
from tests.growth import is_within_times

# Words that the rules know, between characters of all kinds.
KNOWN = """
Does the reply say that not never no or and mentions without avoids at most least five 12 words sentences bullet points
JSON table heading ends with begins 'Yes' “no” French date reference 5% €20 May Monday 3:30 pm 2.3.1 ſix mınutes it's
isn't don’t every tone 不 营业 。 ! ? , ; : - # | ``` \n \ud800 … ½ ² ٣ 𝟗 İ
"""
PIECES = st.sampled_from(KNOWN.split(" "))
TEXTS = st.text() | st.lists(PIECES, max_size=25).map(" ".join)


@given(TEXTS, TEXTS)
def test_no_criterion_and_no_text_is_a_fault(asks: str, text: str) -> None:
    """And what is quoted stands in the text, word for word."""
    decision = judge_criterion_claim(asks, JudgedText(text), JudgedText(asks))

    assert decision.reason
    assert decision.quote in text


@given(TEXTS, TEXTS)
def test_the_same_pair_has_the_same_decision(asks: str, text: str) -> None:
    """Made ready once or twice."""
    first, second = JudgedText(text), JudgedText(text)

    assert (
        judge_criterion_claim(asks, first) == judge_criterion_claim(asks, second) == judge_criterion_claim(asks, first)
    )


LONG: dict[str, Callable[[int], str]] = {
    "one line": lambda size: "bread and butter " * (size // 17),
    "sentences": lambda size: "It opens at 9. " * (size // 15),
    "digits": lambda size: "7" * size,
    "newlines": lambda size: "\n" * size,
    "spaces": lambda size: f"a{' ' * size}b",
    "brackets": lambda size: "[" * size,
    "links": lambda size: "[a](" * (size // 4),
    "hosts": lambda size: "www.-" * (size // 5),
    "quotation marks": lambda size: "„" * size,
    "addresses": lambda size: "a.b" * (size // 3),
    "bars": lambda size: "| " * (size // 2) + "x",
    "commas": lambda size: "a,  " * (size // 4),
}
SMALL = 8_000


@pytest.mark.parametrize("kind", LONG)
def test_time_grows_with_length_and_no_faster(kind: str) -> None:
    """Four times the text takes four times as long, and not sixteen times."""
    _ask_everything(LONG[kind](1000))
    short, long = LONG[kind](SMALL), LONG[kind](4 * SMALL)

    assert is_within_times(_ask_everything, short, long, times=7, slack=0.02, readings=2)


def _ask_everything(text: str) -> None:
    """All that may be asked of a text."""
    ready = JudgedText(text)
    judge_criterion_claim("Does it say that bread costs 3 euros and opens at nine?", ready)
    for countable in load_judge_lexicon("forms")["countables"]:
        count_form_of_claim(countable, ready)
    for feature in load_judge_lexicon("forms")["features"]:
        find_feature_of_claim(feature, ready)
    parse_fenced_json_of_claim(text)
    detect_judged_language(text)
