"""Not worse: what the interval says about a margin, at the margin and far from it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.stats.differences import MarginTest, difference_of, not_worse

DIFFERENCES = st.lists(st.integers(-2, 2), min_size=6, max_size=30)
MARGINS = st.sampled_from([0.1, 0.25, 0.5, 1.0, 2.0])


def _not_worse(differences: object, by: float) -> MarginTest:
    return not_worse(np.asarray(differences, dtype=float), by=by, rng=np.random.default_rng(4))


def test_five_pairs_by_hand() -> None:
    """−0.1, 0, 0.1, 0.2, 0.3 at 90 %: whatever the end is, a margin beyond it holds and one on it does not."""
    differences = [-0.1, 0.0, 0.1, 0.2, 0.3]
    low = difference_of(differences, rng=np.random.default_rng(4), level=0.90).low

    beyond, on_it = _not_worse(differences, by=-low + 0.01), _not_worse(differences, by=-low)

    assert (beyond.holds, on_it.holds) == (True, False)
    assert (beyond.level, beyond.n, beyond.margin) == (0.90, 5, -low + 0.01)


@given(DIFFERENCES, MARGINS)
def test_the_interval_is_that_of_the_difference_at_90_per_cent(differences: list[int], margin: float) -> None:
    """One test for all: the margin is held against the interval that `paired_difference(level=0.90)` gives."""
    found = difference_of([float(one) for one in differences], rng=np.random.default_rng(4), level=0.90)

    one = _not_worse(differences, margin)
    assert (one.estimate, one.low, one.high, one.n) == (found.estimate, found.low, found.high, found.n)
    assert found.method in one.method


@given(DIFFERENCES, MARGINS)
def test_a_wider_margin_holds_where_a_narrower_does(differences: list[int], margin: float) -> None:
    """Nobody fails for having asked less."""
    assert _not_worse(differences, margin).holds <= _not_worse(differences, 2 * margin).holds


@given(DIFFERENCES, MARGINS, st.sampled_from([0.1, 1 / 3, 1000.0]))
def test_points_or_percent_are_the_same(differences: list[int], margin: float, scale: float) -> None:
    """Also where an end lies on the margin, and the last digits do not."""
    scaled = [scale * one for one in differences]

    assert _not_worse(scaled, scale * margin).holds == _not_worse(differences, margin).holds


def test_a_treatment_that_is_worse_by_the_margin_passes_in_one_of_twenty() -> None:
    """The error that the level speaks of: 5 % plus what 400 repetitions may stray (2.3 standard errors)."""
    rng = np.random.default_rng(5)

    passed = [not_worse(row, by=0.5, rng=rng).holds for row in rng.normal(-0.5, 1.0, size=(400, 20))]

    assert 0.02 <= np.mean(passed) <= 0.05 + 0.025


def test_too_few_pairs_show_nothing() -> None:
    """Without a bound there is no margin that holds."""
    found = _not_worse([1.0, 1.0, 1.0], by=100.0)

    assert (found.holds, found.low) == (False, -math.inf)


@pytest.mark.parametrize("margin", [0.0, -0.2, math.nan, math.inf])
def test_a_margin_that_is_none_is_refused(margin: float) -> None:
    """Not worse by nothing is better, which is another question."""
    with pytest.raises(InputError, match=r"by must be (above 0|a finite number)"):
        _not_worse([1.0, 2.0], margin)


def test_one_pair_is_refused() -> None:
    """As everywhere."""
    with pytest.raises(InputError, match="at least 2 pairs, got 1"):
        _not_worse([1.0], 0.2)
