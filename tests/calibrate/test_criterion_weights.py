"""Weights fitted to people's scores: found where they are clear, held back where they are not, never invented."""

import json
from collections.abc import Sequence

import numpy as np
import pytest

from evenhand.calibrate.calibration import encode_judges_against_people, hold_judges_against_people
from evenhand.calibrate.fitted_to_people import HumanFittedWeights, NoHumanFittedWeights
from evenhand.runs.columns import RunTable
from tests.calibrate.tables import labels, table

IDS = ("right", "kind", "short")
EQUAL = dict.fromkeys(IDS, 1.0)


def run_of(samples: int, seed: int = 1) -> RunTable:
    rng = np.random.default_rng(seed)
    return table({"j": {id: rng.integers(1, 6, samples).tolist() for id in IDS}})


def people_of(run: RunTable, weights: Sequence[float], noise: float = 0.3, level: float = 0.0) -> list[float | None]:
    rng = np.random.default_rng(7)
    whole = sum(weight * run.criteria[id] for id, weight in zip(IDS, weights, strict=True))
    return list(np.round(np.clip(whole + level + rng.normal(0, noise, len(run.sample)), 1, 5), 2))


def suggested(run: RunTable, people: list[float | None], **weights: float) -> HumanFittedWeights | NoHumanFittedWeights:
    found = labels(run, {"r1": {"score": people}})
    return hold_judges_against_people(run, found, weights=[weights or EQUAL]).weights


def test_weights_that_people_use_are_found_and_help() -> None:
    """People look at whether it is right; the rubric weighs all alike."""
    run = run_of(120)

    found = suggested(run, people_of(run, (0.8, 0.1, 0.1)))

    assert isinstance(found, HumanFittedWeights)
    assert found.suggested["right"] > 0.6
    assert sum(found.suggested.values()) == pytest.approx(1)
    assert found.helps
    assert found.error < found.error_now


def test_a_generous_judge_changes_no_weights() -> None:
    """A level that all criteria share is a bias of the judge, and no matter of weights."""
    run = run_of(120)

    level, shifted = (suggested(run, people_of(run, (0.6, 0.3, 0.1), 0.1, by)) for by in (0.0, -0.4))

    assert isinstance(level, HumanFittedWeights)
    assert isinstance(shifted, HumanFittedWeights)
    for id in IDS:
        assert shifted.suggested[id] == pytest.approx(level.suggested[id], abs=0.06)


def test_weights_that_are_right_already_are_kept() -> None:
    """No gain is claimed where there is none, in 19 of 20 cases."""
    claimed = 0
    for seed in range(40):
        run = run_of(40, seed)
        rng = np.random.default_rng(seed)
        people = np.clip(sum(run.criteria[id] for id in IDS) / 3 + rng.normal(0, 1, 40), 1, 5)
        found = suggested(run, [float(one) for one in np.round(people, 2)])
        assert isinstance(found, HumanFittedWeights)
        claimed += found.helps

    assert claimed <= 2


def test_no_weight_is_nothing() -> None:
    """A rubric refuses a weight of 0."""
    run = run_of(300)

    found = suggested(run, people_of(run, (1.0, 0.0, 0.0), 0.0))

    assert isinstance(found, HumanFittedWeights)
    assert min(found.suggested.values()) >= 0.01


@pytest.mark.parametrize(
    ("samples", "told", "more"),
    [(12, "12 samples with a labelled score are too few: it takes 20", 8), (19, "are too few: it takes 20", 1)],
)
def test_few_labels_are_said_to_be_few(samples: int, told: str, more: int) -> None:
    """With how many more it takes."""
    run = run_of(samples)

    found = suggested(run, people_of(run, (0.8, 0.1, 0.1)))

    assert isinstance(found, NoHumanFittedWeights)
    assert told in found.why
    assert found.more == more


def test_more_criteria_take_more_samples() -> None:
    """Five samples for each."""
    rng = np.random.default_rng(0)
    ids = [f"c{n}" for n in range(6)]
    run = table({"j": {id: rng.integers(1, 6, 25).tolist() for id in ids}})
    found = labels(run, {"r1": {"score": rng.integers(1, 6, 25).tolist()}})

    told = hold_judges_against_people(run, found, weights=[dict.fromkeys(ids, 1.0)]).weights

    assert isinstance(told, NoHumanFittedWeights)
    assert told.more == 5


def test_labels_of_criteria_alone_say_nothing_about_weights() -> None:
    """What counts for the whole is only known from scores of the whole."""
    run = run_of(40)
    found = labels(run, {"r1": {"right": run.criteria["right"].tolist()}})

    told = hold_judges_against_people(run, found, weights=[EQUAL]).weights

    assert isinstance(told, NoHumanFittedWeights)
    assert "add labels with the criterion 'score'" in told.why


def test_people_who_never_differ_suggest_nothing() -> None:
    """Any weights fit that."""
    found = suggested(run_of(30), [3.0] * 30)

    assert isinstance(found, NoHumanFittedWeights)
    assert "the same score throughout" in found.why


def test_it_is_plain_data() -> None:
    """For programs: shares, errors, the gain with its interval, and whether it is clear."""
    run = run_of(60)
    found = labels(run, {"r1": {"score": people_of(run, (0.8, 0.1, 0.1))}})

    data = encode_judges_against_people(hold_judges_against_people(run, found, weights=[EQUAL]))["weights"]

    assert json.loads(json.dumps(data, allow_nan=False)).keys() == {
        "now", "suggested", "error_now", "error", "gain", "samples", "helps",
    }  # fmt: skip
    assert data["now"] == pytest.approx(dict.fromkeys(IDS, 1 / 3))
