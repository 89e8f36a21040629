"""The arithmetic under other weights: exact flips, samples won, ceilings, noise, each against a second opinion."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from evenhand import load_rubric
from evenhand.compare.sensitivity import find_smallest_weights_levelling_comparison, find_weight_levelling_comparison
from evenhand.compare.weighted_scores import (
    compared_means_and_wins_under_weights,
    compared_means_under_weights,
    variant_lead_errors_under_weights,
    weigh_compared_criteria,
)
from evenhand.scoring.columns import score_columns
from tests.calibrate.audited import kept, rubric, table

TWO = {"accuracy": "0.5", "clarity": "0.5"}


def test_the_smallest_flip_moves_weight_from_the_highest_lead_to_the_lowest() -> None:
    """By hand: the lead is 0.5·1 − 0.2·1 = 0.3; each part moved from the first to the third gains 2, so 0.15 move."""
    found = find_smallest_weights_levelling_comparison(np.array([0.5, 0.3, 0.2]), np.array([1.0, 0.0, -1.0]))

    assert found is not None
    assert found.distance == pytest.approx(0.3)
    assert found.weights == pytest.approx((0.35, 0.3, 0.35))


def test_the_smallest_flip_takes_from_the_next_when_the_first_is_used_up() -> None:
    """By hand: the lead is 0.2 + 0.4 − 0.1 = 0.5; all 0.1 of the first gains 0.3, then 0.2/1.5 of the second."""
    found = find_smallest_weights_levelling_comparison(np.array([0.1, 0.8, 0.1]), np.array([2.0, 0.5, -1.0]))

    assert found is not None
    assert found.weights == pytest.approx((0.0, 0.8 - 0.2 / 1.5, 0.2 + 0.2 / 1.5))
    assert found.distance == pytest.approx(2 * (0.1 + 0.2 / 1.5))


def test_nothing_flips_a_lead_in_every_criterion() -> None:
    """A variant that is better in all of them is better under all weights."""
    assert find_smallest_weights_levelling_comparison(np.array([0.5, 0.5]), np.array([1.0, 0.1])) is None
    assert find_weight_levelling_comparison(np.array([0.5, 0.5]), np.array([1.0, 0.1]), 0) is None


@given(st.integers(2, 7).flatmap(lambda n: st.tuples(*[st.lists(st.integers(1, 20), min_size=n, max_size=n)] * 2)))
def test_the_smallest_flip_is_what_linear_programming_finds(given: tuple[list[int], list[int]]) -> None:
    """SciPy's solver minimises the same distance under the same conditions."""
    weights, gaps = np.array(given[0]) / sum(given[0]), np.array(given[1], dtype=float) - 8
    gaps = gaps if weights @ gaps >= 0 else -gaps

    found = find_smallest_weights_levelling_comparison(weights, gaps)

    n = len(weights)
    ends = np.concatenate([np.zeros(n), np.ones(n)])  # Variables: new weights, then distances.
    over = np.block([[np.eye(n), -np.eye(n)], [-np.eye(n), -np.eye(n)], [gaps[None], np.zeros((1, n))]])
    under = np.concatenate([weights, -weights, [0.0]])
    sums = np.concatenate([np.ones(n), np.zeros(n)])[None]
    solved = linprog(ends, A_ub=over, b_ub=under, A_eq=sums, b_eq=[1.0])
    assert (found is None) == (not solved.success)
    if found is not None:
        assert found.distance == pytest.approx(solved.fun, abs=1e-8)
        assert sum(found.weights) == pytest.approx(1)
        assert np.array(found.weights) @ gaps == pytest.approx(0 if weights @ gaps > 0 else weights @ gaps, abs=1e-9)


