"""Hotelling's T²: worked by hand, beside Student and F, and refusing layers that say nothing of their own."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evenhand.errors import InputError
from evenhand.stats.arrays import Undefined
from evenhand.stats.multiple_tests import Hotelling, hotelling_of

ROWS = st.lists(st.tuples(*[st.integers(-4, 4)] * 3), min_size=4, max_size=30)


def _tested(rows: object, names: str = "abc") -> Hotelling | Undefined:
    table = np.asarray(rows, dtype=float)
    return hotelling_of({name: table[:, at] for at, name in enumerate(names)})


def test_two_layers_by_hand() -> None:
    """Differences (1, 1), (2, 0), (3, 2), (2, 1), with means 2 and 1 and n = 4.

    Deviations (−1, 0), (0, −1), (1, 1), (0, 0): variances 2/3 and 2/3, covariance 1/3. The inverse of
    [2/3 1/3; 1/3 2/3] is [2 −1; −1 2], so T² = 4 · (2 · 4 − 2 · 2 · 1 + 2 · 1) = 24 and F = (4 − 2)/(2 · 3) · 24 = 8.
    With 2 and 2 degrees of freedom the chance of a larger F is 1 / (1 + 8).
    """
    found = _tested([(1, 1), (2, 0), (3, 2), (2, 1)], "ab")

    assert isinstance(found, Hotelling)
    assert [found.t2, found.f, found.p] == pytest.approx([24.0, 8.0, 1 / 9])
    assert (found.df, found.estimates, found.n) == ((2, 2), {"a": 2.0, "b": 1.0}, 4)
    assert found.method == "Hotelling's T², paired"


def test_one_layer_is_students_test() -> None:
    """T² is t², and F with one degree of freedom above is t² too."""
    differences = np.random.default_rng(1).normal(0.4, 1, 15)

    found = hotelling_of({"judge": differences})

    t = scipy_stats.ttest_1samp(differences, 0)
    assert isinstance(found, Hotelling)
    assert [found.t2, found.p] == pytest.approx([t.statistic**2, t.pvalue])


def test_five_layers_agree_with_the_textbook_in_scipy() -> None:
    """n · m̄ᵀ S⁻¹ m̄ with SciPy's F."""
    table = np.random.default_rng(2).multivariate_normal([0.3] * 5, np.eye(5) + 0.5, 24)
    mean, covariance = table.mean(axis=0), np.cov(table.T)

    found = _tested(table, "abcde")

    t2 = 24 * mean @ np.linalg.inv(covariance) @ mean
    assert isinstance(found, Hotelling)
    assert found.t2 == pytest.approx(t2)
    assert found.p == pytest.approx(scipy_stats.f.sf(19 / (5 * 23) * t2, 5, 19))


@given(ROWS, st.randoms())
def test_the_order_of_samples_changes_nothing(rows: list[tuple[int, ...]], random: st.DataObject) -> None:
    """A sample has no place of its own."""
    shuffled = sorted(rows, key=lambda _: random.random())  # type: ignore[attr-defined]

    assert _tested(shuffled) == _tested(rows)


@given(ROWS)
def test_the_order_of_layers_changes_nothing(rows: list[tuple[int, ...]]) -> None:
    """Nor has a layer."""
    table = np.asarray(rows, dtype=float)

    assert hotelling_of({name: table[:, at] for at, name in ((2, "c"), (0, "a"), (1, "b"))}) == _tested(rows)


@given(ROWS, st.sampled_from([0.1, 7.0, 1e9, 1e-9]))
def test_swapping_sides_and_scaling_a_layer_change_nothing(rows: list[tuple[int, ...]], scale: float) -> None:
    """T² is the same in any unit, even where each layer has its own."""
    found = _tested(rows)
    turned = _tested([[-scale * a, -b, -c / scale] for a, b, c in rows])

    if isinstance(found, Hotelling):
        assert isinstance(turned, Hotelling)
        assert [turned.t2, turned.p] == pytest.approx([found.t2, found.p], rel=1e-6)
        assert 0 <= found.p <= 1
    else:
        assert turned == found


def test_equal_variants_are_told_apart_in_one_of_twenty() -> None:
    """False alarms on normal differences: 5 % within what 600 repetitions may stray (2.3 standard errors)."""
    rng = np.random.default_rng(6)

    found = [_tested(rng.multivariate_normal([0, 0, 0], np.eye(3) + 0.5, 10)) for _ in range(600)]

    alarms = np.mean([isinstance(one, Hotelling) and one.p < 0.05 for one in found])
    assert alarms == pytest.approx(0.05, abs=0.021)


def test_a_constant_layer_is_named() -> None:
    """A layer that is everywhere as much better has no spread to be measured by."""
    found = _tested([(1, 0, 2), (2, 0, 2), (3, 0, 2), (5, 0, 2)])

    assert isinstance(found, Undefined)
    assert found.why == "all differences are equal in b and in c: test the other layers"
    assert found.n == 4


def test_collinear_layers_are_named() -> None:
    """Where c is 2a − d, nobody can say which of the three moved; b has nothing to do with it."""
    table = np.random.default_rng(4).normal(0, 1, (12, 3))
    a, b, d = table.T

    found = hotelling_of({"a": a, "b": b, "c": 2 * a - d + 1, "d": d})

    assert isinstance(found, Undefined)
    assert found.why == "the differences in d follow from those in a and c: leave one of them out"


def test_a_layer_given_twice_is_named() -> None:
    """Two layers that always move alike, whatever their units."""
    found = _tested([(1, 3, 0), (2, 6, 1), (0, 0, 1), (-1, -3, 2), (2, 6, 0)])

    assert isinstance(found, Undefined)
    assert found.why == "the differences in b follow from those in a: leave one of them out"


def test_a_composite_beside_its_layers_is_collinear() -> None:
    """The usual slip: the mean of the layers given as one more layer."""
    fact, judge = [0.25, 0.5, -0.25, 1.0, 0.0, 0.3], [1.0, 0.0, 0.0, 0.5, -1.0, 0.1]
    composite = [(one + other) / 2 for one, other in zip(fact, judge, strict=True)]

    found = hotelling_of({"fact": fact, "judge": judge, "composite": composite})

    assert isinstance(found, Undefined)
    assert "judge follow from those in composite and fact" in found.why


@pytest.mark.parametrize(
    ("differences", "says"),
    [
        ({}, "no layer to compare"),
        ({"a": [1.0, 2.0], "b": [2.0, 1.0]}, "2 layers need at least 3 samples, got 2"),
        ({"a": [1.0, 2.0, 3.0], "b": [2.0, 1.0]}, "different numbers of samples: a 3, b 2"),
        ({"a": [1.0, 2.0, math.nan]}, r"a\[2\] is not a finite number"),
        ({"a": [1e200, 2.0, 1.0]}, "too large to compute with"),
    ],
)
def test_data_that_carry_no_test_are_refused(differences: dict[str, list[float]], says: str) -> None:
    """A refusal that says why, never NaN."""
    with pytest.raises(InputError, match=says):
        hotelling_of(differences)
