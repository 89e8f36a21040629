"""Reliability curves and disagreements: how outputs are grouped, what an interval covers, and what is listed first."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenhand.calibrate.people_scale import (
    MOST_CURVE_POINTS,
    MOST_DISAGREEMENTS,
    find_label_disagreements,
    measure_reliability_curves,
)
from tests.calibrate.tables import held

SPAN = (1.0, 5.0)


def test_each_score_of_the_judge_is_a_point() -> None:
    """Where it gave 2, people gave 1 and 3; where it gave 5, they gave 4. What only one side answered is left out."""
    found = held({"j": {"tone": [2, 2, 5, 4, None]}}, {"r": {"tone": [1, 3, 4, None, 1]}})

    (curve,) = measure_reliability_curves(found, {"tone": 4.0}, SPAN)

    assert [(one.judged, one.people, one.n) for one in curve.points] == [(2.0, 2.0, 2), (5.0, 4.0, 1)]
    assert (curve.question, curve.least, curve.n) == ("tone", 4.0, 3)


def test_one_output_says_next_to_nothing() -> None:
    """A point without spread must not look certain: one of one covers nearly the whole scale."""
    found = held({"j": {"tone": [3]}}, {"r": {"tone": [5]}})

    (curve,) = measure_reliability_curves(found, {}, SPAN)

    (point,) = curve.points
    assert point.low < 1.2 and point.high == 5.0


@given(st.lists(st.tuples(st.floats(1, 5), st.integers(1, 5)), min_size=1, max_size=80))
def test_points_hold_every_output_once_in_order(pairs: list[tuple[float, int]]) -> None:
    """However many different scores there are: at most eight points, rising, and intervals on the scale."""
    judged, people = ([float(one[side]) for one in pairs] for side in (0, 1))
    found = held({"j": {"tone": judged}}, {"r": {"tone": people}}, scale="numbers 1–5")

    (curve,) = measure_reliability_curves(found, {}, SPAN)

    assert sum(one.n for one in curve.points) == len(pairs) == curve.n
    assert len(curve.points) <= MOST_CURVE_POINTS
    assert list(np.sort([one.judged for one in curve.points])) == [one.judged for one in curve.points]
    assert all(1 - 1e-9 <= one.low <= one.people + 1e-9 <= one.high + 2e-9 <= 5 + 1e-6 for one in curve.points)


def test_the_largest_gap_comes_first_and_small_ones_are_not_listed() -> None:
    """Two raters count by their mean; a tenth of a point on five is rounding, not a disagreement."""
    found = held({"j": {"tone": [5, 3, 2, 4]}}, {"r": {"tone": [1, 5, 2, 4]}, "q": {"tone": [1, None, 2, 4]}})

    first, second = find_label_disagreements(found, SPAN)

    assert (first.sample, first.gap, first.raters, first.people) == ("s0000", 1.0, 2, 1.0)
    assert (second.sample, second.gap, second.raters) == ("s0001", -0.5, 1)


def test_no_more_are_listed_than_anybody_reads() -> None:
    """The eight largest of any number."""
    found = held({"j": {"tone": [5.0] * 30}}, {"r": {"tone": [1.0] * 30}})

    assert len(find_label_disagreements(found, SPAN)) == MOST_DISAGREEMENTS
