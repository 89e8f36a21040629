"""Numbers mean what is written, and are rounded once, half away from zero."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import StoreError
from evenhand.model.scale import to_exact_fraction
from evenhand.wording import (
    format_dollar_amount,
    format_figure,
    format_fraction,
    format_kept_figure,
    format_milliseconds,
    format_number,
    format_p_value,
    format_p_value_in_table,
    format_percent,
    format_percent_tenths,
    format_score,
    format_signed,
    read_kept_fraction,
    round_number_beside_limits,
    round_number_half_away,
)


@pytest.mark.parametrize(
    ("given_", "meant"),
    [
        (7, Fraction(7)),
        (0.1, Fraction(1, 10)),
        (8.25, Fraction(33, 4)),
        (0.35, Fraction(35, 100)),
        (Decimal("0.005"), Fraction(1, 200)),
        (Fraction(1, 3), Fraction(1, 3)),
        (1e-7, Fraction(1, 10**7)),
    ],
)
def test_a_number_means_the_decimal_it_is_written_as(given_: float, meant: Fraction) -> None:
    """0.1 is one tenth, also where it arrives as a float."""
    assert to_exact_fraction(given_) == meant


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), Decimal("NaN"), Decimal("-Infinity")])
def test_what_is_not_finite_is_not_a_number(wrong: float) -> None:
    """NaN must not travel through a sum unnoticed."""
    with pytest.raises(ValueError, match="not a finite number"):
        to_exact_fraction(wrong)


@pytest.mark.parametrize("huge", [10**16, Decimal("1e999999999"), Decimal("1e-999999999"), 1e300])
def test_a_number_that_would_fill_the_memory_is_refused(huge: float) -> None:
    """1e999999999 is eleven characters in a file and a gigabyte as a fraction."""
    with pytest.raises(ValueError, match="too large"):
        to_exact_fraction(huge)


def test_true_is_not_one() -> None:
    """A boolean where a number is meant is a slip."""
    with pytest.raises(TypeError):
        to_exact_fraction(True)


@pytest.mark.parametrize(
    ("value", "decimals", "shown"),
    [
        ("0.005", 2, "0.01"),
        ("-0.005", 2, "-0.01"),
        ("5.075", 2, "5.08"),
        ("2.5", 0, "3"),
        ("-2.5", 0, "-3"),
        ("0.0049999", 2, "0.00"),
        ("7", 2, "7.00"),
    ],
)
def test_halves_go_away_from_zero(value: str, decimals: int, shown: str) -> None:
    """Floating point makes 5.075 into 5.07."""
    assert str(round_number_half_away(Fraction(value), decimals)) == shown


@given(st.fractions(max_denominator=10_000, min_value=-1000, max_value=1000), st.integers(0, 6))
def test_rounding_moves_by_at_most_half_a_unit(value: Fraction, decimals: int) -> None:
    """And twice is once."""
    once = Fraction(round_number_half_away(value, decimals))

    assert abs(once - value) * 2 * 10**decimals <= 1
    assert Fraction(round_number_half_away(once, decimals)) == once


@pytest.mark.parametrize(("value", "text"), [("3", "3"), ("6.5", "6.5"), ("1/3", "0.3333"), ("0.25", "0.25")])
def test_a_number_in_a_sentence_is_as_short_as_it_can_be(value: str, text: str) -> None:
    """3 and not 3.00, unless the method shows decimals."""
    assert format_fraction(Fraction(value)) == text


@pytest.mark.parametrize(
    ("value", "shown"),
    [(7.625, "7.63"), (8.125, "8.13"), (-7.625, "−7.63"), (2.675, "2.68"), (-0.004, "0.00"), (1e300, f"{1e300:.2f}")],
)
def test_a_shown_figure_is_rounded_half_away_from_zero(value: float, shown: str) -> None:
    """By the digits that it is written with, as scores are."""
    assert format_figure(value) == shown


@pytest.mark.parametrize(
    ("value", "limit", "shown"),
    [
        ("59.9958", "60", "59.9958"),
        ("59.995", "60", "59.995"),
        ("59.999999", "60", "59.999999"),
        ("59.99", "60", "59.99"),
        ("60", "60", "60.00"),
        ("60.004", "60", "60.00"),
        ("0.8333", "0.8333", "0.8333"),
        ("-0.004", "0", "-0.004"),
        ("1/3", "60", "0.33"),
    ],
)
def test_a_number_never_looks_past_a_limit(value: str, limit: str, shown: str) -> None:
    """Two decimals, and as many more as it takes to see why it was decided so."""
    assert str(round_number_beside_limits(Fraction(value), [Fraction(limit)], 2)) == shown
    assert format_fraction(Fraction(value), 2, beside=[Fraction(limit)]) == shown


@given(st.fractions(0, 100, max_denominator=10**6), st.lists(st.decimals(0, 100, places=2), max_size=4))
def test_what_is_shown_lies_where_the_number_does(value: Fraction, limits: list[Decimal]) -> None:
    """Whatever the limits are."""
    shown = round_number_beside_limits(value, map(Fraction, limits), 2)

    assert [shown >= one for one in limits] == [value >= Fraction(one) for one in limits]


@pytest.mark.parametrize(
    ("mean", "least", "shown"),
    [
        (3.4999, 3.5, "3.4999 3.50"),
        (3.5, 3.5, "3.50 3.50"),
        (3.4999999999999996, 3.5, "3.50 3.50"),
        (0.831, 0.8333, "0.83 0.8333"),
        (0.8333, 0.8333, "0.8333 0.8333"),
        (4.0, 3.5, "4.00 3.50"),
    ],
)
def test_a_figure_and_its_limit_are_told_apart(mean: float, least: float, shown: str) -> None:
    """But for the noise of the arithmetic."""
    assert f"{format_figure(mean, beside=least)} {format_figure(least, beside=least)}" == shown


@pytest.mark.parametrize(("value", "shown"), [(59.9958, "59.9958"), (60.0, "60.00"), (58.5, "58.50"), (None, "–")])
def test_a_kept_figure_has_all_its_digits(value: float | None, shown: str) -> None:
    """It was rounded when it was kept."""
    assert format_kept_figure(value) == shown


@given(st.floats(-1000, 1000), st.integers(1, 3))
def test_a_difference_reads_alike_in_sentences_and_tables(value: float, places: int) -> None:
    """A headline of +1.62 above a table that says +1.63 makes a reader doubt both."""
    halves = round(value, places) + 0.5 * 10**-places

    for number in (value, halves, -halves, halves + 1e-14):
        assert format_signed(number) == format_figure(number, signed=True)
        assert format_score(number).replace("-", "−") == format_figure(number)


def test_shown_numbers_round_half_away_from_zero() -> None:
    """1.625 lies exactly between; float noise below it is no reason to round it down."""
    assert [format_signed(1.625), format_signed(-1.625), format_score(0.125)] == ["+1.63", "−1.63", "0.13"]
    assert format_signed(1.6249999999999998) == "+1.63"
    assert format_signed(-0.004) == "0.00"


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (format_milliseconds(914.5), "915 ms"),
        (format_milliseconds(999.5), "1.0 s"),
        (format_milliseconds(1250), "1.3 s"),
        (format_milliseconds(100_500), "101 s"),
        (format_p_value(0.0625), "p = 0.063"),
        (format_p_value(0.125), "p = 0.13"),
        (format_p_value(0.04996), "p = 0.04996"),
        (format_p_value(0.00097), "p = 0.00097"),
        (format_p_value(0.0009996), "p = 0.0009996"),
        (format_p_value(0.001), "p = 0.001"),
        (format_p_value(0.00034), "p = 0.0003"),
        (format_p_value(0.00009), "p < 0.0001"),
        (format_p_value_in_table(0.00034), "0.0003"),
        (format_p_value_in_table(0.00009), "under 0.0001"),
        (format_p_value_in_table(0.0009996), "0.0009996"),
        (format_p_value_in_table(0.04996), "0.04996"),
        (format_p_value_in_table(0.125), "0.125"),
        (format_p_value_in_table(1.0), "1.000"),
        (format_number(0.125), "0.13"),
        (format_number(-0.125), "−0.13"),
        (format_number(-0.001), "0.00"),
        (format_percent(0.125), "13%"),
        (format_percent(0.995), "over 99%"),
        (format_percent_tenths(0.0625), "6.3%"),
        (format_dollar_amount(1.125), "$1.13"),
        (format_dollar_amount(0.00125), "$0.0013"),
    ],
)
def test_every_number_on_screen_is_rounded_half_away_from_zero(shown: str, expected: str) -> None:
    """Times, p-values, shares and money too: Python's own format rounds 914.5 down and 915.5 up."""
    assert shown == expected


def test_a_kept_number_may_be_small_and_not_large() -> None:
    """A judge's score of 0.00007 is kept as 7e-05; a large exponent would fill the memory."""
    assert read_kept_fraction("7e-05") == Fraction(7, 100_000)
    assert read_kept_fraction("-1.25e-06") == Fraction(-5, 4_000_000)
    with pytest.raises(StoreError):
        read_kept_fraction("1e999999999")
    with pytest.raises(StoreError):
        read_kept_fraction("1e-999999999")
