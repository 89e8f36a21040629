"""Unequal chances: they add up, the draw keeps them, and weights undo them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.stats.cascades import draw_by_chance, spread_chances, weigh_drawn_samples
from evenhand.stats.means import powered_mean
from evenhand.stats.rates import exact_share_interval
from tests.soak import at_least, often

PRIORITIES = st.lists(st.floats(0.01, 100), min_size=1, max_size=40)


@given(PRIORITIES, st.data())
def test_chances_follow_priorities_and_add_up(priorities: list[float], data: st.DataObject) -> None:
    """In proportion where none is certain; what would be above 1 is 1, and the others share the rest."""
    count = data.draw(st.integers(0, len(priorities)))

    chances = spread_chances(priorities, count)

    assert chances.sum() == pytest.approx(count)
    assert ((chances >= 0) & (chances <= 1)).all()
    unsure = chances < 1
    if count and unsure.any():
        ratios = chances[unsure] / np.array(priorities)[unsure]
        assert ratios == pytest.approx(np.full(unsure.sum(), ratios[0]))


@given(PRIORITIES, st.integers(0, 2**32), st.data())
def test_a_draw_has_its_size_and_nothing_twice(priorities: list[float], seed: int, data: st.DataObject) -> None:
    """Whatever the chances are; what is certain is in it; the same seed draws the same."""
    count = data.draw(st.integers(0, len(priorities)))
    chances = spread_chances(priorities, count)

    drawn = draw_by_chance(chances, np.random.default_rng(seed))

    assert len(set(drawn.tolist())) == len(drawn) == count
    assert set(np.flatnonzero(chances == 1).tolist()) <= set(drawn.tolist())
    assert drawn.tolist() == draw_by_chance(chances, np.random.default_rng(seed)).tolist()


def test_each_sample_is_drawn_as_often_as_its_chance_says() -> None:
    """4,000 draws of five from twelve: within four standard errors of the promised share."""
    chances = spread_chances(np.arange(1, 13), 5)
    rng = np.random.default_rng(1)
    times = np.zeros(12)
    for _ in range(4_000):
        times[draw_by_chance(chances, rng)] += 1

    error = np.sqrt(chances * (1 - chances) / 4_000)
    assert (np.abs(times / 4_000 - chances) <= 4 * error + 1e-12).all()


def test_weights_by_hand() -> None:
    """Two of ten with chances 1/4 and 1/2 count 2 to 1, together for all ten; batches at random count alike."""
    one = weigh_drawn_samples(np.array([1, 1]), np.array([0.25, 0.5]), 10)
    two = weigh_drawn_samples(np.array([1, 1, 2, 2]), np.full(4, 0.2), 20)

    assert one == pytest.approx([20 / 3, 10 / 3])
    assert two == pytest.approx([5, 5, 5, 5])


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(0.01, 1)), min_size=1, max_size=30), st.integers(0, 100))
def test_weights_stand_for_the_whole_population(drawn: list[tuple[int, float]], others: int) -> None:
    """However many batches there were, and whichever labels nobody gave."""
    batches, chances = (np.array(column) for column in zip(*drawn, strict=True))
    population = len(drawn) + others

    weights = weigh_drawn_samples(batches, chances, population)

    assert weights.sum() == pytest.approx(population)
    assert (weights > 0).all()


def test_what_was_not_drawn_is_refused() -> None:
    """More than there are, or with no chance."""
    with pytest.raises(InputError, match="3 drawn from 2"):
        weigh_drawn_samples(np.array([1, 1, 1]), np.ones(3), 2)
    with pytest.raises(InputError, match="3 cannot be drawn from 2"):
        spread_chances([1, 1], 3)


def test_weights_undo_unequal_chances() -> None:
    """Where chances rise with the label, labels as they are say far too much; weighted they cover people's mean."""
    rng = np.random.default_rng(2)
    people = rng.integers(1, 6, 300).astype(float)
    judged = people + rng.normal(0, 1, 300)
    chances = spread_chances(people, 40)
    tries, covered, naive = often(150, 1_000), 0, 0
    for _ in range(tries):
        drawn = draw_by_chance(chances, rng)
        labels = [float(people[place]) if place in set(drawn.tolist()) else None for place in range(300)]
        weights = np.ones(300)
        weights[drawn] = weigh_drawn_samples(np.ones(40, dtype=int), chances[drawn], 300)
        for weighted in (True, False):
            found = powered_mean(judged, labels, scale=(1, 5), weights=weights if weighted else None)
            hit = found.low <= people.mean() <= found.high
            covered, naive = covered + (hit and weighted), naive + (hit and not weighted)

    assert covered / tries >= at_least(0.93, tries)
    assert naive / tries < 0.6


def test_equal_weights_change_nothing() -> None:
    """An estimate is the same whether chances are not known or known to be equal."""
    rng = np.random.default_rng(3)
    judged = rng.normal(3, 1, 100)
    labels = [float(round(min(5, max(1, one)))) if place < 30 else None for place, one in enumerate(judged)]

    plain, weighted = (
        powered_mean(judged, labels, scale=(1, 5), weights=one) for one in (None, np.full(100, 100 / 30))
    )

    assert (weighted.low, weighted.high) == pytest.approx((plain.low, plain.high))
    hits = [1, 0, 0, 1, 0, 0, 0, 0]
    share, same = exact_share_interval(hits), exact_share_interval(hits, weights=[2.0] * 8)
    assert (same.low, same.high) == pytest.approx((share.low, share.high), abs=0.05)
    assert same.high - same.low >= share.high - share.low - 1e-9
    assert exact_share_interval([0] * 8, weights=[2.0] * 8).high == pytest.approx(exact_share_interval([0] * 8).high)


def test_a_share_counts_by_its_weights() -> None:
    """The one hit stands for half of all, and three rows of unequal weight tell less than three of equal weight."""
    found = exact_share_interval([1, 0, 0], weights=[2, 1, 1])

    assert found.estimate == 0.5
    assert found.method == "Clopper–Pearson, weighted"
    assert found.high - found.low >= exact_share_interval([1, 0, 0]).high - exact_share_interval([1, 0, 0]).low - 0.05


def test_weights_without_a_single_label_are_too_few_labels() -> None:
    """The first label of a draw is about one variant: the other has weights, and nothing that they could weigh."""
    with pytest.raises(InputError, match="0 labelled samples are too few"):
        powered_mean([0.1, 0.5, 0.9], [None, None, None], weights=[1.0, 1.0, 1.0], scale=(0, 1))
