"""Benjamini–Hochberg: by hand, beside SciPy, never stricter than Holm."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evenhand.errors import InputError
from evenhand.stats._several import benjamini_hochberg, holm

PS = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_benjamini_hochberg_by_hand() -> None:
    """Largest first: 0.5 · 4/4, then 0.04 · 4/3 = 0.0533, 0.03 · 4/2 = 0.06 held down to 0.0533, 0.005 · 4 = 0.02."""
    found = benjamini_hochberg([0.03, 0.5, 0.005, 0.04])

    assert found.p == pytest.approx((0.16 / 3, 0.5, 0.02, 0.16 / 3))
    assert (found.n, found.method) == (4, "Benjamini–Hochberg")


def test_no_test_has_no_p() -> None:
    """Nothing to adjust."""
    assert (benjamini_hochberg([]).p, benjamini_hochberg([]).n) == ((), 0)


@given(PS)
def test_scipy_adjusts_alike(ps: list[float]) -> None:
    """The same numbers from `false_discovery_control`."""
    assert benjamini_hochberg(ps).p == pytest.approx(scipy_stats.false_discovery_control(ps))


@given(PS, st.randoms())
def test_adjusting_only_raises_and_follows_its_test(ps: list[float], random: st.DataObject) -> None:
    """Adjusted values belong to their tests, whatever the order, and are at most Holm's."""
    places = sorted(range(len(ps)), key=lambda _: random.random())  # type: ignore[attr-defined]

    adjusted, moved = benjamini_hochberg(ps).p, benjamini_hochberg([ps[place] for place in places]).p

    assert all(before <= after <= 1 for before, after in zip(ps, adjusted, strict=True))
    assert moved == tuple(adjusted[place] for place in places)
    assert all(mild <= strict + 1e-12 for mild, strict in zip(adjusted, holm(ps).p, strict=True))


def test_false_alarms_are_a_small_share_of_what_is_found() -> None:
    """Ten tests, five with an effect: of what is found at 10 %, at most 5 % are false on average."""
    rng = np.random.default_rng(3)
    z = rng.normal([0.0] * 5 + [3.0] * 5, 1, size=(400, 10))

    found = np.array([benjamini_hochberg((2 * scipy_stats.norm.sf(np.abs(row))).tolist()).p for row in z]) < 0.10

    shares = found[:, :5].sum(axis=1) / np.maximum(1, found.sum(axis=1))
    assert 0.02 < shares.mean() < 0.05 + 0.015


@pytest.mark.parametrize("adjusted", [benjamini_hochberg, holm])
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
def test_what_is_no_p_is_refused(adjusted: Callable[[Any], object], ps: list[Any], says: str) -> None:
    """With the reason."""
    with pytest.raises(InputError, match=says):
        adjusted(ps)
