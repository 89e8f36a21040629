"""What an author may see of a submission now: status, score, and feedback from gate, individual scoring and final."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from evenhand.contest.events import NotifySubmitter
from evenhand.contest.ranking import (
    check_submission_acceptance,
    find_contest_dimension_band,
    is_submission_gate_passed,
    list_contest_score_limits,
    rank_submissions,
    score_finalists,
    score_submission_alone,
)
from evenhand.contest.state import ContestEntry, ContestState
from evenhand.judging.results import guard_finding_to_json, suggestion_to_json
from evenhand.model.method import Shortfall
from evenhand.model.rubric import Rubric
from evenhand.model.scale import CriterionScore, Scored
from evenhand.model.scorecard import Judgment, Scorecard
from evenhand.wording import format_fraction, format_number_for_json, word_score_for_json

Json = dict[str, Any]


def view_submission(state: ContestState, id: str) -> Json:
    """A submission as its author may see it now."""
    entry, score = state.entries[id], None
    if state.revealed and entry.scored:  # Side by side for a finalist, alone for the others.
        compared = score_finalists(state) if id in state.finalists else None
        score = (score_submission_alone(state, entry) if compared is None else compared.cards[id]).exact
    return {
        "id": entry.id,
        "author": entry.submission.author,
        "status": entry.status,
        "rank": entry.rank,
        "score": None if score is None else _round_submission_feedback_score(state.dimensions, score),
        "feedback": visible_submission_feedback(state, entry),
    }


def visible_submission_feedback(state: ContestState, entry: ContestEntry) -> list[Json]:
    """Feedback by stage; while scores are hidden, of them only the advice."""
    if entry.violations or (
        entry.checks
        and not is_submission_gate_passed(check_submission_acceptance(state.required_task.acceptance, entry.checks))
    ):
        return [build_submission_gate_feedback(state, entry)]
    if not entry.scored:
        return []
    # Of one that could not be judged the advice stands; what single judges said of it is no score.
    shown = state.revealed and entry.status != "unjudged"
    alone = build_submission_individual_feedback(state, entry) if shown else build_submission_hidden_feedback(entry)
    ranked = entry.rank is not None and state.revealed and state.required_task.mode == "quality_first"
    return [alone, *([build_submission_ranking_feedback(state, entry)] if ranked else [])]


def make_submitter_notice_effect(state: ContestState, id: str) -> NotifySubmitter:
    """Tell the author what may be seen now."""
    entry = state.entries[id]
    feedback = visible_submission_feedback(state, entry)
    return NotifySubmitter(submission=id, author=entry.submission.author, status=entry.status, feedback=feedback)


FEEDBACK_TYPES = ("gate_check", "individual_scoring", "scoring")
FEEDBACK_DECIMALS = 2


def build_submission_gate_feedback(state: ContestState, entry: ContestEntry) -> Json:
    """Why a submission did not pass: criteria with hints, or the passage that broke the rules."""
    checks = []
    for one in check_submission_acceptance(state.required_task.acceptance, entry.checks) if entry.checks else ():
        said = [check.judgment for check in one.checks]
        about = {"criterion": one.asks, "passed": one.met, "evidence": _join_submission_feedback_quotes(said)}
        reason, hint = (
            _join_submission_feedback_comments(said, "reason") or one.why_unknown,
            "\n".join(one.hints) or None,
        )
        checks.append({**about, **_build_submission_absence_feedback(said), "reason": reason, "revision_hint": hint})
    return {
        "type": "gate_check",
        "criteria_checks": checks,
        "policy_violations": [guard_finding_to_json(one) for one in entry.violations],
    }


def build_submission_individual_feedback(state: ContestState, entry: ContestEntry) -> Json:
    """How a submission does on its own, and what to fix."""
    card = score_submission_alone(state, entry)
    worth = _build_submission_score_feedback(state.dimensions, card, "penalized_total")
    return {
        "type": "individual_scoring",
        "dimension_scores": _build_submission_dimension_feedback(
            state.dimensions, card, entry.judgments, worth["risk_flags"]
        ),
        "overall_band": card.grade,
        "revision_suggestions": [suggestion_to_json(one) for one in entry.suggestions],
        **worth,
        "notes": [*card.notes, *_note_few_contest_suggestions(entry)],
    }


def build_submission_hidden_feedback(entry: ContestEntry) -> Json:
    """What of that may be seen while scores are hidden: the advice."""
    advice = [suggestion_to_json(one) for one in entry.suggestions]
    notes = _note_few_contest_suggestions(entry)
    return {"type": "individual_scoring", "revision_suggestions": advice, **({"notes": notes} if notes else {})}


def _note_few_contest_suggestions(entry: ContestEntry) -> list[str]:
    """What the author is told where the judges did not give two suggestions."""
    few = {0: "the judges gave no suggestions", 1: "the judges gave one distinct suggestion, two were asked for"}
    return [few[len(entry.suggestions)]] if len(entry.suggestions) in few else []


def build_submission_ranking_feedback(state: ContestState, entry: ContestEntry) -> Json:
    """Where a submission came in: side by side for the finalists, by its own score for the others."""
    compared = score_finalists(state) if entry.id in state.finalists else None
    card = score_submission_alone(state, entry) if compared is None else compared.cards[entry.id]
    said = entry.judgments if compared is None else [one for one in compared.judgments if one.output == entry.id]
    worth = _build_submission_score_feedback(state.dimensions, card, "final_score")
    place = next((one for one in rank_submissions(state) if one.id == entry.id), None)
    return {
        "type": "scoring",
        "dimension_scores": _build_submission_dimension_feedback(state.dimensions, card, said, worth["risk_flags"]),
        **worth,
        "rank": entry.rank,
        "compared": compared is not None,
        "tie_broken_by": place.tie_broken_by if place else None,
        "notes": list(compared.notes if compared else card.notes),
    }


def _build_submission_score_feedback(rubric: Rubric, card: Scorecard, total: str) -> Json:
    """A scorecard's total, under a name, with what it is made of.

    Of several judges the penalty is what their totals together lost, its reasons say also where one alone puts a
    dimension low, and `by_judge` has the totals of which the panel's is the mean.
    """
    if card.exact is None:
        made_of: Json = {"weighted_base": None, "penalty": None, "penalty_reasons": [], total: None}
        return {**made_of, "risk_flags": [], "by_judge": None}
    values = _contest_dimension_scores(card.criteria)
    base = sum((one.weight * values[one.id] for one in rubric.criteria), Fraction(0))
    expected = next(step.below for step in rubric.method.steps if isinstance(step, Shortfall))
    penalty = Fraction(1)
    for one in rubric.criteria:
        penalty *= min(values[one.id] / expected, Fraction(1)) if one.fixed else 1
    if card.reviews is not None and base > 0:
        penalty = card.exact / base
    totals = {one.judge: one.exact for one in card.reviews or () if one.exact is not None}
    by_judge = {judge: _round_submission_feedback_score(rubric, own) for judge, own in totals.items()}
    return {
        "weighted_base": _round_submission_feedback_score(rubric, base),
        "penalty": format_number_for_json(penalty, 4, beside=[Fraction(1)]),
        "penalty_reasons": list(_list_contest_penalty_feedback(rubric, card, expected)),
        total: _round_submission_feedback_score(rubric, card.exact),
        "risk_flags": [one.id for one in rubric.criteria if one.fixed and values[one.id] < expected],
        "by_judge": None if card.reviews is None else by_judge,
    }


def _round_submission_feedback_score(rubric: Rubric, exact: Fraction) -> float:
    """A score with two decimals, or as many as show which side of a limit it is on: who pays by it pays as we would."""
    return format_number_for_json(exact, FEEDBACK_DECIMALS, beside=list_contest_score_limits(rubric))


def _list_contest_penalty_feedback(rubric: Rubric, card: Scorecard, expected: Fraction) -> Iterator[str]:
    """The fixed dimensions that cost something, each with the scores that did."""
    panel = [
        (f"{one.judge}: ", _contest_dimension_scores(one.criteria))
        for one in card.reviews or ()
        if one.exact is not None
    ]
    for one in rubric.criteria:
        each = [(who, values[one.id]) for who, values in panel or [("", _contest_dimension_scores(card.criteria))]]
        low = [
            f"{who}{format_fraction(value, beside=[expected])}" for who, value in each if one.fixed and value < expected
        ]
        if low:
            yield f"{one.id} is under {format_fraction(expected)} ({', '.join(low)})"


def _contest_dimension_scores(criteria: Mapping[str, CriterionScore]) -> dict[str, Fraction]:
    return {id: score.value for id, score in criteria.items() if isinstance(score, Scored)}


def _build_submission_dimension_feedback(
    rubric: Rubric, card: Scorecard, said: Sequence[Judgment], low: Collection[str]
) -> Json:
    found: Json = {}
    limits = list_contest_score_limits(rubric)  # The bands of a dimension are those of the whole.
    for one in rubric.criteria:
        score, own = card.criteria.get(one.id), [judgment for judgment in said if judgment.criterion == one.id]
        value = score.value if isinstance(score, Scored) else None
        found[one.id] = {
            "band": None if value is None else find_contest_dimension_band(one.scale, value),
            "score": None if value is None else word_score_for_json(value, FEEDBACK_DECIMALS, beside=limits),
            "evidence": _join_submission_feedback_quotes(own),
            **_build_submission_absence_feedback(own),
            "feedback": _join_submission_feedback_comments(own, "feedback")
            or _join_submission_feedback_comments(own, "reason"),
            **({"flag": "below_expected"} if value is not None and one.id in low else {}),
        }
    return found


def _join_submission_feedback_quotes(judgments: Iterable[Judgment]) -> str:
    return "\n".join(dict.fromkeys(quote.text for one in judgments for quote in one.evidence))


def _build_submission_absence_feedback(judgments: Iterable[Judgment]) -> Json:
    """What judges state is not there: beside the quotations, and only where there is something to say."""
    absent = "\n".join(dict.fromkeys(absent for one in judgments for absent in one.absent))
    return {"absent": absent} if absent else {}


def _join_submission_feedback_comments(judgments: Sequence[Judgment], field: str) -> str:
    """What the judges wrote; of several, who wrote it."""
    texts = [(one.judge, str(getattr(one, field))) for one in judgments if getattr(one, field)]
    if len({one.judge for one in judgments}) < 2:
        return "\n".join(text for _, text in texts)
    return "\n".join(f"{judge}: {text}" for judge, text in texts)
