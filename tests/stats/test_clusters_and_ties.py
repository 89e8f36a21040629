"""Clusters of any size and pairs that are tied: the mean is over samples, and the test keeps its level."""

import math
import os
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evenhand.errors import InputError
from evenhand.stats.differences import Difference, difference_of, paired_difference
from evenhand.stats.means import mean_interval
from evenhand.stats.rates import win_rate_of

SOAK = os.environ.get("EVENHAND_SOAK") == "1"
TRIES = 20_000 if SOAK else 600
MOST_ALARMS = 0.055


def _compare_clusters(differences: list[float], clusters: list[int], *, per: str = "sample") -> Difference:
    zeros = [0.0] * len(differences)
    rng = np.random.default_rng(5)
    return paired_difference(differences, zeros, rng=rng, clusters=clusters, per=per)  # type: ignore[arg-type]


def test_a_few_large_clusters_outweigh_many_small_ones() -> None:
    """Six clusters of 40 lost a point, 34 single samples gained one: (34 − 240) / 274, and 2 of 2⁶ flips reach that."""
    clusters = [group for group in range(6) for _ in range(40)] + list(range(6, 40))
    found = _compare_clusters([-1.0] * 240 + [1.0] * 34, clusters)

    assert found.estimate == pytest.approx(-206 / 274)
    assert (found.n, round(found.p, 3)) == (40, 0.031)
    assert found.high < 0
    voted = _compare_clusters([-1.0] * 240 + [1.0] * 34, clusters, per="cluster")
    assert voted.estimate == pytest.approx((34 - 6) / 40)


def test_a_mean_is_over_samples_whatever_their_clusters() -> None:
    """4 samples of one cluster at 1, one of another at 3: 7/5; each cluster once, or as repeats of one sample: 2."""
    values, clusters = [1.0, 1.0, 1.0, 1.0, 3.0], [7, 7, 7, 7, 3]

    assert mean_interval(values, clusters=clusters).estimate == pytest.approx(1.4)
    assert mean_interval(values, clusters=clusters, per="cluster").estimate == 2.0
    assert mean_interval(values, samples=clusters).estimate == 2.0
    assert win_rate_of([1, 1, 1, 1, 0], clusters=clusters).estimate == pytest.approx(0.8)


def test_the_error_of_a_clustered_mean_is_worked_by_hand() -> None:
    """Sizes 1, 2, 3 with means 0, 1, 2: mean 8/6; pulls −4/3, −2/3, 2; variance (16+4+36)/9 · 3/2 / 36."""
    values, clusters = [0.0, 1.0, 1.0, 2.0, 2.0, 2.0], [0, 1, 1, 2, 2, 2]
    found = mean_interval(values, clusters=clusters)

    error = math.sqrt((16 + 4 + 36) / 9 * 3 / 2 / 36)
    assert found.estimate == pytest.approx(8 / 6)
    assert found.high - found.estimate == pytest.approx(scipy_stats.t.ppf(0.975, 2) * error)


def test_repeats_in_two_clusters_are_refused() -> None:
    """A sample belongs to one cluster."""
    with pytest.raises(InputError, match="a sample is in two clusters"):
        mean_interval([1.0, 2.0, 3.0], clusters=[1, 2, 2], samples=[1, 1, 2])
    with pytest.raises(InputError, match="per must be sample or cluster"):
        _compare_clusters([1.0, 2.0], [1, 2], per="row")
    with pytest.raises(InputError, match="sizes must be above 0"):
        difference_of([1.0, 2.0], sizes=[1.0, 0.0], rng=np.random.default_rng(1))


CLUSTERS = st.lists(st.tuples(st.integers(-3, 3), st.integers(1, 5)), min_size=6, max_size=9)


@given(CLUSTERS)
def test_every_flip_of_whole_clusters_is_counted(clusters: list[tuple[int, int]]) -> None:
    """Against all sign flips written out, with samples counted singly; Student's p can only raise it."""
    differences = [float(value) for value, size in clusters for _ in range(size)]
    names = [name for name, (_, size) in enumerate(clusters) for _ in range(size)]
    found = _compare_clusters(differences, names)

    sums = np.array([value * size for value, size in clusters])
    flipped = np.array(list(product((-1, 1), repeat=len(sums)))) @ sums
    reach = abs(sums.sum())
    mid = np.mean([value == 0 for value, _ in clusters]) >= 0.25
    equal = (flipped == reach).mean()
    exact = 2 * ((flipped > reach).mean() + equal * (0.5 if mid else 1))
    assert found.p >= min(1.0, exact) - 1e-12
    if "and t" not in found.method and found.method != "paired t":
        assert found.p == pytest.approx(min(1.0, exact))


@given(st.lists(st.tuples(st.sampled_from([0, 0, 0, -2, -1, 1, 2]), st.integers(1, 4)), min_size=5, max_size=25))
def test_interval_and_p_agree_at_every_level(clusters: list[tuple[int, int]]) -> None:
    """Tied pairs sit on 0, where mid-p counts half: what it rejects is outside the interval, and nothing else."""
    differences, sizes = [float(value) for value, _ in clusters], [float(size) for _, size in clusters]
    for level in (0.5, 0.8, 0.9, 0.95, 0.99):
        for given_sizes in (None, sizes):
            found = difference_of(differences, sizes=given_sizes, rng=np.random.default_rng(3), level=level)
            alpha = round(1 - level, 9)
            assert (found.p < alpha) == (found.low > 0 or found.high < 0), (level, found)


