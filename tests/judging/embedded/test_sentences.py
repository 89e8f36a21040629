"""Sentences: cut where a reader would cut, and each found again in the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.judging.embedded.texts import LONGEST_SENTENCE, JudgedText, shorten_judged_passage, split_sentences


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
    assert split_sentences(text) == sentences


def test_a_long_line_goes_on_in_the_next() -> None:
    """A paragraph cut at a width: the next line may begin with a capital, as names do."""
    text = "We met the whole family at the station and then all went on with\nAnna to the lake."

    assert len(split_sentences(text)) == 1


def test_what_never_ends_is_cut() -> None:
    """A quotation of a megabyte helps nobody."""
    sentences = split_sentences("word " * 500)

    assert len(sentences) == 5
    assert max(map(len, sentences)) <= LONGEST_SENTENCE


def test_a_passage_is_shown_on_one_line() -> None:
    """Sixty characters, the last of them an ellipsis."""
    assert shorten_judged_passage("two\n  lines", 60) == "two lines"
    assert shorten_judged_passage("x" * 61, 60) == "x" * 59 + "…"
    assert shorten_judged_passage("x" * 60, 60) == "x" * 60


@given(st.text(alphabet=st.sampled_from("aB .!?\n-1。；\"'中")))
def test_every_sentence_stands_in_the_text(text: str) -> None:
    """And between sentences there is nothing but space."""
    sentences = split_sentences(text)

    assert all(one in text and one == one.strip() for one in sentences)
    assert "".join("".join(sentences).split()) == "".join(text.split())


@pytest.mark.parametrize("text", ["See https://example.org for more.", "Write to me@example.com.", "www.shop.example"])
def test_a_reserved_host_name_is_no_example(text: str) -> None:
    """ "It has an example" is not met by an address that stands for any address."""
    assert "exampl" not in {stem[:6] for stem in JudgedText(text).stems}


def test_an_example_beside_an_address_counts() -> None:
    """Only the host is left out: a path, and the same word in the sentence, say what they say."""
    assert "exampl" in {stem[:6] for stem in JudgedText("For example, https://wikipedia.org/").stems}
    assert "exampl" in {stem[:6] for stem in JudgedText("https://wikipedia.org/example").stems}
