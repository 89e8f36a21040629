"""Contests from Python: judges opened, a task's contest played and kept, read back, gone on with."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from evenhand.contest import (
    Challenge,
    Created,
    Event,
    State,
    Submission,
    Task,
    apply,
    event_from,
    event_json,
    hand_in,
    pending,
    record,
    seen,
    task_from,
    task_json,
)
from evenhand.contest._effects import AskGate, AskIndividual
from evenhand.contest._feedback import gate_feedback
from evenhand.contest._panel import Panels, UnansweredError
from evenhand.contest._play import Log, Progress, play
from evenhand.contest._refused import refused
from evenhand.contest._task import METHOD
from evenhand.errors import ContestError, Fault
from evenhand.judging import Call, Driver, How, Model, call_json, manner_of, spent_json
from evenhand.judging.dialogues import dimensions
from evenhand.judging.models import Connections
from evenhand.loading import load_method
from evenhand.model import Rubric
from evenhand.runs import run_id
from evenhand.runs.store import Row, Store, compact, this_process

Json = dict[str, Any]
DEFAULT = How()
OPEN = "it is open: its task has no deadline, and nothing has passed yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """What a contest is played from: its task, what was handed in, and who doubted the ranking."""

    task: Task
    submissions: Sequence[Submission]
    challenges: Sequence[Challenge] = ()
    source: str = ""  # The text of the task's file.


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A contest as it is left: its record, and why it is not at its end, where it is not."""

    id: str
    record: Json
    why_stopped: str = ""

    @property
    def exit_code(self) -> int:
        """0 where there is a winner."""
        return 0 if self.record["winner"] is not None and not self.why_stopped else 1


async def run_contest(
    contest: Contest,
    *,
    connections: Connections,
    store: Store,
    how: How = DEFAULT,
    resume: bool = False,
    tell: Callable[[Progress], None] = lambda _: None,
) -> Played:
    """Play a contest to its end; every event is kept before it counts. With `resume` the last one of the task goes on.

    A judge that cannot be reached stops it where it is: nobody is passed over because a server was down.
    """
    task = contest.task
    panels = Panels(_opened(task.judges, connections), _opened(task.challenge_judges, connections), how)
    row = _to_resume(store, task) if resume else None
    locked = None
    if row is None:
        locked = await _locked(task, connections, how)
        row = _begun(store, contest)
    else:
        store.contests.take(row["id"], this_process())
    id = row["id"]
    log = Log(_events(store, id), lambda number, event, calls: _keep(store, id, number, event, calls))
    why = "it was stopped by hand"
    try:
        if locked is not None:
            log.write(Created(at=_start(contest), task=locked))
        _refuse_changed(log.state, contest.submissions)
        await play(log, panels, contest.submissions, contest.challenges, tell)
        why = "" if log.state.phase == "closed" else OPEN
    except UnansweredError as error:
        why = str(error)
    finally:
        more = _circumstances(log, contest, _spent(row, connections), why)
        state = "stopped" if why else "finished"
        store.contests.release(id, state, _now(), compact(more), holder=this_process())
    return Played(id=id, record={"id": id, **record(log.events), **more}, why_stopped=why)


def contest_record(store: Store, id: str) -> Json:
    """The stable JSON of a kept contest."""
    row = store.contests.one(id)
    events = _events(store, row["id"])
    if not events:
        raise ContestError(Fault(f"contest {row['id']} was stopped before it began", "run it again"))
    if row["state"] == "running":
        stopped = "it is running" if store.contests.held(row) else "it was killed"
        return {"id": row["id"], **record(events), "refused": [], "spent": None, "stopped": stopped}
    return {"id": row["id"], **record(events), **json.loads(row["summary"])}


async def generate_dimensions(task: Task, judge: str, *, connections: Connections, how: How = DEFAULT) -> Rubric:
    """The dimensions of a task, as a judge reads them out of its description."""
    model = connections.open(judge)
    found = await Driver(model, how.deadline).run(
        dimensions(task.description, load_method(METHOD), manner_of(model, how))
    )
    if found.rubric is None:
        hint = "write them under dimensions in the task, or ask another judge"
        raise ContestError(Fault(f"{judge} gave no dimensions: {found.why_not}", hint))
    return found.rubric


