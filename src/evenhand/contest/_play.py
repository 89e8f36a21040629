"""A contest played from what has come: in order of arrival, in the time of the contest, every step written down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from evenhand.contest._challenge import Challenge
from evenhand.contest._effects import AskGate, AskHorizontal, AskIndividual
from evenhand.contest._events import Challenged, DeadlineReached, Event, Submitted, hand_in
from evenhand.contest._machine import apply, pending, rebuilt
from evenhand.contest._panel import Answered, Ask, Panels, UnansweredError
from evenhand.contest._state import State
from evenhand.contest._submission import Submission
from evenhand.errors import ContestError
from evenhand.judging import Call
from evenhand.model import Scored, Unscored

Keep = Callable[[int, Event, Sequence[Call]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a contest is: submissions judged, of how many, and what is being done."""

    done: int
    total: int
    doing: str


@dataclass(frozen=True, slots=True)
class _Turn:
    """A submission about to come: the events that bring it, and the state in which judges are asked about it."""

    events: tuple[Event, ...]
    state: State
    asks: tuple[Ask, ...]


class Log:
    """The events of a contest so far and the state they lead to. What is written down is kept first, then counts.

    `left_out` are submissions and challenges that came and were not taken.
    """

    def __init__(self, events: Iterable[Event], keep: Keep) -> None:
        self.events = list(events)
        self.state = rebuilt(self.events)
        self.left_out: list[Submitted | Challenged] = []
        self._keep = keep

    def write(self, event: Event, calls: Sequence[Call] = ()) -> None:
        """Let an event happen; one that cannot is refused before it is kept."""
        state, _ = apply(self.state, event)
        self._keep(len(self.events), event, calls)
        self.events.append(event)
        self.state = state


@dataclass(frozen=True, slots=True, kw_only=True)
class Come:
    """What has come: submissions and challenges, each with its time; what lies behind `until` does not happen yet."""

    submissions: Sequence[Submission]
    challenges: Sequence[Challenge] = ()
    until: datetime | None = None

    def has(self, moment: datetime) -> bool:
        """Whether a moment has come."""
        return self.until is None or moment <= self.until


async def play(log: Log, panels: Panels, come: Come, tell: Callable[[Progress], None] = lambda _: None) -> None:
    """Play a contest that was created as far as it goes, from wherever its log stands."""
    here = [one for one in come.submissions if come.has(one.at)]
    total = len({*log.state.entries, *(one.id for one in here)})
    judging = tuple(one for one in pending(log.state) if isinstance(one, (AskGate, AskIndividual)))
    if judging:  # Where an earlier sitting was stopped.
        await _judged(log, panels, [_Turn((), log.state, (one,)) for one in judging], tell, total)
    for wave in list(waves(log.state, here)):
        await _judged(log, panels, list(_turns(log, wave)), tell, total)
    await _finish(log, panels, come, tell, total)


def waves(state: State, submissions: Sequence[Submission]) -> Iterator[list[Submission]]:
    """Submissions that may be judged at the same time: an author has read what was said before handing in again.

    Where the first to pass wins there is one at a time, so that nobody is asked about what comes after a winner.
    """
    alone = state.terms.mode == "fastest_first"
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


def _turns(log: Log, wave: Sequence[Submission]) -> Iterator[_Turn]:
    """Each with the state that its coming leads to; what the contest does not take has no turn."""
    state = log.state
    for one in wave:
        event = hand_in(one)
        try:
            state, wanted = apply(state, event)
        except ContestError:
            log.left_out.append(event)
            continue
        yield _Turn((event,), state, tuple(ask for ask in wanted if isinstance(ask, AskGate)))


async def _judged(
    log: Log, panels: Panels, turns: Sequence[_Turn], tell: Callable[[Progress], None], total: int
) -> None:
    """Judges are asked about all of them at once; what happened is written down in order of arrival.

    Where a judge cannot be asked, what was answered is paid for: it is kept before the contest stops.
    """
    tasks = [asyncio.create_task(_answers(turn, panels)) for turn in turns]
    silent: UnansweredError | None = None
    try:
        for turn, task in zip(turns, tasks, strict=True):
            for event in turn.events:
                log.write(event)
            answers, gone = await task
            silent = silent or gone
            for answered in answers:
                log.write(answered.event, answered.calls)
                waiting = sum(1 for _ in log.state.waiting())
                tell(Progress(done=len(log.state.entries) - waiting, total=total, doing=answered.event.kind))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if silent is not None:
        raise silent


async def _answers(turn: _Turn, panels: Panels) -> tuple[list[Answered], UnansweredError | None]:
    """The answers about one submission: each tells, by the machine itself, whether there is another question."""
    answers: list[Answered] = []
    state, asks = turn.state, list(turn.asks)
    while asks:
        try:
            answered = await panels.answer(state, asks.pop(), _now(state))
        except UnansweredError as error:
            return answers, error
        answers.append(answered)
        state, wanted = apply(state, answered.event)
        asks = [one for one in wanted if isinstance(one, AskIndividual) and one.panel == "judges"]
    return answers, None


async def _finish(log: Log, panels: Panels, come: Come, tell: Callable[[Progress], None], total: int) -> None:
    """From the deadline on: the ranking, challenges, the end."""
    deadline = log.state.terms.deadline
    if log.state.phase == "open" and deadline is not None and come.has(deadline):
        _refuse_blindness(log.state)
        log.write(DeadlineReached(at=_at(log.state, come, deadline), deadline="submissions"))
    await _asked(log, panels, come, tell, total)
    for challenge in sorted(come.challenges, key=lambda one: one.at):
        if challenge == log.state.challenge or not come.has(challenge.at):
            continue
        try:
            log.write(Challenged(challenge=challenge))
        except ContestError:
            log.left_out.append(Challenged(challenge=challenge))
            continue
        await _asked(log, panels, come, tell, total)
    ends = log.state.period_ends
    if log.state.phase == "challenge_period" and ends is not None and come.has(ends):
        log.write(DeadlineReached(at=_at(log.state, come, ends), deadline="challenges"))


def _refuse_blindness(state: State) -> None:
    """A contest in which no judge gave one answer that can be read says nothing of its submissions: it stays open."""
    entries = state.entries.values()
    said = [check.judgment for entry in entries for check in entry.checks]
    silent = [one for one in said if not isinstance(one.score, Scored)]
    if said and len(silent) == len(said):
        why = silent[0].score.why if isinstance(silent[0].score, Unscored) else ""
        count = sum(entry.status == "unjudged" for entry in entries)
        raise UnansweredError(f"no answer on any of {count} submissions could be read ({why}): name other judges")


async def _asked(log: Log, panels: Panels, come: Come, tell: Callable[[Progress], None], total: int) -> None:
    """Answer what the final or a challenge asks, if it asks."""
    for ask in pending(log.state):
        if isinstance(ask, (AskHorizontal, AskIndividual)):
            tell(Progress(done=total, total=total, doing="ranked" if ask.panel == "judges" else "resolved"))
            answered = await panels.answer(log.state, ask, _at(log.state, come))
            log.write(answered.event, answered.calls)


def _at(state: State, come: Come, due: datetime | None = None) -> datetime:
    """When something happens: when it is due, or later where more has happened.

    Played up to a moment, it happens at that moment: whoever learns of a ranking then has the whole period to doubt it.
    """
    return max(one for one in (due, come.until, _now(state)) if one is not None)


def _now(state: State) -> datetime:
    assert state.at is not None
    return state.at
