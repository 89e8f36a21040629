"""Playing a contest from what has arrived, in its own time, with every event written down and every refusal
explained.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from evenhand.contest.events import (
    AskGate,
    AskHorizontal,
    AskIndividual,
    ContestEffect,
    ContestEvent,
    DeadlineReached,
    RankingChallenged,
    SubmissionReceived,
    make_submission_received_event,
)
from evenhand.contest.machine import (
    apply_contest_event,
    list_pending_contest_effects,
    rebuild_contest_state,
    refuse_challenge_without_stake,
)
from evenhand.contest.panels import ContestMachinePanels, PanelAnswer, PanelQuestion, UnansweredError, UnreadableError
from evenhand.contest.state import ContestState
from evenhand.contest.task import Challenge, Submission
from evenhand.errors import ContestError
from evenhand.judging.results import JudgeCall
from evenhand.model.scale import Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendedContestEvent:
    """An event about to be kept: its number, the calls it rests on, what it wants done, and where it leads."""

    number: int
    event: ContestEvent
    calls: Sequence[JudgeCall]
    effects: Sequence[ContestEffect]
    state: ContestState


KeepEvent = Callable[[AppendedContestEvent], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestProgress:
    """How far a contest is: submissions judged, of how many, and what is being done."""

    done: int
    total: int
    doing: str


TellProgress = Callable[[ContestProgress], None]


@dataclass(frozen=True, slots=True)
class _SubmissionTurn:
    """A submission about to come: the events that bring it, and the state in which judges are asked about it."""

    events: tuple[ContestEvent, ...]
    state: ContestState
    asks: tuple[PanelQuestion, ...]


class ContestEventLog:
    """The events of a contest so far and the state they lead to. What is written down is kept first, then counts.

    `left_out` are submissions and challenges that came and were not taken.
    """

    def __init__(self, events: Iterable[ContestEvent], keep: KeepEvent) -> None:
        self.events = list(events)
        self.state = rebuild_contest_state(self.events)
        self.left_out: list[SubmissionReceived | RankingChallenged] = []
        self._keep = keep

    def write(self, event: ContestEvent, calls: Sequence[JudgeCall] = ()) -> None:
        """Let an event happen; one that cannot is refused before it is kept."""
        state, effects = apply_contest_event(self.state, event)
        number = len(self.events)
        self._keep(AppendedContestEvent(number=number, event=event, calls=calls, effects=effects, state=state))
        self.events.append(event)
        self.state = state


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestEventArrivals:
    """What has come: submissions and challenges, each with its time; what lies behind `until` does not happen yet."""

    submissions: Sequence[Submission]
    challenges: Sequence[Challenge] = ()
    until: datetime | None = None

    def has(self, moment: datetime) -> bool:
        """Whether a moment has come."""
        return self.until is None or moment <= self.until


async def advance_contest_phases(
    log: ContestEventLog, panels: ContestMachinePanels, come: ContestEventArrivals, tell: TellProgress = lambda _: None
) -> None:
    """Play a contest that was created as far as it goes, from wherever its log stands."""
    here = [one for one in come.submissions if come.has(one.at)]
    total = len({*log.state.entries, *(one.id for one in here)})
    judging = tuple(one for one in list_pending_contest_effects(log.state) if isinstance(one, (AskGate, AskIndividual)))
    if judging:  # Where an earlier sitting was stopped.
        turns = [_SubmissionTurn((), log.state, (one,)) for one in judging]
        await _advance_submission_turns(log, panels, turns, tell, total)
    for wave in list(batch_submissions_by_author(log.state, here)):
        await _advance_submission_turns(log, panels, list(_order_submission_turns(log, wave)), tell, total)
    await _advance_contest_after_deadline(log, panels, come, tell, total)


def batch_submissions_by_author(state: ContestState, submissions: Sequence[Submission]) -> Iterator[list[Submission]]:
    """Submissions that may be judged at the same time: an author has read what was said before handing in again.

    Where the first to pass wins there is one at a time, so that nobody is asked about what comes after a winner.
    """
    alone = state.required_task.mode == "fastest_first"
    wave: list[Submission] = []
    for one in submissions:
        if one.id in state.entries:
            continue
        if wave and (alone or one.author in [other.author for other in wave]):
            yield wave
            wave = []
        wave.append(one)
    if wave:
        yield wave


def _order_submission_turns(log: ContestEventLog, wave: Sequence[Submission]) -> Iterator[_SubmissionTurn]:
    """Each with the state that its coming leads to; what the contest does not take has no turn."""
    state = log.state
    for one in wave:
        event = make_submission_received_event(one)
        try:
            state, wanted = apply_contest_event(state, event)
        except ContestError:
            log.left_out.append(event)
            continue
        yield _SubmissionTurn((event,), state, tuple(ask for ask in wanted if isinstance(ask, AskGate)))


async def _advance_submission_turns(
    log: ContestEventLog, panels: ContestMachinePanels, turns: Sequence[_SubmissionTurn], tell: TellProgress, total: int
) -> None:
    """Judges are asked about all of them at once; what happened is written down in order of arrival.

    Where a judge cannot be asked, what was answered is paid for: it is kept before the contest stops.
    """
    tasks = [asyncio.create_task(_advance_submission_through_panels(turn, panels)) for turn in turns]
    silent: UnansweredError | None = None
    try:
        for turn, task in zip(turns, tasks, strict=True):
            for event in turn.events:
                log.write(event)
            answers, gone = await task
            silent = silent or gone
            for answered in answers:
                log.write(answered.event, answered.calls)
                waiting = sum(1 for _ in log.state.entries_awaiting_judges())
                tell(ContestProgress(done=len(log.state.entries) - waiting, total=total, doing=answered.event.kind))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if silent is not None:
        raise silent


async def _advance_submission_through_panels(
    turn: _SubmissionTurn, panels: ContestMachinePanels
) -> tuple[list[PanelAnswer], UnansweredError | None]:
    """The answers about one submission: each tells, by the machine itself, whether there is another question."""
    answers: list[PanelAnswer] = []
    state, asks = turn.state, list(turn.asks)
    while asks:
        try:
            answered = await panels.answer_machine_question(state, asks.pop(), _last_contest_event_time(state))
        except UnansweredError as error:
            return answers, error
        answers.append(answered)
        state, wanted = apply_contest_event(state, answered.event)
        asks = [one for one in wanted if isinstance(one, AskIndividual) and one.panel == "judges"]
    return answers, None


async def _advance_contest_after_deadline(
    log: ContestEventLog, panels: ContestMachinePanels, come: ContestEventArrivals, tell: TellProgress, total: int
) -> None:
    """From the deadline on: the ranking, challenges, the end."""
    deadline = log.state.required_task.deadline
    if log.state.phase == "open" and deadline is not None and come.has(deadline):
        # A contest in which no judge gave one answer that can be read says nothing of its submissions: it stays open.
        entries = log.state.entries.values()
        said = [check.judgment.score for entry in entries for check in entry.checks]
        silent = [score for score in said if isinstance(score, Missing)]
        if said and len(silent) == len(said):
            count = sum(entry.status == "unjudged" for entry in entries)
            why = f"no answer on any of {count} submissions could be read ({silent[0].text}): name other judges"
            raise UnreadableError(why)
        log.write(DeadlineReached(at=_contest_event_time(log.state, come, deadline), deadline="submissions"))
    await _answer_pending_contest_effects(log, panels, come, tell, total)
    for challenge in sorted(come.challenges, key=lambda one: one.at):
        if challenge == log.state.challenge or not come.has(challenge.at):
            continue
        try:
            refuse_challenge_without_stake(log.state, challenge)
            log.write(RankingChallenged(challenge=challenge))
        except ContestError:
            log.left_out.append(RankingChallenged(challenge=challenge))
            continue
        await _answer_pending_contest_effects(log, panels, come, tell, total)
    ends = log.state.period_ends
    if log.state.phase == "challenge_period" and ends is not None and come.has(ends):
        log.write(DeadlineReached(at=_contest_event_time(log.state, come, ends), deadline="challenges"))


async def _answer_pending_contest_effects(
    log: ContestEventLog, panels: ContestMachinePanels, come: ContestEventArrivals, tell: TellProgress, total: int
) -> None:
    """Answer what the final or a challenge asks, if it asks."""
    for ask in list_pending_contest_effects(log.state):
        if isinstance(ask, (AskHorizontal, AskIndividual)):
            tell(ContestProgress(done=total, total=total, doing="ranked" if ask.panel == "judges" else "resolved"))
            answered = await panels.answer_machine_question(log.state, ask, _contest_event_time(log.state, come))
            log.write(answered.event, answered.calls)


def _contest_event_time(state: ContestState, come: ContestEventArrivals, due: datetime | None = None) -> datetime:
    """When something happens: when it is due, or later where more has happened.

    Played up to a moment, it happens at that moment: whoever learns of a ranking then has the whole period to doubt it.
    """
    return max(one for one in (due, come.until, _last_contest_event_time(state)) if one is not None)


def _last_contest_event_time(state: ContestState) -> datetime:
    assert state.at is not None
    return state.at


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedEntry:
    """What the contest did not take, and why; a challenge has no id."""

    id: str | None
    author: str
    at: datetime
    why: str


def explain_refused_contest_entries(
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
            refuse_challenge_without_stake(state, event.challenge)
        apply_contest_event(state, event)
    except ContestError as error:
        return str(error)
    return "received too late: the contest had already gone on"
