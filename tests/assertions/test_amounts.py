"""Rules on amounts: length, words, cost, time, turns."""

from decimal import Decimal

import pytest

from evenhand.assertions.output_rules import count_asserted_words, split_asserted_words
from tests.assertions.builders import checked, facts

MEASURED = facts("  four words are here \n", cost=Decimal("0.3"), latency_ms=1500.5, turns=3, trace=())


@pytest.mark.parametrize(
    ("kind", "least", "found"),
    [("min_length", 19, "19 characters"), ("word_count_min", 4, "4 words"), ("turns_min", 3, "3 turns")],
)
def test_at_least_means_at_least(kind: str, least: int, found: str) -> None:
    """On the bound is within it; one beyond is not."""
    on, beyond = checked({kind: least}, MEASURED), checked({kind: least + 1}, MEASURED)

    assert (on.passed, beyond.passed) == (True, False)
    assert on.found == beyond.found == found


@pytest.mark.parametrize(
    ("kind", "most", "below", "found"),
    [
        ("max_length", 19, 18, "19 characters"),
        ("word_count_max", 4, 3, "4 words"),
        ("turns_max", 3, 2, "3 turns"),
        ("cost_max", 0.3, 0.2999, "0.3 dollars"),
        ("latency_max", 1500.5, 1500, "1500.5 ms"),
    ],
)
def test_at_most_means_at_most(kind: str, most: float, below: float, found: str) -> None:
    """Numbers mean the decimals that are written: 0.3 is on 0.3."""
    on, beyond = checked({kind: most}, MEASURED), checked({kind: below}, MEASURED)

    assert (on.passed, beyond.passed) == (True, False)
    assert on.found == beyond.found == found


@pytest.mark.parametrize(
    ("assertion", "why"),
    [
        ({"cost_max": 1}, "no cost was recorded for this output"),
        ({"latency_max": 1}, "no latency was recorded for this output"),
        ({"turns_min": 1, "not": True}, "no turns was recorded for this output"),
        ({"tools_called": "search"}, "no trace was recorded for this output"),
        ({"tools_not_called": "search"}, "no trace was recorded for this output"),
        ({"tool_input_not_contains": "x"}, "no trace was recorded for this output"),
        ({"equals": {}}, "the sample has no reference"),
        ({"rouge_n_min": 0.5}, "the sample has no reference"),
    ],
)
def test_what_was_not_measured_is_not_answered(assertion: dict[str, object], why: str) -> None:
    """Missing is not zero: neither passed nor failed, also under `not`."""
    result = checked(assertion, "text")

    assert (result.passed, result.why_not) == (None, why)


def test_a_measurement_that_is_no_number_is_not_answered() -> None:
    """A clock that went wrong says nothing about the output."""
    result = checked({"latency_max": 10}, facts("", latency_ms=float("nan")))

    assert (result.passed, result.why_not) == (None, "what was measured, nan, is not a number that can be used")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("one", 1),
        ("well-known, isn't it? — 3.5%", 4),
        ("- a list\n- of two", 4),
        ("我们会退款", 5),
        ("Python 很好用", 4),
        ("カタカナ", 4),
        ("नमस्ते दुनिया", 2),
        ("... !!! —", 0),
    ],
)
def test_words_are_counted_as_people_count_them(text: str, count: int) -> None:
    """Marks alone are no words; Chinese and Japanese count by character."""
    assert count_asserted_words(text) == count


def test_words_are_compared_without_marks_and_case() -> None:
    """So that a full stop costs no overlap."""
    assert split_asserted_words("Isn't it GREAT? 很好 नमस्ते") == ["isn", "t", "it", "great", "很", "好", "नमस्ते"]
