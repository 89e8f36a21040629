"""Pearson, Spearman and Kendall: values by hand, SciPy as a second opinion, and intervals that hold."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evenhand.errors import InputError
from evenhand.stats.arrays import Undefined
from evenhand.stats.correlation import kendall_tau, pearson, spearman
from evenhand.stats.ratings import Correlation

Measure = Callable[..., Correlation | Undefined]

MEASURES: tuple[Measure, ...] = (pearson, spearman, kendall_tau)
SCIPY = {pearson: scipy_stats.pearsonr, spearman: scipy_stats.spearmanr, kendall_tau: scipy_stats.kendalltau}
ROWS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=3, max_size=30)
every_measure = pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)


def test_pearson_by_hand() -> None:
    """1, 2, 3 against 1, 3, 2: covariance 0.5, both variances 1."""
    found = pearson([1, 2, 3], [1, 3, 2])

    assert isinstance(found, Correlation)
    assert found.value == pytest.approx(0.5)
    assert (found.method, found.n) == ("Pearson", 3)


def test_spearman_by_hand() -> None:
    """10, 20, 99 against 1, 7, 3 have the ranks 1, 2, 3 and 1, 3, 2."""
    found = spearman([10, 20, 99], [1, 7, 3])

    assert isinstance(found, Correlation)
    assert found.value == pytest.approx(0.5)
    assert found.method == "Spearman"


def test_kendall_by_hand() -> None:
    """1, 1, 2, 3 against 1, 2, 2, 3: 4 pairs in order, none against, one tie on each side, so 4 / √(5·5)."""
    found = kendall_tau([1, 1, 2, 3], [1, 2, 2, 3])

    assert isinstance(found, Correlation)
    assert found.value == pytest.approx(0.8)
    assert (found.method, found.n) == ("Kendall τ-b", 4)


@every_measure
def test_constant_ratings_have_no_correlation_but_a_reason(measure: Measure) -> None:
    """A judge that always says 5 neither agrees nor disagrees."""
    found, turned = measure([5, 5, 5, 5], [1, 2, 3, 4]), measure([1, 2, 3, 4], [5, 5, 5, 5])

    assert isinstance(found, Undefined)
    assert isinstance(turned, Undefined)
    assert (found.why, found.n) == ("the first gave the same rating throughout", 4)
    assert turned.why == "the second gave the same rating throughout"
    both = measure([5, 5, 5, 5], [2, 2, 2, 2])
    assert isinstance(both, Undefined)
    assert both.why == "both gave the same rating throughout"


@every_measure
@pytest.mark.parametrize("n", [0, 1, 2])
def test_two_ratings_have_no_correlation(measure: Measure, n: int) -> None:
    """Two points always lie on a line."""
    found = measure([1, 2][:n], [2, 1][:n])

    assert isinstance(found, Undefined)
    assert found.why == f"{n} ratings in common are too few: it takes 3"


@every_measure
@given(ROWS)
def test_the_value_is_scipys(measure: Measure, rows: list[tuple[int, int]]) -> None:
    """With all the ties of 1–5 scores; where SciPy gives NaN there is a reason."""
    x, y = zip(*rows, strict=True)

    found = measure(x, y)

    if isinstance(found, Undefined):
        assert len(set(x)) == 1 or len(set(y)) == 1
    else:
        assert found.value == pytest.approx(SCIPY[measure](x, y)[0], abs=1e-12)


@every_measure
@given(ROWS)
def test_neither_sides_nor_order_nor_scale_matter(measure: Measure, rows: list[tuple[int, int]]) -> None:
    """Nor for the interval, which holds the value."""
    x, y = [float(one) for one, _ in rows], [float(other) for _, other in rows]

    found, swapped, scaled = measure(x, y), measure(y[::-1], x[::-1]), measure([10 * one + 3 for one in x], y)

    if isinstance(found, Undefined):
        return
    assert isinstance(swapped, Correlation)
    assert isinstance(scaled, Correlation)
    assert swapped.value == pytest.approx(found.value, abs=1e-12)
    assert scaled.value == pytest.approx(found.value, abs=1e-12)
    assert -1 <= found.value <= 1
    for other in (swapped, scaled):
        assert other.no_interval == found.no_interval
        if found.low is not None and found.high is not None:
            assert -1 <= found.low <= found.value <= found.high <= 1
            assert [other.low, other.high] == pytest.approx([found.low, found.high], abs=1e-9)


@pytest.mark.parametrize(("measure", "turn"), [(spearman, math.exp), (kendall_tau, math.exp)])
@given(ROWS)
def test_ranks_see_order_only(measure: Measure, turn: Callable[[float], float], rows: list[tuple[int, int]]) -> None:
    """Any rising function of the ratings leaves value and interval as they are."""
    x, y = zip(*rows, strict=True)

    found, bent = measure(x, y), measure([turn(one) for one in x], y)

    assert bent == found


@pytest.mark.parametrize("levels", [5, 1_000_000])
def test_a_hundred_thousand_ratings_are_no_trouble(levels: int) -> None:
    """All pairs would be ten billion; few levels and many give SciPy's value."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, levels, 100_000)
    y = np.where(rng.random(100_000) < 0.3, x, rng.integers(0, levels, 100_000))

    found = kendall_tau(x, y)

    assert isinstance(found, Correlation)
    assert found.value == pytest.approx(scipy_stats.kendalltau(x, y)[0], abs=1e-12)
    assert found.low is not None
    assert found.high is not None
    assert 0.005 < found.high - found.low < 0.02


