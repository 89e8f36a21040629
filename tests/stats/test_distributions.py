"""F and the noncentral t: closed forms, SciPy, and Student's t as the root of F."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evenhand.stats.distributions import compute_f_tail, compute_noncentral_t_tail, compute_t_tail

FREEDOM = st.one_of(st.integers(1, 300), st.floats(1, 60))


def test_f_has_a_closed_form_to_check_it_by() -> None:
    """With two and two degrees of freedom the tail is 1 / (1 + f)."""
    assert [compute_f_tail(f, 2, 2) for f in (0.0, 0.5, 8.0, 1e6)] == pytest.approx([1.0, 2 / 3, 1 / 9, 1 / 1_000_001])


@given(st.floats(0, 50), FREEDOM, FREEDOM)
def test_the_tail_of_f_is_scipys(f: float, above: float, below: float) -> None:
    """Whole degrees of freedom and others."""
    assert compute_f_tail(f, above, below) == pytest.approx(scipy_stats.f.sf(f, above, below), rel=1e-7, abs=1e-14)


@given(st.floats(0, 20), st.integers(1, 200))
def test_the_square_of_t_is_f(t: float, df: int) -> None:
    """With one degree of freedom above."""
    assert compute_f_tail(t * t, 1, df) == pytest.approx(2 * compute_t_tail(t, df), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("df", [2, 3, 7, 30, 1000, 99_999])
@pytest.mark.parametrize("t", [0.0, 0.3, 2.0, 12.0, 150.0])
def test_the_noncentral_tail_is_scipys(t: float, df: int) -> None:
    """Small and large, near and far from its centre."""
    for centre in (-2.0, 0.0, t - 1.5, t, t + 2.5, 1.2 * t):
        assert compute_noncentral_t_tail(t, df, centre) == pytest.approx(scipy_stats.nct.sf(t, df, centre), abs=1e-8)
