"""The machine of a contest: a state and an event give the next state and what is wanted. No clock, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from evenhand.contest import _finish as finish
from evenhand.contest._cards import PASSES, card_alone
from evenhand.contest._effects import AskGate, AskIndividual, Effect
from evenhand.contest._events import (
    Challenged,
    Created,
    DeadlineReached,
    Event,
    GateChecked,
    RankedTogether,
    Resolved,
    ScoredAlone,
    Submitted,
)
from evenhand.contest._gate import criteria_of, gate_passed
from evenhand.contest._moves import allowed
from evenhand.contest._refusals import (
    refuse_alone,
    refuse_challenge,
    refuse_checks,
    refuse_early,
    refuse_panel,
    refuse_submission,
)
from evenhand.contest._seen import tell
from evenhand.contest._state import Entry, Final, State
from evenhand.errors import ContestError, Fault

Effects = tuple[Effect, ...]
Next = tuple[State, Effects]


def apply(state: State, event: Event) -> Next:
    """The next state and what is wanted now. An event that cannot happen is an error that says what can."""
    kinds = allowed(state.task.mode if state.task else None, state.phase)
    if event.kind not in kinds:
        phase = "not created" if state.phase == "new" else state.phase
        hint = f"allowed now: {', '.join(kinds)}" if kinds else f"nothing is allowed any more: {state.why}"
        raise ContestError(Fault(f"{event.kind} cannot happen: the contest is {phase}", hint))
    if state.at is not None and event.at < state.at:
        what = f"{event.kind} at {event.at.isoformat()} is earlier than the last event"
        raise ContestError(Fault(what, f"at {state.at.isoformat()} or later"))
    return _HANDLERS[type(event)](replace(state, at=event.at), event)


def rebuilt(events: Iterable[Event]) -> State:
    """The state that a log of events leads to."""
    state = State()
    for event in events:
        state, _ = apply(state, event)
    return state


def pending(state: State) -> Effects:
    """What was asked for and has not been answered: where whoever runs a contest goes on after a crash."""
    if state.phase == "ranking":
        return (finish.ask_final(state),)
    if state.phase == "challenged":
        return (finish.ask_review(state),)
    waiting = list(state.waiting())
    if state.task is not None and state.task.mode == "fastest_first":
        waiting = waiting[:1]
    return tuple(_ask(entry) for entry in waiting)


def _created(state: State, event: Created) -> Next:
    if event.task.dimensions is None:
        raise ContestError(Fault("a contest begins with its dimensions locked", "generate them first"))
    if not event.task.judges:
        raise ContestError(Fault("a contest needs a judge", "name one under judges"))
    return replace(state, phase="open", task=event.task), ()


def _submitted(state: State, event: Submitted) -> Next:
    refuse_submission(state, event.submission)
    entry = Entry(submission=event.submission, findings=event.findings)
    if event.findings:
        found = event.findings[0]
        entry = replace(entry, status="policy_violation", why=f"it {found.says}: “{found.text}”")
        state = state.with_entries(entry)
        return state, (tell(state, entry.id),)
    before = pending(state)
    state = state.with_entries(entry)
    return state, tuple(one for one in pending(state) if one not in before)


def _gate_checked(state: State, event: GateChecked) -> Next:
    entry = _awaited(state, event.submission, "ask_gate")
    refuse_checks(state, event)
    criteria = criteria_of(state.terms.acceptance, event.checks)
    passed = gate_passed(criteria)
    entry = replace(entry, checks=event.checks)
    if passed:
        state = state.with_entries(replace(entry, status="gate_passed"))
        return state, (tell(state, entry.id), AskIndividual(submission=entry.id))
    if passed is None:
        unknown = [f"{one.asks}: {one.why_unknown}" for one in criteria if one.met is None]
        entry = replace(entry, status="unjudged", why=f"not every criterion could be checked: {'; '.join(unknown)}")
    else:
        entry = replace(entry, status="gate_failed")
    return _judged(state.with_entries(entry), entry.id)


def _scored(state: State, event: ScoredAlone) -> Next:
    entry = _awaited(state, event.submission, "ask_individual")
    refuse_alone(state, event)
    entry = replace(entry, judgments=event.judgments, suggestions=event.suggestions)
    card = card_alone(state, entry)
    if card.exact is None:
        missing = "; ".join(f"{one.criterion}: {one.why}" for one in card.missing)
        entry = replace(entry, status="unjudged", why=f"no score: {missing}")
    elif state.terms.mode == "fastest_first":
        entry = replace(entry, status="scored")
        if card.exact >= PASSES:
            return finish.first_to_pass(state.with_entries(entry), entry.id)
    state = _supersede(state.with_entries(entry), entry.submission.author)
    return _judged(state, entry.id)


def _deadline_reached(state: State, event: DeadlineReached) -> Next:
    refuse_early(state, event)
    if event.deadline == "challenges":
        return finish.period_over(state)
    state = replace(state, phase="judging")
    return (state, ()) if pending(state) else _all_judged(state)


def _ranked(state: State, event: RankedTogether) -> Next:
    refuse_panel(state, event)
    final = Final(judgments=event.judgments, shown=event.shown)
    return finish.revealed(replace(state, final=final))


def _challenged(state: State, event: Challenged) -> Next:
    refuse_challenge(state, event.challenge)
    state = replace(state, phase="challenged", challenge=event.challenge)
    return state, (finish.ask_review(state),)


def _resolved(state: State, event: Resolved) -> Next:
    refuse_panel(state, event)
    return finish.reviewed(replace(state, review=Final(judgments=event.judgments, shown=event.shown)))


def _judged(state: State, id: str) -> Next:
    """What follows when judges have said all they will of a submission: the next one, or the end."""
    told = tell(state, id)
    waiting = pending(state)
    if state.phase == "judging" and not waiting:
        state, effects = _all_judged(state)
        return state, (told, *effects)
    return state, (told, *(waiting if state.terms.mode == "fastest_first" else ()))


def _all_judged(state: State) -> Next:
    """The deadline is over, and nothing waits for a judge any more."""
    return finish.nobody_passed(state) if state.terms.mode == "fastest_first" else finish.final(state)


def _supersede(state: State, author: str) -> State:
    """Of an author the latest submission that passed and was scored counts: those before it are superseded."""
    passed = [one for one in state.of_author(author) if one.status == "gate_passed" and one.scored]
    why = f"{passed[-1].id} counts instead" if passed else ""
    return state.with_entries(*(replace(one, status="superseded", why=why) for one in passed[:-1]))


def _awaited(state: State, id: str, kind: str) -> Entry:
    """The entry that this event answers a question about."""
    asked = {one.submission: one.kind for one in pending(state) if isinstance(one, AskGate | AskIndividual)}
    if asked.get(id) != kind:
        waiting = ", ".join(f"{name} ({what})" for name, what in asked.items()) or "nothing"
        raise ContestError(Fault(f"{id!r} does not wait for an answer to {kind}", f"waiting: {waiting}"))
    return state.entries[id]


def _ask(entry: Entry) -> Effect:
    return AskGate(submission=entry.id) if entry.status == "submitted" else AskIndividual(submission=entry.id)


_HANDLERS: Mapping[type, Callable[[State, Any], Next]] = {
    Created: _created,
    Submitted: _submitted,
    GateChecked: _gate_checked,
    ScoredAlone: _scored,
    DeadlineReached: _deadline_reached,
    RankedTogether: _ranked,
    Challenged: _challenged,
    Resolved: _resolved,
}
