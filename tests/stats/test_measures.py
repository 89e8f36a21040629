"""Means, rates, several tests, power and saturation against values worked by hand or read from tables."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.stats.distributions import compute_fair_coin_tail, compute_t_tail, student_quantile
from evenhand.stats.means import mean_interval
from evenhand.stats.multiple_tests import holm
from evenhand.stats.power import needed_for, power_band, saturation
from evenhand.stats.rates import mcnemar_worse, wilson


@pytest.mark.parametrize(
    ("df", "quantile"),
    [(1, 12.7062), (2, 4.3027), (4, 2.7764), (9, 2.2622), (19, 2.0930), (30, 2.0423), (100, 1.9840), (99_999, 1.9600)],
)
def test_students_quantiles_are_those_of_the_tables(df: int, quantile: float) -> None:
    """Two-sided 95%, as printed in every table."""
    assert student_quantile(0.025, df) == pytest.approx(quantile, abs=5e-5)


def test_students_tail_has_closed_forms_to_check_it_by() -> None:
    """One degree of freedom is Cauchy; two have a square root."""
    assert compute_t_tail(3.0, 1) == pytest.approx(0.5 - math.atan(3.0) / math.pi, rel=1e-12)
    assert compute_t_tail(3.0, 2) == pytest.approx(0.5 - 3 / (2 * math.sqrt(2 + 9)), rel=1e-12)
    assert compute_t_tail(0.0, 7) == 0.5


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_binomial_tail_is_the_sum_of_its_terms(heads: int, tails: int) -> None:
    """The incomplete beta function against counting."""
    tosses = heads + tails

    counted = sum(math.comb(tosses, one) for one in range(heads, tosses + 1)) / 2**tosses

    assert compute_fair_coin_tail(heads, tosses) == pytest.approx(counted, rel=1e-10)


def test_the_interval_of_a_mean_by_hand() -> None:
    """1, 2, 3, 4, 5: mean 3, standard error √(2.5/5) = 0.7071, times 2.7764 is 1.9632."""
    found = mean_interval([1, 2, 3, 4, 5])

    assert (found.estimate, found.n, found.method) == (3.0, 5, "t")
    assert [found.low, found.high] == pytest.approx([1.0368, 4.9632], abs=5e-5)


def test_repeats_of_a_sample_are_one_value_of_the_mean() -> None:
    """A sample asked three times counts as often as one asked once."""
    found = mean_interval([5, 5, 5, 1], samples=[1, 1, 1, 2])

    assert (found.estimate, found.n) == (3.0, 2)


@given(st.lists(st.integers(1, 5), min_size=2, max_size=30))
def test_a_mean_does_not_care_about_order_and_lies_inside(scores: list[int]) -> None:
    """Nor does it ever come out as something that is no number."""
    found = mean_interval(scores)

    assert mean_interval(scores[::-1]) == found
    assert found.low <= found.estimate <= found.high


def test_wilson_by_hand() -> None:
    """8 of 10: (0.8 + 0.19207) / 1.38415 ± …: 0.4902 to 0.9433, as the literature has it."""
    found = wilson(8, 10)

    assert (found.estimate, found.n, found.method) == (0.8, 10, "Wilson")
    assert [found.low, found.high] == pytest.approx([0.4902, 0.9433], abs=5e-5)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_stays_between_nothing_and_all(counted: tuple[int, int]) -> None:
    """And failing is the mirror image of passing."""
    passed, n = counted

    found, failed = wilson(passed, n), wilson(n - passed, n)

    assert 0 <= found.low <= found.estimate <= found.high <= 1
    assert [failed.low, failed.high] == pytest.approx([1 - found.high, 1 - found.low])


@pytest.mark.parametrize(
    ("by_treatment", "by_control", "p"), [(0, 0, 1.0), (7, 0, 1 / 128), (6, 0, 1 / 64), (0, 7, 1.0), (3, 1, 5 / 16)]
)
def test_losing_more_is_a_coin_that_fell_on_one_side(by_treatment: int, by_control: int, p: float) -> None:
    """7 of 7 is 1 of 128; 3 of 4 or more is 5 of 16."""
    found = mcnemar_worse(by_treatment, by_control)

    assert found.p == pytest.approx(p, rel=1e-12)
    assert found.n == by_treatment + by_control


def test_holm_by_hand() -> None:
    """0.01 × 3, 0.02 × 2 and 0.04 × 1 in order of size, none below the one before."""
    assert holm([0.04, 0.01, 0.02]).p == pytest.approx((0.04, 0.03, 0.04))
    assert holm([0.6, 0.7]).p == (1.0, 1.0)
    assert holm([]).n == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.randoms())
def test_holm_only_raises_and_follows_its_test(ps: list[float], random: st.DataObject) -> None:
    """Adjusted values belong to their tests, whatever the order."""
    places = sorted(range(len(ps)), key=lambda _: random.random())  # type: ignore[attr-defined]

    adjusted, moved = holm(ps).p, holm([ps[place] for place in places]).p

    assert all(before <= after <= 1 for before, after in zip(ps, adjusted, strict=True))
    assert moved == tuple(adjusted[place] for place in places)


@pytest.mark.parametrize(("sd", "needed"), [(0.0, 20), (0.5, 20), (1.0, 34), (1.5, 73)])
def test_the_power_band_is_that_of_the_tables(sd: float, needed: int) -> None:
    """34 pairs for half a standard deviation at 80%; never below 20."""
    assert power_band(sd).needed == needed


def test_a_smaller_effect_takes_more_samples() -> None:
    """A quarter of a point takes about four times as many."""
    assert power_band(1.0, smallest_effect=0.25).needed == 128


@pytest.mark.parametrize("step", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("effect", [0.2, 0.5])
@pytest.mark.parametrize("sd", [0.2, 0.8, 1.6])
def test_the_power_band_is_what_the_exact_count_is(sd: float, effect: float, step: float) -> None:
    """A verdict's next step and `--power` name one number."""
    exact = needed_for(effect, sd, step=step)

    assert exact is not None
    assert power_band(sd, effect, step=step).needed == max(20, exact)


