"""Playing a contest from what has arrived, in its own time: panels answer, and every event is written down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from evenhand.contest.events import (
    AskGate,
    AskHorizontal,
    AskIndividual,
    ChallengeResolved,
    ContestEffect,
    ContestEvent,
    DeadlineReached,
    FinalistsRanked,
    GateChecked,
    RankingChallenged,
    SubmissionReceived,
    SubmissionScored,
    make_submission_received_event,
)
from evenhand.contest.machine import (
    apply_contest_event,
    list_pending_contest_effects,
    rebuild_contest_state,
    refuse_challenge,
)
from evenhand.contest.state import ContestState
from evenhand.contest.task import Challenge, Submission
from evenhand.errors import ContestError, EvenhandError, ModelError, RefusedError
from evenhand.judging.dialogues.contest_dialogues import (
    AnchoredSubmission,
    ask_judge_gate_check,
    ask_judge_horizontal_scores,
    shuffle_labels_for_judge,
)
from evenhand.judging.judge import ask_judges_for_reviews
from evenhand.judging.results import JudgeCall
from evenhand.judging.single_judge import DialogueDriver, JudgeOptions, await_judges_in_order, make_judge_dialogue_setup
from evenhand.model.sample import Sample
from evenhand.model.scale import Missing
from evenhand.models.requests import CallNext, ChainedModel, Middleware, Model, Reply, Request


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
        came = SubmissionReceived(submission=one)
        try:
            apply_contest_event(state, came)
        except ContestError:  # No guard looks at it: that takes long for a long text, and would on every call.
            log.left_out.append(came)
            continue
        event = make_submission_received_event(one)
        state, wanted = apply_contest_event(state, event)
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
            refuse_challenge(log.state, challenge)
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


PanelQuestion = AskGate | AskIndividual | AskHorizontal


class UnansweredError(EvenhandError):
    """A judge cannot be asked: nothing follows from that, and the contest waits where it is."""


class UnreadableError(UnansweredError):
    """No judge gave an answer that can be read: these judges would not give one later either."""


@dataclass(frozen=True, slots=True)
class PanelAnswer:
    """An event with the calls that it rests on."""

    event: ContestEvent
    calls: tuple[JudgeCall, ...]


@dataclass(frozen=True, slots=True)
class ContestMachinePanels:
    """The judges of a contest and those for a challenge, and how they are asked."""

    judges: Sequence[Model]
    challenge_judges: Sequence[Model]
    how: JudgeOptions

    async def answer_machine_question(self, state: ContestState, ask: PanelQuestion, at: datetime) -> PanelAnswer:
        """Ask, and say what happened. Where a judge cannot be asked, that is no answer but an UnansweredError."""
        chosen = self.judges if isinstance(ask, AskGate) or ask.panel == "judges" else self.challenge_judges
        failures: dict[str, str] = {}
        judges = [ChainedModel(model, [_note_contest_event_judge_failure(failures, model.name)]) for model in chosen]
        if isinstance(ask, AskGate):
            answered = await self._ask_panel_at_gate(state, ask, judges, at)
        elif isinstance(ask, AskIndividual):
            answered = await self._ask_panel_about_submission(state, ask, judges, at)
        else:
            answered = await self._ask_panel_about_finalists(state, ask, judges, at)
        # One judge of a panel out of reach is enough: another panel would have scored this one than the others.
        gone = next((judge.name for judge in judges if judge.name in failures), None)
        if gone is not None:
            about = "the finalists" if isinstance(ask, AskHorizontal) else ask.submission  # Nobody knows them yet.
            why = failures[gone].removeprefix(f"{gone}: ")
            raise UnansweredError(f"{gone} could not be asked about {about}: {why}")
        return answered

    async def _ask_panel_at_gate(
        self, state: ContestState, ask: AskGate, judges: Sequence[Model], at: datetime
    ) -> PanelAnswer:
        task, submission = state.required_task, state.entries[ask.submission].submission
        drivers = [DialogueDriver(judge, self.how.deadline) for judge in judges]
        text = (submission.id, submission.text)
        dialogues = [
            ask_judge_gate_check(task.description, task.acceptance, text, make_judge_dialogue_setup(judge, self.how))
            for judge in judges
        ]
        told = await await_judges_in_order([one.run(each) for one, each in zip(drivers, dialogues, strict=True)])
        checks = tuple(check for one in told for check in one.checks)
        return PanelAnswer(
            GateChecked(at=at, submission=submission.id, checks=checks), _collect_calls_behind_contest_event(drivers)
        )

    async def _ask_panel_about_submission(
        self, state: ContestState, ask: AskIndividual, judges: Sequence[Model], at: datetime
    ) -> PanelAnswer:
        submission = state.entries[ask.submission].submission
        sample = Sample(input=state.required_task.description, outputs={submission.id: submission.text})
        judged = await ask_judges_for_reviews(state.dimensions, sample, judges, self.how)
        if ask.panel == "challenge_judges":
            return PanelAnswer(ChallengeResolved(at=at, judgments=judged.judgments), judged.calls)
        advice = judged.suggestions.get(submission.id, ())
        event = SubmissionScored(
            at=at,
            submission=submission.id,
            judgments=judged.judgments,
            suggestions=advice,
            overall_bands=judged.overall_bands.get(submission.id, {}),
        )
        return PanelAnswer(event, judged.calls)

    async def _ask_panel_about_finalists(
        self, state: ContestState, ask: AskHorizontal, judges: Sequence[Model], at: datetime
    ) -> PanelAnswer:
        """Judges see where each stood alone in their own eyes; those who look at a challenge see no earlier word."""
        drivers = [DialogueDriver(judge, self.how.deadline) for judge in judges]
        setups = {judge.name: make_judge_dialogue_setup(judge, self.how) for judge in judges}
        task, rubric = state.required_task.description, state.dimensions
        dialogues = []
        for name, setup in setups.items():
            anchored = []
            for entry in (state.entries[id] for id in ask.submissions):
                own = {one.criterion: one for one in entry.judgments if one.judge == name}
                anchored.append(AnchoredSubmission(id=entry.id, text=entry.submission.text, judgments=own))
            dialogues.append(ask_judge_horizontal_scores(rubric, task, anchored, setup))
        told = await await_judges_in_order([one.run(each) for one, each in zip(drivers, dialogues, strict=True)])
        judgments = tuple(judgment for one in told for each in one for judgment in each.judgments)
        shown = {name: tuple(shuffle_labels_for_judge(ask.submissions, setup)) for name, setup in setups.items()}
        kind = FinalistsRanked if ask.panel == "judges" else ChallengeResolved
        return PanelAnswer(kind(at=at, judgments=judgments, shown=shown), _collect_calls_behind_contest_event(drivers))


def _note_contest_event_judge_failure(failures: dict[str, str], name: str) -> Middleware:
    """Remember why a judge could not be asked, where another try, or another set-up, may help."""

    async def ask_contest_panel_and_note(request: Request, call_next: CallNext) -> Reply:
        try:
            return await call_next(request)
        except ModelError as error:
            if not isinstance(error, RefusedError) or error.always:
                failures[name] = str(error)
            raise

    return ask_contest_panel_and_note


def _collect_calls_behind_contest_event(drivers: Sequence[DialogueDriver]) -> tuple[JudgeCall, ...]:
    return tuple(call for driver in drivers for call in driver.calls)
