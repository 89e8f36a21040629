"""ROUGE, BLEU and edit distance, worked by hand."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.assertions import output_rules as _overlap
from evenhand.assertions.output_rules import compute_asserted_rouge_n, multiply_asserted_ngram_precisions
from tests.assertions.builders import checked, facts

WORDS = st.lists(st.sampled_from("abcd"), max_size=8)


@pytest.mark.parametrize(
    ("output", "wanted", "n", "value"),
    [
        ("the cat sat", "the cat sat", 1, Fraction(1)),
        ("the cat", "the cat sat down", 1, Fraction(2, 3)),  # 2 shared: 2·2 / (2 + 4)
        ("the the the the", "the cat is on the mat", 1, Fraction(2, 5)),  # Two of four count: 2·2 / (4 + 6)
        ("the cat sat on it", "the cat lay on it", 2, Fraction(1, 2)),  # the cat, on it: 2·2 / (4 + 4)
        ("the cat", "the cat", 2, Fraction(1)),
        ("", "the cat", 1, Fraction(0)),
    ],
)
def test_rouge_is_the_f1_of_shared_runs(output: str, wanted: str, n: int, value: Fraction) -> None:
    """A run counts as often as both texts have it. A value on the threshold is on it."""
    assert compute_asserted_rouge_n(output.split(), wanted.split(), n) == value
    assertion = {"rouge_n_min": {"min": f"{value.numerator}/{value.denominator}", "n": n}}
    assert checked(assertion, facts(output, reference=wanted)).passed is True


@given(WORDS, WORDS.filter(bool))
def test_rouge_is_the_same_both_ways(one: list[str], two: list[str]) -> None:
    """F1 prefers neither text, and is 1 only for the same words."""
    value = compute_asserted_rouge_n(one, two, 1)

    assert value == compute_asserted_rouge_n(two, one, 1)
    assert 0 <= value <= 1
    assert (value == 1) == (sorted(one) == sorted(two))


def test_bleu_by_hand() -> None:
    """the cat sat on the mat / the cat lay on the mat: 5/6, (3+1)/(5+1), (1+1)/(4+1), (0+1)/(3+1)."""
    one, two = "the cat sat on the mat", "the cat lay on the mat"

    assert multiply_asserted_ngram_precisions(one.split(), two.split()) == Fraction(5, 6) * Fraction(4, 6) * Fraction(
        2, 5
    ) * Fraction(1, 4)
    value = float(Fraction(1, 18)) ** 0.25
    assert checked({"bleu_min": 0.4854}, facts(one, reference=two)).found == f"BLEU of {value:.4f}" == "BLEU of 0.4855"


def test_bleu_punishes_what_is_too_short() -> None:
    """Three words of six, all right: the penalty is exp(1 − 6/3)."""
    result = checked({"bleu_min": 0.3679}, facts("the cat sat", reference="the cat sat on the mat"))

    assert result.found == f"BLEU of {math.exp(-1):.4f}"
    assert result.passed is False


@given(WORDS.filter(bool))
def test_bleu_of_the_same_text_is_exactly_one(words: list[str]) -> None:
    """Also for one word, and without rounding below the threshold."""
    text = " ".join(words)

    assert checked({"bleu_min": 1}, facts(text, reference=text)).passed is True


def test_bleu_on_the_threshold_is_on_it() -> None:
    """The fourth root of 16/81 is two thirds; floating point says 0.6666666666666666."""
    output, wanted = " ".join("babaababb"), " ".join("bbaabaab")

    assert multiply_asserted_ngram_precisions(output.split(), wanted.split()) == Fraction(16, 81)
    assert checked({"bleu_min": "2/3"}, facts(output, reference=wanted)).passed is True


def test_bleu_of_nothing_is_nothing() -> None:
    """An empty output was measured: it has no word in common."""
    result = checked({"bleu_min": 0.01}, facts("", reference="the cat"))

    assert (result.passed, result.found) == (False, "BLEU of 0.0000")


@pytest.mark.parametrize(
    ("assertion", "reference", "why"),
    [
        ({"rouge_n_min": {"min": 0.5, "n": 3}}, "two words", "the text to compare with has 2 words, fewer than 3"),
        ({"bleu_min": 0.5}, "?!", "the text to compare with has no words"),
    ],
)
def test_nothing_to_compare_with_is_not_answered(assertion: dict[str, object], reference: str, why: str) -> None:
    """A reference of one word has no pairs to share."""
    result = checked(assertion, facts("some words", reference=reference))

    assert (result.passed, result.why_not) == (None, why)


@pytest.mark.parametrize(
    ("output", "most", "passed", "found"),
    [
        ("kitten", 3, True, "3 edits away"),
        ("kitten", 2, False, "3 edits away"),
        (" sitting\n", 0, True, "0 edits away"),
        ("sittin", 0, False, "1 edit away"),
    ],
)
def test_edits_are_counted(output: str, most: int, passed: bool, found: str) -> None:
    """kitten, sitten, sittin, sitting."""
    result = checked({"levenshtein_max": most, "to": "sitting"}, output)

    assert (result.passed, result.found) == (passed, found)


def test_texts_too_long_to_compare_are_not_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit distance takes time as the product of two lengths."""
    monkeypatch.setattr(_overlap, "MOST_COMPARED_CHARACTERS", 30)

    result = checked({"levenshtein_max": 1, "to": "sitting"}, "kitten")

    assert (result.passed, result.why_not) == (None, "too long to compare: 6 characters with 7")