def test_ever_equal_samples_are_saturated() -> None:
    """Twenty samples without any difference leave nothing to narrow; nineteen are too few to trust that."""
    settled = saturation([0.0] * 20, rng=np.random.default_rng(1))
    few = saturation([0.0] * 19, rng=np.random.default_rng(1))

    assert (settled.saturated, settled.low_confidence) == (True, False)
    assert (few.saturated, few.low_confidence) == (False, True)


def test_many_samples_are_saturated_and_few_are_not_known_to_be() -> None:
    """Each tenth of 5,000 samples narrows the interval by what the square root of n does; five have no interval."""
    many = saturation(np.random.default_rng(2).normal(0, 1, 5000), rng=np.random.default_rng(1))
    few = saturation([1.0, 2.0, 2.0, 4.0, 5.0], rng=np.random.default_rng(1))

    assert many.saturated
    assert many.changed == pytest.approx(1 - math.sqrt(7 / 8), abs=0.02)
    assert [one.n for one in many.curve] == list(range(500, 5001, 500))
    assert [one.half_width for one in few.curve] == [math.inf] * 10
    assert (few.saturated, few.changed, few.moved) == (False, None, None)


def test_a_late_turn_is_not_saturated() -> None:
    """One outlier among the last samples makes the interval a hundred times as wide."""
    differences = [*np.linspace(-0.1, 0.1, 29), 40.0]
    late = next(seed for seed in range(99) if np.random.default_rng(seed).permutation(30)[-1] == 29)

    found = saturation(differences, rng=np.random.default_rng(late))

    assert not found.saturated
    assert found.changed is not None
    assert found.changed > 100


