"""What an author may see of a submission now: status, score, and feedback from gate, individual scoring and final."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from evenhand.contest.events import NotifySubmitter
from evenhand.contest.ranking import (
    AcceptanceCriterion,
    check_acceptance_criteria,
    find_dimension_band,
    is_submission_gate_passed,
    rank_submissions,
    score_finalists,
    score_submission_alone,
)
from evenhand.contest.state import ContestEntry, ContestState
from evenhand.judging.results import guard_finding_to_json, suggestion_to_json
from evenhand.model.rubric import Rubric
from evenhand.model.scale import CriterionScore, Scored
from evenhand.model.scorecard import Judgment, Scorecard
from evenhand.model.steps import Shortfall
from evenhand.wording import format_fraction, number_for_json, score_for_json

Json = dict[str, Any]


def view_submission(state: ContestState, id: str) -> Json:
    """A submission as its author may see it now."""
    entry = state.entries[id]
    return {
        "id": entry.id,
        "author": entry.submission.author,
        "status": entry.status,
        "rank": entry.rank,
        "score": visible_submission_score(state, entry),
        "feedback": visible_submission_feedback(state, entry),
    }


def visible_submission_score(state: ContestState, entry: ContestEntry) -> float | None:
    """The score, once it may be seen: side by side for a finalist, alone for the others."""
    if not state.revealed or not entry.scored:
        return None
    compared = score_finalists(state) if entry.id in state.finalists else None
    card = score_submission_alone(state, entry) if compared is None else compared.cards[entry.id]
    return None if card.score is None else float(card.score)


def visible_submission_feedback(state: ContestState, entry: ContestEntry) -> list[Json]:
    """Feedback by stage; while scores are hidden, of them only the advice."""
    if entry.findings or (
        entry.checks
        and not is_submission_gate_passed(check_acceptance_criteria(state.required_task.acceptance, entry.checks))
    ):
        return [build_gate_feedback(state, entry)]
    if not entry.scored:
        return []
    # Of one that could not be judged the advice stands; what single judges said of it is no score.
    shown = state.revealed and entry.status != "unjudged"
    alone = build_individual_feedback(state, entry) if shown else build_hidden_feedback(entry)
    ranked = entry.rank is not None and state.revealed and state.required_task.mode == "quality_first"
    return [alone, *([build_ranking_feedback(state, entry)] if ranked else [])]


def notify_submitter(state: ContestState, id: str) -> NotifySubmitter:
    """Tell the author what may be seen now."""
    entry = state.entries[id]
    feedback = visible_submission_feedback(state, entry)
    return NotifySubmitter(submission=id, author=entry.submission.author, status=entry.status, feedback=feedback)


FEEDBACK_TYPES = ("gate_check", "individual_scoring", "scoring")
FEEDBACK_DECIMALS = 2


def build_gate_feedback(state: ContestState, entry: ContestEntry) -> Json:
    """Why a submission did not pass: criteria with hints, or the passage that broke the rules."""
    criteria = check_acceptance_criteria(state.required_task.acceptance, entry.checks) if entry.checks else ()
    return {
        "type": "gate_check",
        "criteria_checks": [_acceptance_criterion_json(one) for one in criteria],
        "policy_violations": [guard_finding_to_json(one) for one in entry.findings],
    }


def build_individual_feedback(state: ContestState, entry: ContestEntry) -> Json:
    """How a submission does on its own, and what to mend."""
    card = score_submission_alone(state, entry)
    worth = _break_down_submission_score(state.dimensions, card)
    return {
        "type": "individual_scoring",
        "dimension_scores": _dimension_feedback_json(state.dimensions, card, entry.judgments, worth.low),
        "overall_band": card.grade,
        "revision_suggestions": [suggestion_to_json(one) for one in entry.suggestions],
        "weighted_base": worth.base,
        "penalty": worth.penalty,
        "penalty_reasons": list(worth.reasons),
        "penalized_total": worth.total,
        "risk_flags": list(worth.low),
        "by_judge": worth.by_judge,
        "notes": [*card.notes, *_note_few_suggestions(entry)],
    }


def build_hidden_feedback(entry: ContestEntry) -> Json:
    """What of that may be seen while scores are hidden: the advice."""
    advice = [suggestion_to_json(one) for one in entry.suggestions]
    notes = _note_few_suggestions(entry)
    return {"type": "individual_scoring", "revision_suggestions": advice, **({"notes": notes} if notes else {})}


def _note_few_suggestions(entry: ContestEntry) -> list[str]:
    """What the author is told where the judges did not give two suggestions."""
    few = {0: "the judges gave no suggestions", 1: "the judges gave one suggestion, two were asked for"}
    return [few[len(entry.suggestions)]] if len(entry.suggestions) in few else []


def build_ranking_feedback(state: ContestState, entry: ContestEntry) -> Json:
    """Where a submission came in: side by side for the finalists, by its own score for the others."""
    compared = score_finalists(state) if entry.id in state.finalists else None
    card = score_submission_alone(state, entry) if compared is None else compared.cards[entry.id]
    said = entry.judgments if compared is None else [one for one in compared.judgments if one.output == entry.id]
    worth = _break_down_submission_score(state.dimensions, card)
    place = next((one for one in rank_submissions(state) if one.id == entry.id), None)
    return {
        "type": "scoring",
        "dimension_scores": _dimension_feedback_json(state.dimensions, card, said, worth.low),
        "weighted_base": worth.base,
        "penalty": worth.penalty,
        "penalty_reasons": list(worth.reasons),
        "final_score": worth.total,
        "risk_flags": list(worth.low),
        "by_judge": worth.by_judge,
        "rank": entry.rank,
        "compared": compared is not None,
        "tie_broken_by": place.tie_broken_by if place else None,
        "notes": list(compared.notes if compared else card.notes),
    }


def _acceptance_criterion_json(one: AcceptanceCriterion) -> Json:
    judgments = [check.judgment for check in one.checks]
    return {
        "criterion": one.asks,
        "passed": one.met,
        "evidence": _join_submission_quotes(judgments),
        **_stated_absences_json(judgments),
        "reason": _join_judge_comments(judgments, "reason") or one.why_unknown,
        "revision_hint": "\n".join(one.hints) or None,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _ScoreBreakdown:
    """A scorecard's total with what it is made of."""

    base: float | None = None
    penalty: float | None = None
    total: float | None = None
    low: tuple[str, ...] = ()  # The fixed dimensions under what is expected.
    reasons: tuple[str, ...] = ()  # What the penalty is made of; of several judges also where one alone puts it low.
    by_judge: Mapping[str, float] | None = None  # The totals of which the panel's is the mean.


