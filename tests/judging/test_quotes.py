"""Quotations are found again word for word, white space and quotation marks aside."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.judging.evidence import QuotedEvidenceText

TEXT = "He said: “It  works\nwell”, and then he left the building.\nThe end of the matter isn't near, I fear."


@pytest.mark.parametrize(
    ("quotation", "found"),
    [
        ("It  works\nwell", "It  works\nwell"),
        ('"It works well"', "It  works\nwell"),
        ("“It works well”, and then", "It  works\nwell”, and then"),
        ("  It works well  ", "It  works\nwell"),
        ("the matter isn’t near", "the matter isn't near"),
        ("It works well … The end of the matter", None),
        (".", None),
        ("e", None),
        ("it works well", None),
        ("It works badly", None),
        ("", None),
        ("“”", None),
        ("…", None),
    ],
)  # fmt: skip
def test_a_quotation_stands_where_it_stands(quotation: str, found: str | None) -> None:
    """Word for word: what is left out in the middle may turn the meaning round."""
    place = QuotedEvidenceText(TEXT).find(quotation)

    assert (None if place is None else TEXT[place.start : place.end]) == found


@pytest.mark.parametrize(
    ("text", "quotation", "start"),
    [
        ("The answer is 42.", "42", 14),
        ("The answer is 42.", "“42”", 14),
        ("Of 142 or 420 or 4.2 or 42, the last.", "42", 24),
        ("It costs 1,042 in all.", "42", None),
        ("It is 4.2 km.", "4", None),
        ("Is it so? No.", "No", 10),
        ("Nobody knows.", "No", None),
        ("x = 7", "x", 0),
        ("答案是42。", "42", 3),
        ("答案是正确的。", "正确", 3),
        ("✅ done", "✅", 0),
        ("It costs 5 €.", "5 €", 9),
        ("-- ... --", ".", None),
    ],
)
def test_a_short_quotation_counts_where_it_is_a_whole_word(text: str, quotation: str, start: int | None) -> None:
    """A number or a word is often the whole point; as a part of something longer it says something else."""
    place = QuotedEvidenceText(text).find(quotation)

    assert (None if place is None else place.start) == start


@given(st.text(min_size=1), st.data())
def test_whatever_is_copied_is_found(text: str, data: st.DataObject) -> None:
    """Any piece with something to see in it."""
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    piece = text[start:end]

    place = QuotedEvidenceText(text).find(piece)

    if sum(map(str.isalnum, piece)) >= 3:
        assert place is not None
        assert text[place.start : place.end] == piece.strip()


@given(st.text(), st.text())
def test_nothing_is_found_that_is_not_there(text: str, quotation: str) -> None:
    """What is found reads like what was looked for."""
    place = QuotedEvidenceText(text).find(quotation)

    if place is not None:
        assert place.start < place.end <= len(text)
