"""Run a contest: begun or resumed, played as far as it goes and left to go on; and advice before the deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from evenhand.contest.events import (
    AskGate,
    AskIndividual,
    ContestCreated,
    ContestEvent,
    PaymentReleased,
    RankingChallenged,
    SubmissionReceived,
    contest_task_from_json,
    contest_task_json,
    make_submission_received_event,
)
from evenhand.contest.feedback import build_submission_gate_feedback, view_submission
from evenhand.contest.finish import explain_open_contest
from evenhand.contest.intake import SubmissionReceipt, SubmissionSetAside
from evenhand.contest.machine import (
    apply_contest_event,
    explain_refused_entries,
    list_pending_contest_effects,
    rebuild_contest_state,
)
from evenhand.contest.play import (
    ContestEventArrivals,
    ContestEventLog,
    ContestMachinePanels,
    ContestProgress,
    UnansweredError,
    UnreadableError,
    advance_contest_phases,
)
from evenhand.contest.received import set_changed_submissions_aside
from evenhand.contest.record import encode_contest_dimensions
from evenhand.contest.state import ContestState
from evenhand.contest.task import CONTEST_METHOD, Challenge, Submission, Task
from evenhand.errors import ContestError, EvenhandError, Fault, StoreError
from evenhand.files.methods import load_shipped_method_file
from evenhand.guards.personal_data import mask_personal_data
from evenhand.judging.dialogues.contest_dialogues import ask_judge_for_dimensions
from evenhand.judging.results import guard_finding_to_json, spending_to_json
from evenhand.judging.single_judge import DialogueDriver, JudgeOptions, make_judge_dialogue_setup
from evenhand.model.rubric import Rubric
from evenhand.models.budget import Spending
from evenhand.models.connections import Connections
from evenhand.models.model_names import is_decision_model_name
from evenhand.models.requests import EMBEDDED
from evenhand.runs.run_record import make_run_record_id
from evenhand.store.contest_store import explain_clock_jump
from evenhand.store.queries import parse_stored_time
from evenhand.store.rows import Row
from evenhand.store.run_holds import name_lock_process
from evenhand.store.store import Store
from evenhand.workflows.contest_judges import open_contest_judges_for_user
from evenhand.workflows.contests import (
    UserContestSession,
    build_contest_record_for_user,
    build_user_contest_key,
    digest_user_contest_terms,
    find_user_contest_to_resume,
    find_user_rehearsal_to_resume,
    load_contest_record_for_user,
    merge_refusals_for_user,
    open_contest_log_for_user,
    set_aside_json_for_user,
)

Json = dict[str, Any]
DEFAULT_CONTEST_OPTIONS = JudgeOptions()
ContestNextStep = Literal["resume", "resume later", "begin with other judges"]
LONGEST_GAP = timedelta(days=7)
RELEASED_BEFORE = 4  # The exit code that keeps `run && pay` from paying twice.


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """What a contest is played from: its task, what was handed in, and who doubted the ranking."""

    task: Task
    submissions: Sequence[Submission]
    challenges: Sequence[Challenge] = ()
    until: datetime | None = None  # What lies behind this moment does not happen yet; None plays it to its end.
    source: str = ""  # The text of the task's file.
    set_aside: Sequence[SubmissionSetAside] = ()  # What came and could not be taken.
    receipts: Sequence[SubmissionReceipt] = ()  # Of what was seen for the first time; kept by none but its contest.
    longest_gap: timedelta = LONGEST_GAP  # From the last sign of the contest to the clock: more is no clock.
    again: str | None = None  # The name of a deliberate repetition: a task has one contest, unless one is named.

    @property
    def arrivals(self) -> ContestEventArrivals:
        """What comes to it from outside, in its time."""
        return ContestEventArrivals(submissions=self.submissions, challenges=self.challenges, until=self.until)

    def runs_ahead(self, now: datetime) -> bool:
        """Whether something in it lies ahead of the clock and is to be played all the same: a rehearsal.

        What is dated after the end is late: it is refused alone, and makes no rehearsal of a contest that is over.
        """
        deadline = self.task.deadline
        times = [one.at for one in self.submissions] if deadline is None else [deadline + self.task.challenge_period]
        return (self.until is None or self.until > now) and any(one > now for one in times)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ContestResult:
    """A contest as it is left: its record, and why it is not at its end, where it is not."""

    id: str
    record: Json
    why_stopped: str = ""
    next_step: ContestNextStep = "resume"  # What would bring it further, where it is not at its end.

    @property
    def exit_code(self) -> int:
        """0 where a payment was released by this call and no other; 4 where one had been released before."""
        payment = self.record["payment"]
        if payment is None or payment["state"] != "released":
            return 1
        return 0 if payment["newly_released"] else RELEASED_BEFORE

    def __repr__(self) -> str:
        winner = self.record["winner"]
        return f"<ContestResult {self.id}: {self.why_stopped or (f'{winner} won' if winner else 'no winner')}>"


async def run_contest(
    contest: Contest,
    *,
    connections: Connections,
    store: Store,
    how: JudgeOptions = DEFAULT_CONTEST_OPTIONS,
    resume: bool = False,
    tell: Callable[[ContestProgress], None] = lambda _: None,
    announce: Callable[[Json], None] = lambda _: None,
) -> ContestResult:
    """Play a contest as far as it goes, begun or gone on with; every event is kept before it counts.

    A payment is released once `announce` has told of it: where it fails, nothing is released, and the next call can.
    A task has one contest. What would run ahead of the clock is a rehearsal: it pays nobody, there may be any number
    of them, and `resume` goes on with the last. A judge that cannot be asked stops a contest where it is: nobody is
    passed over because a server was down.
    """
    task = contest.task
    contest = replace(contest, source=connections.hide_keys(contest.source))
    contest = mask_contest_before_run(contest, connections.hide_keys)
    if task.masked:
        contest = mask_contest_before_run(contest, mask_personal_data)
    row, rehearsal = _find_contest_for_user(store, contest, how, resume=resume)
    begun = [] if row is None else open_contest_log_for_user(store, row["id"])
    kept, changed = set_changed_submissions_aside(rebuild_contest_state(begun).entries, contest.submissions)
    contest = replace(contest, submissions=kept, set_aside=[*contest.set_aside, *changed])
    if row is not None and row["state"] == "finished":
        return ContestResult(id=row["id"], record=_load_finished_contest_for_user(store, row["id"], begun, contest))
    if row is not None:
        refuse_clock_jump_for_user(row, contest.longest_gap, datetime.now(UTC))
    if not rehearsal:
        _keep_receipts_for_user(store, contest, begun=row is not None)
    judges = open_contest_judges_for_user(task.judges, connections, masked=task.masked)
    others = open_contest_judges_for_user(task.challenge_judges, connections, masked=task.masked)
    locked = None if begun else await load_dimensions_for_user(contest.task, connections, how)
    if row is None:
        row = _begin_contest_for_user(store, contest, how, rehearsal=rehearsal)
    else:
        gap = contest.longest_gap
        store.contests.hold_contest(row["id"], name_lock_process(), seen=len(begun), longest_gap=gap)
    sitting = UserContestSession(store, row, how, connections, longest_gap=contest.longest_gap)
    log = ContestEventLog(begun, sitting.record_event)
    first = None
    if locked is not None:
        first = _begin_contest_event_for_user(contest, locked, row["id"], rehearsal=rehearsal)
    panels = ContestMachinePanels(judges, others, how)
    return await play_stored_contest(sitting, log, panels, contest, first=first, tell=tell, announce=announce)


async def play_stored_contest(
    sitting: UserContestSession,
    log: ContestEventLog,
    panels: ContestMachinePanels,
    contest: Contest,
    *,
    first: ContestCreated | None = None,
    tell: Callable[[ContestProgress], None] = lambda _: None,
    announce: Callable[[Json], None] = lambda _: None,
) -> ContestResult:
    """Play a contest that this process holds as far as it goes, and let go of it."""
    id, paid_before = sitting.row["id"], log.state.released is not None
    why, waits, failed = "", False, False
    step: ContestNextStep = "resume later" if contest.until else "resume"
    try:
        if first is not None:
            log.write(first)
        await advance_contest_phases(log, panels, contest.arrivals, tell)
        why = explain_open_contest(log.state, contest.until)
        waits = bool(why)
        if not why and log.state.payment is not None and log.state.released is None:
            kept = open_contest_log_for_user(sitting.store, id)
            released = _foresee_contest_payment_for_user(log, log.state.payment, kept, sitting.store.now())
            more = sitting.summarize_session(log, why, contest.set_aside)
            announce(build_contest_record_for_user(sitting.row, [*log.events, released], more, newly=True))
            await asyncio.sleep(0)  # Whoever was told to stop by now stops here, with nothing released.
            log.write(released)
    except UnansweredError as error:
        why, step = str(error), "begin with other judges" if isinstance(error, UnreadableError) else "resume"
    except BaseException as error:
        by_hand = isinstance(error, (asyncio.CancelledError, KeyboardInterrupt))
        told = str(error) if isinstance(error, EvenhandError) else f"{type(error).__name__}: {error}"
        told = mask_personal_data(told) if contest.task.masked else told
        why, failed = "it was stopped by hand" if by_hand else told, True
        raise
    finally:
        newly = log.state.released is not None and not paid_before
        with suppress(StoreError) if newly or failed else nullcontext():  # What came first is what is told.
            more = sitting.end_session(log, why, contest.set_aside, waits=waits)
    record = build_contest_record_for_user(sitting.row, log.events, more, newly=newly)
    return ContestResult(id=id, record=record, why_stopped=why, next_step=step)


def _find_contest_for_user(
    store: Store, contest: Contest, how: JudgeOptions, *, resume: bool
) -> tuple[Row | None, bool]:
    """The row to go on with, where there is one, and whether this is a rehearsal."""
    row = find_user_contest_to_resume(store, contest.task, how, contest.again)
    if row is not None and row["hooks"] is not None and row["state"] != "finished":
        what = f"contest {row['id']} takes submissions over HTTP, and is played by a service"
        raise ContestError(Fault(what, "evenhand serve plays it; --again NAME begins another one, from files"))
    if not contest.runs_ahead(datetime.now(UTC)) or (row is not None and row["state"] == "finished"):
        return row, False
    if row is not None:
        what = f"contest {row['id']} is in progress, and this would play it ahead of the clock, for good"
        raise ContestError(Fault(what, "--until now plays it up to the present; --again NAME rehearses beside it"))
    return find_user_rehearsal_to_resume(store, contest.task, how) if resume else None, True


def _begin_contest_event_for_user(contest: Contest, locked: Task, id: str, *, rehearsal: bool) -> ContestCreated:
    """In the time of the contest it begins with the first that comes."""
    times = [one.at for one in contest.submissions] + ([locked.deadline] if locked.deadline else [])
    at = min(times, default=datetime.now(UTC))
    return ContestCreated(at=at, task=locked, contest=id, rehearsal=rehearsal)


def _foresee_contest_payment_for_user(
    log: ContestEventLog, payment: str, kept: Sequence[ContestEvent], now: datetime
) -> PaymentReleased:
    """The event that says once whom to pay, if the log that is kept verifies and is the one that was played."""
    if list(kept) != log.events:
        raise StoreError(Fault("the log was changed while the contest was played: nothing is paid"))
    return PaymentReleased(at=max(now, log.state.at or now), payment=payment)


def refuse_clock_jump_for_user(row: Row, longest: timedelta, now: datetime) -> None:
    """Leave a contest alone whose last sign is too far from the clock."""
    if fault := explain_clock_jump(f"the last sign of contest {row['id']}", row["touched"], now, longest):
        raise ContestError(fault)


def _load_finished_contest_for_user(store: Store, id: str, events: Sequence[ContestEvent], contest: Contest) -> Json:
    """A contest that is over, as it is kept; what came since is told with the reason, and changes nothing."""
    state, kept = rebuild_contest_state(events), load_contest_record_for_user(store, id)
    late: list[SubmissionReceived | RankingChallenged] = [
        SubmissionReceived(submission=one) for one in contest.submissions if one.id not in state.entries
    ]
    late += [RankingChallenged(challenge=one) for one in contest.challenges if one != state.challenge]
    return {
        **kept,
        "refused": merge_refusals_for_user(kept["refused"], explain_refused_entries(events, late), state),
        "set_aside": set_aside_json_for_user(contest.set_aside),
        "spent_now": spending_to_json(Spending()),
    }


def _begin_contest_for_user(store: Store, contest: Contest, how: JudgeOptions, *, rehearsal: bool) -> Row:
    began = datetime.now(UTC)
    row: Row = {
        "id": make_run_record_id(began),
        "name": contest.task.name,
        "digest": digest_user_contest_terms(contest.task, how),
        "state": "running",
        "started": began.isoformat(timespec="milliseconds"),
        "ended": None,
        "holder": name_lock_process(),
        "source": contest.source,
        "summary": None,
        "key": None if rehearsal else build_user_contest_key(contest.task, contest.again),
    }
    store.contests.begin_contest(row)
    return row


def _keep_receipts_for_user(store: Store, contest: Contest, *, begun: bool) -> None:
    """Write down when each file came, by a clock that has not jumped; before anybody is asked, who may be away.

    Before a contest has begun, its newest receipt is its last sign of the clock: it may be older, but not later.
    """
    key, now = build_user_contest_key(contest.task, contest.again), datetime.now(UTC)
    if not begun:
        kept = max((one["at"] for one in store.contests.list_receipts(key)), key=parse_stored_time, default=None)
        sign = f"the last receipt for {contest.task.name!r}"
        if (
            kept
            and now < parse_stored_time(kept)
            and (fault := explain_clock_jump(sign, kept, now, contest.longest_gap))
        ):
            raise ContestError(fault)
    rows = [{"file": one.file, "digest": one.digest, "at": one.at.isoformat()} for one in contest.receipts]
    store.contests.add_receipts(key, rows)


async def generate_dimensions(
    task: Task, judge: str, *, connections: Connections, how: JudgeOptions = DEFAULT_CONTEST_OPTIONS
) -> Rubric:
    """The dimensions of a task, as a judge reads them out of its description."""
    (model,) = open_contest_judges_for_user([judge], connections, masked=task.masked)
    found = await DialogueDriver(model, how.deadline).run(
        ask_judge_for_dimensions(
            task.description, load_shipped_method_file(CONTEST_METHOD), make_judge_dialogue_setup(model, how)
        )
    )
    if found.rubric is None:
        hint = "write them under dimensions in the task, or ask another judge"
        raise ContestError(Fault(f"{judge} gave no dimensions: {found.why_not}", hint))
    return found.rubric


async def check_submission(
    task: Task, submission: Submission, *, connections: Connections, how: JudgeOptions = DEFAULT_CONTEST_OPTIONS
) -> Json:
    """What the author of a submission would see, were it handed in now; nothing is kept."""
    locked = await load_dimensions_for_user(task, connections, how)
    text = connections.hide_keys(submission.text)
    submission = replace(submission, text=mask_personal_data(text) if task.masked else text)
    at = locked.deadline or submission.at
    state, _ = apply_contest_event(ContestState(), ContestCreated(at=at, task=locked))
    state, _ = apply_contest_event(state, make_submission_received_event(replace(submission, at=at, revises=None)))
    judges = open_contest_judges_for_user(task.judges, connections, masked=task.masked)
    panels = ContestMachinePanels(judges, (), how)
    while asks := [one for one in list_pending_contest_effects(state) if isinstance(one, AskGate | AskIndividual)]:
        try:
            answered = await panels.answer_machine_question(state, asks[0], at)
        except UnansweredError as error:
            raise ContestError(Fault(str(error))) from None
        state, _ = apply_contest_event(state, answered.event)
    entry = state.entries[submission.id]
    told = {
        "criteria_checks": build_submission_gate_feedback(state, entry)["criteria_checks"],
        "why": entry.why or None,
        "guards": [guard_finding_to_json(one) for one in entry.findings],
        "dimensions": encode_contest_dimensions(state.dimensions),
    }
    return {**view_submission(state, submission.id), **told, "spent": spending_to_json(connections.spent)}


async def load_dimensions_for_user(task: Task, connections: Connections, how: JudgeOptions) -> Task:
    """The task with its dimensions, as the log keeps it."""
    if not task.judges:
        raise ContestError(Fault("a contest needs a judge", "name one under judges, as in openai/NAME"))
    for panel, names in (("judges", task.judges), ("challenge_judges", task.challenge_judges)):
        if EMBEDDED in names:  # It goes by words: every author would be told that a level is not guessed.
            what = f"{EMBEDDED} gives no scores, and a contest needs them"
            raise ContestError(Fault(what, "name a model that does, as in openai/NAME", (panel,)))
        if decides := next(filter(is_decision_model_name, names), None):
            what = f"{decides} quotes no evidence, and a contest needs it"
            raise ContestError(Fault(what, "name a model that writes, as in openai/NAME", (panel,)))
    if task.dimensions is None:
        rubric = await generate_dimensions(task, task.judges[0], connections=connections, how=how)
        task = replace(task, dimensions=rubric)
    return contest_task_from_json(contest_task_json(task))


def mask_contest_before_run(contest: Contest, hide: Callable[[str], str]) -> Contest:
    """The contest with keys or personal data hidden in all that others wrote. Names stay: they tell who is paid.

    A log that only grows cannot be masked later, and answers are held against the texts that judges saw: so judges
    see them without it too.
    """
    return replace(
        contest,
        submissions=[replace(one, text=hide(one.text)) for one in contest.submissions],
        challenges=[replace(one, reason=hide(one.reason)) for one in contest.challenges],
        set_aside=[
            replace(
                one, faults=tuple(replace(fault, what=hide(fault.what), hint=hide(fault.hint)) for fault in one.faults)
            )
            for one in contest.set_aside
        ],
    )
