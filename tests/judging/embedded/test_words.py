"""Words: forms of one word have one stem, and words of other scripts are taken by character."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.judging.embedded.lexicon import (
    find_embedded_words,
    is_embedded_content_word,
    load_embedded_opposites,
    load_embedded_synonyms,
    lower_claim_letters,
    stem_embedded_word,
)


@pytest.mark.parametrize(
    "forms",
    [
        "refund refunds refunded refunding",
        "paid pays payment payable",
        "inform informs informed information",
        "hope hopes hoping hoped",
        "stop stops stopped stopping",
        "organize organise organization organisations",
        "teacher's teacher",
        "children child",
    ],
)
def test_forms_of_one_word_have_one_stem(forms: str) -> None:
    """A criterion says "refunded" where the output says "refunds"."""
    stems = {stem_embedded_word(form) for form in forms.split()}

    assert len(stems) == 1


@pytest.mark.parametrize(("first", "second"), [("bus", "bust"), ("this", "thing"), ("press", "pre"), ("rise", "price")])
def test_other_words_keep_other_stems(first: str, second: str) -> None:
    """What is cut off too far would make everything the same."""
    assert stem_embedded_word(first) != stem_embedded_word(second)


def test_a_word_has_its_place() -> None:
    """Numbers are values and no words; an apostrophe stays inside a word."""
    words = find_embedded_words("It's 5 open-air tents")

    assert [(word.raw, word.start, word.end) for word in words] == [
        ("It's", 0, 4),
        ("open", 7, 11),
        ("air", 12, 15),
        ("tents", 16, 21),
    ]


def test_chinese_is_taken_by_character() -> None:
    """There are no spaces to part words at."""
    words = find_embedded_words("请在周五 pay")

    assert [word.stem for word in words] == ["请", "在", "周", "五", "pai"]
    assert [(word.start, word.end) for word in words][:2] == [(0, 1), (1, 2)]


def test_words_of_saying_carry_no_content() -> None:
    """They stand in criteria; outputs do not say that they say."""
    assert not any(map(is_embedded_content_word, ("mentions", "the", "reply", "explains", "without")))
    assert all(map(is_embedded_content_word, ("refund", "provider", "containers")))
    assert is_embedded_content_word("included", framed=True) and not is_embedded_content_word("the", framed=True)


def test_kin_and_opposites_go_both_ways_and_never_to_oneself() -> None:
    """If "end" is kin of "finish", "finish" is kin of "end"."""
    for table in (load_embedded_synonyms(), load_embedded_opposites()):
        for one, others in table.items():
            assert one not in others
            assert all(one in table[other] for other in others)

    assert stem_embedded_word("reimburse") in load_embedded_synonyms()[stem_embedded_word("refund")]
    assert stem_embedded_word("closed") in load_embedded_opposites()[stem_embedded_word("open")]


def test_letters_that_ignore_case_are_those_of_the_table() -> None:
    """A pattern that ignores case takes these four for i, k and s; a lookup must do the same."""
    assert lower_claim_letters("Mınute İn ſix \N{KELVIN SIGN}") == "minute in six k"


@given(st.text())
def test_every_word_is_where_it_says(text: str) -> None:
    """Places are used to cut clauses and to blank out frames."""
    assert all(text[word.start : word.end] == word.raw for word in find_embedded_words(text))
