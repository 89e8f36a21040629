"""A result: the layers of one output averaged to a composite, and the row that the store keeps of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from evenhand.assertions.check import CheckedAssertion, checked_assertion_to_json, measure_assertion_pass_rates
from evenhand.evals.sample import write_output_json
from evenhand.files.codec import Codec
from evenhand.files.json_shape import DerivedField
from evenhand.files.rubrics import load_rubric
from evenhand.judging.results import JUDGMENT_SHAPE, JudgedSample, guard_finding_to_json, suggestion_to_json
from evenhand.model.rubric import IdentityCache, Rubric
from evenhand.model.sample import GuardFinding, VariantOutput
from evenhand.model.scale import CriterionScore, Missing, Scale, Scored
from evenhand.model.scorecard import Answers, Judgment, Scorecard
from evenhand.runs.run_record import RunRecorder, RunWork
from evenhand.scoring.engine import score_answers
from evenhand.scoring.scores_json import scorecard_to_json
from evenhand.store.rows import Row, to_stored_json
from evenhand.wording import format_exact_fraction

Json = dict[str, object]
ResultState = Literal["scored", "incomplete", "failed"]
EMPTY_OUTPUT = "the output is empty: there is nothing to judge"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputResult:
    """What came of one output; `key` is empty where another try may give more."""

    work: RunWork
    key: str
    cluster: str | None
    rubric: Rubric | None
    made: VariantOutput | None
    why: str
    findings: tuple[GuardFinding, ...]
    checked: tuple[CheckedAssertion, ...]
    judged: JudgedSample | None


def build_result_row(result: OutputResult, subject: str, book: RunRecorder) -> Row:
    """The row of a result; scores are exact fractions."""
    work = result.work
    cards = result.judged.scores.scorecards if result.judged else ()
    card = next((one for one in cards if one.id == work.variant), None)
    whole = _cached_result_composite(result, card) if result.made else None
    total = whole.card if whole else None
    state, why = _run_result_state(result, total)
    return {
        "run": book.run,
        "position": work.position,
        "variant": work.variant,
        "repeat": work.repeat,
        "key": result.key,
        "state": state,
        "subject": subject,
        "score": format_exact_fraction(card.exact if card else None),
        "composite": format_exact_fraction(total.exact if total else None),
        "number": None if total is None or total.exact is None else float(total.exact),
        "content": to_stored_json(_result_row_content(result, card, whole, why)),
        "at": book.now(),
    }


@dataclass(frozen=True, slots=True)
class _CompositeResult:
    """A composite with its layers and steps as a result keeps them."""

    card: Scorecard
    layers: Json
    steps: object


# Most outputs of a run come to one of the same few scores.
_COMPOSITE_RESULTS: IdentityCache[_CompositeResult] = IdentityCache(512)


def _cached_result_composite(result: OutputResult, card: Scorecard | None) -> _CompositeResult:
    measured = measure_assertion_pass_rates(result.checked)
    judged = None if card is None else (card.exact, card.missing)
    key = (result.rubric or "", result.work.variant, repr((measured, judged)))
    return _COMPOSITE_RESULTS.get(
        key, lambda: _compute_result_composite(result.rubric, result.work.variant, measured, card)
    )


def _compute_result_composite(
    rubric: Rubric | None, id: str, measured: LayerScores, card: Scorecard | None
) -> _CompositeResult:
    whole = compose_result_score(rubric, id, measured, card)
    layers: Json = {name: format_exact_fraction(value) for name, value in scale_result_layers(rubric, whole).items()}
    return _CompositeResult(whole, layers, scorecard_to_json(build_result_composite_rubric(rubric), whole)["steps"])


def _run_result_state(result: OutputResult, whole: Scorecard | None) -> tuple[ResultState, str]:
    if whole is None:
        return "failed", result.why
    if whole.exact is not None:
        return "scored", ""
    if result.rubric and not (result.made and result.made.text.strip()):
        return "incomplete", EMPTY_OUTPUT
    reasons = [f"{entry.criterion}: {entry.why}" for entry in whole.missing]
    return "incomplete", "; ".join(reasons) or "; ".join(whole.notes)


def _result_row_content(result: OutputResult, card: Scorecard | None, whole: _CompositeResult | None, why: str) -> Json:
    judged, variant = result.judged, result.work.variant
    orders = judged.orders if judged else {}
    leaves = result.rubric.leaves if result.rubric else {}
    # What counts for the result, the panel's score where there is a panel; None where there is none.
    scores = {id: card.criteria.get(id) if card else None for id, leaf in leaves.items() if leaf.judged}
    return {
        "why": why,
        "cluster": result.cluster,
        "rubric": result.rubric.name if result.rubric else None,
        "output": write_output_json(result.made) if result.made else None,
        "findings": [guard_finding_to_json(one) for one in result.findings],
        "assertions": [checked_assertion_to_json(one) for one in result.checked],
        "layers": whole.layers if whole else {},
        "scorecard": scorecard_to_json(result.rubric, card) if result.rubric and card else None,
        "composite_steps": whole.steps if whole else [],
        "judgments": [write_exact_judgment(one) for one in judged.judgments if one.output == variant] if judged else [],
        "suggestions": [suggestion_to_json(one) for one in judged.suggestions.get(variant, ())] if judged else [],
        "decided_by": judged.decided_by.get(variant) if judged else None,
        "unsafe": card.unsafe if card else None,
        "criteria": {
            id: format_exact_fraction(one.value if isinstance(one, Scored) else None) for id, one in scores.items()
        },
        # At which place each judge that saw several outputs at once was shown this one: 1 is first.
        "seats": {judge: order.index(variant) + 1 for judge, order in orders.items() if variant in order},
        "calls": list(dict.fromkeys(result.work.keys)),
    }


# With its exact score, from which another rubric can be scored.
_EXACT_SCORE = DerivedField(
    lambda one: format_exact_fraction(one.score.value) if isinstance(one.score, Scored) else None
)
write_exact_judgment = Codec(shapes={Judgment: replace(JUDGMENT_SHAPE, derived={"exact": _EXACT_SCORE})}).writer(
    Judgment
)


LayerScores = Mapping[str, CriterionScore]
COMPOSITE_JUDGE_LAYER = "judge"
LOWEST_LAYER_SCORE, HIGHEST_LAYER_SCORE = Fraction(1), Fraction(5)
_COMPOSITE_RUBRICS: IdentityCache[Rubric] = IdentityCache()


def build_result_composite_rubric(rubric: Rubric | None) -> Rubric:
    """The layered method; its judge layer is the score of the rubric, on whatever scale that has."""
    layered = load_rubric("layered")
    if rubric is None:
        return layered
    return _COMPOSITE_RUBRICS.get((rubric,), lambda: _scale_result_judge_layer(rubric, layered))


def compose_result_score(
    rubric: Rubric | None, id: str, measured: Mapping[str, CriterionScore], card: Scorecard | None
) -> Scorecard:
    """The mean of the layers that are configured; one that is configured and failed leaves no composite."""
    scores = dict(measured)
    if rubric is not None:
        scores[COMPOSITE_JUDGE_LAYER] = _judge_layer_of_result(card)
    return score_answers(build_result_composite_rubric(rubric), Answers(id=id, scores=scores))


def scale_result_layers(rubric: Rubric | None, card: Scorecard) -> dict[str, Fraction | None]:
    """Each configured layer from 1 to 5; None where it failed."""
    layers: dict[str, Fraction | None] = {}
    for criterion in build_result_composite_rubric(rubric).criteria:
        score = card.criteria.get(criterion.id)
        if isinstance(score, Scored):
            low, high = criterion.scale.min, criterion.scale.max
            share = (score.value - low) / (high - low)
            layers[criterion.id] = LOWEST_LAYER_SCORE + (HIGHEST_LAYER_SCORE - LOWEST_LAYER_SCORE) * share
        elif score is not None:
            layers[criterion.id] = None
    return layers


def _scale_result_judge_layer(rubric: Rubric, layered: Rubric) -> Rubric:
    span = rubric.method.scale
    scale = Scale(min=span.min, max=span.max)
    criteria = [
        replace(one, scale=scale, anchors=()) if one.id == COMPOSITE_JUDGE_LAYER else one for one in layered.criteria
    ]
    return replace(layered, criteria=tuple(criteria))


def _judge_layer_of_result(card: Scorecard | None) -> CriterionScore:
    if card is None:
        return Missing("not_asked", "not judged")
    if card.exact is not None:
        return Scored(card.exact)
    if not card.missing:
        return Missing("failed", "no score")
    first, *others = dict.fromkeys(entry.missing for entry in card.missing)
    return replace(first, why="; ".join((first.why, *(one.text for one in others))))
