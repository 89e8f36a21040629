"""Layers: what rules and judges found about one output, put onto one scale and averaged by the layered method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from evenhand.loading import load_rubric
from evenhand.model import Answers, CriterionScore, Kept, Rubric, Scale, Scorecard, Scored, Unscored
from evenhand.scoring import scorecard

Measures = Mapping[str, CriterionScore]
JUDGE = "judge"
LOW, HIGH = Fraction(1), Fraction(5)
_COMPOSITES: Kept[Rubric] = Kept()


def composite_rubric(rubric: Rubric | None) -> Rubric:
    """The layered method; its judge layer is the score of the rubric, on whatever scale that has."""
    layered = load_rubric("layered")
    if rubric is None:
        return layered
    return _COMPOSITES.get((rubric,), lambda: _on_the_scale_of(rubric, layered))


def composite(
    rubric: Rubric | None, id: str, measured: Mapping[str, CriterionScore], card: Scorecard | None
) -> Scorecard:
    """The mean of the layers that are configured; one that is configured and failed leaves no composite."""
    scores = dict(measured)
    if rubric is not None:
        scores[JUDGE] = _judged(card)
    return scorecard(composite_rubric(rubric), Answers(id=id, scores=scores))


def layers_on_scale(rubric: Rubric | None, card: Scorecard) -> dict[str, Fraction | None]:
    """Each configured layer from 1 to 5; None where it failed."""
    layers: dict[str, Fraction | None] = {}
    for criterion in composite_rubric(rubric).criteria:
        score = card.criteria.get(criterion.id)
        if isinstance(score, Scored):
            low, high = criterion.scale.min, criterion.scale.max
            layers[criterion.id] = LOW + (HIGH - LOW) * (score.value - low) / (high - low)
        elif score is not None:
            layers[criterion.id] = None
    return layers


def _on_the_scale_of(rubric: Rubric, layered: Rubric) -> Rubric:
    span = rubric.method.scale
    scale = Scale(min=span.min, max=span.max)
    criteria = [replace(one, scale=scale, anchors=()) if one.id == JUDGE else one for one in layered.criteria]
    return replace(layered, criteria=tuple(criteria))


def _judged(card: Scorecard | None) -> CriterionScore:
    if card is None:
        return Unscored("not judged")
    if card.exact is not None:
        return Scored(card.exact)
    reasons = dict.fromkeys(entry.why for entry in card.missing)
    return Unscored("; ".join(reasons) or "no score")