@given(CLUSTERS)
def test_swapping_the_sides_swaps_the_interval(clusters: list[tuple[int, int]]) -> None:
    """The order of clusters and the side that is called treatment change nothing else."""
    differences, sizes = [float(value) for value, _ in clusters], [float(size) for _, size in clusters]
    found = difference_of(differences, sizes=sizes, rng=np.random.default_rng(3))
    turned = difference_of([-one for one in reversed(differences)], sizes=sizes[::-1], rng=np.random.default_rng(3))

    assert [-turned.high, -turned.low, turned.p] == pytest.approx([found.low, found.high, found.p])


@pytest.mark.parametrize(
    "sizes",
    [
        [10] * 6,
        [10, 1, 1, 1, 1, 6],
        [36, 4, 4, 4, 4, 4, 4, 4, 4, 4],  # One of ten holds half.
        [20, 20, 1, 1, 1, 1, 1, 1],
        [2**power for power in range(9)][::-1],
    ],
)
@pytest.mark.parametrize("noise", ["normal", "one to five", "heavy"])
def test_equal_variants_in_unequal_clusters_are_rarely_told_apart(sizes: list[int], noise: str) -> None:
    """5% at most of all ways to turn whole clusters round, each as likely as the other where variants are equal."""
    rng = np.random.default_rng(len(sizes))
    signs = np.array(list(product((-1.0, 1.0), repeat=len(sizes))))
    for _ in range(10 if SOAK else 1):
        size = len(sizes)
        if noise == "one to five":
            means = rng.choice([-2, -1, -0.5, 0.5, 1, 2], size)
        else:
            shared = rng.normal(size=size) if noise == "normal" else rng.standard_t(3, size=size)
            means = shared + rng.normal(size=size) / np.sqrt(sizes)
        half = signs[: len(signs) // 2]  # The others are these with the sides swapped, and have the same p.

        alarms = np.mean([difference_of(means * one, sizes=sizes, rng=rng).p < 0.05 for one in half])

        assert alarms <= 0.05, f"{alarms:.2%}"


def _tilt(values: list[float], base: list[float], effect: float) -> np.ndarray:
    """The chances of the values, tilted so that their mean is so many standard deviations above 0."""
    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        weights = np.array(base) * np.exp(middle * np.array(values))
        weights /= weights.sum()
        mean = float(weights @ np.array(values))
        spread = math.sqrt(float(weights @ np.array(values) ** 2) - mean**2)
        low, high = (middle, high) if mean / spread < effect else (low, middle)
    return weights


HALF_TIED = {
    "plus or minus 1": ([-1.0, 0.0, 1.0], [0.25, 0.5, 0.25], 0.10),
    "thirds": ([-1.0, -2 / 3, -1 / 3, 0.0, 1 / 3, 2 / 3, 1.0], [1 / 12] * 3 + [0.5] + [1 / 12] * 3, 0.05),
    "1, 2 and 3": ([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0], [0.05, 0.08, 0.12, 0.5, 0.12, 0.08, 0.05], 0.05),
}


def _reject_shares(data: np.ndarray) -> tuple[float, float]:
    """How often we and Student's t reject."""
    rng = np.random.default_rng(8)
    ours = sum(difference_of(row, rng=rng).p < 0.05 for row in data) / len(data)
    with np.errstate(invalid="ignore", divide="ignore"):
        theirs = scipy_stats.ttest_1samp(data, 0, axis=1).pvalue
    return ours, float(np.nanmean(np.where(np.isnan(theirs), 1.0, theirs) < 0.05))


@pytest.mark.parametrize("name", list(HALF_TIED))
@pytest.mark.parametrize("n", [12, 20, 50])
def test_half_tied_pairs_cost_little_power(name: str, n: int) -> None:
    """A difference of 0.64 standard deviations is seen nearly as often as by t, on the same draws."""
    values, base, allowed = HALF_TIED[name]
    tries = TRIES // 2 if n < 50 else TRIES // 4
    chosen = np.random.default_rng(n).choice(values, size=(tries, n), p=_tilt(values, base, 0.64))

    ours, theirs = _reject_shares(chosen)

    assert ours >= theirs - allowed


@pytest.mark.parametrize("n", [6, 8, 12, 16, 20, 25])
def test_tied_equal_variants_are_rarely_told_apart(n: int) -> None:
    """Differences of ±1 are the worst for mid-p: without zeros it would reject 7.7% of them at 16 pairs.

    No draws: how many are better, equal and worse decides, and its chance is known for every share of ties.
    """
    rng = np.random.default_rng(n)
    counts = [(up, down) for up in range(n + 1) for down in range(n + 1 - up)]
    rejected = [
        (up, n - up - down, down)
        for up, down in counts
        if difference_of([1.0] * up + [0.0] * (n - up - down) + [-1.0] * down, rng=rng).p < 0.05
    ]

    for tied in np.arange(0.0, 0.96, 0.05):
        shares = [(1 - tied) / 2, tied, (1 - tied) / 2]
        alarms = float(scipy_stats.multinomial.pmf(rejected, n, shares).sum())
        assert alarms <= MOST_ALARMS, f"{tied:.0%} tied: {alarms:.2%}"
