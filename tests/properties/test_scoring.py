"""What must hold for every rubric and every answer."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evenhand import Rubric, Scorecard, load_rubric, score
from evenhand.model.method import (
    STEPS,
    Add,
    Cap,
    Ceiling,
    Clamp,
    Deduct,
    LayerMean,
    Panel,
    PointsShare,
    Shortfall,
    WeightedMean,
    WeightedSum,
)
from evenhand.model.scale import Scored
from evenhand.model.scorecard import Answers
from evenhand.scoring.columns import COLUMN_STEP_FUNCTIONS
from evenhand.scoring.engine import compute_answers_scorecard
from evenhand.scoring.scores_json import scores_to_json
from evenhand.scoring.steps import STEP_FUNCTIONS
from evenhand.wording import round_number_half_away
from tests.properties.strategies import RUBRICS, answer_on, rubrics, scored


def card_of(rubric: Rubric, output: dict[str, Any]) -> Scorecard:
    return score(rubric, {"outputs": [{"id": "a", **output}]})["a"]


@given(st.data())
def test_a_complete_answer_has_a_score_on_the_scale(data: st.DataObject) -> None:
    """And every step starts where the one before it ended."""
    rubric = data.draw(rubrics)
    card = card_of(rubric, data.draw(scored(rubric)))

    assert card.exact is not None
    assert rubric.method.scale.min <= card.exact <= rubric.method.scale.max
    assert card.steps[0].before is None
    assert all(one.after == two.before for one, two in pairwise(card.steps))
    assert card.steps[-1].after == card.exact
    assert all(moved.why and moved.before != moved.after for moved in card.steps)


@given(st.data())
def test_ceilings_and_caps_never_raise_and_bonuses_never_lower(data: st.DataObject) -> None:
    """Each step moves the number in its own direction only."""
    rubric = data.draw(rubrics)
    card = card_of(rubric, data.draw(scored(rubric)))
    down = {step.word for step in (Ceiling, Cap, Shortfall, Deduct)}

    for moved in card.steps[1:]:
        assert moved.before is not None
        assert moved.step not in down or moved.after < moved.before
        assert moved.step != Add.word or moved.after > moved.before


@given(st.data())
def test_deductions_take_no_more_than_their_limit_and_stop_at_the_floor(data: st.DataObject) -> None:
    """2.0 in all for judge-skill, and never below 1."""
    rubric = data.draw(rubrics)
    card = card_of(rubric, data.draw(scored(rubric)))
    limits = {step.word: step.most for step in rubric.method.steps if isinstance(step, (Deduct, Add))}

    for moved in card.steps:
        if moved.step in limits:
            assert moved.before is not None
            assert abs(moved.after - moved.before) <= limits[moved.step]
    assert card.exact is not None
    assert card.exact >= rubric.method.scale.min


@given(st.data())
def test_the_order_of_criteria_does_not_matter(data: st.DataObject) -> None:
    """Neither to the score nor to any decision."""
    rubric = data.draw(rubrics)
    shuffled = replace(rubric, criteria=tuple(data.draw(st.permutations(rubric.criteria))))
    output = data.draw(scored(rubric))

    one, two = card_of(rubric, output), card_of(shuffled, output)

    assert (one.exact, one.grade, one.verdict) == (two.exact, two.grade, two.verdict)
    assert set(one.gates_failed) == set(two.gates_failed)


@given(st.data(), st.fractions(min_value=Fraction(1, 100), max_value=100))
def test_scaling_all_weights_leaves_a_mean(data: st.DataObject, factor: Fraction) -> None:
    """Weights of a mean are relative."""
    rubric = data.draw(rubrics.filter(lambda one: isinstance(one.method.steps[0], (WeightedMean, LayerMean))))
    scaled = replace(rubric, criteria=tuple(replace(c, weight=c.weight * factor) for c in rubric.criteria))
    output = data.draw(scored(rubric))

    assert card_of(rubric, output).exact == card_of(scaled, output).exact


@given(st.data())
def test_a_better_answer_never_lowers_the_score(data: st.DataObject) -> None:
    """Under every shipped method, for every criterion of positive weight."""
    rubric = data.draw(rubrics)
    output = data.draw(scored(rubric))
    id = data.draw(st.sampled_from(sorted(rubric.leaves)))
    leaf = rubric.leaves[id]
    other = data.draw(answer_on(leaf.scale))
    before, after = leaf.scale.read(output["scores"][id]), leaf.scale.read(other)
    assert isinstance(before, Scored)
    assert isinstance(after, Scored)
    assume(after.value >= before.value)

    one = card_of(rubric, output)
    two = card_of(rubric, {**output, "scores": {**output["scores"], id: other}})

    assert one.exact is not None
    assert two.exact is not None
    assert two.exact >= one.exact
    assert set(two.gates_failed) <= set(one.gates_failed)


@given(st.data())
def test_ranks_are_consistent_with_scores(data: st.DataObject) -> None:
    """A higher score never has a lower place; equal ranks have equal scores; ranks are competition ranks."""
    rubric = data.draw(rubrics)
    entries = data.draw(st.lists(scored(rubric), min_size=2, max_size=6))
    scores = score(rubric, {"outputs": [{"id": str(at), **entry} for at, entry in enumerate(entries)]})

    assert scores.ranking is not None
    for one, two in pairwise(scores.ranking):
        assert one.rank is not None
        assert two.rank is not None
        assert one.exact is not None
        assert two.exact is not None
        assert one.exact >= two.exact
        assert (one.rank == two.rank) <= (one.exact == two.exact)
    for position, place in enumerate(scores.ranking, start=1):
        assert place.rank is not None
        assert place.rank <= position
        assert place.rank == position or scores.ranking[position - 2].rank == place.rank


@given(st.data())
def test_a_missing_answer_leaves_no_score_whatever_the_rest(data: st.DataObject) -> None:
    """Layers aside, which may be absent."""
    rubric = data.draw(rubrics.filter(lambda one: not isinstance(one.method.steps[0], LayerMean)))
    output = data.draw(scored(rubric))
    gone = data.draw(st.sampled_from(sorted(rubric.leaves)))
    del output["scores"][gone]

    card = card_of(rubric, output)

    assert card.exact is None
    assert card.grade is None
    assert card.verdict in ("incomplete", "fail")
    assert [gap.criterion for gap in card.missing] == [gone]


@given(st.data())
def test_what_is_shown_is_the_exact_score_rounded_once(data: st.DataObject) -> None:
    """With the method's decimals, or as the nearest float."""
    rubric = data.draw(rubrics)
    card = card_of(rubric, data.draw(scored(rubric)))
    assert card.exact is not None

    shown: Any = scores_to_json(score(rubric, [Answers(id="a", scores=card.criteria)]))["scorecards"]

    decimals = rubric.method.scale.decimals
    assert float(card.score or 0) == float(
        card.exact if decimals is None else round_number_half_away(card.exact, decimals)
    )
    assert shown[0]["id"] == "a"


