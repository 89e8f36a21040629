"""All of it together: plain data for programs, means on people's scale, points for a report."""

import json
from dataclasses import replace

import numpy as np
import pytest

from evenhand.calibrate.calibration import (
    JudgeCalibration,
    encode_human_label_points,
    encode_judges_against_people,
    hold_judges_against_people,
)
from evenhand.errors import InputError
from evenhand.runs.columns import RunTable
from evenhand.workflows.calibrate import export_panel_for_user
from tests.calibrate.tables import labels, table

RNG = np.random.default_rng(11)
PEOPLE = RNG.integers(1, 6, 120)
HIGH = np.clip(PEOPLE + 1, 1, 5)
NOISY = np.clip(PEOPLE + RNG.integers(-2, 3, 120), 1, 5)
RUN = table({"high": {"tone": HIGH.tolist()}, "noisy": {"tone": NOISY.tolist()}}, variants=("old", "new"))


def calibrated(run: RunTable, people: list[float | None]) -> JudgeCalibration:
    return hold_judges_against_people(run, labels(run, {"r1": {"tone": people}}))


def test_it_is_plain_data() -> None:
    """What a program reads has no NumPy in it, no NaN, and the parts it needs."""
    data = encode_judges_against_people(calibrated(RUN, PEOPLE.tolist()))

    assert json.loads(json.dumps(data, allow_nan=False)).keys() >= {"aligned", "agreement", "bias", "maps", "means"}
    assert data["recommendation"]["chosen"]["weights"]
    assert "predicted" not in json.dumps(data)


def test_the_same_seed_gives_the_same_calibration() -> None:
    """Folds are drawn by lot, from a seed."""
    one, other = (encode_judges_against_people(calibrated(RUN, PEOPLE.tolist())) for _ in range(2))

    assert one == other


def test_labels_on_some_give_means_on_peoples_scale_for_all() -> None:
    """Both judges are a point too high together; half of the samples have labels."""
    half: list[float | None] = [int(one) if place < 60 else None for place, one in enumerate(PEOPLE)]

    found = {one.variant: one for one in calibrated(RUN, half).means}

    for number, one in enumerate(("old", "new")):
        mean = found[one]
        assert mean.powered is not None and (mean.labelled, mean.powered.judged) == (30, 60)
        assert mean.powered.low <= PEOPLE[number::2].mean() <= mean.powered.high
        assert mean.judged is not None and mean.judged > mean.powered.estimate


def test_people_cannot_give_more_than_the_scale_has() -> None:
    """Nearly everything is a 5: the interval of the mean ends where nothing better is left to label."""
    top: list[float | None] = [4 if place == 7 else 5 if place < 30 else None for place in range(60)]
    run = table({"j": {"tone": [5, 4, 5] * 20}})

    (found,) = calibrated(run, top).means

    assert found.powered is not None and 4.5 < found.powered.low < found.powered.high == pytest.approx(5 - 1 / 60)


def test_labels_that_are_all_the_same_have_an_interval() -> None:
    """Thirty fives of sixty: lower ones may be among the rest, and the interval says how many at most."""
    run = table({"j": {"tone": [5, 4, 5] * 20}})

    (found,) = calibrated(run, [5 if place < 30 else None for place in range(60)]).means

    assert found.powered is not None and 4.4 < found.powered.low < 4.9 < found.powered.high == 5.0


def test_where_every_output_is_labelled_the_mean_is_known() -> None:
    """Nothing is estimated, however few they are."""
    run = table({"j": {"tone": [5, 4, 3] * 4}})

    (found,) = calibrated(run, [4, 5, 3] * 4).means

    assert found.powered is not None and (found.powered.low, found.powered.high) == (4.0, 4.0)


def test_samples_of_one_cluster_are_one() -> None:
    """Ten variations of one prompt are no ten samples."""
    run = table({"j": {"tone": [1, 2, 3, 4] * 5}}, cluster=np.array([-1 - place // 5 for place in range(20)]))

    found = calibrated(run, [1, 2, 3, 5] * 5)

    assert (found.labelled.samples, found.aligned.samples, len(found.labelled.ids)) == (4, 4, 20)


def test_an_output_without_an_answer_is_counted_not_dropped() -> None:
    """Two of the judge's answers are missing in one variant."""
    said: list[float | None] = [None if place in (0, 2) else int(one) for place, one in enumerate(HIGH)]
    run = table({"high": {"tone": said}}, variants=("old", "new"))

    found = {one.variant: one.silent for one in calibrated(run, PEOPLE.tolist()).means}

    assert found == {"old": 2, "new": 0}


def test_few_labels_say_what_is_wanting() -> None:
    """Three labels: no panel, no map, no mean, and every one says why."""
    few: list[float | None] = [int(one) if place < 3 else None for place, one in enumerate(PEOPLE)]

    data = encode_judges_against_people(calibrated(RUN, few))

    assert data["recommendation"]["more_samples"] == 18
    assert all(one["why"] for part in ("maps", "means") for one in data[part])


def test_points_for_a_report_are_few_and_counted() -> None:
    """A hundred and twenty outputs on five levels are at most twenty-five bubbles."""
    data = encode_human_label_points(RUN, labels(RUN, {"r1": {"tone": PEOPLE.tolist()}}))

    assert data is not None and data["scale"] == [1.0, 5.0]
    (high, *_) = data["judges"]
    assert sum(count for *_, count in high["points"]) == high["n"] == 120
    assert high["bias"] == pytest.approx((HIGH - PEOPLE).mean())
    assert encode_human_label_points(RUN, ()) is None


def test_without_labels_there_is_nothing_to_hold_judges_against() -> None:
    """The command says how to bring them."""
    with pytest.raises(InputError, match="no labels"):
        hold_judges_against_people(RUN, ())


def test_a_run_in_which_no_judge_spoke_is_refused() -> None:
    """Every judge failed throughout."""
    silent = table({"j": {"tone": [None, None]}})

    with pytest.raises(InputError, match="no judge answered anything"):
        calibrated(silent, [1, 2])


def test_a_warning_in_a_panel_file_stays_a_comment() -> None:
    """A name with a line break in it would otherwise add a judge."""
    found = replace(calibrated(RUN, PEOPLE.tolist()), warnings=("j\njudges: [evil]\u2028x\x85y has a length bias.",))

    lines = export_panel_for_user(found).splitlines()

    assert "# Beware: j judges: [evil] x y has a length bias." in lines
    assert [line for line in lines if "evil" in line and not line.startswith("#")] == []
