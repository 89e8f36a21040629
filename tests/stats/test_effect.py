"""Effect sizes: worked by hand, beside SciPy's noncentral t, and the same in any unit."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evenhand.errors import InputError
from evenhand.stats._agreement import Undefined
from evenhand.stats._effect import EffectSize, cliffs_delta, hedges_g, superiority
from evenhand.stats._noncentral import centre_of, noncentral_tail
from evenhand.stats._rates import rate_difference, wilson

DIFFERENCES = st.lists(st.integers(-4, 4), min_size=3, max_size=40)


def _g(differences: object, level: float = 0.95) -> EffectSize:
    found = hedges_g(np.asarray(differences, dtype=float), level=level)
    assert isinstance(found, EffectSize)
    return found


def test_hedges_g_by_hand() -> None:
    """1, 2, 3, 4, 5: 3 / √2.5 = 1.8974, times Γ(2) / (√2 · Γ(1.5)) = 1 / (1.41421 · 0.886227) = 0.797885."""
    found = _g([1, 2, 3, 4, 5])

    assert found.estimate == pytest.approx(1.8974 * 0.797885, abs=5e-5)
    assert (found.n, found.level, found.method) == (5, 0.95, "Cohen's d_z, Hedges' correction")


def test_the_effects_that_fit_are_those_of_scipys_noncentral_t() -> None:
    """From the lower end a t as large is a case of 1 in 40, from the upper end one as small."""
    differences = np.random.default_rng(1).normal(0.6, 1, 18)
    t = scipy_stats.ttest_1samp(differences, 0).statistic

    found = _g(differences)

    assert scipy_stats.nct.sf(t, 17, found.low * math.sqrt(18)) == pytest.approx(0.025, abs=1e-6)
    assert scipy_stats.nct.cdf(t, 17, found.high * math.sqrt(18)) == pytest.approx(0.025, abs=1e-6)


@pytest.mark.parametrize("df", [2, 3, 7, 30, 1000, 99_999])
@pytest.mark.parametrize("t", [0.0, 0.3, 2.0, 12.0, 150.0])
def test_the_noncentral_tail_is_scipys(t: float, df: int) -> None:
    """Small and large, near and far from its centre."""
    for centre in (-2.0, 0.0, t - 1.5, t, t + 2.5, 1.2 * t):
        assert noncentral_tail(t, df, centre) == pytest.approx(scipy_stats.nct.sf(t, df, centre), abs=1e-8)


@pytest.mark.parametrize("tail", [0.001, 0.025, 0.5, 0.975])
def test_the_centre_is_found_again(tail: float) -> None:
    """Halving ends where the tail is the one that was asked for, also at a t of two thousand."""
    for t, df in ((0.0, 2), (1.7, 9), (2000.0, 3)):
        assert noncentral_tail(t, df, centre_of(t, df, tail)) == pytest.approx(tail, abs=1e-6)


@given(DIFFERENCES)
def test_the_interval_leaves_out_nothing_exactly_when_student_is_significant(differences: list[int]) -> None:
    """The interval inverts the t-test, so the two cannot disagree."""
    found = hedges_g(differences)

    if isinstance(found, EffectSize):
        p = scipy_stats.ttest_1samp(differences, 0).pvalue
        assert (not found.low <= 0 <= found.high) == (p < 0.05)
        assert found.low <= found.estimate <= found.high


def test_the_correction_takes_out_the_bias() -> None:
    """Of 4,000 samples of five with a true effect of 0.5, d_z is a quarter too large on average, and g is not."""
    rows = np.random.default_rng(2).normal(0.5, 1, (4000, 5))
    raw = rows.mean(axis=1) / rows.std(axis=1, ddof=1)

    factor = _g(rows[0]).estimate / raw[0]

    assert raw.mean() > 0.58
    assert (factor * raw).mean() == pytest.approx(0.5, abs=0.035)


def test_the_interval_covers_the_true_effect() -> None:
    """Eight normal differences, 300 repetitions (2.3 standard errors: 2.9 points)."""
    rows = np.random.default_rng(3).normal(0.8, 1, (300, 8))

    found = [_g(row) for row in rows]

    assert np.mean([one.low <= 0.8 <= one.high for one in found]) == pytest.approx(0.95, abs=0.029)


def test_cliffs_delta_by_hand() -> None:
    """Three won, one tied, one lost: 3/5 − 1/5 = 0.4, and 3.5 of 5 = 0.7 as a chance."""
    differences = [1, 2, 0.5, 0, -3]

    delta, chance = cliffs_delta(differences), superiority(differences)

    assert (delta.estimate, chance.estimate) == pytest.approx((0.4, 0.7))
    assert (chance.low, chance.high) == pytest.approx(((1 + delta.low) / 2, (1 + delta.high) / 2))
    assert (delta.n, delta.method, chance.method) == (
        5,
        "Cliff's δ, paired, Tango",
        "probability of superiority, paired, Tango",
    )


def test_all_won_is_no_certainty() -> None:
    """Eight of eight: from n / (n + z²) = 8 / 11.8415 on, as Wilson has it for eight of eight passed."""
    found = superiority([1.0] * 8)

    assert (found.estimate, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(8 / 11.8415, abs=1e-5)
    assert found.low == pytest.approx(wilson(8, 8).low)


@given(DIFFERENCES, st.randoms(), st.sampled_from([0.1, 7.0, 1e140, 1e-200]))
def test_neither_order_nor_side_nor_unit_changes_a_size(
    differences: list[int], random: st.DataObject, scale: float
) -> None:
    """The other way round it is the same size with the other sign."""
    shuffled = sorted(differences, key=lambda _: random.random())  # type: ignore[attr-defined]
    turned = [-scale * one for one in shuffled]

    for measure in (hedges_g, cliffs_delta):
        found, back = measure(differences), measure(turned)
        if isinstance(found, EffectSize):
            assert isinstance(back, EffectSize)
            expected = [-found.estimate, -found.high, -found.low]
            assert [back.estimate, back.low, back.high] == pytest.approx(expected, rel=1e-7, abs=1e-9)
        else:
            assert isinstance(back, Undefined)
    assert superiority(turned).estimate == pytest.approx(1 - superiority(differences).estimate)


def test_equal_differences_have_no_size_in_standard_deviations() -> None:
    """0 by 0, and 1 by 0, are no numbers; what was won still is."""
    for differences in ([0.0] * 5, [0.7] * 5):
        found = hedges_g(differences)

        assert isinstance(found, Undefined)
        assert (found.n, "all 5 differences are equal" in found.why) == (5, True)
    assert cliffs_delta([0.0] * 5).estimate == 0.0


@pytest.mark.parametrize(
    ("differences", "says"), [([1.0, 2.0], "at least 3 pairs, got 2"), ([1.0, math.nan, 2.0], "not a finite number")]
)
def test_data_that_carry_no_size_are_refused(differences: list[float], says: str) -> None:
    """A refusal that says why, never NaN."""
    with pytest.raises(InputError, match=says):
        hedges_g(differences)
    with pytest.raises(InputError, match="at least 2 pairs, got 1"):
        cliffs_delta([1.0])
    with pytest.raises(InputError, match=r"95 % is 0\.95"):
        superiority([1.0, 2.0], level=95)


def test_delta_is_the_difference_of_two_rates() -> None:
    """Samples won alone and lost alone: the same interval as for samples that one side alone passed."""
    found, rates = cliffs_delta([1, 1, 1, 0, 0, 0, -1]), rate_difference(3, 1, 7)

    assert (found.estimate, found.low, found.high) == (rates.estimate, rates.low, rates.high)
