"""The F distribution: closed forms, SciPy, and Student's t as its root."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evenhand.stats._student import f_quantile, f_tail, student_tail

FREEDOM = st.one_of(st.integers(1, 300), st.floats(1, 60))


def test_f_has_a_closed_form_to_check_it_by() -> None:
    """With two and two degrees of freedom the tail is 1 / (1 + f)."""
    assert [f_tail(f, 2, 2) for f in (0.0, 0.5, 8.0, 1e6)] == pytest.approx([1.0, 2 / 3, 1 / 9, 1 / 1_000_001])


@pytest.mark.parametrize(("above", "below", "quantile"), [(1, 10, 4.9646), (5, 10, 3.3258), (10, 20, 2.3479)])
def test_the_quantiles_of_f_are_those_of_the_tables(above: int, below: int, quantile: float) -> None:
    """The upper 5 %, as printed in every table."""
    assert f_quantile(0.05, above, below) == pytest.approx(quantile, abs=5e-5)


@given(st.floats(0, 50), FREEDOM, FREEDOM)
def test_the_tail_of_f_is_scipys(f: float, above: float, below: float) -> None:
    """Whole degrees of freedom and others."""
    assert f_tail(f, above, below) == pytest.approx(scipy_stats.f.sf(f, above, below), rel=1e-7, abs=1e-14)


@given(st.floats(0.001, 0.999), FREEDOM, FREEDOM)
def test_a_quantile_of_f_has_its_tail(tail: float, above: float, below: float) -> None:
    """Both tails: an interval needs the lower one as well."""
    assert f_tail(f_quantile(tail, above, below), above, below) == pytest.approx(tail, rel=1e-9)


@given(st.floats(0, 20), st.integers(1, 200))
def test_the_square_of_t_is_f(t: float, df: int) -> None:
    """With one degree of freedom above."""
    assert f_tail(t * t, 1, df) == pytest.approx(2 * student_tail(t, df), rel=1e-9, abs=1e-300)