async def check_submission(task: Task, submission: Submission, *, connections: Connections, how: How = DEFAULT) -> Json:
    """What the author of a submission would see, were it handed in now; nothing is kept."""
    locked = await _locked(task, connections, how)
    at = locked.deadline or submission.at
    state, _ = apply(State(), Created(at=at, task=locked))
    state, _ = apply(state, hand_in(replace(submission, at=at, revises=None)))
    panels = Panels(_opened(task.judges, connections), (), how)
    while asks := [one for one in pending(state) if isinstance(one, AskGate | AskIndividual)]:
        try:
            answered = await panels.answer(state, asks[0], at)
        except UnansweredError as error:
            raise ContestError(Fault(str(error))) from None
        state, _ = apply(state, answered.event)
    entry = state.entries[submission.id]
    told = {"criteria_checks": gate_feedback(state, entry)["criteria_checks"], "why": entry.why or None}
    return {**seen(state, submission.id), **told, "spent": spent_json(connections.spent)}


def _opened(names: Sequence[str], connections: Connections) -> list[Model]:
    return [connections.open(one) for one in names]


async def _locked(task: Task, connections: Connections, how: How) -> Task:
    """The task with its dimensions, as the log keeps it."""
    if not task.judges:
        raise ContestError(Fault("a contest needs a judge", "name one under judges, as in openai/NAME"))
    if task.dimensions is None:
        rubric = await generate_dimensions(task, task.judges[0], connections=connections, how=how)
        task = replace(task, dimensions=rubric)
    return task_from(task_json(task))


def _to_resume(store: Store, task: Task) -> Row | None:
    """The last contest of the same task, whether or not it came to its end."""
    digest = _digest(task)
    return next((row for row in store.contests.all(task.name) if row["digest"] == digest), None)


def _begun(store: Store, contest: Contest) -> Row:
    task = contest.task
    began = datetime.now(UTC)
    row: Row = {
        "id": run_id(began),
        "name": task.name,
        "digest": _digest(task),
        "state": "running",
        "started": began.isoformat(timespec="milliseconds"),
        "ended": None,
        "holder": this_process(),
        "source": contest.source,
        "summary": None,
    }
    store.contests.begin(row)
    return row


def _digest(task: Task) -> str:
    return sha256(compact(task_json(task)).encode()).hexdigest()


def _start(contest: Contest) -> datetime:
    """In the time of the contest it begins with the first that comes."""
    deadline = contest.task.deadline
    times = [one.at for one in contest.submissions] + ([deadline] if deadline else [])
    return min(times, default=datetime.now(UTC))


def _spent(row: Row, connections: Connections) -> Json:
    """What all sittings together have spent; a cost is known where it is known of each."""
    now = spent_json(connections.spent)
    before = json.loads(row["summary"])["spent"] if row["summary"] else {}
    return {name: _sum(before.get(name, 0), now[name]) for name in now}


def _sum(before: Any, now: Any) -> Any:
    return None if before is None or now is None else before + now


def _circumstances(log: Log, contest: Contest, spent: Json, why: str) -> Json:
    """What is not in the log: what it did not take, what was spent, and why it stopped."""
    left = refused(log.events, contest.submissions, contest.challenges) if log.events else []
    return {
        "winner": log.state.winner,
        "refused": [{"id": one.id, "author": one.author, "at": one.at.isoformat(), "why": one.why} for one in left],
        "spent": spent,
        "stopped": why or None,
    }


def _events(store: Store, id: str) -> list[Event]:
    return [event_from(json.loads(row["content"])) for row in store.contests.events(id)]


def _keep(store: Store, id: str, number: int, event: Event, calls: Sequence[Call]) -> None:
    content, said = compact(event_json(event)), compact([call_json(one) for one in calls])
    store.contests.append(id, number, event.at.isoformat(), content, said)


def _refuse_changed(state: State, submissions: Sequence[Submission]) -> None:
    """A submission that was judged cannot become another one."""
    for one in submissions:
        kept = state.entries.get(one.id)
        if kept is not None and kept.submission != one:
            what = f"the submission {one.id!r} has changed since the contest began"
            raise ContestError(Fault(what, "hand it in as a revision with an id of its own"))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
