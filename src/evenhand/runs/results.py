"""A result: the layers of one output averaged to a composite, and the row that the store keeps of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, cast

from evenhand.assertions.assertion import CheckedAssertion, checked_assertion_to_json, weigh_passed_assertions
from evenhand.evals.eval_scoring import name_sample_rubric_criterion, read_eval_layer_weights
from evenhand.evals.sample import write_output_json
from evenhand.files.codec import Codec
from evenhand.files.json_shape import DerivedField
from evenhand.files.methods import load_shipped_method_file
from evenhand.files.parsing import encode_plain_json
from evenhand.judging.results import (
    JUDGMENT_SHAPE,
    JudgedSample,
    Preference,
    guard_finding_to_json,
    preference_to_json,
    suggestion_to_json,
)
from evenhand.model.rubric import Rubric, RubricIdentityCache
from evenhand.model.sample import GuardFinding, OutputTrace, Sample, VariantOutput
from evenhand.model.scale import CriterionScore, Missing, Scale, Scored, to_exact_fraction
from evenhand.model.scorecard import Answers, Judgment, Scorecard
from evenhand.runs.run_record import RunRecorder, RunWork
from evenhand.scoring.engine import compute_answers_scorecard
from evenhand.scoring.scores_json import scorecard_to_json
from evenhand.store.rows import Row
from evenhand.wording import spell_exact_fraction

Json = dict[str, object]
EQUAL_WEIGHTS: Mapping[str, Fraction] = MappingProxyType({})  # Of layers that weigh alike.
EMPTY_OUTPUT = "the output is empty: there is nothing to judge"


@dataclass(slots=True, kw_only=True)
class OutputResult:
    """What came of one output; `key` is empty where another try may give more, `why` says why there is no output."""

    work: RunWork
    cluster: str | None
    rubric: Rubric | None
    own_rubric: str | None = None  # The key of the rubric, where the sample brings it.
    in_tables: bool = True  # Whether its criteria get columns: not where samples bring very many rubrics.
    made: VariantOutput | None = None
    why: str = ""
    findings: tuple[GuardFinding, ...] = ()
    checked: tuple[CheckedAssertion, ...] = ()
    judged: JudgedSample | None = None
    preferences: tuple[Preference, ...] = ()  # Where outputs were compared in pairs: all of the sample.
    weights: Mapping[str, float] = field(default_factory=dict)  # Of judges, where they differ.
    key: str = ""


@dataclass(frozen=True, slots=True)
class ResultComposite:
    """A composite with its layers, each from 1 to 5 or None where it failed, and its steps as a result keeps them."""

    card: Scorecard
    layers: Mapping[str, str | None]
    steps: object


# Most outputs of a run come to one of the same few scores.
_COMPOSITE_RESULTS: RubricIdentityCache[ResultComposite] = RubricIdentityCache(512)


def build_result_row(
    result: OutputResult, subject: str, book: RunRecorder, weights: Mapping[str, Fraction] = EQUAL_WEIGHTS
) -> Row:
    """The row of a result; scores are exact fractions. `weights` are those of the layers, where an eval has some."""
    variant = result.work.variant
    cards = result.judged.scores.scorecards if result.judged else ()
    card = next((one for one in cards if one.id == variant), None)
    whole, exact = None, None
    state, why = "failed", result.why
    if result.made is not None:
        measured = weigh_passed_assertions(result.checked) if result.checked else {}
        judged = "not judged" if card is None else repr(card.missing) if card.exact is None else ""
        known = card.exact.as_integer_ratio() if card and card.exact is not None else ()
        key = (result.rubric or "", weights, variant, repr(measured) if measured else "", judged, *known)
        whole = _COMPOSITE_RESULTS.get(
            key, lambda: compose_result_score(result.rubric, variant, measured, card, weights)
        )
        exact = whole.card.exact
        if exact is not None:
            state, why = "scored", ""
        elif result.rubric and not result.made.text.strip():
            state, why = "incomplete", EMPTY_OUTPUT
        else:
            reasons = [f"{entry.criterion}: {entry.why}" for entry in whole.card.missing]
            state, why = "incomplete", "; ".join(reasons or whole.card.notes)
    return {
        **result.work.place_in_run(book),
        "key": result.key,
        "state": state,
        "subject": subject,
        "score": spell_exact_fraction(card.exact if card else None),
        "composite": spell_exact_fraction(exact),
        "number": None if exact is None else float(exact),
        "content": encode_plain_json(_run_result_content(result, card, whole, why)),
    }


def _run_result_content(result: OutputResult, card: Scorecard | None, whole: ResultComposite | None, why: str) -> Json:
    judged, variant = result.judged, result.work.variant
    orders = judged.orders if judged else {}
    leaves = result.rubric.leaves if result.rubric else {}
    # What counts for the result, the panel's score where there is a panel; None where there is none.
    own = result.own_rubric
    scores = {
        id if own is None else name_sample_rubric_criterion(own, id): card.criteria.get(id) if card else None
        for id, leaf in leaves.items()
        if leaf.judged and result.in_tables
    }
    assertions = [checked_assertion_to_json(one) for one in result.checked]
    preferences = [
        {**preference_to_json(one), "weight": result.weights.get(one.judge, 1.0)}
        for one in result.preferences
        if one.second == variant
    ]
    criteria = {id: spell_exact_fraction(one.value if isinstance(one, Scored) else None) for id, one in scores.items()}
    return {
        "why": why,
        "cluster": result.cluster,
        "rubric": result.rubric.name if result.rubric else None,
        **({} if own is None else {"own_rubric": own}),
        "output": write_output_json(result.made) if result.made else None,
        "findings": [guard_finding_to_json(one) for one in result.findings],
        "assertions": assertions,
        "layers": whole.layers if whole else {},
        "scorecard": scorecard_to_json(result.rubric, card) if result.rubric and card else None,
        "composite_steps": whole.steps if whole else [],
        "judgments": [write_exact_judgment(one) for one in judged.judgments if one.output == variant] if judged else [],
        "suggestions": [suggestion_to_json(one) for one in judged.suggestions.get(variant, ())] if judged else [],
        "decided_by": judged.decided_by.get(variant) if judged else None,
        **({"cascade": _note_cascade_path_in_result(result, card)} if judged and judged.cascade else {}),
        "unsafe": card.unsafe if card else None,
        "criteria": criteria,
        **(note_result_open_gates(result.rubric, card) if card is None or card.gates_open else {}),
        # At which place each judge that saw several outputs at once was shown this one: 1 is first.
        "seats": {judge: order.index(variant) + 1 for judge, order in orders.items() if variant in order},
        "calls": list(dict.fromkeys(result.work.keys)),
        "five_layers": list_run_result_layers(assertions, criteria, whole) if whole else None,
        # Every pair once: with the later of its two variants.
        **({"preferences": preferences} if result.preferences else {}),
    }


def _note_cascade_path_in_result(result: OutputResult, card: Scorecard | None) -> Json:
    assert result.judged is not None and result.judged.cascade is not None and result.rubric is not None
    path, variant = result.judged.cascade, result.work.variant
    by_strong = result.judged.decided_by.get(variant) == path.strong
    return note_cascade_path_in_result_row(
        result.rubric, path.passed_on, path.cheap_cards.get(variant), card, by_strong=by_strong
    )


def note_cascade_path_in_result_row(
    rubric: Rubric, passed_on: str, cheap: Scorecard | None, card: Scorecard | None, *, by_strong: bool
) -> Json:
    """Why the output was passed on, by whom it is decided, and what the cheap judge alone came to."""
    exact, span = None if cheap is None else cheap.exact, rubric.method.scale
    scored = card is not None and card.exact is not None
    return {
        "passed_on": passed_on,
        "by_strong": scored and by_strong,
        "cheap_score": spell_exact_fraction(exact),
        "cheap_layer": None
        if exact is None
        else spell_exact_fraction(scale_result_to_layer(exact, span.min, span.max)),
        "cheap_verdict": cheap.verdict if cheap is not None and exact is not None else None,
        "verdict": card.verdict if card is not None and scored else None,
    }


def scale_result_to_layer(score: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """A score on its scale put linearly onto that of layers, from 1 to 5."""
    return LOWEST_LAYER_SCORE + (HIGHEST_LAYER_SCORE - LOWEST_LAYER_SCORE) * (score - low) / (high - low)


def note_result_open_gates(rubric: Rubric | None, card: Scorecard | None) -> Json:
    """The gates of its rubric of which it is not known whether an output passes them: all, where it was not judged."""
    gated = dict.fromkeys(gate.criterion for gate in rubric.all_gates) if rubric else ()
    found = list(card.gates_open if card else gated)
    return {"gates_open": found} if found else {}


def list_run_result_layers(
    assertions: Sequence[Json], criteria: Mapping[str, str | None], whole: ResultComposite
) -> Json:
    """The layers of the scoring pipeline, each as an exact number: what rules, judges and criteria say, and the whole.

    `assertion` is the share of the assertions' weight that passed, `llm` what judges gave, on 1 to 5, before anything
    is removed from it, `judge` the layer as it counts, `dimension` every criterion, which is not in the composite.
    """
    judged = whole.layers.get(COMPOSITE_JUDGE_LAYER)
    rate = None
    if assertions and all(one["passed"] is not None for one in assertions):
        weights = [to_exact_fraction(cast(float, one["weight"])) for one in assertions]
        passed = [weight for weight, one in zip(weights, assertions, strict=True) if one["passed"]]
        rate = sum(passed, Fraction(0)) / sum(weights) if any(weights) else None
    return {
        "assertion": spell_exact_fraction(rate),
        "llm": judged,
        "judge": judged,
        "dimension": dict(criteria),
        "composite": spell_exact_fraction(whole.card.exact),
    }


# With its exact score, from which another rubric can be scored.
_EXACT_SCORE = DerivedField(
    lambda one: spell_exact_fraction(one.score.value) if isinstance(one.score, Scored) else None
)
write_exact_judgment = Codec(shapes={Judgment: replace(JUDGMENT_SHAPE, derived={"exact": _EXACT_SCORE})}).writer(
    Judgment
)


COMPOSITE_JUDGE_LAYER = "judge"
LOWEST_LAYER_SCORE, HIGHEST_LAYER_SCORE = Fraction(1), Fraction(5)
_COMPOSITE_RUBRICS: RubricIdentityCache[Rubric] = RubricIdentityCache()


def build_result_composite_rubric(rubric: Rubric | None, weights: Mapping[str, Fraction] = EQUAL_WEIGHTS) -> Rubric:
    """The layered method; its judge layer is the score of the rubric, on whatever scale that has.

    Layers weigh what the eval says, else what a rubric over layers says, else alike.
    """
    chosen = weights or read_eval_layer_weights(rubric)
    key = (rubric or "", repr(sorted(chosen.items())))
    return _COMPOSITE_RUBRICS.get(key, lambda: _make_result_composite_rubric(rubric, chosen))


def _make_result_composite_rubric(rubric: Rubric | None, weights: Mapping[str, Fraction]) -> Rubric:
    method = load_shipped_method_file("layered")
    judged: dict[str, Any] = {}
    if rubric is not None:
        judged = {"scale": Scale(min=rubric.method.scale.min, max=rubric.method.scale.max), "anchors": ()}
    layers = (
        replace(one, weight=weights.get(one.id, one.weight), **(judged if one.id == COMPOSITE_JUDGE_LAYER else {}))
        for one in method.criteria
    )
    return Rubric(name=method.name, method=method, criteria=tuple(layers))


def compose_result_score(
    rubric: Rubric | None,
    id: str,
    measured: Mapping[str, CriterionScore],
    card: Scorecard | None,
    weights: Mapping[str, Fraction] = EQUAL_WEIGHTS,
) -> ResultComposite:
    """The mean of the layers that are configured; one that is configured and failed leaves no composite."""
    scores, layered = dict(measured), build_result_composite_rubric(rubric, weights)
    if rubric is not None:
        if card is None:
            judged: CriterionScore = Missing("not_asked", "not judged")
        elif card.exact is not None:
            judged = Scored(card.exact)
        elif not card.missing:
            judged = Missing("failed", "no score")
        else:
            first, *others = dict.fromkeys(entry.missing for entry in card.missing)
            judged = replace(first, why="; ".join((first.why, *(one.text for one in others))))
        scores[COMPOSITE_JUDGE_LAYER] = judged
    whole = compute_answers_scorecard(layered, Answers(id=id, scores=scores))
    layers: dict[str, str | None] = {}
    for criterion in layered.criteria:
        score = whole.criteria.get(criterion.id)
        if isinstance(score, Scored):
            scaled = scale_result_to_layer(score.value, criterion.scale.min, criterion.scale.max)
            layers[criterion.id] = spell_exact_fraction(scaled)
        elif score is not None:
            layers[criterion.id] = None
    return ResultComposite(whole, layers, scorecard_to_json(layered, whole)["steps"])


def build_judged_sample(
    id: str,
    texts: Mapping[str, str],
    outputs: Mapping[str, VariantOutput],
    findings: Mapping[str, tuple[GuardFinding, ...]],
) -> Sample:
    """Outputs as judges see them together. A plan builds them here too: the id and the authors decide what is asked."""
    return Sample(
        id=id,
        outputs={name: made.text for name, made in outputs.items()},
        **texts,
        authors={name: made.author for name, made in outputs.items() if made.author},
        traces={
            name: OutputTrace(calls=made.trace, turns=made.turns)
            for name, made in outputs.items()
            if made.trace is not None
        },
        findings={name: found for name, found in findings.items() if found},
    )
