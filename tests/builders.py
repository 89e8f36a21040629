"""Valid objects by default, so that a test names only what it is about."""

from collections.abc import Mapping
from typing import Any

from evenhand import Rubric, Scorecard, Scores, load_rubric, score

COUNCIL = {"accuracy": 8, "relevance": 8, "completeness": 8, "conciseness": 8, "clarity": 8}
SKILL = {
    "correctness": 8,
    "completeness": 8,
    "adherence": 8,
    "actionability": 8,
    "efficiency": 8,
    "safety": 8,
    "consistency": 8,
}


def card(rubric: Rubric | str | Mapping[str, object], scores: Mapping[str, object], **more: Any) -> Scorecard:
    """The scorecard of one output called "a"."""
    return score(rubric, {"outputs": [{"id": "a", "scores": scores, **more}]})["a"]


def council(**scores: object) -> Scorecard:
    """A council scorecard: every criterion is 8 unless named."""
    return card("council", {**COUNCIL, **scores})


def skill(
    rubric: Mapping[str, object] | str = "judge-skill", more: Mapping[str, Any] | None = None, **scores: object
) -> Scorecard:
    """A judge-skill scorecard: every criterion is 8 unless named."""
    return card(rubric, {**SKILL, **scores}, **(more or {}))


def outputs(rubric: Rubric | str | Mapping[str, object], **given: Mapping[str, Any]) -> Scores:
    """Scores of several outputs, each named by keyword and given as an output without its id."""
    return score(rubric, {"outputs": [{"id": id, **rest} for id, rest in given.items()]})


def reviews(rubric: str | Mapping[str, object], **given: list[dict[str, Any]] | dict[str, Any]) -> Scores:
    """Scores from several reviewers, each named by keyword with its outputs, or {"abstained": why}."""
    entries = [
        {"judge": judge, **(said if isinstance(said, dict) else {"outputs": said})} for judge, said in given.items()
    ]
    return score(rubric, {"reviews": entries})


def checklist(*criteria: object) -> Rubric:
    """A rubric of document 002's kind."""
    return load_rubric({"criteria": list(criteria)})
