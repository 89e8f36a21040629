"""Cascades: hand-worked values, what must not matter, and coverage where it is hardest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.stats.cascades import (
    LEAST_DRAWN,
    CascadeRows,
    cascade_difference,
    cascade_mean,
    count_needed_draws,
)
from evenhand.stats.differences import difference_of
from evenhand.stats.means import powered_mean

SCALE = (1.0, 5.0)


def made(seed: int = 0, samples: int = 200, drawn: int = 40, near: int = 0, right: float = 0.8) -> CascadeRows:
    """Scores from 1 to 5, most at the ceiling, that the cheap judge gives too where it is right."""
    rng = np.random.default_rng(seed)
    strong = rng.choice([1.0, 2, 3, 4, 5], p=[0.1, 0.1, 0.1, 0.2, 0.5], size=samples)
    cheap = np.where(rng.random(samples) < right, strong, rng.integers(1, 6, samples).astype(float))
    known, certain = np.full(samples, np.nan), np.arange(samples) < near
    known[certain] = strong[certain]
    places = near + rng.permutation(samples - near)[:drawn]
    known[places] = strong[places]
    return CascadeRows(cheap=cheap, strong=known, near=certain)


def test_what_is_near_counts_as_known_and_the_rest_by_its_share() -> None:
    """60 near with 2, and 40 of which 30 were drawn: 0.6 · 2 + 0.4 · what the random part says, its width likewise."""
    rest = made(samples=40, drawn=30)
    alone = powered_mean(rest.cheap, [None if np.isnan(one) else one for one in rest.strong], scale=SCALE)
    rows = CascadeRows(
        cheap=np.concatenate([np.full(60, 3.0), rest.cheap]),
        strong=np.concatenate([np.full(60, 2.0), rest.strong]),
        near=np.arange(100) < 60,
    )

    found, of_rest = cascade_mean(rows, scale=SCALE), cascade_mean(rest, scale=SCALE)

    assert found.estimate == pytest.approx(0.6 * 2 + 0.4 * of_rest.estimate)
    assert found.high - found.low == pytest.approx(0.4 * (of_rest.high - of_rest.low))
    assert of_rest.estimate == pytest.approx(alone.estimate)
    assert (found.n, found.near, found.drawn) == (100, 60, 30)


def test_a_cheap_judge_that_is_off_by_one_is_corrected_to_the_digit() -> None:
    """Where the strong judge always gives one less, it would give the cheap judge's mean less one."""
    cheap = np.tile([2.0, 3.0, 4.0, 5.0], 25)
    strong = np.where(np.arange(100) < 32, cheap - 1, np.nan)

    found = cascade_mean(CascadeRows(cheap=cheap, strong=strong, near=np.zeros(100, dtype=bool)), scale=SCALE)

    assert found.estimate == pytest.approx(2.5)
    assert found.low < 2.5 < found.high


def test_a_cascade_that_passed_everything_on_is_the_strong_judge_alone() -> None:
    """No width over these samples; between variants, the test of pairs as they are."""
    rows = made(samples=60, drawn=50, near=10)

    found = cascade_mean(rows, scale=SCALE)
    apart = CascadeRows(cheap=rows.cheap - 3, strong=rows.strong - 3, near=rows.near)
    tested = cascade_difference(apart, span=4.0, rng=np.random.default_rng(1))

    assert found.low == found.estimate == found.high == pytest.approx(rows.strong.mean())
    assert tested == difference_of(rows.strong - 3, span=4.0, rng=np.random.default_rng(1))


def test_the_difference_is_wider_than_over_these_samples_alone_and_than_with_all_passed_on() -> None:
    """Two errors add up: that of the line, and that of the samples."""
    strong, cheap = (np.random.default_rng(seed).integers(-2, 3, 200).astype(float) for seed in (3, 4))
    near, known = np.zeros(200, dtype=bool), np.where(np.arange(200) < 50, strong, np.nan)
    rows = CascadeRows(cheap=np.clip(strong + cheap / 2, -4, 4), strong=known, near=near)
    whole = CascadeRows(cheap=rows.cheap, strong=strong, near=near)

    here = cascade_mean(rows, scale=(-4, 4))
    tested, every = (cascade_difference(one, span=4.0, rng=np.random.default_rng(1)) for one in (rows, whole))

    assert tested.high - tested.low > max(here.high - here.low, every.high - every.low)
    assert tested.estimate == pytest.approx(here.estimate)
    assert (tested.p < 0.05) is not (tested.low <= 0 <= tested.high)