@every_measure
def test_the_influences_are_what_leaving_one_out_moves(measure: Measure) -> None:
    """For many normal values Fisher's interval is as wide as the textbook says, and no wider than the jackknife's."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=400)
    y = 0.6 * x + 0.8 * rng.normal(size=400)
    x, y = np.round(x, 1), np.round(y)  # Ties on both sides.

    found = measure(x, y)
    left = [SCIPY[measure](np.delete(x, one), np.delete(y, one))[0] for one in range(400)]

    assert isinstance(found, Correlation)
    assert found.low is not None
    assert found.high is not None
    error = math.sqrt(399 * np.var(left)) / (1 - found.value**2)
    reach = (math.atanh(found.high) - math.atanh(found.low)) / 2
    textbook = {pearson: 1 / 397, spearman: (1 + found.value**2 / 2) / 397, kendall_tau: 0.437 / 396}[measure]
    assert reach == pytest.approx(max(1.966 * error, 1.96 * math.sqrt(textbook)), rel=0.01)


@every_measure
def test_few_or_perfect_ratings_have_a_value_and_no_interval(measure: Measure) -> None:
    """It says why instead of closing on the value."""
    few, perfect = measure([1, 2, 3, 5, 4], [1, 2, 3, 4, 5]), measure(range(20), range(20))

    assert isinstance(few, Correlation)
    assert isinstance(perfect, Correlation)
    assert (few.low, few.high, few.level) == (perfect.low, perfect.high, perfect.level) == (None, None, None)
    assert few.no_interval == "5 ratings in common are too few for an interval: it takes 6"
    assert perfect.no_interval == "without any exception there is no spread to measure an interval by"
    assert perfect.value == pytest.approx(1)


@every_measure
@pytest.mark.parametrize(("n", "cuts"), [(8, None), (20, None), (20, [-1.3, -0.5, 0.3, 1.1]), (50, [-1.8, -1.2, -0.3])])
def test_nineteen_of_twenty_intervals_hold_the_truth(measure: Measure, n: int, cuts: list[float] | None) -> None:
    """Normal values, 1–5 scores, and scores that crowd at the top, where textbook intervals of τ hold in 80%."""
    rng = np.random.default_rng(n)

    def drawn(size: int) -> list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
        x = rng.normal(size=size)
        sides = [x, 0.5 * x + math.sqrt(0.75) * rng.normal(size=size)]
        return sides if cuts is None else [np.digitize(side, cuts).astype(np.float64) for side in sides]

    truth = float(SCIPY[measure](*drawn(200_000))[0])
    found = [measure(*drawn(n)) for _ in range(400)]

    ends = [(one.low, one.high) for one in found if isinstance(one, Correlation)]
    held = [low <= truth <= high for low, high in ends if low is not None and high is not None]
    assert len(held) > 390
    assert sum(held) / len(held) >= 0.92


def test_ratings_that_cannot_be_compared_are_refused() -> None:
    """Different lengths, no numbers, too large to square."""
    with pytest.raises(InputError, match="3 ratings beside 2"):
        pearson([1, 2, 3], [1, 2])
    with pytest.raises(InputError, match=r"x\[1\] is not a finite number"):
        spearman([1, math.nan, 3], [1, 2, 3])
    with pytest.raises(InputError, match=r"x\[1\] is 1e\+200, which is too large"):
        kendall_tau([1, 1e200, 3], [1, 2, 3])
    with pytest.raises(InputError, match="level must be between 0 and 1"):
        pearson([1, 2, 3], [1, 3, 2], level=95)