@given(st.data())
def test_the_trail_can_be_played_again(data: st.DataObject) -> None:
    """Scoring is a function: the same answers give the same scorecard, sentence by sentence."""
    rubric = data.draw(rubrics)
    output = data.draw(scored(rubric))

    one, two = card_of(rubric, output), card_of(rubric, output)

    assert one.explain() == two.explain()
    assert one.exact == two.exact


@given(st.data())
def test_one_reviewer_is_no_different_from_a_plain_output(data: st.DataObject) -> None:
    """A panel of one says what the one says."""
    rubric = data.draw(rubrics.filter(lambda one: not isinstance(one.method.steps[0], LayerMean)))
    output = data.draw(scored(rubric))

    alone = card_of(rubric, output)
    panel = score(rubric, {"reviews": [{"judge": "x", "outputs": [{"id": "a", **output}]}]})["a"]

    assert (panel.exact, panel.grade, panel.verdict) == (alone.exact, alone.grade, alone.verdict)


@given(st.data(), st.sampled_from(["mean", "median"]))
def test_a_panel_lies_between_its_reviewers(data: st.DataObject, aggregate: str) -> None:
    """And does not depend on their order."""
    base = load_rubric({"method": "council", "panel": {"aggregate": aggregate}})
    said = [{**entry, "unsafe": None} for entry in data.draw(st.lists(scored(base), min_size=1, max_size=5))]
    reviews = [{"judge": f"j{at}", "outputs": [{"id": "a", **entry}]} for at, entry in enumerate(said)]
    each = [card_of(base, entry).exact or Fraction(0) for entry in said]

    together = score(base, {"reviews": reviews})["a"].exact
    reversed_ = score(base, {"reviews": reviews[::-1]})["a"].exact

    assert together is not None
    assert min(each) <= together <= max(each)
    assert together == reversed_


@pytest.mark.parametrize("kind", STEPS)
def test_every_step_has_its_arithmetic_twice(kind: str) -> None:
    """Once exactly, once in columns; the panel is joined elsewhere."""
    step = STEPS[kind]

    assert step in COLUMN_STEP_FUNCTIONS
    assert step in STEP_FUNCTIONS or step is Panel


def test_the_rubrics_of_these_tests_use_every_step() -> None:
    """A property over rubrics that miss a step says nothing about it."""
    used = {type(step) for rubric in RUBRICS.values() for step in rubric.method.steps}

    assert used == set(STEPS.values())
    assert {WeightedSum, PointsShare, Clamp} < used
    assert compute_answers_scorecard is not None
