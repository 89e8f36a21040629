"""Layers and their mean: worked by hand, and the same for every method."""

from fractions import Fraction

import pytest

from evenhand import load_rubric
from evenhand.assertions.assertion import weigh_passed_assertions
from evenhand.model.scale import Missing, Scored
from evenhand.model.scorecard import Scorecard
from evenhand.runs.results import compose_result_score
from tests.builders import card


def judged(rubric: str, **scores: object) -> Scorecard:
    return card(rubric, scores)


def test_a_score_from_1_to_5_stays_as_it_is() -> None:
    """The judge layer is the judge's own number."""
    rubric = load_rubric("layered")

    whole = compose_result_score(rubric, "a", {"fact": Scored(Fraction(3, 4))}, judged("layered", judge=3))

    assert whole.layers == {"fact": "4/1", "judge": "3/1"}
    assert whole.card.exact == Fraction(7, 2)


def test_a_score_on_another_scale_is_put_onto_1_to_5_linearly() -> None:
    """council runs from 0 to 10: 7.5 of 10 is 1 + 4 × 0.75."""
    rubric = load_rubric("council-v1")
    own = card("council-v1", {"accuracy": 7.5, "completeness": 7.5, "conciseness": 7.5, "clarity": 7.5})

    whole = compose_result_score(rubric, "a", {}, own)

    assert own.exact == Fraction(15, 2)
    assert whole.layers == {"judge": "4/1"}
    assert whole.card.exact == Fraction(4)


def test_a_layer_that_failed_leaves_no_composite() -> None:
    """Missing is not zero, and not left out of the mean either."""
    rubric = load_rubric({"criteria": ["A"]})
    unknown = card({"criteria": ["A"]}, {"rubric-1": None})

    whole = compose_result_score(rubric, "a", {"fact": Scored(Fraction(1))}, unknown)

    assert whole.card.exact is None
    assert whole.layers == {"fact": "5/1", "judge": None}


def test_a_layer_that_nobody_configured_is_absent() -> None:
    """Without a rubric there is no judge layer, and nothing is missing."""
    whole = compose_result_score(None, "a", {"fact": Scored(Fraction(1)), "behavior": Scored(Fraction(1, 2))}, None)

    assert whole.card.exact == Fraction(4)
    assert whole.layers == {"fact": "5/1", "behavior": "3/1"}


def test_an_unanswered_assertion_fails_its_layer() -> None:
    """A check that was asked for and gave no answer is no pass."""
    whole = compose_result_score(None, "a", {"fact": Missing("failed", "no reference")}, None)

    assert whole.card.exact is None
    assert [entry.why for entry in whole.card.missing] == ["no reference"]


@pytest.mark.parametrize("method", ["judge-skill", "council", "layered"])
def test_the_ends_of_every_scale_meet_the_ends_of_the_layer(method: str) -> None:
    """The least score of a method is 1, the highest 5."""
    rubric = load_rubric(method)
    span = rubric.method.scale

    ends = [
        compose_result_score(rubric, "a", {}, Scorecard(id="a", exact=Fraction(value), decimals=2)).card.exact
        for value in (span.min, span.max)
    ]

    assert ends == [1, 5]


def test_nothing_checked_gives_no_layers() -> None:
    """An eval of one rubric and no assertions has the judge layer alone."""
    assert weigh_passed_assertions([]) == {}
