"""Stored judgments heard again as they were: by weight, or only whoever decided; then scored by another rubric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from evenhand.model import Answers, CriterionScore, Review, Rubric, Scorecard, Scored, Unscored, exact
from evenhand.rescoring._asked import CRITERIA, STATEMENTS, Asked
from evenhand.scoring import score_outputs, score_reviews

Json = dict[str, Any]


def scorecards(rubric: Rubric, asked: Asked, contents: Mapping[str, Json]) -> tuple[Scorecard, ...]:
    """Scorecards of the outputs of one sample that are judged together."""
    known = [Answers(id=name, author=content["output"]["author"]) for name, content in contents.items()]
    each = list(zip(known, contents.values(), strict=True))
    if asked.cascade:
        decided = [_answers(rubric, asked, one, content, content["decided_by"]) or one for one, content in each]
        return score_outputs(rubric, decided).scorecards
    reviews = []
    for judge, weight in asked.judges.items():
        given = (_answers(rubric, asked, one, content, judge) for one, content in each)
        reviews.append(Review(judge=judge, outputs=tuple(filter(None, given)), weight=weight))
    if len(reviews) == 1 and len(reviews[0].outputs) == len(known):
        return score_outputs(rubric, reviews[0].outputs).scorecards
    return score_reviews(rubric, reviews, outputs=known).scorecards


def _answers(rubric: Rubric, asked: Asked, known: Answers, content: Json, judge: str | None) -> Answers | None:
    """What a judge said of an output; None where it said nothing because it was not to be asked."""
    if judge is None or (known.author == judge and not rubric.method.panel.self_votes):
        return None
    said = _said(asked, content, judge)
    findings = {one["guard"]: one for one in reversed(content["findings"])}  # The first of each guard counts.
    hidden = findings.get("injection") if asked.refuse else None
    if not said and hidden is None:
        return None
    why = "not asked in the run"
    if hidden is not None:
        why = f"refused: it {hidden['says']} (“{hidden['text']}”), so no judge was shown it"
    unsafe = findings.get("safety") if rubric.safety_gate else None
    return replace(
        known,
        scores={id: _score(said.get((CRITERIA, id)), why) for id, leaf in rubric.leaves.items() if leaf.judged},
        red_flags=_found(rubric, said, "red_flags"),
        bonuses=_found(rubric, said, "bonuses"),
        unanswered=_unanswered(rubric, said),
        unsafe=unsafe["rule"] if unsafe else None,
        passage=unsafe["text"] if unsafe else None,
        holistic=_holistic(content["scorecard"], judge) if rubric.method.holistic == asked.holistic else None,
    )


def _said(asked: Asked, content: Json, judge: str) -> dict[tuple[str, str], Json]:
    """The judgments of a judge by what they answer: they come in the order asked, and a flag may share an id."""
    groups = {CRITERIA: asked.scales, **asked.statements}
    said: dict[tuple[str, str], Json] = {}
    for one in content["judgments"]:
        if one["judge"] == judge:
            id = one["criterion"]
            group = next((name for name, ids in groups.items() if id in ids and (name, id) not in said), None)
            if group is not None:
                said[group, id] = one
    return said


def _score(said: Json | None, why: str) -> CriterionScore:
    if said is None:
        return Unscored(why)
    if said["exact"] is None:
        return Unscored(said["why_not"])
    return Scored(Fraction(said["exact"]), said["band"], said["reason"])


def _found(rubric: Rubric, said: Mapping[tuple[str, str], Json], group: str) -> dict[str, str]:
    """The statements that are true of the output: of several replies, that most say so of."""
    given = {one.id: said.get((group, one.id)) for one in getattr(rubric, group)}
    return {
        id: one["reason"]
        for id, one in given.items()
        if one and one["exact"] and Fraction(one["exact"]) > Fraction(1, 2)
    }


def _unanswered(rubric: Rubric, said: Mapping[tuple[str, str], Json]) -> dict[str, str]:
    listed = {(group, one.id) for group in STATEMENTS for one in getattr(rubric, group)}
    return {place[1]: one["why_not"] for place, one in said.items() if place in listed and one["exact"] is None}


def _holistic(card: Json | None, judge: str) -> Scored | None:
    """A score for the whole that stood in for answers; it is no judgment, so only the scorecard has it."""
    if card is None:
        return None
    if card["reviews"] is None:
        whole = next((step["after"] for step in card["steps"] if step["step"] == "holistic"), None)
    else:
        whole = next((one["score"] for one in card["reviews"] if one["judge"] == judge and one["holistic"]), None)
    return None if whole is None else Scored(exact(whole))
