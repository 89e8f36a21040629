"""Judges beside people: who is compared with whom, over which outputs, and in which direction judges err."""

from typing import Any

import numpy as np
import pytest

from evenhand.calibrate.calibration import JudgeBiasAgainstPeople, measure_human_biases
from evenhand.calibrate.human_agreement import (
    measure_human_agreements,
    measure_human_ceilings,
    measure_panel_human_agreement,
    measure_run_alignment_with_people,
    tabulate_judges_against_people,
)
from evenhand.calibrate.labelled_outputs import (
    PANEL_ANSWERER,
    collect_labelled_outputs,
    pair_judge_with_each_rater,
    pair_judge_with_people_mean,
    pair_judge_with_people_median,
    pair_raters_with_each_other,
)
from evenhand.stats.arrays import Undefined
from evenhand.stats.ratings import Agreement
from tests.calibrate.tables import held, labels, table

SPREAD = [1, 2, 3, 4, 5, 4, 3, 2, 1, 5, 2, 4]


def bias(
    kind: str, found: Any, who: str = "j", question: str = "tone", models: dict[str, str] | None = None
) -> JudgeBiasAgainstPeople:
    (one,) = [
        one
        for one in measure_human_biases(found, models or {})
        if (one.kind, one.who, one.question) == (kind, who, question)
    ]
    return one


def test_a_judge_is_held_against_the_mean_of_people() -> None:
    """Where nobody labelled, and where the judge is silent, there is nothing to compare."""
    found = held(
        {"j": {"tone": [1, None, 3, 4]}}, {"r1": {"tone": [1, 2, 3, None]}, "r2": {"tone": [2, 2, None, None]}}
    )

    pairs = pair_judge_with_people_mean(found, "j", found.questions)

    assert (pairs.x.tolist(), pairs.y.tolist()) == ([1, 3], [1.5, 3])


def test_each_person_counts_alone_and_against_the_others() -> None:
    """Three people on one output: three pairs with the judge, and each beside the mean of the other two."""
    found = held({"j": {"tone": [5]}}, {"r1": {"tone": [1]}, "r2": {"tone": [2]}, "r3": {"tone": [4]}})

    each, others = (
        pair_judge_with_each_rater(found, "j", found.questions),
        pair_raters_with_each_other(found, found.questions),
    )

    assert each.y.tolist() == [1, 2, 4]
    assert list(zip(others.x.tolist(), others.y.tolist(), strict=True)) == [(1, 3), (2, 2.5), (4, 1.5)]


def test_the_overall_figure_weighs_criteria_over_what_both_answered() -> None:
    """Tone 5 of 1–5 is a share of 1, facts 2 is 1/4: by weights 3 and 1 (3·1 + 1/4)/4; without facts, tone alone."""
    found = held(
        {"j": {"tone": [5, 3], "facts": [2, None]}},
        {"r1": {"tone": [5, 3], "facts": [2, 5]}},
        weights={"tone": 3.0},
    )

    pairs = pair_judge_with_people_mean(found, "j", found.overall)

    assert pairs.x.tolist() == [(3 + 0.25) / 4, 0.5]
    assert pairs.y.tolist() == [(3 + 0.25) / 4, 0.5]


def test_a_label_on_the_score_counts_overall_only_where_no_criterion_is_labelled() -> None:
    """People who score the whole output are held against the score of each judge."""
    run = table({"j": {"tone": SPREAD, "facts": SPREAD}, "k": {"tone": [3] * 12, "facts": SPREAD}})
    whole = collect_labelled_outputs(run, labels(run, {"r1": {"score": SPREAD}}))
    both = collect_labelled_outputs(run, labels(run, {"r1": {"score": SPREAD, "tone": SPREAD}}))

    assert [one.id for one in whole.overall] == ["score"]
    assert [one.id for one in both.overall] == ["tone"]
    assert whole.answers["k", "score"].tolist() == [(3 + one) / 2 for one in SPREAD]


def test_repeats_are_one_answer() -> None:
    """A person saw an output once; the judge said 2, 3 and 4 of it."""
    run = table(
        {"j": {"tone": [2, 3, 4, 5]}},
        sample=np.array([0, 0, 0, 1]),
        repeat=np.array([0, 1, 2, 0]),
        cluster=np.array([0, 0, 0, 1]),
        samples=("a", "b"),
    )
    label = labels(table({"j": {"tone": [3, 5]}}, samples=("a", "b")), {"r1": {"tone": [3, 5]}})

    found = collect_labelled_outputs(run, label)

    assert found.answers["j", "tone"].tolist() == [3, 5]


