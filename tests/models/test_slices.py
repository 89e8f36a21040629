"""What one place hands out to many: never more than the limit, evenly, and whatever clocks and processes do."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.models.shared_limits import (
    SILENT_SECONDS,
    ModelLimitSlices,
    cut_model_rate_slice,
    divide_model_places,
    share_model_places,
)

NAMES = ("a", "b", "c", "d")


def test_slices_of_a_rate_follow_each_other() -> None:
    """60 a minute: ten last ten seconds, and the next begin behind them; idle time is not saved up."""
    state, first = cut_model_rate_slice(ModelLimitSlices(), 100.0, rate="requests", amount=10, per_minute=60)
    state, second = cut_model_rate_slice(state, 104.0, rate="requests", amount=5, per_minute=60)
    state, other = cut_model_rate_slice(state, 104.0, rate="tokens", amount=5, per_minute=60)
    state, late = cut_model_rate_slice(state, 500.0, rate="requests", amount=1, per_minute=60)

    assert (first, second, other, late) == (0.0, 6.0, 0.0, 0.0)
    assert dict(state.ends) == {"requests": 501.0, "tokens": 109.0}


@given(
    st.lists(st.tuples(st.floats(0, 20), st.integers(1, 30)), min_size=1, max_size=30),
    st.sampled_from([6.0, 60.0, 6000.0]),
)
def test_slices_never_overlap(steps: list[tuple[float, int]], per_minute: float) -> None:
    """So whoever uses each in its own time keeps the rate with all others, in any window of time."""
    state, now, before = ModelLimitSlices(), 0.0, 0.0
    for pause, amount in steps:
        now += pause
        state, wait = cut_model_rate_slice(state, now, rate="requests", amount=amount, per_minute=per_minute)
        assert wait >= 0 and now + wait >= before - 1e-9
        before = now + wait + amount * 60 / per_minute
        assert state.ends["requests"] == pytest.approx(before)


def test_a_clock_that_is_set_back_makes_nobody_wait_for_it() -> None:
    """A day back: what was handed out for the next seconds is still that, and whoever lives still does."""
    state, _ = cut_model_rate_slice(ModelLimitSlices(), 100_000.0, rate="requests", amount=10, per_minute=60)
    state, _ = share_model_places(state, 100_000.0, holder="a", most=3, held=0, wanted=2)
    state, wait = cut_model_rate_slice(state, 13_600.0, rate="requests", amount=1, per_minute=60)
    state, places = share_model_places(state, 13_600.0, holder="b", most=3, held=0, wanted=3)

    assert (wait, places) == (10.0, 1)


@given(st.integers(0, 20), st.dictionaries(st.sampled_from(NAMES), st.integers(0, 12), min_size=1), st.integers(0, 9))
def test_places_are_divided_evenly(most: int, wanted: dict[str, int], first: int) -> None:
    """All that is wanted and there is given; who got less than it wants has at most one less than anybody."""
    given = divide_model_places(most, wanted, first=first)

    assert sum(given.values()) == min(most, sum(wanted.values()))
    assert all(0 <= given[name] <= wanted[name] for name in wanted)
    short = [given[name] for name in wanted if given[name] < wanted[name]]
    assert not short or min(short) >= max(given.values()) - 1


def test_one_place_goes_round() -> None:
    """Three that always want it: each has it in its turn."""
    turns = Counter(
        name
        for first in range(6)
        for name, places in divide_model_places(1, dict.fromkeys("abc", 5), first=first).items()
        if places
    )

    assert turns == {"a": 2, "b": 2, "c": 2}


@given(
    st.integers(1, 8),
    st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 9), st.floats(0, 3)), max_size=60),
)
def test_places_never_exceed_the_limit(most: int, steps: list[tuple[str, int, float]]) -> None:
    """Whoever asks, however often and for whatever: all that may be used at any moment stays within the limit."""
    state, now, used = ModelLimitSlices(), 0.0, dict.fromkeys(NAMES, 0)
    for holder, wanted, pause in steps:
        now += pause
        state = ModelLimitSlices.from_json(json.loads(json.dumps(state.to_json())))
        for name in [one for one in NAMES if one != holder]:  # Everybody gives a sign of life, with all that it has.
            state, _ = share_model_places(state, now, holder=name, most=most, held=used[name], wanted=used[name])
        state, places = share_model_places(state, now, holder=holder, most=most, held=used[holder], wanted=wanted)
        assert sum(used.values()) - used[holder] + max(places, used[holder]) <= most
        used[holder] = places  # The calls above that have ended.

    assert sum(used.values()) <= most


def test_the_places_of_the_silent_are_handed_out_again() -> None:
    """After some time, in which what they had asked may have been answered."""
    state, _ = share_model_places(ModelLimitSlices(), 0.0, holder="dead", most=4, held=0, wanted=4)
    state, early = share_model_places(state, SILENT_SECONDS - 1, holder="b", most=4, held=0, wanted=4)
    state, late = share_model_places(state, SILENT_SECONDS, holder="b", most=4, held=0, wanted=4)

    assert (early, late) == (0, 4)
    assert set(state.shares) == {"b"}


def test_whoever_wants_nothing_leaves_no_trace() -> None:
    """A row does not grow with every process that ever was."""
    state, _ = share_model_places(ModelLimitSlices(), 0.0, holder="a", most=4, held=0, wanted=2)
    state, _ = share_model_places(state, 1.0, holder="a", most=4, held=0, wanted=0)

    assert dict(state.shares) == {}
