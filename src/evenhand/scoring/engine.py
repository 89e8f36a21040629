"""One output's answers to its scorecard. The engine knows steps, never methods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from evenhand.model.method import Cap, Ceiling, Grade, LayerMean, Round, Shortfall, Step
from evenhand.model.rubric import Rubric, RubricIdentityCache
from evenhand.model.scale import NOT_ASKED, Criterion, CriterionScore, Number, Scored, to_exact_fraction
from evenhand.model.scorecard import Answers, AppliedStep, MissingCriterion, RankedScorecard, Scorecard, Verdict
from evenhand.scoring.steps import (
    STEP_FUNCTIONS,
    CriterionValues,
    StepInputs,
    find_shortfall_step_criteria,
    sum_weighted_values,
)
from evenhand.wording import format_fraction, join_names, word_layer


def compute_answers_scorecard(rubric: Rubric, answers: Answers) -> Scorecard:
    """The scorecard of one output from one set of answers."""
    case, missing = prepare_step_inputs(rubric, answers)
    if missing and isinstance(answers.holistic, Scored) and not case.values:
        unknown = find_unanswered_gate_steps(rubric.method.after_panel, case)
        return finish_scorecard(case, unknown, () if unknown else apply_holistic_score(case, answers.holistic))
    missing = missing or find_unanswered_gate_steps(rubric.method.steps, case)
    if missing:
        return fail_scorecard_without_layers(finish_scorecard(case, missing, ()), rubric)
    before, values = rubric.method.before_panel, case.values
    if answers.red_flags or answers.bonuses or answers.unsafe:  # Steps look at these too.
        return _write_scorecard(case, (), _decide_score_outcome(case, run_score_steps(before, case)))
    # Worked out once for equal values: most outputs get one of the same few.
    ratios = [part for value in values.values() for part in value.as_integer_ratio()]
    plain = StepInputs(rubric, values, _NO_ANSWERS)
    key = (rubric, *values, *ratios)
    outcome = _PLAIN_OUTCOMES.get(key, lambda: _decide_score_outcome(plain, run_score_steps(before, plain)))
    return _write_scorecard(case, (), outcome)


def prepare_step_inputs(rubric: Rubric, answers: Answers) -> tuple[StepInputs, tuple[MissingCriterion, ...]]:
    """The case the steps look at, and what keeps it from having a score."""
    values: CriterionValues = {}
    missing = []
    for id in rubric.leaves:
        score = answers.scores.get(id)
        if isinstance(score, Scored):
            values[id] = score.value
        else:
            missing.append(MissingCriterion(id, score or NOT_ASKED))
    for criterion in rubric.criteria:
        if criterion.children:
            _fold_child_scores(criterion, values)
    if missing and isinstance(rubric.method.steps[0], LayerMean) and answers.scores:
        # A layer nobody configured is absent; one that was configured and failed is missing.
        layers = [[leaf.id for leaf in layer.leaves()] for layer in rubric.criteria]
        configured = {id for ids in layers if not answers.scores.keys().isdisjoint(ids) for id in ids}
        missing = [entry for entry in missing if entry.criterion in configured]
    missing += [MissingCriterion(id, why) for id, why in answers.unanswered.items()]
    return StepInputs(rubric, values, answers), tuple(missing)


def _fold_child_scores(criterion: Criterion, values: CriterionValues) -> None:
    for child in criterion.children:
        if child.children:
            _fold_child_scores(child, values)
    if all(child.id in values for child in criterion.children):
        shares = [(child.weight, child.scale.share(values[child.id])) for child in criterion.children]
        total = sum((weight for weight, _ in shares), Fraction(0))
        scale = criterion.scale
        values[criterion.id] = scale.min + (scale.max - scale.min) * sum_weighted_values(shares) / total


def find_unanswered_gate_steps(steps: Sequence[Step], case: StepInputs) -> tuple[MissingCriterion, ...]:
    """The criteria that gates and ceilings look at and nobody answered: a gate that is not known has not passed."""
    if case.values.keys() >= case.rubric.leaves.keys():
        return ()
    looked_at = [gate.criterion for gate in case.rubric.all_gates]
    looked_at += [step.criterion for step in steps if isinstance(step, Ceiling)]
    return tuple(MissingCriterion(id, NOT_ASKED) for id in dict.fromkeys(looked_at) if id not in case.values)


def run_score_steps(steps: Sequence[Step], case: StepInputs, before: Fraction | None = None) -> tuple[AppliedStep, ...]:
    """The steps that moved the number, in order."""
    trail = []
    for step in steps:
        run, tell = STEP_FUNCTIONS[type(step)]
        after, facts = run(step, before, case)
        if after is not before and after != before:
            trail.append(AppliedStep(step.word, before, after, tell, facts, case.rubric.method.scale.decimals))
            before = after
    return tuple(trail)


def apply_holistic_score(case: StepInputs, holistic: Scored) -> tuple[AppliedStep, ...]:
    """A score for the whole stands in for a rubric that could not be read."""
    decimals = case.rubric.method.scale.decimals
    return (AppliedStep("holistic", None, holistic.value, _explain_holistic_step, (), decimals),)


def _explain_holistic_step(moved: AppliedStep) -> str:
    score = format_fraction(moved.after, moved.decimals)
    return f"no criterion was answered; the score for the whole, {score}, is used"


def finish_scorecard(
    case: StepInputs, missing: tuple[MissingCriterion, ...], trail: tuple[AppliedStep, ...]
) -> Scorecard:
    """Run the steps that come once, then decide."""
    return _write_scorecard(case, missing, _decide_score_outcome(case, trail))


@dataclass(frozen=True, slots=True)
class ScoreOutcome:
    """What steps and thresholds make of values, whoever gave them."""

    trail: tuple[AppliedStep, ...]
    value: Fraction | None
    failed: tuple[str, ...]  # Criteria whose gate has failed.
    unknown: tuple[str, ...]  # Criteria with a gate that nobody answered.
    short: tuple[str, ...]  # Fixed criteria below what is expected of them.
    grade: Grade | None
    verdict: Verdict | None


_NO_ANSWERS = Answers(id="")
_PLAIN_OUTCOMES: RubricIdentityCache[ScoreOutcome] = RubricIdentityCache(1024)


def _decide_score_outcome(case: StepInputs, trail: tuple[AppliedStep, ...]) -> ScoreOutcome:
    rubric, method = case.rubric, case.rubric.method
    value = trail[-1].after if trail else None
    if value is not None:
        trail = (*trail, *run_score_steps(method.after_panel, case, value))
        value = trail[-1].after
        if trail[-1].step == Round.word:  # The steps before tell it unrounded: each begins where the last ended.
            trail = (*(replace(moved, decimals=None) for moved in trail[:-1]), trail[-1])
    # Gates that are known to have failed: what nobody answered is not known.
    below = (gate.criterion for gate in rubric.all_gates if case.values.get(gate.criterion, gate.min) < gate.min)
    failed = tuple(dict.fromkeys(below))
    unknown = dict.fromkeys(gate.criterion for gate in rubric.all_gates if gate.criterion not in case.values)
    grade = next((grade for grade in method.grades if value is not None and value >= grade.from_), None)
    shortfalls = [step for step in method.steps if isinstance(step, Shortfall)]
    short = tuple(criterion.id for step in shortfalls for criterion in find_shortfall_step_criteria(step, case))
    verdict = apply_score_thresholds(rubric, value, failed)
    return ScoreOutcome(trail, value, failed, tuple(unknown), short, grade, verdict)


def _write_scorecard(case: StepInputs, missing: tuple[MissingCriterion, ...], outcome: ScoreOutcome) -> Scorecard:
    rubric, method, answers = case.rubric, case.rubric.method, case.answers
    value, grade = outcome.value, outcome.grade
    notes = list(answers.notes)
    if answers.remark:
        notes.append(f"notes: {answers.remark}")
    if isinstance(answers.holistic, Scored) and value is not None and not case.values and not answers.scores:
        notes.append("holistic score: no criterion was answered")
    if isinstance(method.steps[0], LayerMean) and value is not None:
        layers = [word_layer(layer.id) for layer in rubric.criteria if layer.id in case.values]
        notes.append(f"computed from {', '.join(layers)}")
    if answers.unsafe and not any(isinstance(step, Cap) for step in method.steps):
        notes.append(f"unsafe ({answers.unsafe}): {method.name} has no cap for it")
    card = Scorecard(
        id=answers.id,
        exact=value,
        decimals=method.scale.decimals,
        grade=grade.grade if grade else None,
        label=grade.label if grade else None,
        verdict=outcome.verdict,
        gates_failed=outcome.failed,
        gates_open=outcome.unknown,
        missing=missing,
        flags=(*answers.red_flags, *outcome.short),
        bonuses=tuple(answers.bonuses),
        unsafe=answers.unsafe,
        passage=answers.passage,
        author=answers.author,
        steps=outcome.trail,
        criteria=answers.scores,
        notes=tuple(notes),
        remark=answers.remark,
        whole=answers.whole,
    )
    if answers.claims:
        claimed = note_claims_against_scorecard(card, answers.claims, method.scale.max)
        return replace(card, notes=(*card.notes, *claimed))
    return card


def find_scorecard_layers(rubric: Rubric, scores: Mapping[str, CriterionScore]) -> frozenset[str]:
    """The layers that were configured for an output; empty for methods that have none."""
    if not isinstance(rubric.method.steps[0], LayerMean):
        return frozenset()
    return frozenset(c.id for c in rubric.criteria if any(leaf.id in scores for leaf in c.leaves()))


def fail_scorecard_without_layers(card: Scorecard, rubric: Rubric) -> Scorecard:
    """All layers absent: there is no composite, and every gate has failed."""
    if card.criteria or not isinstance(rubric.method.steps[0], LayerMean):
        return card
    layers = tuple(criterion.id for criterion in rubric.criteria)
    note = "no layer is configured: there is nothing to decide by"
    return replace(card, verdict="fail", gates_failed=layers, gates_open=(), notes=(*card.notes, note))


def apply_score_thresholds(rubric: Rubric, value: Fraction | None, failed: tuple[str, ...]) -> Verdict | None:
    """A failed gate fails whatever the score; a missing score is incomplete; then the thresholds speak."""
    if failed:
        return "fail"
    if value is None:
        return "incomplete"
    for threshold in rubric.method.verdicts:
        if value >= threshold.from_:
            return threshold.verdict
    if rubric.method.verdicts:
        return "fail"
    return "pass" if rubric.all_gates else None


_STEPS_AFTER_SUM = {
    "ceiling": "the ceiling",
    "deduct": "deductions",
    "add": "bonuses",
    "shortfall": "the penalty",
    "cap": "the cap",
}


def note_claims_against_scorecard(card: Scorecard, claims: Mapping[str, object], top: Fraction) -> Iterator[str]:
    """A note for each claimed score, band or pass that differs from what was computed."""
    if "overall" in claims and card.steps:
        ours = card.steps[0].after
        try:
            said = to_exact_fraction(claims["overall"]) if isinstance(claims["overall"], Number) else None
        except (TypeError, ValueError):
            said = None
        # 0.05 points; on 0–100 ten times that, on 0–1 a tenth.
        tolerance = Fraction(5, 1000) if top <= 1 else Fraction(1, 2) if top >= 100 else Fraction(5, 100)
        if said is None:
            yield f"claimed score {claims['overall']!r} is not a number"
        elif abs(said - ours) > tolerance:
            computed = f"{format_fraction(ours, card.decimals)} computed from the criteria"
            # What moved the score since is the method's doing: it would not be found in the number that is shown.
            since = [_STEPS_AFTER_SUM[one.step] for one in card.steps[1:] if one.step in _STEPS_AFTER_SUM]
            before = f", before {join_names(list(dict.fromkeys(since)))}" if since else ""
            yield f"claimed score {claims['overall']} differs from {computed}{before}"
    band = str(claims.get("overall_band", card.grade)).strip()
    if card.grade is not None and band.casefold() != card.grade.casefold():
        yield f"the judge said band {claims['overall_band']}; the scores give {card.grade}"
    if "overall_passed" in claims and card.verdict is not None:
        claimed = claims["overall_passed"] is True
        if claimed != (card.verdict == "pass"):
            yield f"claimed {'a pass' if claimed else 'no pass'}, computed {card.verdict}"


def note_claimed_rank_against_scorecards(
    judge: str, claimed: Sequence[str], ours: Sequence[RankedScorecard], first: Sequence[RankedScorecard]
) -> str | None:
    """A note where a reviewer's own ranking contradicts that of its scores; `first` is by what its criteria sum to."""
    claimed = [id for id in claimed if any(place.id == id and place.rank is not None for place in ours)]
    derived, before = (_order_claimed_ids_by_score_rank(claimed, places) for places in (ours, first))
    if derived == claimed:
        return None
    claim = f"{judge} claims the ranking {', '.join(claimed)}"
    if before == claimed:
        claim += ", which is the order before ceilings and deductions; after them"
        return f"{claim} its scores give {', '.join(derived)}"
    return f"{claim}; its scores give {', '.join(derived)}"


def _order_claimed_ids_by_score_rank(claimed: Sequence[str], places: Sequence[RankedScorecard]) -> list[str]:
    """The ids by rank; those that share one stay in the order that was claimed."""
    ranks = {place.id: place.rank or 0 for place in places}
    return sorted(claimed, key=lambda id: ranks[id])