def test_a_single_judge_has_no_panel_beside_it() -> None:
    """The same row twice would look like two opinions."""
    one = held({"j": {"tone": SPREAD}}, {"r1": {"tone": SPREAD}})
    two = held({"j": {"tone": SPREAD}, "k": {"tone": SPREAD}}, {"r1": {"tone": SPREAD}})

    assert [found.who for found in measure_human_agreements(one)] == ["j"]
    assert [found.who for found in measure_human_agreements(two)] == ["j", "k", PANEL_ANSWERER]


def test_people_are_the_ceiling() -> None:
    """Two people who agree on eleven of twelve outputs; one person alone has nobody to agree with."""
    other = [*SPREAD[:-1], 5]
    found = held({"j": {"tone": SPREAD}}, {"r1": {"tone": SPREAD}, "r2": {"tone": other}})
    alone = held({"j": {"tone": SPREAD}}, {"r1": {"tone": SPREAD}})

    (two,), (one,) = measure_human_ceilings(found), measure_human_ceilings(alone)

    assert two.alpha.value is not None and 0.95 < two.alpha.value < 1
    assert (one.alpha.value, one.alpha.n) == (None, 0)


def test_confusion_counts_levels_against_the_middle_answer() -> None:
    """People said 2, 2, 5 of the first output: 2; and 3, 4 of the second: 3.5, which is 4."""
    found = held({"j": {"tone": [1, 5]}}, {"r1": {"tone": [2, 3]}, "r2": {"tone": [2, 4]}, "r3": {"tone": [5, None]}})

    (one,) = tabulate_judges_against_people(found)

    assert one.levels == ("1", "2", "3", "4", "5")
    assert [(row, column) for row in range(5) for column in range(5) if one.counts[row][column]] == [(0, 1), (4, 3)]
    assert pair_judge_with_people_median(found, "j", found.questions[0]).y.tolist() == [2, 3.5]


def test_a_scale_of_many_levels_is_shown_in_bands() -> None:
    """A hundred levels fit on no screen, and no two people use the same ones."""
    run = table({"j": {"tone": [1, 1.5, 5]}}, scale="1–5")
    rubric = run.frame.rubrics[0]
    rubric["criteria"][0]["ends"] = [0.0, 100.0]

    (one,) = tabulate_judges_against_people(collect_labelled_outputs(run, labels(run, {"r1": {"tone": [100, 19, 20]}})))

    assert one.levels == ("0–20", "20–40", "40–60", "60–80", "80–100")
    assert one.counts[0] == (1, 1, 0, 0, 1)


def test_a_harsh_judge_is_called_harsh() -> None:
    """Half a point below people throughout, give or take."""
    people = [one - 0.5 * (place % 3 - 1) + 0.5 for place, one in enumerate(SPREAD)]
    found = held({"j": {"tone": SPREAD}}, {"r1": {"tone": people}}, scale="1–5")

    one = bias("harshness", found)

    assert one.estimate == pytest.approx(-0.5)
    assert one.clear and one.n == 12


def test_an_error_that_grows_with_length_is_found_and_an_absent_one_is_not() -> None:
    """A tenth of a point per 100 characters, on 60 samples; the other judge errs at random."""
    rng = np.random.default_rng(3)
    people, length = rng.integers(1, 6, 60), rng.integers(1, 30, 60) * 50.0
    noise = rng.normal(size=60) * 0.3
    said = {"j": {"tone": list(people + noise + length / 1000)}, "k": {"tone": list(people + noise)}}

    found = held(said, {"r1": {"tone": people.tolist()}}, length=length, scale="1–5")

    biased, plain = bias("length", found), bias("length", found, "k")
    assert biased.clear and biased.low is not None and biased.low < 0.1 < (biased.high or 0)
    assert not plain.clear


