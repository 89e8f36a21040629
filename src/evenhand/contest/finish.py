"""How a contest ends: finalists, ranking, challenge period, review, payment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from evenhand.contest.events import (
    AskHorizontal,
    AskIndividual,
    CloseContest,
    ContestEffect,
    PanelKind,
    ReleasePayment,
)
from evenhand.contest.feedback import make_submitter_notice_effect
from evenhand.contest.ranking import (
    MOST_FINALISTS,
    find_low_contest_dimensions,
    list_entries_above_threshold,
    list_ranked_entries,
    rank_submissions,
    score_submission_alone,
)
from evenhand.contest.state import ContestState, FinalJudgments
from evenhand.contest.task import LAST_YEAR
from evenhand.errors import ContestError, Fault

ContestTransition = tuple[ContestState, tuple[ContestEffect, ...]]
NO_SUBMISSION_JUDGED = "no submission could be judged"


def close_contest_with_first_to_pass(state: ContestState, id: str) -> ContestTransition:
    """The first that passes wins, at once; whoever still waits is not judged any more."""
    won = replace(state.entries[id], status="won", rank=1)
    why = f"closed before it was judged: {id} had passed"
    left = [replace(one, status="unjudged", why=why) for one in state.entries_awaiting_judges() if one.id != id]
    state = replace(state, winner=id, finalists=(id,)).with_entries(won, *left)
    state, effects = _close_contest_and_pay_winner(state, f"{id} is the first to pass")
    return state, (*_make_submitter_notice_effects(state, [id, *(one.id for one in left)]), *effects)


def close_contest_without_pass(state: ContestState) -> ContestTransition:
    """The deadline is over, everything is judged, and nothing passed."""
    unjudged = sum(one.status == "unjudged" for one in state.entries.values())
    if unjudged and unjudged == len(state.entries):
        return _close_contest(state, NO_SUBMISSION_JUDGED)
    return _close_contest(
        state, _add_unjudged_entries_to_closing_reason("no submission passed before the deadline", unjudged)
    )


def start_contest_final(state: ContestState) -> ContestTransition:
    """The best go into the final: three or two are compared, one has won, and without one there is no winner."""
    best = list_entries_above_threshold(state)[:MOST_FINALISTS]
    state = replace(state, finalists=tuple(one.id for one in best))
    if len(best) > 1:
        state = replace(state, phase="ranking")
        return state, (make_finalist_panel_effect(state, "judges"),)
    if best:
        return reveal_contest_ranking(state)
    state, effects = _close_contest(_assign_contest_places(state), _explain_unwon_contest(state))
    return state, (*_make_submitter_notice_effects(state, [one.id for one in list_ranked_entries(state)]), *effects)


def make_finalist_panel_effect(state: ContestState, panel: PanelKind) -> ContestEffect:
    """What a panel has to be asked for the ranking, or anew on a challenge; there may be one finalist only."""
    if len(state.finalists) == 1:
        return AskIndividual(submission=state.finalists[0], panel=panel)
    # In an order that tells nothing: who was the best alone is still hidden.
    return AskHorizontal(submissions=tuple(id for id in state.entries if id in state.finalists), panel=panel)


def reveal_contest_ranking(state: ContestState) -> ContestTransition:
    """Ranking is done: everybody learns where they stand, and may doubt it for a while."""
    assert state.at is not None
    ends = state.at + state.required_task.challenge_period
    if ends.year > LAST_YEAR:  # No event could say that it is over.
        raise ContestError(Fault(f"the challenge period would end after {LAST_YEAR}", "an earlier moment is taken"))
    state = _assign_contest_places(replace(state, phase="challenge_period", period_ends=ends))
    return state, _make_submitter_notice_effects(state, [one.id for one in list_ranked_entries(state)])


def apply_challenge_review(state: ContestState) -> ContestTransition:
    """A panel that had not judged before has spoken: the ranking is made anew from what it said."""
    state = replace(state, phase="challenge_period")
    if len(state.finalists) == 1:
        only, review = state.entries[state.finalists[0]], state.review or FinalJudgments()
        card = score_submission_alone(state, replace(only, judgments=review.judgments))
        if card.exact is not None and find_low_contest_dimensions(state.dimensions, card):
            why = "by the panel that looked at the challenge"
            only = replace(only, status="below_threshold", rank=None, why=why)
            state = replace(state, winner=None).with_entries(only)
            state, effects = _close_contest(state, "the challenge was upheld: nobody is left to win")
            return state, (*_make_submitter_notice_effects(state, [only.id]), *effects)
    state = _assign_contest_places(state)
    return state, _make_submitter_notice_effects(state, state.finalists)


def end_challenge_period(state: ContestState) -> ContestTransition:
    """The challenge period is closed: the winner stands and is paid."""
    assert state.winner is not None
    return _close_contest_and_pay_winner(state, f"{state.winner} won, and the challenge period is over")


def _assign_contest_places(state: ContestState) -> ContestState:
    """Statuses, ranks and the winner, as the ranking has them."""
    places = {place.id: place.rank for place in rank_submissions(state)}
    winner = next(iter(places), None)
    entries = []
    for one in list_ranked_entries(state):
        if one.id in places:
            entries.append(replace(one, status="won" if one.id == winner else "scored", rank=places[one.id]))
        else:
            low = find_low_contest_dimensions(state.dimensions, score_submission_alone(state, one))
            entries.append(replace(one, status="below_threshold", rank=None, why=f"below band C: {', '.join(low)}"))
    return replace(state, winner=winner).with_entries(*entries)


def _explain_unwon_contest(state: ContestState) -> str:
    if not state.entries:
        return "nothing was handed in before the deadline"
    unjudged = [one for one in state.entries.values() if one.status == "unjudged"]
    unscored = [one for one in unjudged if one.scored]
    if list_ranked_entries(state):
        which = "that could be scored" if unscored else "that passed the gate"
        return _add_unjudged_entries_to_closing_reason(
            f"every submission {which} has a dimension below band C", len(unjudged)
        )
    if len(unjudged) == len(state.entries) and not unscored:
        return NO_SUBMISSION_JUDGED
    if unscored:
        why = "no submission that passed the gate could be scored"
        return _add_unjudged_entries_to_closing_reason(why, len(unjudged) - len(unscored))
    return _add_unjudged_entries_to_closing_reason("no submission passed the gate before the deadline", len(unjudged))


def _add_unjudged_entries_to_closing_reason(why: str, unjudged: int) -> str:
    """What judges failed at is no fault of a submission: it is told apart."""
    return f"{why}, and {unjudged} could not be judged" if unjudged else why


def _close_contest_and_pay_winner(state: ContestState, why: str) -> ContestTransition:
    winner = state.entries[state.winner or ""]
    payment = ReleasePayment(submission=winner.id, author=winner.submission.author, reward=state.required_task.reward)
    released = None if state.contest else state.at
    state, effects = _close_contest(replace(state, paid=True, released=released), why)
    return state, (payment, *effects)


def _close_contest(state: ContestState, why: str) -> ContestTransition:
    state = replace(state, phase="closed", why=why)
    return state, (CloseContest(winner=state.winner, why=why),)


def _make_submitter_notice_effects(state: ContestState, ids: Iterable[str]) -> tuple[ContestEffect, ...]:
    return tuple(make_submitter_notice_effect(state, id) for id in ids)


def explain_open_contest(state: ContestState, until: datetime | None) -> str:
    """What a contest waits for that was played until a moment, or as far as it goes; "" where it is closed."""
    if state.phase == "closed":
        return ""
    if until is None:
        return "it is open: its task has no deadline, and nothing has passed yet"
    what, ends = "deadline is", state.required_task.deadline
    if state.phase == "challenge_period":
        what, ends = "challenge period ends", state.period_ends
    waits = f"; the {what} {ends.isoformat(timespec='seconds')}" if ends else ""
    return f"it is waiting: played up to {until.isoformat(timespec='seconds')}{waits}"


def is_kept_contest_waiting(kept: Mapping[str, Any]) -> bool:
    """Whether nothing stopped a contest that is not over; stores of earlier versions say so in a sentence alone."""
    said = (kept.get("stopped") or "").startswith(("it is waiting", "it waits", "it is open"))
    return bool(kept.get("waits", said))
