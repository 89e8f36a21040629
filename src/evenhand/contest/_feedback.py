"""What is said back about a submission: the gate, the scores alone with advice, the scores side by side."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from evenhand.contest._cards import band_of, card_alone
from evenhand.contest._gate import Criterion, criteria_of
from evenhand.contest._ranking import outcome, ranking
from evenhand.contest._state import Entry, State
from evenhand.judging import finding_json, suggestion_json
from evenhand.model import (
    CriterionScore,
    Judgment,
    Rubric,
    Scorecard,
    Scored,
    Shortfall,
    number_for_json,
    written,
)

Json = dict[str, Any]
TYPES = ("gate_check", "individual_scoring", "scoring")
DECIMALS = 2


def gate_feedback(state: State, entry: Entry) -> Json:
    """Why a submission did not pass: criteria with hints, or the passage that broke the rules."""
    criteria = criteria_of(state.terms.acceptance, entry.checks) if entry.checks else ()
    return {
        "type": "gate_check",
        "criteria_checks": [_criterion(one) for one in criteria],
        "policy_violations": [finding_json(one) for one in entry.findings],
    }


def individual_feedback(state: State, entry: Entry) -> Json:
    """How a submission does on its own, and what to mend."""
    card = card_alone(state, entry)
    worth = _worth(state.dimensions, card)
    return {
        "type": "individual_scoring",
        "dimension_scores": _dimensions(state.dimensions, card, entry.judgments, worth.low),
        "overall_band": card.grade,
        "revision_suggestions": [suggestion_json(one) for one in entry.suggestions],
        "weighted_base": worth.base,
        "penalty": worth.penalty,
        "penalty_reasons": list(worth.reasons),
        "penalized_total": worth.total,
        "risk_flags": list(worth.low),
        "by_judge": worth.by_judge,
        "notes": list(card.notes),
    }


def hidden_feedback(entry: Entry) -> Json:
    """What of that may be seen while scores are hidden: the advice."""
    advice = [suggestion_json(one) for one in entry.suggestions]
    return {"type": "individual_scoring", "revision_suggestions": advice}


def scoring_feedback(state: State, entry: Entry) -> Json:
    """Where a submission came in: side by side for the finalists, by its own score for the others."""
    compared = outcome(state) if entry.id in state.finalists else None
    card = card_alone(state, entry) if compared is None else compared.cards[entry.id]
    said = entry.judgments if compared is None else [one for one in compared.said if one.output == entry.id]
    worth = _worth(state.dimensions, card)
    place = next((one for one in ranking(state) if one.id == entry.id), None)
    return {
        "type": "scoring",
        "dimension_scores": _dimensions(state.dimensions, card, said, worth.low),
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


def _criterion(one: Criterion) -> Json:
    judgments = [check.judgment for check in one.checks]
    return {
        "criterion": one.asks,
        "passed": one.met,
        "evidence": _quotes(judgments),
        "reason": _spoken(judgments, "reason") or one.why_unknown,
        "revision_hint": "\n".join(one.hints) or None,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Worth:
    """A scorecard's total with what it is made of."""

    base: float | None = None
    penalty: float | None = None
    total: float | None = None
    low: tuple[str, ...] = ()  # The fixed dimensions under what is expected.
    reasons: tuple[str, ...] = ()  # What the penalty is made of; of several judges also where one alone puts it low.
    by_judge: Mapping[str, float] | None = None  # The totals of which the panel's is the mean.


def _worth(rubric: Rubric, card: Scorecard) -> _Worth:
    """Of several judges the penalty is what their totals together lost."""
    if card.exact is None:
        return _Worth()
    values = _values(card.criteria)
    base = sum((one.weight * values[one.id] for one in rubric.criteria), Fraction(0))
    expected = next(step.below for step in rubric.method.steps if isinstance(step, Shortfall))
    penalty = Fraction(1)
    for one in rubric.criteria:
        penalty *= min(values[one.id] / expected, Fraction(1)) if one.fixed else 1
    if card.reviews is not None and base > 0:
        penalty = card.exact / base
    return _Worth(
        base=number_for_json(base, DECIMALS),
        penalty=number_for_json(penalty, 4),
        total=number_for_json(card.exact, DECIMALS),
        low=tuple(one.id for one in rubric.criteria if one.fixed and values[one.id] < expected),
        reasons=tuple(_reasons(rubric, card, expected)),
        by_judge=_by_judge(card),
    )


def _reasons(rubric: Rubric, card: Scorecard, expected: Fraction) -> Iterator[str]:
    """The fixed dimensions that cost something, each with the scores that did."""
    panel = [(f"{one.judge}: ", _values(one.criteria)) for one in card.reviews or () if one.exact is not None]
    for one in rubric.criteria:
        each = [(who, values[one.id]) for who, values in panel or [("", _values(card.criteria))]]
        low = [f"{who}{written(value)}" for who, value in each if one.fixed and value < expected]
        if low:
            yield f"{one.id} is under {written(expected)} ({', '.join(low)})"


def _by_judge(card: Scorecard) -> dict[str, float] | None:
    if card.reviews is None:
        return None
    totals = {one.judge: one.exact for one in card.reviews}
    return {judge: number_for_json(total, DECIMALS) for judge, total in totals.items() if total is not None}


def _values(criteria: Mapping[str, CriterionScore]) -> dict[str, Fraction]:
    return {id: score.value for id, score in criteria.items() if isinstance(score, Scored)}


def _dimensions(rubric: Rubric, card: Scorecard, said: Sequence[Judgment], low: Collection[str]) -> Json:
    found: Json = {}
    for one in rubric.criteria:
        score, own = card.criteria.get(one.id), [judgment for judgment in said if judgment.criterion == one.id]
        scored = isinstance(score, Scored)
        found[one.id] = {
            "band": band_of(one.scale, score.value) if isinstance(score, Scored) else None,
            "score": number_for_json(score.value, DECIMALS) if isinstance(score, Scored) else None,
            "evidence": _quotes(own),
            "feedback": _spoken(own, "feedback") or _spoken(own, "reason"),
            **({"flag": "below_expected"} if scored and one.id in low else {}),
        }
    return found


def _quotes(judgments: Iterable[Judgment]) -> str:
    return "\n".join(dict.fromkeys(quote.text for one in judgments for quote in one.evidence))


def _spoken(judgments: Sequence[Judgment], field: str) -> str:
    """What the judges wrote; of several, who wrote it."""
    texts = [(one.judge, str(getattr(one, field))) for one in judgments if getattr(one, field)]
    if len({one.judge for one in judgments}) < 2:
        return "\n".join(text for _, text in texts)
    return "\n".join(f"{judge}: {text}" for judge, text in texts)
