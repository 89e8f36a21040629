"""From judge to people: maps that rise, that are measured on other samples, and that are modest with few labels."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.calibrate.fitted_to_people import CalibrationMap, fit_calibration_knots, fit_calibration_maps
from evenhand.calibrate.labels import HumanLabelQuestion
from tests.calibrate.tables import held

TONE = HumanLabelQuestion(id="tone", low=1.0, high=5.0, whole=False)
SCORES = st.lists(st.tuples(st.floats(1, 5), st.floats(1, 5)), min_size=2, max_size=40)


def the_map(said: list[float], people: list[float]) -> CalibrationMap:
    (one,) = fit_calibration_maps(
        held({"j": {"tone": said}}, {"r1": {"tone": people}}, scale="1–5"), np.random.default_rng(0)
    )
    return one


def test_neighbours_that_fall_are_pooled() -> None:
    """People say 1, 3, 2, 5 where the judge says 1, 2, 3, 4: 3 and 2 fall, and become 2.5 each."""
    knots = fit_calibration_knots(np.array([1.0, 2, 3, 4]), np.array([1.0, 3, 2, 5]), "isotonic", TONE)

    assert knots == ((1.0, 1.0), (2.0, 2.5), (3.0, 2.5), (4.0, 5.0))


def test_a_line_is_drawn_towards_the_judge_as_it_is() -> None:
    """Ten outputs, people one point higher throughout, ten samples that speak for the judge: half a point."""
    x = np.array([1.0, 2, 3] * 3 + [2])

    knots = fit_calibration_knots(x, x + 1, "linear", TONE)

    assert np.interp([1, 2, 3], *np.array(knots).T) == pytest.approx([1.5, 2.5, 3.5])


@pytest.mark.parametrize("kind", ["linear", "isotonic"])
@given(rows=SCORES)
def test_a_map_never_falls_and_never_leaves_the_scale(kind: Any, rows: list[tuple[float, float]]) -> None:
    """Whatever the labels: a higher score of the judge is never a lower one of people."""
    x, y = np.array(rows).T

    knots = np.array(fit_calibration_knots(x, y, kind, TONE))

    assert (np.diff(knots[:, 0]) >= 0).all()
    assert (np.diff(knots[:, 1]) >= -1e-9).all()
    assert knots[:, 1].min() >= 1 - 1e-9 and knots[:, 1].max() <= 5 + 1e-9


def test_a_biased_judge_is_put_right_on_samples_that_the_map_has_not_seen() -> None:
    """It gives 1 + half of what people give, with some noise."""
    rng = np.random.default_rng(1)
    people = rng.uniform(1, 5, 200)

    one = the_map((1 + people / 2 + rng.normal(size=200) * 0.1).clip(1, 5).tolist(), people.tolist())

    assert (one.kind, one.helps) == ("isotonic", True)
    assert one.before is not None and one.after is not None
    assert one.after < one.before / 2
    assert one.map_to_human_scale(np.array([2.5])) == pytest.approx([3.0], abs=0.3)


def test_a_map_for_a_judge_that_needs_none_claims_nothing() -> None:
    """It is right but for noise: a map fitted to that noise is no help elsewhere."""
    rng = np.random.default_rng(2)
    people = rng.integers(1, 6, 60).astype(float)

    one = the_map((people + rng.normal(size=60) * 0.3).clip(1, 5).tolist(), people.tolist())

    assert not one.helps


def test_few_labels_take_a_line_and_very_few_none() -> None:
    """Steps would follow single labels."""
    line, none = the_map([1, 2, 3, 4] * 5, [2, 3, 4, 5] * 5), the_map([1, 2, 3], [2, 3, 4])

    assert line.kind == "linear"
    assert (none.knots, none.why) == ((), "3 labelled samples are too few: it takes 10")
