"""What each may see of a contest: an author what is theirs, anybody what is public, and nothing of others before its
time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.contest.events import ContestEvent, DeadlineReached, FinalistsRanked, PaymentReleased
from evenhand.contest.feedback import view_submission
from evenhand.contest.machine import rebuild_contest_state
from evenhand.contest.record import DECISION_JSON, encode_contest_dimensions, explain_contest_decision
from evenhand.contest.state import ContestEntry, ContestState
from evenhand.contest.task import normalize_contest_author_name
from evenhand.errors import ContestError, Fault

Json = dict[str, Any]
# What happens to everybody; what happens to one submission is its author's alone.
_PUBLIC_EVENTS = (DeadlineReached, FinalistsRanked, PaymentReleased)


def view_contest(
    events: Sequence[ContestEvent], author: str | None = None, *, known: ContestState | None = None
) -> Json:
    """A contest as an author may see it now, or, without one, as anybody may.

    Of others nothing is shown before the contest is decided: not how many there are, nor who. After that the ranking is
    public: who came where with which score; texts and feedback stay with their authors. The state that the events lead
    to may be `known`.
    """
    state = known or rebuild_contest_state(events)
    if state.task is None:
        raise ContestError(Fault("nothing has happened yet", "a log begins with created"))
    own = [] if author is None else state.entries_by_author(normalize_contest_author_name(author))
    decided = is_contest_ranking_public(state)
    decision = explain_contest_decision(state) if decided else None
    return {
        "contest": state.contest,
        "task": state.task.name,
        "description": state.task.description,
        "acceptance": list(state.task.acceptance),
        "mode": state.task.mode,
        "state": state.phase,
        "deadline": None if state.task.deadline is None else state.task.deadline.isoformat(),
        "period_ends": None if state.period_ends is None else state.period_ends.isoformat(),
        "reward": state.task.reward,
        "dimensions": encode_contest_dimensions(state.dimensions),
        "winner": _public_contest_winner(state) if decided else None,
        "decision": None if decision is None else DECISION_JSON.to_json(decision),
        "ranking": _public_contest_ranking(state) if decided else None,
        "events": [{"kind": one.kind, "at": one.at.isoformat()} for one in events if isinstance(one, _PUBLIC_EVENTS)],
        "submissions": [_view_own_submission(state, one) for one in own],
    }


def is_contest_ranking_public(state: ContestState) -> bool:
    """Whether the ranking may be seen by everybody: once it is made, or, where the first to pass wins, at the end."""
    return state.phase in ("challenge_period", "challenged", "closed")


def _view_own_submission(state: ContestState, entry: ContestEntry) -> Json:
    """An author's own submission: status, feedback that may be seen now, and the text as it was received."""
    seen = view_submission(state, entry.id)
    # While scores are hidden, why nothing could be scored may hold what a judge wrote instead of one.
    unscored = entry.status == "unjudged" and entry.scored and not state.revealed
    why = "it could not be scored" if unscored else entry.why or None
    given = entry.submission
    return {**seen, "at": given.at.isoformat(), "revises": given.revises, "why": why, "text": given.text}


def _public_contest_winner(state: ContestState) -> Json | None:
    if state.winner is None:
        return None
    return {"submission": state.winner, "author": state.entries[state.winner].submission.author}


def _public_contest_ranking(state: ContestState) -> list[Json]:
    """Who came where: the ranked ones, best first."""
    ranked = sorted((one for one in state.entries.values() if one.rank is not None), key=lambda one: one.rank or 0)
    seen = [view_submission(state, one.id) for one in ranked]
    return [{name: one[name] for name in ("rank", "id", "author", "score", "status")} for one in seen]
