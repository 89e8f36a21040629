"""Patterns from a file cannot hang or fill a run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.assertions import rule_inputs as _pattern
from evenhand.assertions.rule_inputs import _count_asserted_pattern_pieces
from evenhand.errors import InputError
from tests.assertions.builders import checked, one

SLOW = "(a|a)*$"
HARD = "a" * 60 + "!"


def test_a_match_is_quoted_with_its_place() -> None:
    """Anywhere in the output."""
    result = checked({"regex": r"order #\d+"}, "Hello,\nyour order #77 is here")

    assert (result.passed, result.found, result.start, result.end) == (
        True,
        "'order #77' at line 2, column 6",
        12,
        21,
    )


@pytest.mark.parametrize(
    ("assertion", "passed", "found"),
    [
        ({"regex": "x"}, False, "no match"),
        ({"regex": "HELLO", "ignore_case": True}, True, "'hello' at line 1, column 1"),
        ({"regex": r"\p{Lu}", "not": True}, True, "no match"),
        ({"regex": "x*"}, True, "a match of nothing at line 1, column 1"),
    ],
)
def test_what_is_found_is_said(assertion: dict[str, object], passed: bool, found: str) -> None:
    """Also that nothing was matched."""
    result = checked(assertion, "hello")

    assert (result.passed, result.found) == (passed, found)


@pytest.mark.parametrize("negated", [False, True])
def test_a_pattern_that_takes_too_long_is_not_answered(monkeypatch: pytest.MonkeyPatch, negated: bool) -> None:
    """It is neither passed nor failed, and the finding says why."""
    monkeypatch.setattr(_pattern, "LONGEST_PATTERN_SEARCH", 0.1)

    result = checked({"regex": SLOW, "not": negated}, HARD)

    assert (result.passed, result.why_not) == (None, "the pattern took longer than 0.1 s on this output")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "pattern does not compile: missing ) at position 1"),
        ("", "pattern cannot be empty"),
        ("a" * 10_001, "pattern is longer than 10,000 characters"),
        ("((a{100}){100}){100}", "pattern repeats parts of itself more than 100,000 times in all"),
        ("(?:(?:[({]{1000}b){1000}c){1000}", "pattern repeats parts of itself more than 100,000 times in all"),
        ("(?#[)((a{100}){100}){100}", "pattern repeats parts of itself more than 100,000 times in all"),
        ("(?x) # [\n((a{100}){100}){100}", "pattern repeats parts of itself more than 100,000 times in all"),
        ("(" * 3000 + ")" * 3000, "pattern cannot be used: maximum recursion depth exceeded"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused(pattern: str, why: str) -> None:
    """Written out, counted repeats inside each other would fill the memory before any search begins."""
    with pytest.raises(InputError) as refused:
        one({"regex": pattern})

    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("pattern", "pieces"),
    [
        ("abc", 3),
        ("a{3}", 3),
        ("(ab){3}", 9),
        ("((a{2}){2,5}){,3}", 48),
        (r"\({4}[(){9}]\{5}", 4 + 1 + 3),
        ("a{2}b{3}", 5),
        (r"\d{4}-\d{2}-\d{2}", 10),
    ],
)
def test_repeats_are_written_out(pattern: str, pieces: int) -> None:
    """Side by side they add up, inside each other they multiply."""
    assert _count_asserted_pattern_pieces(pattern) == pieces


@given(st.text(alphabet="ab(){}[]\\,^0123|*", max_size=30))
def test_any_text_is_a_pattern_or_refused(text: str) -> None:
    """Nothing else comes out of a text."""
    try:
        passed = checked({"regex": text}, "ab").passed
    except InputError:
        return
    assert passed in (True, False, None)
