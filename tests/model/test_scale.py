"""Reading one answer: what is not clearly an answer on the scale is unscored, never clamped or guessed."""

from decimal import Decimal
from fractions import Fraction

import pytest

from evenhand import Missing, RubricError, Scale, Scored, load_rubric
from evenhand.model.scale import SHARE, YES_NO, ZERO_TO_TEN, ScaleBand

ONE_TO_TEN = Scale(min=Fraction(1), max=Fraction(10))
BANDS = load_rubric(
    {"method": "oracle", "criteria": [{"id": "a", "asks": "?", "weight": 1, "fixed": True}]}
).criteria[0].scale  # fmt: skip


@pytest.mark.parametrize(
    ("scale", "answer", "value"),
    [
        (ONE_TO_TEN, 1, "1"),
        (ONE_TO_TEN, 10.0, "10"),
        (ONE_TO_TEN, Decimal("6.55"), "6.55"),
        (ONE_TO_TEN, {"score": 7, "why": "x"}, "7"),
        (YES_NO, True, "1"),
        (YES_NO, False, "0"),
        (YES_NO, 1, "1"),
        (SHARE, True, "1"),
        (SHARE, {"passed": 1, "total": 3}, "1/3"),
        (SHARE, {"passed": 2.5, "total": 4}, "5/8"),
        (ZERO_TO_TEN, 10, "10"),
        (ZERO_TO_TEN, 7.0, "7"),
        (BANDS, {"band": "B", "score": 70}, "70"),
        (BANDS, {"band": "E", "score": 0, "evidence": "…"}, "0"),
    ],
)
def test_an_answer_on_the_scale_is_read(scale: Scale, answer: object, value: str) -> None:
    """Numbers, words and objects, exactly."""
    assert scale.read(answer) == Scored(Fraction(value), band=_band(answer), why=_why(answer))


@pytest.mark.parametrize(
    ("scale", "answer", "why"),
    [
        (ONE_TO_TEN, 11, "unreadable: 11 is outside 1–10"),
        (ONE_TO_TEN, 0.5, "unreadable: 0.5 is outside 1–10"),
        (ONE_TO_TEN, 95, "unreadable: 95 is outside 1–10"),
        (ONE_TO_TEN, "9", "unreadable: '9' is not a number"),
        (ONE_TO_TEN, True, "unreadable: true where a number from 1–10 is asked"),
        (ONE_TO_TEN, float("nan"), "unreadable: nan is not a finite number"),
        (ONE_TO_TEN, Decimal("1e999999999"), "unreadable: the number is too large"),
        (ONE_TO_TEN, [9], "unreadable: a list is not a number"),
        (ONE_TO_TEN, {"value": 9}, "unreadable: an object without 'score'"),
        (ONE_TO_TEN, None, "not answered"),
        (ONE_TO_TEN, {"missing": "judge abstained"}, "judge abstained"),
        (ZERO_TO_TEN, 2.5, "unreadable: 2.5 is not a whole number"),
        (YES_NO, "yes", "unreadable: 'yes' is neither true nor false"),
        (YES_NO, Decimal("sNaN"), "unreadable: sNaN is not a finite number"),
        (YES_NO, [True], "unreadable: a list is neither true nor false"),
        (YES_NO, 0.5, "unreadable: 0.5 is neither true nor false"),
        (YES_NO, 2, "unreadable: 2 is neither true nor false"),
        (SHARE, {"passed": 5, "total": 4}, "unreadable: 5 passed of 4"),
        (SHARE, {"passed": 0, "total": 0}, "unreadable: 0 passed of 0"),
        (SHARE, {"passed": "x", "total": 4}, "unreadable: 'x' passed of 4"),
        (BANDS, 74, "unreadable: 74 has no band: give both, as in {band: B, score: 75}"),
        (BANDS, {"band": "B", "score": 69}, "unreadable: 69 is outside band B (70–89)"),
        (BANDS, {"band": "B", "score": 90}, "unreadable: 90 is outside band B (70–89)"),
        (BANDS, {"band": "F", "score": 10}, "unreadable: 'F' is not a band, which are A, B, C, D, E"),
        (BANDS, {"band": "B", "score": 74.5}, "unreadable: 74.5 is not a whole number"),
        (BANDS, {"band": "B"}, "unreadable: None is not a number"),
    ],
)
def test_what_is_no_answer_is_missing_with_the_reason(scale: Scale, answer: object, why: str) -> None:
    """A rival takes 95 on a 1–10 scale, another dies of a string."""
    score = scale.read(answer)

    assert isinstance(score, Missing) and score.text == why


def test_a_scale_runs_upwards() -> None:
    """A scale without room for two answers asks nothing."""
    with pytest.raises(RubricError, match="runs upwards"):
        Scale(min=Fraction(5), max=Fraction(5))


def _band(answer: object) -> str | None:
    return answer.get("band") if isinstance(answer, dict) else None


def _why(answer: object) -> str:
    return answer.get("why", "") if isinstance(answer, dict) else ""


@pytest.mark.parametrize("named", ["b", " B ", "Band B", "band b", "BAND  B", "*B*", "B."])
def test_a_band_is_read_however_it_is_spelt(named: str) -> None:
    """Like every other word of an answer; what is told is the band's own name."""
    assert BANDS.read({"band": named, "score": 75}) == Scored(Fraction(75), band="B")


@pytest.mark.parametrize("named", ["bb", "B or C", "", "band", 2, None, ["B"]])
def test_what_names_no_band_is_unreadable(named: object) -> None:
    """Nothing is guessed."""
    assert isinstance(BANDS.read({"band": named, "score": 75}), Missing)


def test_bands_that_differ_in_case_alone_are_told_apart() -> None:
    """Only what fits one of them is read without its case."""
    parts = {"a": (0, 49), "A": (50, 100)}
    scale = Scale(
        min=Fraction(0),
        max=Fraction(100),
        integers=True,
        bands=tuple(ScaleBand(id=id, min=Fraction(low), max=Fraction(high)) for id, (low, high) in parts.items()),
    )

    assert scale.read({"band": "a", "score": 7}) == Scored(Fraction(7), band="a")
    assert scale.read({"band": "A", "score": 70}) == Scored(Fraction(70), band="A")
    assert isinstance(scale.read({"band": "Band a", "score": 7}), Missing)
