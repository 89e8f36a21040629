"""What each may see of a contest: an author what is theirs, anybody what is public, and nothing of others before its
time; and what has changed between two looks at it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from evenhand.contest.events import (
    ChallengeResolved,
    ContestEvent,
    DeadlineReached,
    FinalistsRanked,
    PaymentReleased,
    RankingChallenged,
)
from evenhand.contest.feedback import view_submission
from evenhand.contest.machine import rebuild_contest_state
from evenhand.contest.record import DECISION_JSON, encode_contest_dimensions, explain_contest_decision
from evenhand.contest.state import ContestEntry, ContestState
from evenhand.contest.task import normalize_contest_author_name
from evenhand.errors import ContestError, Fault

Json = dict[str, Any]
# What happens to everybody; what happens to one submission is its author's alone.
_PUBLIC_EVENTS = (DeadlineReached, FinalistsRanked, RankingChallenged, ChallengeResolved, PaymentReleased)


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
        "events": [_view_public_event(one) for one in events if isinstance(one, _PUBLIC_EVENTS)],
        "submissions": [_view_own_submission(state, one) for one in own],
    }


def is_contest_ranking_public(state: ContestState) -> bool:
    """Whether the ranking may be seen by everybody: once it is made, or, where the first to pass wins, at the end."""
    return state.phase in ("challenge_period", "challenged", "closed")


def _view_public_event(event: ContestEvent) -> Json:
    """Who challenged is public, as the decision names them; why they did is for judges and the operator."""
    by = event.challenge.by if isinstance(event, RankingChallenged) else None
    return {"kind": event.kind, "at": event.at.isoformat(), "by": by}


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


RECEIVED = "received"  # The status of a submission that nobody has looked at yet.
CONTEST_CHANGE_FIELDS = ("at", "event", "submission", "author", "status", "state", "winner")


def list_contest_changes(before: Mapping[str, Any] | None, after: Mapping[str, Any], *, seen: str) -> list[Json]:
    """What happened between two looks at a contest, or, with one, so far; each change has the same fields.

    A look is the record of a contest, which has every event, or a view of it, in which an author's own submissions
    change. What has no time of its own has the one at which it was seen.
    """
    whole = "effects" in after
    found = [*(_list_record_changes(before, after) if whole else _list_view_changes(before, after, seen))]
    # A review between two looks leaves the state as it was, and may put another first.
    if before is None or any(before[name] != after[name] for name in ("state", "winner")):
        winner = after["winner"] if whole or after["winner"] is None else after["winner"]["submission"]
        since = found[-1] if found else {}
        found.append({"at": since.get("at", seen), "event": "state", "state": after["state"], "winner": winner})
    return [{name: {"at": seen, **one}.get(name) for name in CONTEST_CHANGE_FIELDS} for one in found]


def _list_record_changes(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> Iterator[Json]:
    """Every new event, with what the author was told of it."""
    told = {one["after"]: one for one in after["effects"] if one["effect"] == "tell_submitter"}
    authors = {one["id"]: one["author"] for one in after["submissions"]}
    for event in after["events"][0 if before is None else len(before["events"]) :]:
        given = event.get("submission")
        id = given["id"] if isinstance(given, Mapping) else given
        about = {"submission": id, "author": event.get("by", authors.get(id))}
        # At the ranking many are told at once, each of their own place.
        status = told.get(event["number"], {}).get("status") if id is not None else None
        yield {"at": event["at"], "event": event["event"], **about, "status": status}


def _list_view_changes(before: Mapping[str, Any] | None, after: Mapping[str, Any], seen: str) -> list[Json]:
    """What came and what happened to everybody, in order of time; then which own submissions stand otherwise since."""
    known = {} if before is None else {one["id"]: one["status"] for one in before["submissions"]}
    own, events = after["submissions"], after["events"][0 if before is None else len(before["events"]) :]
    found = [{"at": one["at"], **_describe_submission(one, RECEIVED)} for one in own if one["id"] not in known]
    found += [{"at": event["at"], "event": event["kind"], "author": event.get("by")} for event in events]
    found.sort(key=lambda one: datetime.fromisoformat(one["at"]))
    at = found[-1]["at"] if found else seen  # A status has no time of its own: it follows what may have led to it.
    changed = [one for one in own if known.get(one["id"], RECEIVED) != one["status"]]
    return found + [{"at": at, **_describe_submission(one, one["status"])} for one in changed]


def _describe_submission(one: Mapping[str, Any], status: str) -> Json:
    return {"event": "submission", "submission": one["id"], "author": one["author"], "status": status}
