"""The chance of seeing a difference, held against SciPy's noncentral t and against itself."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evenhand.errors import InputError
from evenhand.stats.differences import difference_of
from evenhand.stats.power import (
    count_pairs_for_scale_bound,
    detectable_effect_at_power,
    needed_for,
    power_band,
    power_of,
    step_of,
)


@pytest.mark.parametrize("n", [5, 8, 12, 20, 50, 200])
@pytest.mark.parametrize("effect", [0.0, 0.2, 0.5, 1.0])
def test_power_is_that_of_the_noncentral_t(n: int, effect: float) -> None:
    """Both tails count; without an effect what is left is the level."""
    critical, away = scipy_stats.t.ppf(0.975, n - 1), math.sqrt(n) * effect
    expected = scipy_stats.nct.sf(critical, n - 1, away) + scipy_stats.nct.cdf(-critical, n - 1, away)

    found = power_of(n, effect, 1.0)

    assert found.power == pytest.approx(expected, abs=1e-5)
    assert (found.method, found.n) == ("noncentral t", n)


def test_half_a_deviation_takes_34_pairs() -> None:
    """The textbook value for 80% at 5%, two-sided."""
    assert needed_for(0.5, 1.0) == 34
    assert power_of(33, 0.5, 1.0).power < 0.8 <= power_of(34, 0.5, 1.0).power


@given(st.floats(0.05, 3), st.floats(0.1, 3), st.sampled_from([0.5, 0.8, 0.9]))
def test_what_is_needed_is_just_enough(effect: float, sd: float, power: float) -> None:
    """One pair less would not do."""
    n = needed_for(effect, sd, power=power)

    assert n is not None
    assert power_of(n, effect, sd).power >= power
    assert n == 2 or power_of(n - 1, effect, sd).power < power


def test_ties_cost_one_step() -> None:
    """Differences in whole points over 20 pairs: an effect of 1 counts as one of 0.95."""
    tied, plain = power_of(20, 1.0, 2.0, step=1.0), power_of(20, 0.95, 2.0)

    assert tied.power == pytest.approx(plain.power)
    assert tied.method == "noncentral t, less one step for ties"


def test_the_step_is_the_smallest_gap_of_tied_differences() -> None:
    """Thirds of points move in thirds; differences that are all different move in no steps."""
    assert step_of([0.0, 1 / 3, -1 / 3, 1.0]) == pytest.approx(1 / 3)
    assert step_of([2.0, 2.0, -2.0]) == 2.0
    assert step_of([0.1, 0.25, -0.7]) == 0.0
    assert step_of([0.0, 0.0]) == 0.0
    assert step_of([]) == 0.0


def test_nothing_is_seen_of_no_effect_and_everything_without_scatter() -> None:
    """The ends of the scale are defined."""
    assert needed_for(0.0, 1.0) is None
    assert power_of(10, 0.5, 0.0).power == 1.0
    assert power_of(10, 0.0, 0.0).power == 0.0


@pytest.mark.parametrize(
    ("n", "effect", "sd"), [(1, 0.5, 1.0), (20, math.nan, 1.0), (20, 0.5, -1.0), (20, 0.5, math.inf)]
)
def test_what_has_no_power_is_refused(n: int, effect: float, sd: float) -> None:
    """Never NaN."""
    with pytest.raises(InputError):
        power_of(n, effect, sd)


def test_a_power_of_one_is_refused() -> None:
    """No number of samples gives certainty."""
    with pytest.raises(InputError, match="between 0 and 1"):
        needed_for(0.5, 1.0, power=1.0)


def test_more_pairs_see_more() -> None:
    """Power grows with every pair, tied or not."""
    for step in (0.0, 0.5):
        powers = [power_of(n, 0.5, 1.0, step=step).power for n in range(3, 200)]

        assert np.all(np.diff(powers) > -1e-4)


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("sd", [0.0, 0.01, 1.0])
def test_below_five_pairs_nothing_is_seen(n: int, sd: float) -> None:
    """No verdict calls a difference of so few pairs significant."""
    assert power_of(n, 2.33, sd).power == 0
    assert power_of(5, 2.33, sd).power > 0.5 or sd == 1.0
    with pytest.raises(InputError, match=f"{n} pairs show no difference"):
        detectable_effect_at_power(n, sd)


@pytest.mark.parametrize("effect", [0.25, 0.5, 1.0, 2.0])
def test_equal_differences_are_seen_when_their_bound_leaves_out_0(effect: float) -> None:
    """The number at which the interval of so many equal differences begins above 0, and not one before."""
    needed = needed_for(effect, 0.0, span=4.0)

    assert needed is not None
    ends = [difference_of([effect] * n, span=4.0, rng=np.random.default_rng(1)).low for n in (needed - 1, needed)]
    assert ends[0] <= 0 < ends[1]
    assert power_band(0.0, effect, span=4.0).needed == max(20, needed)


def test_half_a_point_takes_32_equal_pairs() -> None:
    """1 − 0.025 to the power of 1/n has to fall below 0.5 in 4.5: by hand, 31.3."""
    assert count_pairs_for_scale_bound(0.5, 4.5) == 32
    assert power_of(31, 0.5, 0.0, span=4.0).power == 0
    assert power_of(32, 0.5, 0.0, span=4.0).power == 1
