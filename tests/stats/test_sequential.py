"""Looks at a comparison while it comes in: however many, together they are wrong as seldom as one."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scipy.optimize import brentq

from evenhand.errors import InputError
from evenhand.stats.differences import difference_of
from evenhand.stats.multiple_tests import (
    Looks,
    level_at,
    looks_after,
    near_rejection,
    p_over_looks,
    planned_looks,
    sequential_difference,
)
from tests.compare.drawing import SHARES, half_a_deviation_worse, scores
from tests.soak import at_least, at_most, often

DIFFERENCES = st.lists(st.integers(-4, 4), min_size=20, max_size=60)
SEED = 7


def all_looks(planned: int) -> list[Looks]:
    looks = planned_looks(planned)
    return [Looks(taken=looks[: place + 1], planned=planned) for place in range(len(looks))]


def test_looks_begin_at_twenty_and_come_closer_together_than_a_twentieth() -> None:
    """By hand: a fifth more each time, 20 + 4, 24 + 5, until 5% of 100 is less."""
    assert planned_looks(20) == (20,)
    assert planned_looks(25) == (20, 22, 24, 25)
    assert planned_looks(100) == (20, 24, *range(29, 100, 5), 100)


@given(st.integers(20, 20_000))
def test_looks_rise_from_twenty_to_the_end(planned: int) -> None:
    """No look below what a verdict needs, and none missing at the end."""
    looks = planned_looks(planned)

    assert (looks[0], looks[-1]) == (20, planned)
    assert all(0 < after - before <= max(1, -(-planned // 20)) for before, after in pairwise(looks))


def test_the_level_of_one_look_is_what_may_be_spent_by_then() -> None:
    """By hand: after a quarter of the samples ½ × ½ × ½ of the 5%; at the end, where nothing was spent, all of it."""
    assert level_at(Looks(taken=(25,), planned=100)) == pytest.approx(0.05 / 8)
    assert level_at(Looks(taken=(100,), planned=100)) == pytest.approx(0.05)


@pytest.mark.parametrize("level", [0.95, 0.5])
@pytest.mark.parametrize("first", [20, 50, 90])
def test_the_level_of_a_second_look_is_what_the_first_left_over(first: int, level: float) -> None:
    """SciPy's normal distribution of the two sums says at which bound exactly the rest of the 5% is spent."""
    spent = (1 - level) * (first / 100) ** 1.5
    bound = scipy_stats.norm.isf(spent / 2)
    both = scipy_stats.multivariate_normal(cov=[[1, (first / 100) ** 0.5], [(first / 100) ** 0.5, 1]])

    def stopped(second: float) -> float:
        ends = np.array([bound, second])
        return 1 - float(both.cdf(ends, lower_limit=-ends))

    second = brentq(lambda z: stopped(z) - (1 - level), 0.1, 5)

    found = level_at(Looks(taken=(first, 100), planned=100), level)
    assert found == pytest.approx(2 * scipy_stats.norm.sf(second), rel=0.005)


@pytest.mark.parametrize("planned", [25, 50, 100, 1000])
def test_walks_without_drift_are_stopped_in_one_of_twenty(planned: int) -> None:
    """Sums of normal steps, looked at as planned: no more than 5%, and not much less."""
    tries = often(20_000, 400_000)
    walks = np.zeros(tries)
    rng, before, stopped = np.random.default_rng(SEED), 0, np.zeros(tries, dtype=bool)

    for looks in all_looks(planned):
        now = looks.taken[-1]
        walks += rng.normal(0, (now - before) ** 0.5, tries)
        stopped |= np.abs(walks) / now**0.5 > scipy_stats.norm.isf(level_at(looks) / 2)
        before = now

    assert at_least(0.0495, tries) <= stopped.mean() <= at_most(0.05, tries)


@given(DIFFERENCES)
def test_one_look_at_the_end_is_the_plain_test(differences: list[int]) -> None:
    """Whoever does not look early pays nothing for it."""
    n = len(differences)

    plain = difference_of(differences, rng=np.random.default_rng(SEED))
    found = sequential_difference(differences, looks=Looks(taken=(n,), planned=n), rng=np.random.default_rng(SEED))

    assert (found.low, found.high, found.level) == (plain.low, plain.high, plain.level)
    assert found.p == pytest.approx(plain.p, rel=1e-3)