def test_the_first_seat_is_compared_within_samples() -> None:
    """Two outputs to a sample; the judge is a point too high on whichever it saw first."""
    first = np.array([1.0, 2.0, 2.0, 1.0] * 5)
    people = [2, 4] * 10
    said = [one + (seat == 1) for one, seat in zip(people, first, strict=True)]

    found = held({"j": {"tone": said}}, {"r1": {"tone": people}}, variants=("old", "new"), seats={"j": first})

    assert bias("position", found).estimate == pytest.approx(1.0)
    assert bias("position", held({"j": {"tone": SPREAD}}, {"r1": {"tone": SPREAD}})).why == (
        "the judge was shown one output at a time"
    )


@pytest.mark.parametrize(
    ("models", "estimate", "why"),
    [
        ({"old": "openai/a", "new": "house/b"}, 2.0, ""),
        ({"old": "openai/other", "new": "house/b"}, 2.0, ""),
        ({"old": "house/a", "new": "house/b"}, None, "no variant is by this judge's model or its maker"),
        ({}, None, "the run does not tell which models made the outputs"),
        ({"old": "openai/a"}, None, "0 samples with labels on both its own and another's output are too few"),
    ],
)
def test_a_judge_that_favours_its_own_kind_is_found(models: dict[str, str], estimate: float | None, why: str) -> None:
    """Two points too high on the outputs of the variant that its own model, or one of its maker, made."""
    people = [1, 3] * 8
    said = {"openai/a": {"tone": [one + 2 * (place % 2 == 0) for place, one in enumerate(people)]}}

    found = held(said, {"r1": {"tone": people}}, variants=("old", "new"))

    one = bias("self-preference", found, "openai/a", models=models)
    assert one.estimate == (None if estimate is None else pytest.approx(estimate))
    assert one.why.startswith(why) and bool(one.why) == bool(why)


@pytest.mark.parametrize(("noise", "colour"), [(0.0, "green"), (1.5, "amber"), (6.0, "red")])
def test_the_badge_goes_by_alpha_between_panel_and_people(noise: float, colour: str) -> None:
    """From 0.667 green, from 0.4 amber, below red; grey without labels."""
    rng = np.random.default_rng(5)
    people = rng.integers(1, 6, 400)
    said = np.clip(people + rng.normal(size=400) * noise, 1, 5)
    run = table({"j": {"tone": said.tolist()}}, scale="1–5")

    found, nothing = (
        measure_run_alignment_with_people(run, labels(run, {"r1": {"tone": people.tolist()}})),
        measure_run_alignment_with_people(run, ()),
    )

    assert found.colour == colour
    assert (nothing.colour, nothing.says, nothing.alpha) == ("grey", "no labels", None)
    assert bool(found.advice) == (colour != "green")


@pytest.mark.parametrize(
    ("samples", "says"),
    [
        (1, "1 labelled sample is too few to tell: it takes 8"),
        (2, "2 labelled samples are too few to tell: it takes 8"),
        (7, "7 labelled samples are too few to tell: it takes 8"),
    ],
)
def test_a_few_labels_are_no_badge(samples: int, says: str) -> None:
    """Judge and people agree on both outputs of each: luck would look the same."""
    said = [1, 5] * 10
    run = table({"j": {"tone": said}}, variants=("old", "new"))
    label = labels(run, {"r1": {"tone": said[: 2 * samples]}})

    badge, agreed = measure_run_alignment_with_people(run, label), measure_panel_human_agreement(run, label)

    assert (badge.colour, badge.alpha, badge.says) == ("grey", None, says)
    assert badge.advice == f"Have people score {8 - samples} more sample{'' if samples == 7 else 's'}."
    assert isinstance(agreed, Undefined) and agreed.why == says


def test_eight_labelled_samples_are_enough_for_a_badge() -> None:
    """Where an interval begins, the answer does."""
    said = [1, 5, 4] * 4
    run = table({"j": {"tone": said}})
    label = labels(run, {"r1": {"tone": [*said[:7], 4]}})

    assert measure_run_alignment_with_people(run, label).colour == "green"
    assert isinstance(measure_panel_human_agreement(run, label), Agreement)


def test_labels_without_an_answer_of_the_judges_are_not_counted() -> None:
    """Ten labelled samples, of which the judge answered five."""
    said = [1, 5, 2, 4, 3]
    run = table({"j": {"tone": [*said, *[None] * 5]}})

    badge = measure_run_alignment_with_people(run, labels(run, {"r1": {"tone": said * 2}}))

    assert badge.says == "5 labelled samples with an answer of the judges are too few to tell: it takes 8"