def _break_down_submission_score(rubric: Rubric, card: Scorecard) -> _ScoreBreakdown:
    """Of several judges the penalty is what their totals together lost."""
    if card.exact is None:
        return _ScoreBreakdown()
    values = _dimension_scores(card.criteria)
    base = sum((one.weight * values[one.id] for one in rubric.criteria), Fraction(0))
    expected = next(step.below for step in rubric.method.steps if isinstance(step, Shortfall))
    penalty = Fraction(1)
    for one in rubric.criteria:
        penalty *= min(values[one.id] / expected, Fraction(1)) if one.fixed else 1
    if card.reviews is not None and base > 0:
        penalty = card.exact / base
    return _ScoreBreakdown(
        base=number_for_json(base, FEEDBACK_DECIMALS),
        penalty=number_for_json(penalty, 4),
        total=number_for_json(card.exact, FEEDBACK_DECIMALS),
        low=tuple(one.id for one in rubric.criteria if one.fixed and values[one.id] < expected),
        reasons=tuple(_explain_dimension_penalties(rubric, card, expected)),
        by_judge=_total_scores_by_judge(card),
    )


def _explain_dimension_penalties(rubric: Rubric, card: Scorecard, expected: Fraction) -> Iterator[str]:
    """The fixed dimensions that cost something, each with the scores that did."""
    panel = [(f"{one.judge}: ", _dimension_scores(one.criteria)) for one in card.reviews or () if one.exact is not None]
    for one in rubric.criteria:
        each = [(who, values[one.id]) for who, values in panel or [("", _dimension_scores(card.criteria))]]
        low = [f"{who}{format_fraction(value)}" for who, value in each if one.fixed and value < expected]
        if low:
            yield f"{one.id} is under {format_fraction(expected)} ({', '.join(low)})"


def _total_scores_by_judge(card: Scorecard) -> dict[str, float] | None:
    if card.reviews is None:
        return None
    totals = {one.judge: one.exact for one in card.reviews}
    return {judge: number_for_json(total, FEEDBACK_DECIMALS) for judge, total in totals.items() if total is not None}


def _dimension_scores(criteria: Mapping[str, CriterionScore]) -> dict[str, Fraction]:
    return {id: score.value for id, score in criteria.items() if isinstance(score, Scored)}


def _dimension_feedback_json(rubric: Rubric, card: Scorecard, said: Sequence[Judgment], low: Collection[str]) -> Json:
    found: Json = {}
    for one in rubric.criteria:
        score, own = card.criteria.get(one.id), [judgment for judgment in said if judgment.criterion == one.id]
        scored = isinstance(score, Scored)
        found[one.id] = {
            "band": find_dimension_band(one.scale, score.value) if isinstance(score, Scored) else None,
            "score": score_for_json(score.value, FEEDBACK_DECIMALS) if isinstance(score, Scored) else None,
            "evidence": _join_submission_quotes(own),
            **_stated_absences_json(own),
            "feedback": _join_judge_comments(own, "feedback") or _join_judge_comments(own, "reason"),
            **({"flag": "below_expected"} if scored and one.id in low else {}),
        }
    return found


def _join_submission_quotes(judgments: Iterable[Judgment]) -> str:
    return "\n".join(dict.fromkeys(quote.text for one in judgments for quote in one.evidence))


def _stated_absences_json(judgments: Iterable[Judgment]) -> Json:
    """What judges state is not there: beside the quotations, and only where there is something to say."""
    absent = "\n".join(dict.fromkeys(absent for one in judgments for absent in one.absent))
    return {"absent": absent} if absent else {}


def _join_judge_comments(judgments: Sequence[Judgment], field: str) -> str:
    """What the judges wrote; of several, who wrote it."""
    texts = [(one.judge, str(getattr(one, field))) for one in judgments if getattr(one, field)]
    if len({one.judge for one in judgments}) < 2:
        return "\n".join(text for _, text in texts)
    return "\n".join(f"{judge}: {text}" for judge, text in texts)