@given(DIFFERENCES, st.sampled_from([60, 100]))
def test_interval_and_p_never_disagree(differences: list[int], planned: int) -> None:
    """Both come from one test at one level, which is lower at a look than at the end."""
    looks = looks_after(len(differences), planned_looks(planned))

    found = sequential_difference(differences, looks=looks, rng=np.random.default_rng(SEED))

    assert (found.p < 0.05) == (not found.low <= 0 <= found.high)
    assert f"look {len(looks.taken)}, at {len(differences)} of {looks.planned}, alpha spending" in found.method


@given(DIFFERENCES, st.randoms())
def test_neither_order_nor_side_counts(differences: list[int], random: st.DataObject) -> None:
    """A shuffled look is the same look, and swapping the variants swaps the interval."""
    looks = looks_after(len(differences), planned_looks(100))
    shuffled = sorted(differences, key=lambda _: random.random())  # type: ignore[attr-defined]

    found = sequential_difference(differences, looks=looks, rng=np.random.default_rng(SEED))
    same = sequential_difference(shuffled, looks=looks, rng=np.random.default_rng(SEED))
    swapped = sequential_difference([-one for one in differences], looks=looks, rng=np.random.default_rng(SEED))

    assert same == found
    assert (swapped.low, swapped.high, swapped.p) == (-found.high, -found.low, found.p)


def test_an_early_look_is_wider_than_the_same_pairs_alone() -> None:
    """What is looked at often must be clearer to count."""
    differences = np.random.default_rng(3).normal(0.4, 1, 29)

    plain = difference_of(differences, rng=np.random.default_rng(SEED))
    early = sequential_difference(
        differences, looks=looks_after(29, planned_looks(100)), rng=np.random.default_rng(SEED)
    )

    assert early.low < plain.low < plain.estimate < plain.high < early.high
    assert early.p > plain.p
    assert early.level == plain.level == 0.95


@given(st.lists(st.floats(1e-12, 1), min_size=2, max_size=10), st.integers(0, 17))
def test_a_smaller_p_stays_smaller_and_none_becomes_smaller(ps: list[float], look: int) -> None:
    """Adjusting keeps the order and never flatters."""
    looks = all_looks(100)[look]

    adjusted = [p_over_looks(p, looks) for p in sorted(ps)]

    assert adjusted == sorted(adjusted)
    assert all(p * 0.999 <= found <= 1 for p, found in zip(sorted(ps), adjusted, strict=True))


@pytest.mark.parametrize("name", SHARES)
def test_the_intervals_of_all_looks_together_cover_the_truth(name: str) -> None:
    """In 95% of runs no look misses it, so the one at which a run is stopped does not either."""
    tries = often(30, 3_000)
    rng = np.random.default_rng([SEED, len(name)])

    covered = sum(_covered_throughout(rng, name) for _ in range(tries)) / tries

    assert covered >= at_least(0.95, tries)


def _covered_throughout(rng: np.random.Generator, name: str) -> bool:
    differences = (scores(name, rng, 50) - scores(name, rng, 50)).ravel()
    return not any(
        near_rejection(seen := differences[: looks.taken[-1]], looks=looks)
        and sequential_difference(seen, looks=looks, rng=rng).p < 0.05
        for looks in all_looks(50)
    )


def test_what_is_far_from_the_level_is_not_tested_in_full() -> None:
    """Student's t is near enough to tell; all differences alike need no scale, none of them is nothing to test."""
    looks = looks_after(20, planned_looks(100))
    worse = half_a_deviation_worse("normal", np.random.default_rng(1), (1, 20)).ravel()

    assert near_rejection(worse - 1, looks=looks)
    assert not near_rejection(worse - worse.mean(), looks=looks)
    assert near_rejection([1.0] * 20, looks=looks)
    assert not near_rejection([0.0] * 20, looks=looks)


@pytest.mark.parametrize(
    ("taken", "planned"), [((), 100), ((0, 20), 100), ((20, 20), 100), ((30, 20), 100), ((20, 101), 100)]
)
def test_looks_that_cannot_be_are_refused(taken: tuple[int, ...], planned: int) -> None:
    """Rising, at least one, none beyond the plan."""
    with pytest.raises(InputError, match="not looks at 100 samples"):
        Looks(taken=taken, planned=planned)


def test_too_few_samples_cannot_be_stopped_early() -> None:
    """Below twenty there is nothing before the end to look at."""
    with pytest.raises(InputError, match="19 samples are too few"):
        planned_looks(19)
