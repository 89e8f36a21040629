"""The judge's own noise, told apart from differences between samples."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.stats._mean import mean_interval
from evenhand.stats._repeats import judge_noise

# Six samples asked twice, 1 apart each time; the means are 1, 2, 3, 4, 5, 6.
SCORES = [0.5, 1.5, 1.5, 2.5, 2.5, 3.5, 3.5, 4.5, 4.5, 5.5, 5.5, 6.5]
SAMPLES = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]


def test_components_by_hand() -> None:
    """Within: 6 · 2 · ¼ over 6 is ½. The means vary by 3.5, of which ½ / 2 is noise: 3.25 between. Share ¼ / 3.5."""
    found = judge_noise(SCORES, SAMPLES)

    assert (found.within**2, found.between**2, found.share) == pytest.approx((0.5, 3.25, 0.25 / 3.5))
    assert (found.repeats, found.n) == (2.0, 6)


def test_more_repeats_narrow_by_the_noise_only() -> None:
    """√((3.25 + ½ / k) / 3.5): 1 as it is, 1.035 with a single answer, and never below √(3.25 / 3.5)."""
    found = judge_noise(SCORES, SAMPLES)

    assert [found.width(repeats) for repeats in (1, 2, 5)] == pytest.approx(
        [math.sqrt(3.75 / 3.5), 1.0, math.sqrt(3.35 / 3.5)]
    )
    assert found.width(10**9) == pytest.approx(math.sqrt(3.25 / 3.5))


def test_unequal_repeats_count_as_their_harmonic_mean() -> None:
    """One sample in five asked thrice, four twice: mean of 1/k is (⅓ + 4 · ½) / 5."""
    found = judge_noise([1, 2, 3, 4, 5, 4, 5, 1, 2, 3, 3], [1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5])

    assert found.repeats == pytest.approx(5 / (1 / 3 + 2))


def test_noise_alone_is_all_noise() -> None:
    """The means of pure noise vary less here than noise would make them: nothing is left between samples."""
    found = judge_noise([1, 5, 5, 1, 1, 5, 5, 1, 1, 5], [1, 1, 2, 2, 3, 3, 4, 4, 5, 5])

    assert (found.between, found.share) == (0.0, 1.0)


def test_a_steady_judge_has_no_noise() -> None:
    """Asking again gives the same, so that asking again narrows nothing."""
    found = judge_noise([1, 1, 2, 2, 3, 3, 4, 4, 5, 5], [1, 1, 2, 2, 3, 3, 4, 4, 5, 5])

    assert (found.within, found.share, found.width(8)) == (0.0, 0.0, 1.0)


def test_true_components_are_found() -> None:
    """Noise of 0.8 and samples that differ by 1.2, three repeats: found within 5 % from 3,000 samples."""
    rng = np.random.default_rng(1)
    scores = rng.normal(3, 1.2, 3000)[:, None] + rng.normal(0, 0.8, (3000, 3))

    found = judge_noise(scores.ravel(), np.repeat(np.arange(3000), 3).tolist())

    assert (found.within, found.between) == pytest.approx((0.8, 1.2), rel=0.05)


def test_the_width_foretold_is_the_width_that_comes() -> None:
    """From two repeats to eight, on average over runs."""
    rng = np.random.default_rng(2)
    foretold, came = [], []
    for _ in range(100):
        scores = rng.normal(0, 0.5, 40)[:, None] + rng.normal(0, 1, (40, 8))
        two, eight = (mean_interval(scores[:, :k].mean(axis=1)) for k in (2, 8))
        foretold.append(judge_noise(scores[:, :2].ravel(), np.repeat(np.arange(40), 2).tolist()).width(8))
        came.append((eight.high - eight.low) / (two.high - two.low))

    assert np.mean(foretold) == pytest.approx(np.mean(came), abs=0.03)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 5)), min_size=12, max_size=40), st.randoms())
def test_neither_order_nor_numbers_nor_scale_matter(rows: list[tuple[int, int]], random: st.DataObject) -> None:
    """Shuffled scores, samples numbered otherwise, scores in percent."""
    shuffled = sorted(rows, key=lambda _: random.random())  # type: ignore[attr-defined]
    try:
        found = judge_noise(*zip(*rows, strict=True))
    except InputError:
        return

    other = judge_noise([20 * score + 3 for score, _ in shuffled], [-7 * sample for _, sample in shuffled])

    assert (other.within, other.between) == pytest.approx((20 * found.within, 20 * found.between), abs=1e-5)
    assert (other.share, other.repeats, other.n) == pytest.approx((found.share, found.repeats, found.n), abs=1e-9)


@pytest.mark.parametrize(
    ("scores", "clusters", "says"),
    [
        ([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6], "no sample was scored twice"),
        ([], [], "no sample was scored twice"),
        ([1, 2, 3, 4], [1, 1, 2, 2], "2 samples with 2 repeats in all are too few"),
        ([1, 2, 3, 4, 5, 6, 7], [1, 1, 2, 3, 4, 5, 6], "6 samples with 1 repeats in all are too few"),
        ([3] * 12, SAMPLES, "all scores are the same"),
        ([1, 2], [1], "1 clusters for 2 scores"),
        ([1, math.inf], [1, 1], "not a finite number"),
    ],
)
def test_scores_without_repeats_tell_nothing_of_noise(scores: list[float], clusters: list[int], says: str) -> None:
    """With the reason."""
    with pytest.raises(InputError, match=says):
        judge_noise(scores, clusters)


def test_no_repeat_at_all_is_no_plan() -> None:
    """A sample is asked at least once."""
    with pytest.raises(InputError, match="0 repeats"):
        judge_noise(SCORES, SAMPLES).width(0)
