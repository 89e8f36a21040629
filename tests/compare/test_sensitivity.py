"""Rankings under other weights: exact flips, shares that are known beforehand, and nothing that the order decides."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand import load_rubric
from evenhand.compare.sensitivity import measure_sensitivity
from evenhand.compare.sensitivity_result import Sensitivity, encode_compared_weight_sensitivity
from evenhand.errors import InputError
from evenhand.runs.columns import RunTable
from tests.calibrate.audited import kept, rubric, table

TWO = {"accuracy": "0.5", "clarity": "0.5"}


def looked_at(run: RunTable, asked: object = None, **more: object) -> Sensitivity:
    return measure_sensitivity(run, kept(asked or rubric()), **{"draws": 4_000, **more})  # type: ignore[arg-type]


def two_criteria(lead: float, deficit: float, samples: int = 12, noise: float = 0.0) -> RunTable:
    """Two criteria of the same weight: new leads in one, and is behind in the other."""
    rng = np.random.default_rng(1)
    old = 5 + noise * rng.standard_normal((2, samples))
    accuracy = np.stack([old[0], np.full(samples, 5 + lead)], axis=1)
    clarity = np.stack([old[1], np.full(samples, 5 - deficit)], axis=1)
    return table({("j", "accuracy"): accuracy, ("j", "clarity"): clarity}, asked=rubric(TWO))


def test_a_flip_at_is_the_weight_at_which_both_are_level() -> None:
    """By hand: leads 3 and −1; at a weight of 0.25 for the first, 0.25·3 = 0.75·1."""
    (ranking,) = looked_at(two_criteria(3, 1), rubric(TWO)).rankings

    assert [part.flip_at for part in ranking.parts] == pytest.approx([0.25, 0.75])
    assert ranking.flip is not None
    assert ranking.flip.weights == pytest.approx((0.25, 0.75))


@pytest.mark.parametrize(("lead", "deficit", "share"), [(1.5, 1, 0.6), (3, 1, 0.75), (2, 0, 1.0)])
def test_over_all_weights_the_share_of_wins_is_the_length_that_wins(lead: float, deficit: float, share: float) -> None:
    """With two criteria weights are a line, uniform on it: the leader wins from deficit/(lead + deficit) to 1."""
    (ranking,) = looked_at(two_criteria(lead, deficit), rubric(TWO)).rankings

    assert ranking.anywhere.wins["new"] == pytest.approx(share, abs=4 * math.sqrt(0.25 / 4_000))
    # Scores are rounded to 0.01: by weights that nearly level them they are level, and share the first place.
    assert ranking.anywhere.same_winner == pytest.approx(ranking.anywhere.wins["new"], abs=0.005)


def test_near_weights_stray_as_far_as_the_spread_says() -> None:
    """A weight of 0.5 has the standard deviation spread/2: a flip at 0.4 is one standard deviation off for 0.2."""
    run = two_criteria(1.5, 1)  # Level at 1/2.5 = 0.4.

    shares = [looked_at(run, rubric(TWO), spread=spread).rankings[0].near.same_winner for spread in (0.05, 0.2, 0.6)]

    assert shares[0] == 1
    assert shares[1] == pytest.approx(0.84, abs=0.03)
    assert shares[2] < shares[1]


def test_what_is_no_matter_of_weights_counts_in_a_flip() -> None:
    """By hand: leads 3 and −1 at equal weights are 1 ahead; a deduction of 0.5 leaves 0.5, and 1/8 moves, not 1/4."""
    answers = {("j", "accuracy"): [[5, 8]] * 6, ("j", "clarity"): [[5, 4]] * 6}
    run = table(answers, asked=rubric(TWO), score=[[5.0, 5.5]] * 6)

    (ranking,) = looked_at(run, rubric(TWO)).rankings

    assert ranking.flip is not None
    assert ranking.flip.weights == pytest.approx((0.375, 0.625))
    assert ranking.parts[0].flip_at == pytest.approx(0.375)
    assert ranking.means == pytest.approx({"old": 5.0, "new": 5.5})


def test_points_count_what_they_are_worth_also_below_zero() -> None:
    """Two points for one, one taken off for the other: the score is the share of the positive points."""
    fields = [{"id": "good", "asks": "?", "points": 2}, {"id": "fault", "asks": "?", "points": -1}]
    points = load_rubric({"name": "p", "method": "points", "criteria": fields})
    answers = {("j", "good"): [[1, 1]] * 3, ("j", "fault"): [[1, 0]] * 3}
    run = table(answers, asked=points, score=[[0.5, 1.0]] * 3)

    (ranking,) = looked_at(run, points).rankings

    assert ranking.means == pytest.approx({"old": 0.5, "new": 1.0})
    assert [part.weight for part in ranking.parts] == pytest.approx([2 / 3, 1 / 3])
    assert [part.gap for part in ranking.parts] == pytest.approx([0, 1.5])
    assert ranking.anywhere.same_winner == 1


def test_leaves_of_a_tree_weigh_what_their_branch_leaves_them() -> None:
    """By hand: branches 3 to 1, leaves 1 to 1 in the first: 3/8, 3/8 and 2/8."""
    fields = [
        {"id": "b", "weight": 3, "children": [{"id": "x", "asks": "?"}, {"id": "y", "asks": "?"}]},
        {"id": "z", "asks": "?", "weight": 1},
    ]
    tree = load_rubric({"name": "t", "method": "tree", "criteria": fields})
    answers = {("j", id): [[0.5, 1.0]] * 3 for id in "xyz"}

    (ranking,) = looked_at(table(answers, asked=tree, score=[[0.5, 1.0]] * 3), tree).rankings

    assert [part.weight for part in ranking.parts] == pytest.approx([3 / 8, 3 / 8, 1 / 4])


def test_layers_are_a_ranking_of_their_own() -> None:
    """New leads by 2 in fact and is behind by 1 as judged: by equal weights it is ahead, at 1/3 of fact it is level."""
    answers = {("j", id): [[6, 5]] * 6 for id in rubric().leaves}
    layers = {"fact": [[2.0, 4.0]] * 6, "judge": [[4.0, 3.0]] * 6}

    by_criteria, by_layers = looked_at(table(answers, layers=layers)).rankings

    assert (by_criteria.order[0], by_layers.order[0]) == ("old", "new")
    assert [part.flip_at for part in by_layers.parts] == pytest.approx([1 / 3, 2 / 3])


def test_without_a_criterion_and_without_a_judge_another_is_first() -> None:
    """New owes its place to accuracy, and to the judge that likes it."""
    fond = {("fond", "accuracy"): [[3, 9]] * 5, ("fond", "clarity"): [[6, 6]] * 5}
    cool = {("cool", "accuracy"): [[5, 5]] * 5, ("cool", "clarity"): [[7, 6]] * 5}

    found = looked_at(table({**fond, **cool}, asked=rubric(TWO)), rubric(TWO))

    (ranking,) = found.rankings
    assert ranking.order == ("new", "old")
    assert {part.name: part.without[0] for part in ranking.parts} == {"accuracy": "old", "clarity": "new"}
    assert {judge: order[0] for judge, order in found.without_judge.items()} == {"fond": "old", "cool": "new"}


def test_a_lead_within_the_noise_of_the_samples_is_said_to_be() -> None:
    """Weights are not the only thing that could have been otherwise."""
    rng = np.random.default_rng(2)
    answers = {("j", id): 5 + rng.standard_normal((30, 2)) for id in rubric().leaves}

    found = looked_at(table(answers))

    (ranking,) = found.rankings
    assert ranking.gap is not None
    assert ranking.gap.p > 0.05
    assert ranking.with_noise is not None
    assert ranking.turned is not None
    assert 0.3 < ranking.with_noise < 0.99
    assert ranking.turned < 0.05
    assert found.next_step.startswith("Add samples first")


def test_a_tie_is_called_a_tie() -> None:
    """Neither is first, and no share of weightings is claimed for one of them."""
    found = looked_at(table({("j", id): [[5, 5]] * 4 for id in rubric().leaves}))

    (ranking,) = found.rankings
    assert ranking.tied
    assert ranking.near.wins == {"old": 0.5, "new": 0.5}
    assert "level" in found.headline


def test_samples_that_lack_a_score_are_left_out_and_counted() -> None:
    """A mean over other samples for one variant than for the other is no comparison."""
    answers = {("j", id): np.array([[5.0, 6.0]] * 6) for id in rubric().leaves}
    answers["j", "depth"][2, 1] = np.nan

    (ranking,) = looked_at(table(answers)).rankings

    assert (ranking.samples, ranking.left_out) == (5, 1)


def test_samples_of_another_rubric_are_left_out_with_a_word() -> None:
    """Weights of one rubric say nothing about another."""
    answers = {("j", id): [[5.0, 6.0]] * 6 for id in rubric().leaves}

    found = measure_sensitivity(table(answers), kept(rubric(), rubric({"other": "0.5", "more": "0.5"})), draws=10)

    assert "rubric 'test'" in found.rankings[0].note


def test_a_rubric_is_measured_over_its_own_samples_where_ids_are_shared() -> None:
    """Two of eight samples have a rubric of two of the three criteria: weights are those of the other six."""
    answers = {("j", id): [[5.0, 6.0]] * 8 for id in rubric().leaves}
    answers["j", "depth"] = [[np.nan, np.nan]] * 2 + [[5.0, 6.0]] * 6
    run = table(answers, score=[[5.0, 6.0]] * 8)
    both = kept(rubric(), rubric(TWO, name="short"))

    (most,) = measure_sensitivity(run, both, tags=["tag1"] * 2 + [""] * 6, draws=10).rankings
    (few,) = measure_sensitivity(run, both, tags=["tag1"] * 7 + [""], draws=10).rankings

    assert ([part.name for part in most.parts], most.samples, most.left_out) == (list(rubric().leaves), 6, 0)
    assert ([part.name for part in few.parts], few.samples, few.left_out) == (["accuracy", "clarity"], 7, 0)
    assert "rubric 'test'" in most.note and "rubric 'short'" in few.note


@pytest.mark.parametrize("weights", [{"accuracy": "0.85", "depth": "0.15"}, None])
def test_a_lead_in_one_criterion_is_level_without_it(weights: dict[str, str] | None) -> None:
    """Leaving it out makes a tie, at a weight of 0: that is not the same ranking."""
    asked = rubric(weights)
    answers = {("j", id): [[5.3, 7.3] if id == "depth" else [7.1, 7.1]] * 12 for id in asked.leaves}

    found = looked_at(table(answers, asked=asked), asked)

    (ranking,) = found.rankings
    parts = {part.name: part for part in ranking.parts}
    assert set(parts["depth"].level_without) == {"old", "new"}
    assert parts["depth"].flip_at == 0
    assert parts["accuracy"].level_without == ()
    assert "depth alone" in found.next_step


@settings(max_examples=20)
@given(st.permutations(range(8)), st.integers(0, 5))
def test_the_order_of_samples_decides_nothing(order: list[int], seed: int) -> None:
    """The same samples in another order give the same numbers."""
    rng = np.random.default_rng(seed)
    answers = {("j", id): rng.integers(1, 11, (8, 3)).astype(float) for id in rubric().leaves}
    turned = {key: column[order] for key, column in answers.items()}

    found, again = (looked_at(table(each, variants=("a", "b", "c")), draws=50) for each in (answers, turned))

    assert encode_compared_weight_sensitivity(found) == encode_compared_weight_sensitivity(again)


@given(st.integers(0, 20))
def test_names_of_variants_decide_nothing(seed: int) -> None:
    """Swapping the columns swaps the shares."""
    rng = np.random.default_rng(seed)
    answers = {("j", id): rng.integers(1, 11, (8, 2)).astype(float) for id in rubric().leaves}
    turned = {key: column[:, ::-1] for key, column in answers.items()}

    (found,), (again,) = (looked_at(table(each), draws=200).rankings for each in (answers, turned))

    assert found.near.wins["old"] == pytest.approx(again.near.wins["new"])
    assert found.anywhere.same_winner == pytest.approx(again.anywhere.same_winner)
    assert (found.flip is None) == (again.flip is None)


def test_a_run_with_nothing_to_weigh_is_refused_with_what_would_work() -> None:
    """One variant has no rank, one criterion no weight, no common sample no mean."""
    one = table({("j", id): [[5]] * 3 for id in rubric().leaves}, variants=("only",))
    single = rubric({"accuracy": "1"})
    bare = table({("j", "accuracy"): [[5, 6]] * 3}, asked=single)
    apart = table({("j", id): [[5, np.nan], [np.nan, 5]] for id in rubric().leaves})

    with pytest.raises(InputError, match="one variant"):
        looked_at(one)
    with pytest.raises(InputError, match="one criterion"):
        looked_at(bare, single)
    with pytest.raises(InputError, match="no sample has all scores"):
        looked_at(apart)


@pytest.mark.parametrize("wrong", [{"draws": 0}, {"draws": 10**9}, {"spread": 0.0}, {"spread": 1.0}])
def test_settings_that_mean_nothing_are_refused(wrong: dict[str, float]) -> None:
    """Before anything is drawn."""
    with pytest.raises(InputError, match=next(iter(wrong))):
        looked_at(two_criteria(1, 1), rubric(TWO), **wrong)


def test_one_sample_has_a_ranking_and_no_interval() -> None:
    """What cannot be known is null, not a number."""
    found = looked_at(table({("j", id): [[5, 6]] for id in rubric().leaves}))

    assert found.rankings[0].gap is None
    assert encode_compared_weight_sensitivity(found)["gap"] is None


def test_the_data_stay_small_and_say_the_same_each_time() -> None:
    """A page holds them, with a hundred criteria and ten variants."""
    weights = {f"a-criterion-with-a-long-name-{place}": "0.01" for place in range(100)}
    rng = np.random.default_rng(1)
    answers = {("j", id): rng.integers(1, 11, (6, 10)).astype(float) for id in weights}
    run = table(answers, asked=rubric(weights), variants=[f"variant-{place}" for place in range(10)])

    texts = [
        json.dumps(encode_compared_weight_sensitivity(looked_at(run, rubric(weights), draws=100))) for _ in range(2)
    ]

    assert texts[0] == texts[1]
    assert len(texts[0]) < 50_000
    assert "NaN" not in texts[0]


def test_more_spread_never_helps_a_lead_that_hangs_on_weights() -> None:
    """Shares fall as weights stray: seeded, with room for what is drawn."""
    run = two_criteria(1.2, 1)

    shares = [looked_at(run, rubric(TWO), spread=s).rankings[0].near.same_winner for s in (0.1, 0.2, 0.4, 0.8)]

    assert all(one > other - 0.02 for one, other in pairwise(shares))
