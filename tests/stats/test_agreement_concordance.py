"""Kendall's W and the intraclass correlations: values by hand and as published, and a reason where there is none."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evenhand.errors import InputError
from evenhand.stats._agreement import Agreement, Undefined
from evenhand.stats._concordance import IccForm, icc, kendall_w

# Shrout and Fleiss (1979), table 2: four judges, six targets.
JUDGES = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]
FORMS: tuple[IccForm, ...] = ("1,1", "2,1", "3,1", "1,k", "2,k", "3,k")
TABLES = st.integers(3, 12).flatmap(
    lambda units: st.lists(
        st.lists(st.integers(1, 5).map(float), min_size=units, max_size=units), min_size=2, max_size=5
    )
)


@pytest.mark.parametrize(
    ("form", "value", "low", "high"),
    [
        ("1,1", 0.17, -0.133, 0.723),
        ("2,1", 0.29, 0.019, 0.761),
        ("3,1", 0.71, 0.342, 0.946),
        ("1,k", 0.44, -0.884, 0.912),
        ("2,k", 0.62, 0.071, 0.927),
        ("3,k", 0.91, 0.676, 0.986),
    ],
)
def test_the_six_forms_as_published(form: IccForm, value: float, low: float, high: float) -> None:
    """Values from table 4 of the paper; ends as the R package psych gives them."""
    found = icc(JUDGES, form)

    assert isinstance(found, Agreement)
    assert found.low is not None
    assert found.high is not None
    assert (round(found.value, 2), round(found.low, 3), round(found.high, 3)) == (value, low, high)
    assert (found.method, found.n, found.pairs, found.level, found.interval) == (f"ICC({form})", 6, 6, 0.95, "F")


@given(TABLES, st.sampled_from(FORMS))
def test_icc_does_not_care_about_names_order_and_scale(table: list[list[float]], form: IccForm) -> None:
    """A straight line through all ratings leaves it as it is, and it never exceeds 1."""
    found = icc(table, form)
    turned = icc([row[::-1] for row in table[::-1]], form)
    scaled = icc([[50 - 3 * one for one in row] for row in table], form)

    if isinstance(found, Undefined):
        assert isinstance(turned, Undefined)
        return
    assert found.value <= 1 + 1e-12
    for other in (turned, scaled):
        assert isinstance(other, Agreement)
        assert other.value == pytest.approx(found.value, abs=1e-6)
        if found.low is not None and found.high is not None:
            assert found.low <= found.value <= found.high
            assert [other.low, other.high] == pytest.approx([found.low, found.high], rel=1e-5, abs=1e-6)


@given(TABLES)
def test_harshness_counts_in_the_second_form_and_not_in_the_third(table: list[list[float]]) -> None:
    """A constant added to one rater leaves consistency as it is."""
    harsher = [[one - 2 for one in table[0]], *table[1:]]

    found, other = icc(table, "3,1"), icc(harsher, "3,1")

    if isinstance(found, Agreement) and isinstance(other, Agreement):
        assert other.value == pytest.approx(found.value, abs=1e-9)


def test_perfect_agreement_has_a_value_and_no_interval() -> None:
    """Where nobody disagrees no noise is left to measure by."""
    found = icc([[1, 2, 3, 4], [1, 2, 3, 4]])

    assert isinstance(found, Agreement)
    assert (found.value, found.low) == (1, None)
    assert found.no_interval == "without any disagreement there is nothing to measure an interval by"


@pytest.mark.parametrize("n", [6, 20])
def test_nineteen_of_twenty_f_intervals_hold_the_truth(n: int) -> None:
    """Normal units, raters and noise of variance 1, ½ and ½: a single rating carries half of the variance."""
    rng = np.random.default_rng(n)
    held = []
    for _ in range(400):
        table = rng.normal(size=n) + rng.normal(size=(6, 1)) / math.sqrt(2) + rng.normal(size=(6, n)) / math.sqrt(2)
        found = icc(table.tolist(), "2,1")
        assert isinstance(found, Agreement)
        assert found.low is not None
        assert found.high is not None
        held.append(found.low <= 0.5 <= found.high)

    assert sum(held) / len(held) >= 0.92


def test_kendalls_w_by_hand() -> None:
    """Ranks 1 2 3, 1 2 3, 1 3 2 sum to 3, 7, 8: spread 14 of at most 9·2 = 18."""
    found = kendall_w([[1, 2, 3], [10, 20, 30], [1, 9, 5]])

    assert isinstance(found, Agreement)
    assert found.value == pytest.approx(14 / 18)
    assert (found.method, found.n, found.pairs) == ("Kendall's W", 3, 3)


def test_kendalls_w_with_ties_by_hand() -> None:
    """Ranks 1.5 1.5 3 and 1 2 3 sum to 2.5, 3.5, 6: spread 6.5 of at most 2·(1.5 + 2) = 7."""
    found = kendall_w([[4, 4, 5], [1, 2, 3]])

    assert isinstance(found, Agreement)
    assert found.value == pytest.approx(6.5 / 7)


@given(TABLES)
def test_kendalls_w_follows_from_friedmans_test(table: list[list[float]]) -> None:
    """W = χ² / (m (n − 1)), with SciPy's χ², where no rater is constant."""
    found = kendall_w(table)

    if any(len(set(row)) == 1 for row in table) or len(table) < 3:
        return
    assert isinstance(found, Agreement)
    expected = scipy_stats.friedmanchisquare(*np.array(table).T).statistic / (len(table) * (len(table[0]) - 1))
    assert found.value == pytest.approx(expected, abs=1e-9)
    assert -1e-12 <= found.value <= 1 + 1e-12


