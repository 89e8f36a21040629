"""The state machine of a contest: a state and an event give the next state and effects, or a refusal; no clock, no
I/O.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import product
from typing import Any

from evenhand.contest.events import (
    AskGate,
    AskIndividual,
    ChallengeResolved,
    ContestCreated,
    ContestEffect,
    ContestEvent,
    DeadlineReached,
    FinalistsRanked,
    GateChecked,
    PaymentReleased,
    RankingChallenged,
    SubmissionReceived,
    SubmissionScored,
)
from evenhand.contest.feedback import make_submitter_notice_effect
from evenhand.contest.finish import (
    ContestTransition,
    apply_challenge_review,
    close_contest_with_first_to_pass,
    close_contest_without_pass,
    end_challenge_period,
    make_finalist_panel_effect,
    reveal_contest_ranking,
    start_contest_final,
)
from evenhand.contest.ranking import (
    PASSING_SCORE,
    check_submission_acceptance,
    is_submission_gate_passed,
    score_submission_alone,
    submission_acceptance_ids,
)
from evenhand.contest.state import (
    EVENT_WORDS,
    ContestEntry,
    ContestState,
    FinalJudgments,
    explain_refused_contest_event,
    list_allowed_contest_events,
)
from evenhand.contest.task import Challenge, Submission, is_blank_submission
from evenhand.errors import ContestError, Fault
from evenhand.model.scale import YES_NO, Scale, Scored
from evenhand.model.scorecard import Judgment
from evenhand.wording import format_fraction, pluralize_count

ContestEffects = tuple[ContestEffect, ...]


def apply_contest_event(state: ContestState, event: ContestEvent) -> ContestTransition:
    """The next state and what is wanted now. An event that cannot happen is an error that says what can."""
    kinds = list_allowed_contest_events(state.task.mode if state.task else None, state.phase)
    if state.phase == "closed" and (state.payment is None or state.released is not None):
        kinds = ()
    if event.kind not in kinds:
        raise ContestError(explain_refused_contest_event(state, event.kind, kinds))
    if state.at is not None and event.at < state.at:
        what = f"{EVENT_WORDS[event.kind]} at {event.at.isoformat()} is earlier than the last event"
        raise ContestError(Fault(what, f"at {state.at.isoformat()} or later"))
    return _EVENT_HANDLERS[type(event)](replace(state, at=event.at), event)


def rebuild_contest_state(events: Iterable[ContestEvent]) -> ContestState:
    """The state that a log of events leads to."""
    state = ContestState()
    for event in events:
        state, _ = apply_contest_event(state, event)
    return state


def list_pending_contest_effects(state: ContestState) -> ContestEffects:
    """What was asked for and has not been answered: where whoever runs a contest goes on after a crash."""
    if state.phase in ("ranking", "challenged"):
        return (make_finalist_panel_effect(state, "judges" if state.phase == "ranking" else "challenge_judges"),)
    waiting = list(state.entries_awaiting_judges())
    if state.task is not None and state.task.mode == "fastest_first":
        waiting = waiting[:1]
    return tuple(
        AskGate(submission=entry.id) if entry.status == "submitted" else AskIndividual(submission=entry.id)
        for entry in waiting
    )


def _apply_contest_created(state: ContestState, event: ContestCreated) -> ContestTransition:
    if event.task.dimensions is None:
        raise ContestError(Fault("a contest begins with its dimensions locked", "generate them first"))
    if not event.task.judges:
        raise ContestError(Fault("a contest needs a judge", "name one under judges"))
    return replace(state, phase="open", task=event.task, contest=event.contest, rehearsal=event.rehearsal), ()


def _apply_submission_received(state: ContestState, event: SubmissionReceived) -> ContestTransition:
    refuse_submission(state, event.submission)
    entry = ContestEntry(submission=event.submission, findings=event.findings)
    if entry.violations:
        found = entry.violations[0]
        entry = replace(entry, status="policy_violation", why=f"it {found.says}: “{found.text}”")
        state = state.with_entries(entry)
        return state, (make_submitter_notice_effect(state, entry.id),)
    before = {*list_pending_contest_effects(state)}
    state = state.with_entries(entry)
    return state, tuple(one for one in list_pending_contest_effects(state) if one not in before)


def _apply_submission_gate_checked(state: ContestState, event: GateChecked) -> ContestTransition:
    entry = _require_awaited_contest_entry(state, event.submission, "ask_gate")
    scales = dict.fromkeys(submission_acceptance_ids(state.required_task.acceptance), YES_NO)
    said = [one.judgment for one in event.checks]
    _refuse_contest_event_with_faults(said, judges=state.required_task.judges, scales=scales, ids=(event.submission,))
    criteria = check_submission_acceptance(state.required_task.acceptance, event.checks)
    passed, entry = is_submission_gate_passed(criteria), replace(entry, checks=event.checks)
    if passed:
        state = state.with_entries(replace(entry, status="gate_passed"))
        return state, (make_submitter_notice_effect(state, entry.id), AskIndividual(submission=entry.id))
    if passed is None:
        unknown = _join_missing_contest_answers((one.asks, one.why_unknown) for one in criteria if one.met is None)
        entry = replace(entry, status="unjudged", why=f"not every criterion could be checked: {unknown}")
    else:
        entry = replace(entry, status="gate_failed")
    return _advance_after_submission(state.with_entries(entry), entry.id)


def _apply_submission_scored(state: ContestState, event: SubmissionScored) -> ContestTransition:
    entry = _require_awaited_contest_entry(state, event.submission, "ask_individual")
    judges, ids = state.required_task.judges, (event.submission,)
    _refuse_contest_event_with_faults(event.judgments, judges=judges, scales=_contest_dimension_scales(state), ids=ids)
    entry = replace(entry, judgments=event.judgments, suggestions=event.suggestions, overall_bands=event.overall_bands)
    card = score_submission_alone(state, entry)
    if card.exact is None:
        missing = _join_missing_contest_answers((one.criterion, one.why) for one in card.missing)
        entry = replace(entry, status="unjudged", why=f"no score: {missing}")
    elif state.required_task.mode == "fastest_first":
        entry = replace(entry, status="scored")
        if card.exact >= PASSING_SCORE:
            return close_contest_with_first_to_pass(state.with_entries(entry), entry.id)
    state = state.with_entries(entry)
    # Of an author the latest submission that passed and was scored counts: those before it are superseded.
    own = state.entries_by_author(entry.submission.author)
    passed = [one for one in own if one.status == "gate_passed" and one.scored]
    why = f"{passed[-1].id} counts instead" if passed else ""
    state = state.with_entries(*(replace(one, status="superseded", why=why) for one in passed[:-1]))
    return _advance_after_submission(state, entry.id)


def _join_missing_contest_answers(missing: Iterable[tuple[str, str]]) -> str:
    """What has no answer, and why: a reason that several share is said once."""
    by_reason: dict[str, list[str]] = {}
    for asked, why in missing:
        by_reason.setdefault(why, []).append(asked.rstrip("."))
    return "; ".join(f"{', '.join(asked)}: {why}" for why, asked in by_reason.items())


def _apply_deadline_reached(state: ContestState, event: DeadlineReached) -> ContestTransition:
    waited = "challenges" if state.phase == "challenge_period" else "submissions"
    if event.deadline != waited:
        raise ContestError(Fault(f"the deadline for {event.deadline} is not waited for", f"that for {waited} is"))
    ends = state.required_task.deadline if waited == "submissions" else state.period_ends
    if ends is None:
        raise ContestError(Fault("this task has no deadline", "the first that passes ends it"))
    if event.at < ends:
        what = f"the deadline for {waited} is not reached at {event.at.isoformat()}"
        raise ContestError(Fault(what, f"it is {ends.isoformat()}"))
    if event.deadline == "challenges":
        return end_challenge_period(state)
    state = replace(state, phase="judging")
    return (state, ()) if list_pending_contest_effects(state) else _advance_after_all_submissions(state)


def _apply_contest_ranking_challenged(state: ContestState, event: RankingChallenged) -> ContestTransition:
    given, ends = event.challenge, state.period_ends
    assert ends is not None
    if given.at > ends:
        raise ContestError(Fault("the challenge is late", f"the period ended at {ends.isoformat()}"))
    if not state.entries_by_author(given.by):
        authors = ", ".join(dict.fromkeys(one.submission.author for one in state.entries.values()))
        raise ContestError(Fault(f"{given.by!r} took no part in the contest", f"authors: {authors}"))
    if state.challenge is not None:
        by = state.challenge.by
        raise ContestError(Fault(f"the ranking was challenged by {by} before", "one review of a ranking is final"))
    if not state.required_task.challenge_judges:
        raise ContestError(Fault("no judges are named for challenges", "name challenge_judges in the task"))
    state = replace(state, phase="challenged", challenge=given)
    return state, (make_finalist_panel_effect(state, "challenge_judges"),)


def _apply_finalist_scores(state: ContestState, event: FinalistsRanked | ChallengeResolved) -> ContestTransition:
    refuse_finalist_scores(state, event)
    said = FinalJudgments(judgments=event.judgments, shown=event.shown)
    if isinstance(event, FinalistsRanked):
        return reveal_contest_ranking(replace(state, final=said))
    return apply_challenge_review(replace(state, review=said))


def _apply_payment_released(state: ContestState, event: PaymentReleased) -> ContestTransition:
    if event.payment != state.payment:
        raise ContestError(Fault(f"{event.payment!r} is not the payment of this contest", f"it is {state.payment}"))
    return replace(state, released=event.at), ()


def _advance_after_submission(state: ContestState, id: str) -> ContestTransition:
    """What follows when judges have said all they will of a submission: the next one, or the end."""
    told = make_submitter_notice_effect(state, id)
    waiting = list_pending_contest_effects(state)
    if state.phase == "judging" and not waiting:
        state, effects = _advance_after_all_submissions(state)
        return state, (told, *effects)
    return state, (told, *(waiting if state.required_task.mode == "fastest_first" else ()))


def _advance_after_all_submissions(state: ContestState) -> ContestTransition:
    """The deadline is over, and nothing waits for a judge any more."""
    return (
        close_contest_without_pass(state) if state.required_task.mode == "fastest_first" else start_contest_final(state)
    )


def _require_awaited_contest_entry(state: ContestState, id: str, kind: str) -> ContestEntry:
    """The entry that this event answers a question about."""
    wanted = list_pending_contest_effects(state)
    asked = {one.submission: one.kind for one in wanted if isinstance(one, AskGate | AskIndividual)}
    if asked.get(id) != kind:
        waiting = ", ".join(f"{name} ({what})" for name, what in asked.items()) or "nothing"
        raise ContestError(Fault(f"{id!r} does not wait for an answer to {kind}", f"waiting: {waiting}"))
    return state.entries[id]


def refuse_submission(state: ContestState, given: Submission) -> None:
    """One that is late, empty, there already, revises what it may not, or is one too many.

    Whoever reads the reason knows which submission it is about: lists of refused ones name it in front.
    """
    task, own = state.required_task, state.entries_by_author(given.author)
    if given.id in state.entries:
        raise ContestError(Fault(f"there is a submission {given.id!r} already", "give it an id of its own"))
    if task.deadline is not None and given.at > task.deadline:
        raise ContestError(Fault("the submission is late", f"the deadline was {task.deadline.isoformat()}"))
    if is_blank_submission(given.text):
        raise ContestError(Fault("there is nothing in the submission", "it is a text"))
    if given.revises is not None and given.revises not in [one.id for one in own]:
        known = ", ".join(one.id for one in own) or "nothing yet"
        what = f"{given.id!r} revises {given.revises!r}, which is not of {given.author}"
        raise ContestError(Fault(what, f"handed in by {given.author}: {known}"))
    if own and given.revises is None and task.mode == "quality_first":
        what = f"{given.author} has handed in {own[-1].id!r}, and {given.id!r} does not revise it"
        raise ContestError(Fault(what, f"as in revises: {own[-1].id}"))
    judged = [one for one in own if one.status != "unjudged"]  # What judges failed at is nobody's revision.
    if task.revisions is not None and len(judged) > task.revisions:
        limit = f"the limit is {pluralize_count(task.revisions, 'revision')}"
        raise ContestError(Fault("the submission is one revision too many", limit))


def refuse_challenge(state: ContestState, challenge: Challenge) -> None:
    """One without a reason, by the author who came first, or of whom nothing was judged: the review is for others.

    It is asked before a challenge becomes an event: logs that are kept may hold such challenges.
    """
    if is_blank_submission(challenge.reason):
        raise ContestError(Fault("there is nothing in the challenge", "it says what was overlooked"))
    own = state.entries_by_author(challenge.by)
    if state.challenge is None and state.winner in [one.id for one in own]:
        what = f"{challenge.by} came first, and has nothing to challenge"
        raise ContestError(Fault(what, "the review is for those behind"))
    if own and all(one.status == "policy_violation" for one in own):
        what = f"nothing of {challenge.by} was judged: what was handed in speaks to the judge"
        raise ContestError(Fault(what, "who was judged may challenge the ranking"))


def refuse_finalist_scores(state: ContestState, event: FinalistsRanked | ChallengeResolved) -> None:
    """Not one for each dimension, judge and finalist; or, on a challenge, by a judge who had judged before."""
    strangers = [one.output for one in event.judgments if one.output not in state.finalists]
    if strangers:
        raise ContestError(Fault(f"{strangers[0]!r} is not a finalist", f"finalists: {', '.join(state.finalists)}"))
    before = state.judges() & {one.judge for one in event.judgments}
    if event.kind == "resolved" and before:
        what = f"{min(before)} judged before: a challenge is for a panel that did not"
        raise ContestError(Fault(what, f"as in {', '.join(state.required_task.challenge_judges)}"))
    judges = state.required_task.judges if event.kind == "ranked" else state.required_task.challenge_judges
    _refuse_contest_event_with_faults(
        event.judgments, judges=judges, scales=_contest_dimension_scales(state), ids=state.finalists
    )


def _contest_dimension_scales(state: ContestState) -> dict[str, Scale]:
    return {one.id: one.scale for one in state.dimensions.criteria}


def _refuse_contest_event_with_faults(
    said: Sequence[Judgment], *, judges: Sequence[str], scales: Mapping[str, Scale], ids: Sequence[str]
) -> None:
    """Every judge speaks once of everything it was asked: what it failed at is there too, as unscored."""
    fault = next(_find_contest_judgment_faults(said, set(product(judges, scales, ids)), scales), None)
    if fault is not None:
        hint = f"one answer, or why there is none, of {', '.join(judges)} on {', '.join(scales)} for {', '.join(ids)}"
        raise ContestError(Fault(fault, hint))


def _find_contest_judgment_faults(
    said: Sequence[Judgment], asked: set[tuple[str, str, str]], scales: Mapping[str, Scale]
) -> Iterator[str]:
    given = Counter((one.judge, one.criterion, one.output) for one in said)
    for judge, criterion, id in given:
        if (judge, criterion, id) not in asked:
            yield f"{judge!r} was not asked about {criterion!r} of {id!r}"
        if given[judge, criterion, id] > 1:
            yield f"{judge!r} answers twice on {criterion!r} of {id!r}"
    for judge, criterion, id in sorted(asked - given.keys()):
        yield f"{judge!r} says nothing on {criterion!r} of {id!r}"
    for one in said:
        if isinstance(one.score, Scored):
            scale, value = scales[one.criterion], one.score.value
            # A mean of several replies lies between the whole numbers; between yes and no lies nothing.
            if not (value in (scale.min, scale.max) if scale.yes_no else scale.min <= value <= scale.max):
                yield f"{one.judge!r} gives {format_fraction(value)} on {one.criterion!r}, asked for {scale}"


_EVENT_HANDLERS: Mapping[type, Callable[[ContestState, Any], ContestTransition]] = {
    ContestCreated: _apply_contest_created,
    SubmissionReceived: _apply_submission_received,
    GateChecked: _apply_submission_gate_checked,
    SubmissionScored: _apply_submission_scored,
    DeadlineReached: _apply_deadline_reached,
    FinalistsRanked: _apply_finalist_scores,
    RankingChallenged: _apply_contest_ranking_challenged,
    ChallengeResolved: _apply_finalist_scores,
    PaymentReleased: _apply_payment_released,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedEntry:
    """What the contest did not take, and why; a challenge has no id."""

    id: str | None
    author: str
    at: datetime
    why: str


def explain_refused_entries(
    events: Sequence[ContestEvent], left_out: Iterable[SubmissionReceived | RankingChallenged]
) -> list[RefusedEntry]:
    """Each of those that were left out, held against the state that the log had led to when it came."""
    found = []
    for one in left_out:
        # What had happened when it came; a submission is held against the contest while it was open.
        before = []
        for event in events:
            if event.at > one.at or (isinstance(one, SubmissionReceived) and isinstance(event, DeadlineReached)):
                break
            before.append(event)
        why = _explain_contest_entry_refusal(rebuild_contest_state(before), one)
        id = one.submission.id if isinstance(one, SubmissionReceived) else None
        author = one.submission.author if isinstance(one, SubmissionReceived) else one.challenge.by
        found.append(RefusedEntry(id=id, author=author, at=one.at, why=why))
    return found


def _explain_contest_entry_refusal(state: ContestState, event: SubmissionReceived | RankingChallenged) -> str:
    if state.phase == "closed":
        return f"received after the contest was closed: {state.why}"
    if isinstance(event, RankingChallenged) and state.phase in ("open", "judging", "ranking"):
        return "there was no ranking yet that could be challenged"
    try:
        if isinstance(event, RankingChallenged):
            refuse_challenge(state, event.challenge)
        apply_contest_event(state, event)
    except ContestError as error:
        return str(error)
    return "received too late: the contest had already gone on"
