"""What may be seen of a submission: a function of the state, and of nothing else."""

from __future__ import annotations

from typing import Any

from evenhand.contest._cards import card_alone
from evenhand.contest._effects import TellSubmitter
from evenhand.contest._feedback import gate_feedback, hidden_feedback, individual_feedback, scoring_feedback
from evenhand.contest._gate import criteria_of, gate_passed
from evenhand.contest._ranking import outcome
from evenhand.contest._state import Entry, State

Json = dict[str, Any]


def seen(state: State, id: str) -> Json:
    """A submission as its author may see it now."""
    entry = state.entries[id]
    return {
        "id": entry.id,
        "author": entry.submission.author,
        "status": entry.status,
        "rank": entry.rank,
        "score": score_seen(state, entry),
        "feedback": feedback_seen(state, entry),
    }


def score_seen(state: State, entry: Entry) -> float | None:
    """The score, once it may be seen: side by side for a finalist, alone for the others."""
    if not state.revealed or not entry.scored:
        return None
    compared = outcome(state) if entry.id in state.finalists else None
    card = card_alone(state, entry) if compared is None else compared.cards[entry.id]
    return None if card.score is None else float(card.score)


def feedback_seen(state: State, entry: Entry) -> list[Json]:
    """Feedback by stage; while scores are hidden, of them only the advice."""
    if entry.findings or (entry.checks and not gate_passed(criteria_of(state.terms.acceptance, entry.checks))):
        return [gate_feedback(state, entry)]
    if not entry.scored:
        return []
    ranked = entry.rank is not None and state.revealed and state.terms.mode == "quality_first"
    return [_alone(state, entry), *([scoring_feedback(state, entry)] if ranked else [])]


def tell(state: State, id: str) -> TellSubmitter:
    """Tell the author what may be seen now."""
    entry = state.entries[id]
    feedback = feedback_seen(state, entry)
    return TellSubmitter(submission=id, author=entry.submission.author, status=entry.status, feedback=feedback)


def _alone(state: State, entry: Entry) -> Json:
    """Of one that could not be judged the advice stands; what single judges said of it is no score."""
    shown = state.revealed and entry.status != "unjudged"
    return individual_feedback(state, entry) if shown else hidden_feedback(entry)