def test_a_late_drift_is_not_saturated() -> None:
    """The last third lies a point higher: the width hardly changes, the estimate moves by more than half of it."""
    order = np.argsort(np.random.default_rng(3).permutation(60))
    differences = np.where(order >= 42, 1.0, 0.0) + np.linspace(-0.05, 0.05, 60)
    turned = [saturation(np.sort(differences), rng=np.random.default_rng(seed)) for seed in range(12)]

    moved = [one for one in turned if one.moved is not None and one.moved > 0.5]

    assert moved
    assert not any(one.saturated for one in moved)


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=30))
def test_saturation_does_not_care_in_which_order_samples_come(differences: list[int]) -> None:
    """The random order is the generator's, not the file's."""
    forward = saturation(differences, rng=np.random.default_rng(5))
    backward = saturation(differences[::-1], rng=np.random.default_rng(5))

    assert forward == backward


def test_what_cannot_be_is_refused() -> None:
    """With the reason, never as NaN."""
    with pytest.raises(InputError, match="at least 2 samples, got 1"):
        mean_interval([3.0])
    with pytest.raises(InputError, match="11 of 10 is not a share"):
        wilson(11, 10)
    with pytest.raises(InputError, match="0 of 0 is not a share"):
        wilson(0, 0)
    with pytest.raises(InputError, match="cannot be below 0"):
        mcnemar_worse(-1, 3)
    with pytest.raises(InputError, match="sd must be a finite number, got nan"):
        power_band(math.nan)
    with pytest.raises(InputError, match="standard deviation cannot be -1"):
        power_band(-1.0)
    with pytest.raises(InputError, match="smallest_effect must be above 0"):
        power_band(1.0, smallest_effect=0)


@pytest.mark.parametrize(
    ("ps", "says"),
    [
        ([0.5, math.nan], r"ps\[1\] is not a finite number"),
        ([0.01, None], r"ps\[1\] is not a finite number"),
        (["0.01"], "ps must be numbers"),
        ([-0.1], "between 0 and 1, got -0.1"),
        ([1.1], "between 0 and 1, got 1.1"),
    ],
)
def test_what_is_no_p_is_refused(ps: list[Any], says: str) -> None:
    """With the reason."""
    with pytest.raises(InputError, match=says):
        holm(ps)


@pytest.mark.parametrize(
    ("values", "scale", "low", "high"),
    [
        ([5.0] * 24, (1, 5), 5 - 4 * (1 - 0.025 ** (1 / 24)), 5.0),
        ([75.0, 75.0], (0, 100), 75 * 0.025**0.5, 100 - 25 * 0.025**0.5),
        ([1.0] * 5, (1, 5), 1.0, 1 + 4 * (1 - 0.025**0.2)),
    ],
)
def test_the_mean_of_equal_values_is_bounded_by_their_scale(
    values: list[float], scale: tuple[float, float], low: float, high: float
) -> None:
    """What was not seen may be rare, and as far away as the scale allows."""
    found = mean_interval(values, scale=scale)

    assert [found.low, found.high] == pytest.approx([low, high])
    assert found.estimate == values[0]
    assert "a bound on the scale" in found.method


def test_a_bounded_mean_covers_where_few_values_differ() -> None:
    """One output in fifteen fails: 95% intervals of 20 samples cover the mean, where Student's do in 75% of draws."""
    rng = np.random.default_rng(4)
    draws = np.where(rng.random((400, 20)) < 1 / 15, 1.0, 5.0)
    truth = 5 - 4 / 15

    def share(scale: tuple[float, float] | None) -> float:
        found = [mean_interval(row, scale=scale) for row in draws]
        return float(np.mean([one.low <= truth <= one.high for one in found]))

    assert share(None) < 0.8
    assert share((1, 5)) >= 0.95


def test_scattered_values_keep_their_interval_and_stay_on_the_scale() -> None:
    """The scale only cuts what lies beyond it."""
    scattered = [1.0, 2.0, 3.0, 4.0, 5.0, 4.5, 2.5]
    plain, bounded = mean_interval(scattered), mean_interval(scattered, scale=(1, 5))
    cut = mean_interval([4.0, 5.0, 5.0], scale=(1, 5))

    assert (plain.low, plain.high, plain.method) == (bounded.low, bounded.high, bounded.method)
    assert cut.high == 5.0
