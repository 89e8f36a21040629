"""The sign-flip test alone: written out, beside the interval's test, and beside SciPy's."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evenhand.errors import InputError
from evenhand.stats._permutation import sign_flip_test

DIFFERENCES = st.lists(st.integers(-4, 4), min_size=2, max_size=40)


def _p(differences: object) -> float:
    return sign_flip_test(np.asarray(differences, dtype=float), rng=np.random.default_rng(7)).p


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=8))
def test_p_is_the_share_of_all_sign_flips(differences: list[int]) -> None:
    """Twice the flips whose sum is as far out on the observed side."""
    sums = [sum(sign * one for sign, one in zip(signs, differences, strict=True)) for signs in _signs(differences)]
    as_far = sum(one >= abs(sum(differences)) for one in sums)

    assert _p(differences) == pytest.approx(min(1.0, 2 * as_far / len(sums)))


def _signs(differences: list[int]) -> list[tuple[int, ...]]:
    return list(product((1, -1), repeat=len(differences)))


def test_six_wins_are_two_of_sixty_four() -> None:
    """All six signs alike happens in 2 of 2⁶ flips."""
    found = sign_flip_test([1, 2, 3, 1, 2, 3], rng=np.random.default_rng(1))

    assert (found.p, found.method, found.n) == (2 / 64, "sign flips, exact", 6)


@pytest.mark.parametrize("n", [40, 255, 300, 3001])
def test_many_differences_agree_with_scipy(n: int) -> None:
    """Drawn signs on both sides of the limit where they are drawn in pieces; 3,001 is no multiple of eight."""
    rng = np.random.default_rng(n)
    differences = rng.normal(1.5 / math.sqrt(n), 1, n)

    expected = scipy_stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=9_999, vectorized=True, batch=500, rng=rng
    ).pvalue
    found = sign_flip_test(differences, rng=rng)

    assert found.method == "sign flips, 9,999 drawn"
    assert found.p == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("n", [30, 400])
def test_a_drawn_p_is_never_nothing(n: int) -> None:
    """The observed signs are one of 10,000."""
    assert _p(np.linspace(1, 2, n)) == 2 / 10_000


@given(DIFFERENCES, st.randoms())
def test_neither_order_nor_side_changes_anything(differences: list[int], random: st.DataObject) -> None:
    """A sample has no place of its own, and neither side is favoured."""
    shuffled = sorted(differences, key=lambda _: random.random())  # type: ignore[attr-defined]

    assert _p(shuffled) == _p(differences)
    assert _p([-one for one in differences]) == _p(differences)


def test_neither_order_nor_side_changes_many_differences() -> None:
    """Nor where signs are drawn in pieces."""
    differences = np.random.default_rng(3).normal(0.1, 1, 500)

    assert _p(differences[::-1]) == _p(differences)
    assert _p(-differences) == _p(differences)


@given(DIFFERENCES, st.sampled_from([0.1, 7.0, 1000.0]))
def test_scaling_changes_nothing(differences: list[int], scale: float) -> None:
    """Points or percent."""
    assert _p([scale * one for one in differences]) == pytest.approx(_p(differences), abs=1e-12)


def test_no_difference_is_no_evidence() -> None:
    """Twenty ties are as likely as anything."""
    assert _p([0] * 20) == 1.0


@pytest.mark.parametrize(
    ("differences", "says"),
    [
        ([], "at least 2 pairs, got 0"),
        ([1.0], "at least 2 pairs, got 1"),
        ([1.0, math.inf], r"differences\[1\] is not a finite number"),
        ([1e200, 1.0], "too large to reckon with"),
    ],
)
def test_data_that_carry_no_test_are_refused(differences: list[float], says: str) -> None:
    """A refusal that says why, never NaN."""
    with pytest.raises(InputError, match=says):
        sign_flip_test(differences, rng=np.random.default_rng(1))