@pytest.mark.parametrize("clusters", [range(9), [0, 0, 0, 1, 2, 2, 3, 4, 5]])
@pytest.mark.parametrize("variants", [("a", "b"), ("a", "b", "c")])
def test_samples_won_are_counted_one_by_one(variants: tuple[str, ...], clusters: Sequence[int]) -> None:
    """The block product against a loop: ties are shared out, and samples count alike, whatever their clusters."""
    rng = np.random.default_rng(7)
    answers = {("j", id): rng.integers(4, 8, (9, len(variants))) for id in rubric().leaves}
    weighed = weigh_compared_criteria(table(answers, variants=variants, clusters=clusters), kept(rubric()))
    assert weighed is not None
    weights = np.array([[1.0, 0.0, 0.0], *rng.dirichlet(np.ones(3), 20)])

    means, found = compared_means_and_wins_under_weights(weighed, weights)

    for place, own in enumerate(weights):
        scores = sum(w * answers["j", id] for w, id in zip(own, rubric().leaves, strict=True))
        scores = np.floor(scores * 100 + 0.5) / 100  # The method rounds each.
        first = scores >= scores.max(axis=1, keepdims=True) - 1e-9
        counts = np.full(9, 1 / 9)
        assert found[place] == pytest.approx(counts @ (first / first.sum(axis=1, keepdims=True)))
        assert means[place] == pytest.approx(counts @ scores)


def test_ceilings_are_worked_out_anew_as_the_columns_do() -> None:
    """The same rubric with other weights, scored by the exact columns, is the second opinion."""
    rng = np.random.default_rng(3)
    council = load_rubric("council")
    answers = {("j", id): rng.integers(1, 11, (40, 2)) for id in council.leaves}
    score = score_columns(council, {id: answers["j", id].ravel() for id in council.leaves}).score.reshape(40, 2)
    weighed = weigh_compared_criteria(table(answers, asked=council, score=score), kept(council))
    assert weighed is not None
    other = {"accuracy": 0.1, "relevance": 0.3, "completeness": 0.3, "conciseness": 0.1, "clarity": 0.2}

    found = compared_means_under_weights(weighed, np.array([list(other.values())]))

    criteria = [{"id": id, "asks": "?", "weight": weight} for id, weight in other.items()]
    again = load_rubric({"name": "other", "method": "council", "criteria": criteria})
    exact = score_columns(again, {id: answers["j", id].ravel() for id in other}).score.reshape(40, 2)
    assert not weighed.linear
    assert found[0] == pytest.approx(np.asarray(exact.mean(axis=0)), abs=1e-9)


def test_fixed_criteria_that_fall_short_pull_down_under_every_weighting() -> None:
    """Oracle: 30 of 60 halves the score, whatever the weights."""
    fields = [{"id": "a", "asks": "?", "weight": 0.5, "fixed": True}, {"id": "b", "asks": "?", "weight": 0.5}]
    oracle = load_rubric({"name": "o", "method": "oracle", "criteria": fields})
    answers = {("j", "a"): [[30, 80]] * 3, ("j", "b"): [[90, 80]] * 3}
    score = [[30.0, 80.0]] * 3
    weighed = weigh_compared_criteria(table(answers, asked=oracle, score=score), kept(oracle))
    assert weighed is not None

    found = compared_means_under_weights(weighed, np.array([[0.5, 0.5], [0.1, 0.9]]))

    assert found == pytest.approx(np.array([[30, 80], [42, 80]]))


def test_the_standard_error_is_that_of_the_mean_over_clusters() -> None:
    """Repeats of a sample are one: four rows in two clusters have the error of two numbers."""
    answers = {("j", "accuracy"): [[[1, 1], [3, 5]], [[1, 1], [2, 4]]], ("j", "clarity"): [[[1, 1]] * 2] * 2}
    weighed = weigh_compared_criteria(table(answers, asked=rubric(TWO)), kept(rubric(TWO)))
    assert weighed is not None

    found = variant_lead_errors_under_weights(weighed, np.array([[1.0, 0.0]]), (1, 0))

    assert found[0] == pytest.approx(np.std([3, 2], ddof=1) / math.sqrt(2))
