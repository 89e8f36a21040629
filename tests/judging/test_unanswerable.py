"""Criteria that the chosen judges cannot answer are named before anything is asked."""

from typing import Any

import pytest

from evenhand import load_rubric
from evenhand.judging.open_judge import describe_criteria_unfit_for_judges, list_criteria_unfit_for_judges
from evenhand.model.rubric import Rubric


def unanswerable(rubric: Rubric, *judges: str, **given: bool) -> list[str]:
    return [one.criterion for one in list_criteria_unfit_for_judges(rubric, judges or ("embedded",), **given)]


def checklist(*asks: str) -> Rubric:
    return load_rubric(
        {"method": "checklist", "criteria": [{"id": f"c{n}", "asks": one} for n, one in enumerate(asks)]}
    )


def test_rules_give_no_numbers_beyond_yes_and_no() -> None:
    """Neither from 1 to 10 nor in bands."""
    council = load_rubric("council")
    depth = {"id": "depth", "asks": "How deep is it?", "weight": 1, "fixed": True}
    oracle = load_rubric({"method": "oracle", "criteria": [depth]})

    assert unanswerable(council, has_reference=False) == list(council.leaves)
    assert unanswerable(oracle) == ["depth"]
    (one,) = list_criteria_unfit_for_judges(oracle, ["embedded"])
    assert one.why == "it asks for a band and a score from 0 to 100"


def test_with_a_reference_some_scores_can_be_checked() -> None:
    """What the reference says is there or not; how clear it is no rule sees."""
    council = load_rubric("council")

    left = unanswerable(council, has_reference=True)

    assert "completeness" not in left
    assert "clarity" in left


def test_a_scale_whose_levels_name_something_can_be_answered() -> None:
    """Anchors that a rule can look for."""
    anchors = {1: "Names the price of 9 euros", 2: "Names the price of 5 euros"}
    scaled: dict[str, Any] = {"id": "price", "asks": "Price?", "weight": 1, "scale": {"min": 1, "max": 2}}
    rubric = load_rubric({"method": "judge-skill", "criteria": [{**scaled, "anchors": anchors}]})

    assert unanswerable(rubric) == []


@pytest.mark.parametrize("asks", ["Is it polite?", "Is every claim backed?", "Does it agree with the reference?"])
def test_questions_that_no_rule_can_see_are_named(asks: str) -> None:
    """Tone, all of something, a reference that nobody gave."""
    assert unanswerable(checklist(asks), has_reference=False) == ["c0"]


@pytest.mark.parametrize(
    "asks", ["Says that the shop opens at nine", "Has at most 50 words", "Mentions a safe route", "Contains a table"]
)
def test_questions_about_what_is_said_are_not(asks: str) -> None:
    """Rules may try."""
    assert unanswerable(checklist(asks)) == []


def test_one_judge_that_can_is_enough() -> None:
    """It is asked, and the embedded one abstains."""
    council = load_rubric("council")

    assert unanswerable(council, "openai/gpt-4.1-mini") == []
    assert unanswerable(council, "embedded", "openai/gpt-4.1-mini") == []


def test_red_flags_and_bonuses_are_asked_too() -> None:
    """One without an answer leaves the scorecard incomplete."""
    rubric = load_rubric({"method": "judge-skill", "red_flags": [{"id": "rude", "asks": "Is it rude?"}]})

    assert "rude" in unanswerable(rubric)


def test_the_note_says_which_why_and_the_way_out() -> None:
    """Criteria with the same reason stand together."""
    found = list_criteria_unfit_for_judges(checklist("Is it polite?", "Says hello", "Is it polite now?"), ["embedded"])
    mixed = list_criteria_unfit_for_judges(checklist("Is it polite?", "Is every claim backed?"), ["embedded"])

    note = describe_criteria_unfit_for_judges(found)

    assert "c0 and c1 (the words of an output do not show it)" in describe_criteria_unfit_for_judges(mixed)
    assert note.startswith("the judge embedded cannot answer c0 and c2 (rules cannot weigh what is “polite”)")
    many = list_criteria_unfit_for_judges(load_rubric("judge-skill"), ["embedded"])
    assert "(they ask for a score from 1 to 10)" in describe_criteria_unfit_for_judges(many)
    assert len(describe_criteria_unfit_for_judges(many)) <= 160  # Two lines of a terminal.
    assert "name a model as judge" in note
    assert "yes/no questions" in note
    assert describe_criteria_unfit_for_judges(()) == ""
