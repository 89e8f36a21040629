"""Agreement between raters: defined values by hand, and a reason where there is none."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.stats import Agreement, Correlation, Undefined, krippendorff, mean_pairwise, pearson

# Krippendorff's own example: four observers, twelve units, published α = 0.849 for interval data.
OBSERVERS: list[list[float | None]] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
ROWS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=3, max_size=30)


def test_pearson_by_hand() -> None:
    """1, 2, 3 against 1, 3, 2: covariance 0.5, both variances 1."""
    found = pearson([1, 2, 3], [1, 3, 2])

    assert isinstance(found, Correlation)
    assert found.value == pytest.approx(0.5)
    assert (found.method, found.n) == ("Pearson", 3)


def test_constant_ratings_have_no_correlation_but_a_reason() -> None:
    """A judge that always says 5 neither agrees nor disagrees."""
    found = pearson([5, 5, 5, 5], [1, 2, 3, 4])

    assert found == Undefined(why="the first gave the same rating throughout", method="Pearson", n=4)


def test_two_ratings_have_no_correlation() -> None:
    """Two points always lie on a line."""
    assert isinstance(pearson([1, 2], [2, 1]), Undefined)


@given(ROWS)
def test_pearson_does_not_care_about_sides_order_and_scale(rows: list[tuple[int, int]]) -> None:
    """And is never NaN."""
    x, y = [float(one) for one, _ in rows], [float(other) for _, other in rows]

    found, swapped, scaled = pearson(x, y), pearson(y[::-1], x[::-1]), pearson([10 * one + 3 for one in x], y)

    if isinstance(found, Correlation):
        assert isinstance(swapped, Correlation)
        assert isinstance(scaled, Correlation)
        assert -1 <= found.value <= 1
        assert swapped.value == pytest.approx(found.value, abs=1e-12)
        assert scaled.value == pytest.approx(found.value, abs=1e-12)
    else:
        assert len(set(x)) == 1 or len(set(y)) == 1


def test_the_mean_over_pairs_uses_what_both_rated() -> None:
    """Three raters: 1 between the first two, −1 between each of them and the third."""
    found = mean_pairwise([[1, 2, 3, None], [2, 3, 4, 9], [3, 2, 1, None]])

    assert isinstance(found, Agreement)
    assert [found.value, found.pairs, found.n] == pytest.approx([-1 / 3, 3, 3])


def test_a_constant_rater_is_left_out_and_named() -> None:
    """Its pairs are skipped, not counted as zero."""
    found = mean_pairwise([[1, 2, 3], [1, 2, 4], [5, 5, 5]])

    assert isinstance(found, Agreement)
    assert (found.pairs, len(found.skipped)) == (1, 2)
    assert found.skipped[0] == "raters 1 and 3: the second gave the same rating throughout"


@pytest.mark.parametrize("raters", [[], [[1, 2, 3]], [[5, 5, 5], [5, 5, 5]], [[1, None, 2], [None, 1, None]]])
def test_raters_that_cannot_be_compared_give_a_reason(raters: list[list[float | None]]) -> None:
    """None, one, constant, no overlap: undefined, with words."""
    for found in (mean_pairwise(raters), krippendorff(raters)):
        assert isinstance(found, Undefined)
        assert found.why


def test_krippendorffs_own_example() -> None:
    """The published value; one unit that only one observer rated does not count."""
    found = krippendorff(OBSERVERS)

    assert isinstance(found, Agreement)
    assert (round(found.value, 3), found.n) == (0.849, 11)


def test_alpha_does_not_care_about_names_order_and_scale() -> None:
    """Interval data: any straight line leaves it as it is."""
    found = krippendorff(OBSERVERS)
    turned = krippendorff([row[::-1] for row in OBSERVERS[::-1]])
    scaled = krippendorff([[None if one is None else 100 - 7 * one for one in row] for row in OBSERVERS])

    assert isinstance(found, Agreement)
    assert isinstance(turned, Agreement)
    assert isinstance(scaled, Agreement)
    assert [turned.value, scaled.value] == pytest.approx([found.value] * 2)


def test_ratings_that_are_no_numbers_are_refused() -> None:
    """NaN is not how a missing rating is said."""
    with pytest.raises(InputError, match="rater 2 has a rating that is no finite number"):
        mean_pairwise([[1, 2, 3], [1, math.nan, 3]])
    with pytest.raises(InputError, match="rows of different length"):
        krippendorff([[1, 2, 3], [1, 2]])
    with pytest.raises(InputError, match="3 ratings beside 2"):
        pearson([1, 2, 3], [1, 2])
