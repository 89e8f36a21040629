"""Sentences: cut where a reader would cut, and each found again in the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.judging.embedded._sentences import LONGEST, sentences_of, shown


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It rains. We stay in! Do you?", ["It rains.", "We stay in!", "Do you?"]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("Ask Dr. Brown, e.g. on Monday. He knows.", ["Ask Dr. Brown, e.g. on Monday.", "He knows."]),
        ("The U. S. team won.", ["The U. S. team won."]),
        ("Version 2.5 is out. Get it.", ["Version 2.5 is out.", "Get it."]),
        ("Bring:\n- a coat\n- a hat", ["Bring:", "- a coat", "- a hat"]),
        ("(1) Open it\n(2) Close it", ["(1) Open it", "(2) Close it"]),
        ("# Title\nThe text", ["# Title", "The text"]),
        ("the line is\ncut here. Yes", ["the line is\ncut here.", "Yes"]),
        ("Short line\nAnother one", ["Short line", "Another one"]),
        ("我们周五开门。你来吗？来！", ["我们周五开门。", "你来吗？", "来！"]),
        ("One\n\n\nTwo", ["One", "Two"]),
        ("a paragraph\n\nand the next", ["a paragraph", "and the next"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences_are_cut_where_a_reader_cuts(text: str, sentences: list[str]) -> None:
    """Abbreviations and wrapped lines go on; items, headings and empty lines end."""
    assert [sentence.text for sentence in sentences_of(text)] == sentences


def test_a_long_line_goes_on_in_the_next() -> None:
    """A paragraph cut at a width: the next line may begin with a capital, as names do."""
    text = "We met the whole family at the station and then all went on with\nAnna to the lake."

    assert len(sentences_of(text)) == 1


def test_what_never_ends_is_cut() -> None:
    """A quotation of a megabyte helps nobody."""
    sentences = sentences_of("word " * 500)

    assert len(sentences) == 5
    assert max(len(sentence.text) for sentence in sentences) <= LONGEST


def test_a_passage_is_shown_on_one_line() -> None:
    """Sixty characters, the last of them an ellipsis."""
    assert shown("two\n  lines", 60) == "two lines"
    assert shown("x" * 61, 60) == "x" * 59 + "…"
    assert shown("x" * 60, 60) == "x" * 60


@given(st.text(alphabet=st.sampled_from("aB .!?\n-1。；\"'中")))
def test_every_sentence_stands_where_it_says(text: str) -> None:
    """And between sentences there is nothing but space."""
    sentences = sentences_of(text)

    assert all(text[one.start :].startswith(one.text) for one in sentences)
    assert "".join("".join(one.text for one in sentences).split()) == "".join(text.split())
