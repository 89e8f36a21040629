"""Which judges to ask: weights by hand, choices that are honest, and refusals where too little is known."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from evenhand.calibrate.calibration import BiasKind, JudgeBiasAgainstPeople, warn_of_calibrated_panel_biases
from evenhand.calibrate.labelled_outputs import LabelledCells, collect_labelled_cells
from evenhand.calibrate.panel_recommendation import (
    CalibratedPanelCandidate,
    CalibratedPanelSelection,
    NoRecommendedPanel,
    RecommendedPanel,
    _minimize_judge_error_against_people,
    fit_judge_weights_to_people,
    list_calibrated_panel_candidates,
    recommend_panel_from_labels,
    split_labelled_samples_into_folds,
)
from tests.calibrate.tables import held

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def cells(said: Floats, people: Floats, unit: Any = None) -> LabelledCells:
    """One question from 0 to 1; a sample for every cell unless told."""
    own = np.arange(len(people)) if unit is None else unit.astype(np.int64)
    spoke = np.isfinite(said)
    panel = np.where(spoke.any(axis=1), np.where(spoke, said, 0).sum(axis=1) / np.maximum(spoke.sum(axis=1), 1), np.nan)
    return LabelledCells(
        judges=tuple(f"j{place}" for place in range(said.shape[1])),
        said=said,
        people=people,
        guess=np.full(len(people), people.mean()),
        weight=np.ones(len(people)),
        unit=own,
        place=np.arange(len(people)),
        panel=panel,
    )


def drawn(noise: list[float], samples: int = 120, seed: int = 0, levels: int = 0) -> LabelledCells:
    """Judges that err by so much, independently."""
    rng = np.random.default_rng(seed)
    people = rng.uniform(0.2, 0.8, samples)
    said = people[:, None] + rng.normal(size=(samples, len(noise))) * noise
    return cells(np.round(said * levels) / levels if levels else said, people)


def chosen(found: LabelledCells, seed: int = 0, cost: dict[str, float] | None = None) -> RecommendedPanel:
    one = recommend_panel_from_labels(found, rng=np.random.default_rng(seed), cost=cost or {})
    assert isinstance(one, RecommendedPanel)
    return one


def test_weights_by_hand() -> None:
    """Errors of 0.1 and 0.2 that never go together: weights as 1/0.01 to 1/0.04, which is 4 to 1."""
    signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    people = np.full(4, 0.5)

    weights = fit_judge_weights_to_people(people[:, None] + signs * [0.1, 0.2], people, np.ones(4), 0.0)

    assert weights == pytest.approx([0.8, 0.2])


def test_a_judge_that_only_repeats_another_with_more_noise_gets_no_weight() -> None:
    """Weights are never negative: what could only be subtracted is left out."""
    error = np.array([0.1, -0.1, 0.1, -0.1])
    people = np.full(4, 0.5)

    weights = fit_judge_weights_to_people(
        np.stack([people + error, people + 2 * error], axis=1), people, np.ones(4), 0.0
    )

    assert weights.tolist() == [1.0, 0.0]


def test_shrinkage_draws_weights_towards_equal_ones() -> None:
    """All the way, and nothing is left of what the data said."""
    found = drawn([0.05, 0.2])

    plain, half, all_of_it = (
        fit_judge_weights_to_people(found.said, found.people, found.weight, one) for one in (0.0, 0.5, 1.0)
    )

    assert plain[0] > half[0] > all_of_it[0] == pytest.approx(0.5)


@given(st.integers(2, 7), st.integers(0, 10_000))
def test_the_weights_are_the_best_there_are(size: int, seed: int) -> None:
    """Against a general optimiser that is told the same bounds."""
    rng = np.random.default_rng(seed)
    parts = rng.normal(size=(size, size + 2))
    matrix = parts @ parts.T / size + 0.01 * np.eye(size)

    weights = _minimize_judge_error_against_people(matrix)

    theirs = minimize(
        lambda w: w @ matrix @ w, np.full(size, 1 / size), jac=lambda w: 2 * matrix @ w, bounds=[(0, 1)] * size,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1}, options={"ftol": 1e-12},
    )  # fmt: skip
    assert weights.min() >= 0 and weights.sum() == pytest.approx(1)
    assert weights @ matrix @ weights <= theirs.fun + 1e-7


def test_a_panel_speaks_where_more_than_half_of_it_does() -> None:
    """As where a run joins its judges: one of two is not enough, two of three are."""
    nan = np.nan
    found = cells(np.array([[0.2, 0.4, nan], [0.2, nan, nan], [0.2, 0.4, 0.9]]), np.full(3, 0.5))

    mean = CalibratedPanelCandidate(kind="mean", members=(0, 1, 2))
    middle = CalibratedPanelCandidate(kind="median", members=(0, 1, 2))

    assert mean.combine_answers(found, mean.weights(found)).tolist() == pytest.approx([0.3, nan, 0.5], nan_ok=True)
    assert middle.combine_answers(found, middle.weights(found)).tolist() == pytest.approx([0.3, nan, 0.4], nan_ok=True)


def test_every_subset_is_tried_up_to_a_sane_number() -> None:
    """Nine judges: 511 subsets, a median, two kinds of weights; of fifteen only the small ones, and all."""
    nine, fifteen = (list_calibrated_panel_candidates(drawn([0.1] * size, samples=2)) for size in (9, 15))

    assert len(nine) == 511 + 3
    assert max(len(one.members) for one in fifteen if one.kind == "mean" and len(one.members) < 15) == 2


def test_the_simplest_panel_within_one_standard_error_is_chosen() -> None:
    """One judge that is nearly right, and two that add nothing but cost."""
    found = chosen(drawn([0.05, 0.4, 0.4]))

    assert list(found.chosen.weights) == ["j0"]
    assert found.chosen.excess <= found.chosen.spread
    assert found.same > found.choices / 2


def test_of_two_equal_judges_the_cheaper_is_asked() -> None:
    """They say the same; one costs less."""
    one = drawn([0.1]).said
    found = chosen(cells(np.hstack([one, one]), drawn([0.1]).people), cost={"j0": 0.02, "j1": 0.01})

    assert list(found.chosen.weights) == ["j1"]


def test_judges_that_err_apart_are_asked_together() -> None:
    """Three independent errors of one size: their mean errs by √3 less than any of them."""
    found = chosen(drawn([0.2, 0.2, 0.2], samples=300))

    assert len(found.chosen.weights) == 3
    assert found.error == pytest.approx(0.2 / np.sqrt(3), rel=0.1)


def test_a_judge_that_is_mostly_silent_is_charged_for_silence() -> None:
    """It is right on the tenth that it answers, and knows nothing of the rest."""
    found = drawn([0.1, 0.01])
    said = found.said.copy()
    said[np.arange(len(said)) % 10 > 0, 1] = np.nan

    one = chosen(replace(cells(said, found.people), panel=said[:, 0]))

    assert list(one.chosen.weights) == ["j0"]
    assert next(each.answered for each in one.candidates if each.name == "j1") == pytest.approx(0.1)


def test_what_is_reported_was_not_fitted_on() -> None:
    """Judges that know nothing: chosen for luck they look better than a guess, and on other samples they are not."""
    rng = np.random.default_rng(2)
    drawn = [cells(rng.uniform(size=(30, 6)), rng.uniform(size=30)) for _ in range(12)]
    found = [chosen(replace(one, panel=one.said[:, 0]), seed) for seed, one in enumerate(drawn)]

    looked = np.mean([one.best.error for one in found])
    honest = np.mean([one.error for one in found])

    assert looked < honest
    assert honest > 0.28  # A mean of six guesses errs by √(1/12 + 1/72) = 0.31; one that knew would err by less.


def test_no_label_touches_what_is_said_of_its_own_sample() -> None:
    """Turn one sample's label round: what panels chosen and weighted without it say of it must not move.

    One judge is a little too high, the other far too low: only weights put them right, so these are chosen.
    """
    plain = drawn([0.03, 0.03], samples=30)
    found = replace(plain, said=plain.said + np.array([0.1, -0.3]))

    for place in range(0, 30, 3):
        people = found.people.copy()
        people[place] = 3.0 - people[place]
        turned = replace(found, people=people)
        honest = [next(_race(one).predict_by_nested_selection(np.random.default_rng(1)))[0] for one in (found, turned)]
        fitted = [
            _race(one).predict_held_out(_WEIGHTS, np.arange(30), np.random.default_rng(1)) for one in (found, turned)
        ]
        assert honest[0][place] == honest[1][place]
        assert fitted[0][place] == fitted[1][place]
        assert (fitted[0] != fitted[1]).any()


def test_what_is_no_clear_gain_is_not_paid_for() -> None:
    """Two judges that err nearly alike: their mean is a little better by luck, and one of them is recommended."""
    rng = np.random.default_rng(8)
    people, shared = rng.uniform(0.2, 0.8, 60), rng.normal(size=60) * 0.1
    said = people[:, None] + shared[:, None] + rng.normal(size=(60, 2)) * 0.03

    found = chosen(cells(said, people))

    assert found.best.error < found.chosen.error
    assert (len(found.best.weights), len(found.chosen.weights)) == (2, 1)


def test_no_sample_is_on_both_sides_of_a_fold() -> None:
    """Every sample is held out once."""
    parts = split_labelled_samples_into_folds(np.arange(23), np.random.default_rng(0))

    assert sorted(np.concatenate(parts).tolist()) == list(range(23))
    assert {len(part) for part in parts} == {4, 5}


@pytest.mark.parametrize(
    ("found", "why", "more"),
    [
        (drawn([0.1]), "one judge: there is nothing to choose between", 0),
        (drawn([0.1, 0.2], samples=12), "12 labelled samples are too few: it takes 20", 8),
        (cells(np.full((30, 2), 0.3), np.full(30, 0.5)), "people gave the same score throughout", 0),
    ],
)
def test_too_little_is_no_recommendation(found: LabelledCells, why: str, more: int) -> None:
    """With how many samples are wanting, where more would help."""
    one = recommend_panel_from_labels(found, rng=np.random.default_rng(0), cost={})

    assert isinstance(one, NoRecommendedPanel)
    assert one.why.startswith(why) and one.more == more


def test_twenty_outputs_of_five_samples_are_five() -> None:
    """Independent samples are counted, not rows."""
    found = recommend_panel_from_labels(
        cells(np.random.default_rng(0).uniform(size=(20, 2)), np.linspace(0, 1, 20), np.arange(20) // 4),
        rng=np.random.default_rng(0),
        cost={},
    )

    assert isinstance(found, NoRecommendedPanel) and found.more == 15


def test_the_order_of_samples_does_not_matter() -> None:
    """The same run with its samples turned round gives the same panel and the same figures."""
    rng = np.random.default_rng(4)
    people = rng.integers(1, 6, 40)
    said = {name: {"tone": np.clip(people + rng.integers(-2, 3, 40), 1, 5).tolist()} for name in "ab"}
    ids = tuple(f"s{place:04}" for place in range(40))
    turned = {name: {"tone": answers["tone"][::-1]} for name, answers in said.items()}

    one = chosen(collect_labelled_cells(held(said, {"r1": {"tone": people.tolist()}}, samples=ids)))
    other = chosen(collect_labelled_cells(held(turned, {"r1": {"tone": people.tolist()[::-1]}}, samples=ids[::-1])))

    assert one.chosen == other.chosen
    assert one.error == pytest.approx(other.error, rel=1e-9)


def test_a_guess_never_sees_its_own_sample() -> None:
    """Otherwise a silent judge would gain from the labels it is measured on."""
    found = collect_labelled_cells(
        held({"j": {"tone": [1, 2, 3]}, "k": {"tone": [1, 2, 3]}}, {"r1": {"tone": [1, 3, 5]}})
    )

    assert found.guess.tolist() == [(0.5 + 1) / 2, (0 + 1) / 2, (0 + 0.5) / 2]


_WEIGHTS = CalibratedPanelCandidate(kind="weights", members=(0, 1), shrink=0.1)


def _race(found: LabelledCells) -> CalibratedPanelSelection:
    return CalibratedPanelSelection(cells=found, cost={})


def bias(kind: BiasKind, who: str, question: str, estimate: float, low: float, high: float) -> JudgeBiasAgainstPeople:
    return JudgeBiasAgainstPeople(kind=kind, who=who, question=question, estimate=estimate, low=low, high=high)


def test_a_clear_bias_of_a_recommended_judge_is_said() -> None:
    """Overall where that is clear, else by criterion; nothing of who is left out, nothing of what may be 0."""
    found = chosen(drawn([0.05, 0.4, 0.4]))

    told = list(
        warn_of_calibrated_panel_biases(
            found,
            [
                bias("length", "j0", "overall", 0.04, 0.02, 0.06),
                bias("length", "j0", "tone", 0.5, 0.1, 0.9),
                bias("harshness", "j0", "overall", -0.1, -0.3, 0.1),
                bias("harshness", "j0", "tone", -0.59, -0.7, -0.4),
                bias("position", "j0", "tone", 0.3, -0.1, 0.7),
                bias("length", "j1", "overall", 0.9, 0.8, 1.0),
            ],
        )
    )

    assert list(found.chosen.weights) == ["j0"]
    assert told == [
        "j0 is harsh: −0.59 on tone [−0.70, −0.40].",
        "j0 has a length bias: +0.040 of the scale per 100 characters overall [0.020, 0.060].",
    ]
    assert (
        list(warn_of_calibrated_panel_biases(NoRecommendedPanel(why="so"), [bias("length", "j0", "overall", 1, 1, 1)]))
        == []
    )


def test_a_choice_that_errs_more_than_the_panel_that_ran_is_none() -> None:
    """The panel that ran was right all along, and no mixture of these judges comes near it."""
    found = drawn([0.3, 0.3, 0.3])
    ran_well = replace(found, panel=found.people + 0.01)

    one = recommend_panel_from_labels(ran_well, rng=np.random.default_rng(0), cost={})

    assert isinstance(one, NoRecommendedPanel)
    assert "err more than the one that ran" in one.why