@given(st.integers(0, 10_000), st.floats(0.1, 10), st.floats(-5, 5))
def test_another_scale_for_scores_changes_nothing_else(seed: int, times: float, plus: float) -> None:
    """Whoever counts in percent gets the same interval in percent."""
    rows = made(seed, near=20)
    moved = CascadeRows(cheap=rows.cheap * times + plus, strong=rows.strong * times + plus, near=rows.near)

    one = cascade_mean(rows, scale=SCALE)
    other = cascade_mean(moved, scale=(SCALE[0] * times + plus, SCALE[1] * times + plus))

    for name in ("estimate", "low", "high"):
        assert getattr(other, name) == pytest.approx(getattr(one, name) * times + plus, abs=1e-6)


@given(st.integers(0, 10_000))
def test_the_order_of_samples_changes_nothing(seed: int) -> None:
    """Neither the mean nor the difference."""
    rows, order = made(seed, near=20), np.random.default_rng(seed).permutation(200)
    shuffled = CascadeRows(cheap=rows.cheap[order], strong=rows.strong[order], near=rows.near[order])

    one, other = (cascade_mean(each, scale=SCALE) for each in (rows, shuffled))

    assert (other.estimate, other.low, other.high) == pytest.approx((one.estimate, one.low, one.high))


@pytest.mark.parametrize("right", [0.5, 0.9, 1.0])
def test_intervals_cover_where_few_samples_lie_at_the_ceiling(right: float) -> None:
    """The worst case: 60 samples, 30 drawn, nine of ten at the top, a cheap judge that is nearly always right."""
    strong = np.where(np.arange(60) < 54, 5.0, 1.0)
    cheap = np.where(np.random.default_rng(1).random(60) < right, strong, 6 - strong)
    covered = 0
    for seed in range(200):
        known = np.full(60, np.nan)
        places = np.random.default_rng(seed).permutation(60)[:30]
        known[places] = strong[places]
        found = cascade_mean(CascadeRows(cheap=cheap, strong=known, near=np.zeros(60, dtype=bool)), scale=SCALE)
        covered += found.low - 1e-9 <= strong.mean() <= found.high + 1e-9

    assert covered >= 186


def test_a_narrower_interval_takes_more_draws_and_gets_as_narrow() -> None:
    """The pilot's scatter says how many; with so many drawn, the width is about what was wanted."""
    rows = made(samples=1000, drawn=LEAST_DRAWN)

    counts = [count_needed_draws(rows, 1000, width, scale=SCALE) for width in (0.8, 0.4, 0.2, 0.0)]
    found = cascade_mean(made(samples=1000, drawn=counts[1]), scale=SCALE)

    assert counts == sorted(counts) and counts[-1] == 1000
    assert LEAST_DRAWN <= counts[1] < counts[2] < 1000
    assert found.high - found.low == pytest.approx(0.4, rel=0.35)


def test_too_few_that_were_drawn_give_no_interval() -> None:
    """29 of 100 say too little; 29 of 29 say all."""
    with pytest.raises(InputError, match=r"answered 29 of the 100 samples that are near no threshold: .* takes 30"):
        cascade_mean(made(samples=100, drawn=29), scale=SCALE)

    assert cascade_mean(made(samples=29, drawn=29), scale=SCALE).method == "every sample was passed on"


def test_a_sample_near_a_threshold_without_a_strong_score_is_refused() -> None:
    """It was passed on for what it is: leaving it to the random part would bias the rest."""
    with pytest.raises(InputError, match="has no score of the strong judge"):
        CascadeRows(cheap=np.ones(2), strong=np.array([1.0, np.nan]), near=np.array([True, True]))
