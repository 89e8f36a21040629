"""Texts cut into pieces at their marks lose nothing, and what differs is marked and nothing else."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evenhand.report.html.sample_page import (
    LONGEST_SHOWN_TEXT,
    TextMark,
    build_sample_report_page,
    find_differing_report_marks,
    split_report_text_at_marks,
)

TEXTS = st.text(max_size=60)
PLACES = st.none() | st.integers(-5, 80)
MARKS = st.lists(st.builds(TextMark, PLACES, PLACES, st.sampled_from(["evidence", "flag"]), st.text(max_size=3)))


@given(TEXTS, MARKS)
def test_pieces_make_up_the_text(text: str, marks: list[TextMark]) -> None:
    """Whatever a mark says of its place, each character is shown once, in order."""
    pieces = split_report_text_at_marks(text, marks)

    assert "".join(piece.text for piece in pieces) == text
    assert [piece.start for piece in pieces] == sorted({piece.start for piece in pieces})


@given(TEXTS, st.integers(0, 60), st.integers(1, 20))
def test_a_mark_lies_over_its_characters_alone(text: str, start: int, length: int) -> None:
    """From its start to its end, as far as the text reaches."""
    pieces = split_report_text_at_marks(text, [TextMark(start, start + length, "evidence")])

    assert "".join(piece.text for piece in pieces if piece.kinds) == text[start : start + length]


@given(st.lists(st.sampled_from(["a ", "b ", "c.", "\n"])), st.lists(st.sampled_from(["a ", "b ", "c.", "\n"])))
def test_what_is_not_marked_is_in_the_other_text(ours: list[str], theirs: list[str]) -> None:
    """In its order: without what differs, a text is a part of the other."""
    text, other = "".join(ours), "".join(theirs)
    marks = find_differing_report_marks(text, other)
    kept = [piece.text for piece in split_report_text_at_marks(text, marks) if not piece.kinds]

    place = 0
    for character in "".join(kept):
        place = other.index(character, place) + 1


def test_equal_texts_differ_in_nothing_and_long_ones_are_cut() -> None:
    """A page stays small whatever a model wrote; the rest is counted."""
    long = "word\n" * 100_000
    *_, last = split_report_text_at_marks(long, [])

    assert find_differing_report_marks("same", "same") == []
    assert find_differing_report_marks(long, "x" * 5) == []
    assert last.text == f"\n… {len(long) - LONGEST_SHOWN_TEXT:,} more characters"


def test_a_changed_word_is_marked() -> None:
    """Word by word."""
    [mark] = find_differing_report_marks("Open the page Orders now", "Open the page Basket now")

    assert "Open the page Orders now"[mark.start : mark.end] == "Orders "


def test_what_an_assertion_should_not_have_found_is_marked_as_amiss() -> None:
    """Green would say that all is well."""
    checks = [
        {"name": "contains 'page'", "start": 9, "end": 13, "passed": True},
        {"name": "not_contains 'Orders'", "start": 14, "end": 20, "passed": False},
    ]
    result = {
        "variant": "new", "repeat": 0, "state": "scored", "verdict": "fail", "judgments": [], "assertions": checks,
        "findings": [], "output": {"text": "Open the page Orders"}, "scorecard": None, "composite_steps": [],
        "composite": None, "score": None, "layers": {},
    }  # fmt: skip
    sample: dict[str, Any] = {
        "messages": None,
        "input": "?",
        "reference": "",
        "context": "",
        "cluster": None,
        "metadata": {},
        "tags": [],
    }
    head = {"run": {}, "variants": [{"name": "new", "role": "only"}], "eval": {"rubrics": []}}
    [shown] = build_sample_report_page(head, {**sample, "results": [result]})["repeats"]
    [column] = shown.columns

    assert [(piece.text, piece.kinds) for piece in column.pieces if piece.kinds] == [
        ("page", ("found",)), ("Orders", ("amiss",)),
    ]  # fmt: skip