@given(TABLES)
def test_kendalls_w_sees_order_only(table: list[list[float]]) -> None:
    """Each rater may have a scale of its own; units and raters change places."""
    found = kendall_w(table)
    other = kendall_w([[math.exp(one) + place for one in row[::-1]] for place, row in enumerate(table[::-1])])

    if isinstance(found, Undefined):
        assert isinstance(other, Undefined)
    else:
        assert isinstance(other, Agreement)
        assert other.value == pytest.approx(found.value, abs=1e-12)


def test_two_units_are_enough() -> None:
    """Three raters who all put the second first; amounts 1 2, 1 2, 1 3 have mean squares 8/3 and 1/6."""
    ranks, amounts = kendall_w([[1, 2], [1, 2], [1, 3]]), icc([[1, 2], [1, 2], [1, 3]], "1,1")

    assert isinstance(ranks, Agreement)
    assert isinstance(amounts, Agreement)
    assert ranks.value == pytest.approx(1)
    assert amounts.value == pytest.approx((8 / 3 - 1 / 6) / (8 / 3 + 2 / 6))


def test_what_is_left_out_is_named() -> None:
    """A unit that one did not rate, and a rater who ranks nothing."""
    found = kendall_w([[1, 2, 3, None], [1, 2, 3, 4], [5, 5, 5, 1]])

    assert isinstance(found, Agreement)
    assert found.value == pytest.approx(1)
    assert (found.n, found.pairs) == (3, 1)
    assert found.skipped == ("1 units that not every rater rated", "rater 3 gave the same rating throughout")


@pytest.mark.parametrize(
    ("raters", "why"),
    [
        ([], "it takes two raters"),
        ([[1, 2, 3]], "it takes two raters"),
        ([[1, None, 2], [None, 1, None]], "0 units were rated by all: it takes 2"),
        ([[1, 2, 3], [None, None, None]], "rater 2 gave no rating"),
        ([[4], [5]], "1 units were rated by all: it takes 2"),
    ],
)
def test_both_say_why_there_is_none(raters: list[list[float | None]], why: str) -> None:
    """One rater, no overlap, a silent rater, one unit."""
    found = [kendall_w(raters), *(icc(raters, form) for form in FORMS)]

    assert [one.why for one in found if isinstance(one, Undefined)] == [why] * 7


def test_constant_ratings_are_no_agreement() -> None:
    """All the same: nothing to rank, nothing to take a share of."""
    ranks, ratings = kendall_w([[5, 5, 5], [5, 5, 5]]), icc([[5, 5, 5], [5, 5, 5]])
    level = icc([[1, 2, 3], [3, 2, 1]], "3,k")

    assert isinstance(ranks, Undefined)
    assert isinstance(ratings, Undefined)
    assert isinstance(level, Undefined)
    assert ranks.why == "it takes two raters who did not rate all the same"
    assert ratings.why == "all ratings are the same"
    assert level.why == "the raters' means of the units do not differ"


def test_an_unknown_form_is_refused() -> None:
    """With the forms there are."""
    with pytest.raises(InputError, match="unknown form '4,1'"):
        icc(JUDGES, "4,1")  # type: ignore[arg-type]
