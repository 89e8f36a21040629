"""Which rubric is kept: only one that lowers the error on samples that had no part in choosing it."""

from dataclasses import replace

import numpy as np
import pytest

from evenhand.calibrate.fitted_to_people import fit_calibration_knots
from evenhand.calibrate.labels import HumanLabelQuestion
from evenhand.calibrate.nested_selection import CandidateAnswers, select_rubric_by_nested_cv
from tests.calibrate.aligning import answer_table, simulate_selection
from tests.soak import at_least, at_most, often


@pytest.mark.parametrize("passing", [0.5, 0.8])
def test_labels_that_say_nothing_change_no_rubric(passing: float) -> None:
    """Also where a more generous rubric has a lower error against them: 5% at most, whatever is offered."""
    tries = often(30, 1000)
    rng = np.random.default_rng(1)

    kept = sum(simulate_selection(rng, shuffled=True, passing=passing)[0].kept for _ in range(tries))

    assert kept / tries <= at_most(0.05, tries)


def test_the_edit_that_states_the_hidden_rule_is_kept_among_nine_others() -> None:
    """A quarter of the answers turn on it; 30 samples decide, as with 40 labels."""
    tries = often(40, 1000)
    rng = np.random.default_rng(2)

    found = [simulate_selection(rng) for _ in range(tries)]

    assert sum(one.kept and one.chosen == right for one, right in found) / tries >= at_least(0.9, tries)


def test_the_present_rubric_wins_a_tie() -> None:
    """Nothing changes for nothing."""
    people = np.tile([0.0, 1.0], 15)
    present = np.where(np.arange(30) % 3 == 0, 1 - people, people)

    found = select_rubric_by_nested_cv(answer_table(people, np.stack([present] * 3)), np.random.default_rng(0))

    assert (found.chosen, found.kept, found.fall, found.chance) == (0, False, 0.0, 1.0)


def test_errors_are_shares_of_the_scale_worked_by_hand() -> None:
    """People 2 and 4 on 0 to 10, the judge 4 and 4: off by 0.2 and 0; a missing answer is half a scale off."""
    people = np.tile([2.0, 4.0], 10)
    answers = np.stack([np.full(20, 4.0), np.full(20, np.nan)])

    found = select_rubric_by_nested_cv(answer_table(people, answers, high=10.0), np.random.default_rng(0))

    assert list(found.errors[:2]) == pytest.approx([0.1, 0.5])
    assert found.before.estimate == pytest.approx(0.1)


def test_a_judge_that_is_always_a_point_too_kind_gets_a_map() -> None:
    """A map is a candidate like the rubrics, fitted without the samples that it is measured on."""
    rng = np.random.default_rng(3)
    people = rng.integers(1, 8, 40).astype(float)

    found = select_rubric_by_nested_cv(answer_table(people, np.stack([people + 2, people[::-1]]), high=10.0), rng)

    assert (found.chosen, found.kept) == (2, True)
    assert found.after.estimate < found.before.estimate / 2


def test_the_map_inside_folds_is_the_one_that_is_written() -> None:
    """Two texts of one formula: held together on the same data."""
    from evenhand.calibrate import nested_selection as inside

    rng = np.random.default_rng(4)
    people = rng.integers(0, 11, 25).astype(float)
    said = np.clip(people + rng.normal(1, 2, 25), 0, 10)
    rows = inside._number_labelled_units(answer_table(people, said[None], high=10.0))
    question = HumanLabelQuestion(id="q", low=0.0, high=10.0, whole=False)

    line = inside._map_judge_answers_to_people(rows, rows.people[None], np.ones(25, dtype=bool))[0, :, 0]
    x, y = np.array(fit_calibration_knots(said, people, "linear", question)).T

    assert line == pytest.approx(np.interp(said, x, y))


def test_a_question_that_takes_no_map_gets_none() -> None:
    """A map of a yes or no, or of a whole panel, could be written nowhere: it is not chosen, however well it fits."""
    rng = np.random.default_rng(3)
    people = rng.integers(1, 8, 40).astype(float)
    data = replace(answer_table(people, np.stack([people + 2]), high=10.0), mappable=np.array([False]))

    found = select_rubric_by_nested_cv(data, rng)

    assert (found.chosen, found.kept, found.errors[0]) == (0, False, found.errors[1])


def test_outputs_of_one_sample_stay_together() -> None:
    """Ten copies of each sample carry no more evidence than one."""
    people, turned = np.tile([0.0, 1.0], 4), np.array([1.0, 1, 0, 1, 1, 0, 0, 1])
    copies = answer_table(np.repeat(people, 10), np.stack([np.repeat(turned, 10), np.repeat(people, 10)]))
    together = replace(copies, unit=np.repeat(np.arange(8), 10), variant=np.tile(np.arange(10), 8))

    alone = select_rubric_by_nested_cv(copies, np.random.default_rng(0))
    clustered = select_rubric_by_nested_cv(together, np.random.default_rng(0))

    assert (alone.samples, alone.kept) == (80, True)
    assert (clustered.samples, clustered.kept) == (8, False)


def test_the_order_of_outputs_does_not_matter() -> None:
    """Nor does that of samples without labels among them."""
    rng = np.random.default_rng(5)
    people = rng.integers(0, 2, 30).astype(float)
    data = answer_table(people, np.stack([1 - people, people]))
    unlabelled = np.array([[np.nan]])
    more = CandidateAnswers(
        people=np.concatenate([data.people, unlabelled]),
        answers=np.concatenate([data.answers, np.ones((2, 1, 1))], axis=1),
        unit=np.append(data.unit, 99),
        variant=np.append(data.variant, 0),
        low=data.low,
        high=data.high,
        mappable=data.mappable,
    )

    found, again = (select_rubric_by_nested_cv(one, np.random.default_rng(0)) for one in (data, more))

    assert found == again
