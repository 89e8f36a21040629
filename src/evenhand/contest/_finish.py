"""How a contest comes to its end: finalists, ranking, challenge, payment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from evenhand.contest._cards import below_threshold, card_alone
from evenhand.contest._effects import AskHorizontal, AskIndividual, Close, Effect, ReleasePayment
from evenhand.contest._ranking import MOST_COMPARED, counted, ranking, survivors
from evenhand.contest._seen import tell
from evenhand.contest._state import Entry, Final, State, Status
from evenhand.contest._times import LAST_YEAR
from evenhand.errors import ContestError, Fault

Next = tuple[State, tuple[Effect, ...]]
NONE_JUDGED = "no submission could be judged"


def first_to_pass(state: State, id: str) -> Next:
    """The first that passes wins, at once; whoever still waits is not judged any more."""
    won = replace(state.entries[id], status="won", rank=1)
    why = f"closed before it was judged: {id} had passed"
    left = [replace(one, status="unjudged", why=why) for one in state.waiting() if one.id != id]
    state = replace(state, winner=id, finalists=(id,)).with_entries(won, *left)
    state, effects = _paid(state, f"{id} is the first to pass")
    return state, (*_tells(state, [id, *(one.id for one in left)]), *effects)


def nobody_passed(state: State) -> Next:
    """The deadline is over, everything is judged, and nothing passed."""
    unjudged = sum(one.status == "unjudged" for one in state.entries.values())
    if unjudged and unjudged == len(state.entries):
        return _closed(state, NONE_JUDGED)
    return _closed(state, _and_unjudged("no submission passed before the deadline", unjudged))


def final(state: State) -> Next:
    """The best go into the final: three or two are compared, one has won, and without one there is no winner."""
    best = survivors(state)[:MOST_COMPARED]
    state = replace(state, finalists=tuple(one.id for one in best))
    if len(best) > 1:
        state = replace(state, phase="ranking")
        return state, (ask_final(state),)
    if best:
        return revealed(state)
    state, effects = _closed(_placed(state), _why_nobody(state))
    return state, (*_tells(state, [one.id for one in counted(state)]), *effects)


def ask_final(state: State) -> Effect:
    """Who has to be asked for the ranking."""
    return AskHorizontal(submissions=_by_arrival(state))


def ask_review(state: State) -> Effect:
    """Who has to be asked on a challenge: the finalists anew, or the only one there was."""
    if len(state.finalists) == 1:
        return AskIndividual(submission=state.finalists[0], panel="challenge_judges")
    return AskHorizontal(submissions=_by_arrival(state), panel="challenge_judges")


def revealed(state: State) -> Next:
    """Ranking is done: everybody learns where they stand, and may doubt it for a while."""
    ends = _period_ends(state)
    state = _placed(replace(state, phase="challenge_period", period_ends=ends))
    return state, _tells(state, [one.id for one in counted(state)])


def reviewed(state: State) -> Next:
    """A panel that had not judged before has spoken: the ranking is made anew from what it said."""
    state = replace(state, phase="challenge_period")
    if len(state.finalists) == 1 and _falls(state):
        only = replace(state.entries[state.finalists[0]], status="below_threshold", rank=None)
        only = replace(only, why="by the panel that looked at the challenge")
        state = replace(state, winner=None).with_entries(only)
        state, effects = _closed(state, "the challenge was right: nobody is left to win")
        return state, (*_tells(state, [only.id]), *effects)
    state = _placed(state)
    return state, _tells(state, state.finalists)


def period_over(state: State) -> Next:
    """The challenge period is closed: the winner stands and is paid."""
    assert state.winner is not None
    return _paid(state, f"{state.winner} won, and the challenge period is over")


def _period_ends(state: State) -> datetime:
    assert state.at is not None
    ends = state.at + state.terms.challenge_period
    if ends.year > LAST_YEAR:  # No event could say that it is over.
        raise ContestError(Fault(f"the challenge period would end after {LAST_YEAR}", "an earlier moment is taken"))
    return ends


def _by_arrival(state: State) -> tuple[str, ...]:
    """The finalists in an order that tells nothing: who was the best alone is still hidden."""
    return tuple(id for id in state.entries if id in state.finalists)


def _placed(state: State) -> State:
    """Statuses, ranks and the winner, as the ranking has them."""
    places = {place.id: place.rank for place in ranking(state)}
    winner = next(iter(places), None)
    entries = [_entry(state, one, places.get(one.id), won=one.id == winner) for one in counted(state)]
    return replace(state, winner=winner).with_entries(*entries)


def _entry(state: State, entry: Entry, rank: int | None, *, won: bool) -> Entry:
    if rank is None:
        low = below_threshold(state.dimensions, card_alone(state, entry))
        return replace(entry, status="below_threshold", rank=None, why=f"below band C: {', '.join(low)}")
    status: Status = "won" if won else "scored"
    return replace(entry, status=status, rank=rank)


def _falls(state: State) -> bool:
    """Whether the panel that looked at a challenge puts the only finalist below the threshold."""
    review = state.review or Final()
    only = replace(state.entries[state.finalists[0]], judgments=review.judgments)
    card = card_alone(state, only)
    return card.exact is not None and bool(below_threshold(state.dimensions, card))


def _why_nobody(state: State) -> str:
    if not state.entries:
        return "nothing was handed in before the deadline"
    unjudged = [one for one in state.entries.values() if one.status == "unjudged"]
    unscored = [one for one in unjudged if one.scored]
    if counted(state):
        which = "that could be scored" if unscored else "that passed the gate"
        return _and_unjudged(f"every submission {which} has a dimension below band C", len(unjudged))
    if len(unjudged) == len(state.entries) and not unscored:
        return NONE_JUDGED
    if unscored:
        return _and_unjudged("no submission that passed the gate could be scored", len(unjudged) - len(unscored))
    return _and_unjudged("no submission passed the gate before the deadline", len(unjudged))


def _and_unjudged(why: str, unjudged: int) -> str:
    """What judges failed at is no fault of a submission: it is told apart."""
    return f"{why}, and {unjudged} could not be judged" if unjudged else why


def _paid(state: State, why: str) -> Next:
    winner = state.entries[state.winner or ""]
    payment = ReleasePayment(submission=winner.id, author=winner.submission.author, reward=state.terms.reward)
    state, effects = _closed(replace(state, paid=True), why)
    return state, (payment, *effects)


def _closed(state: State, why: str) -> Next:
    state = replace(state, phase="closed", why=why)
    return state, (Close(winner=state.winner, why=why),)


def _tells(state: State, ids: Iterable[str]) -> tuple[Effect, ...]:
    return tuple(tell(state, id) for id in ids)
