"""Running a contest: begun or gone on with, played as far as it goes, and left so that it can go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from evenhand.contest import (
    Challenge,
    Challenged,
    Created,
    Event,
    State,
    Submission,
    Submitted,
    Task,
    hand_in,
    rebuilt,
    record,
)
from evenhand.contest._panel import Panels, UnansweredError
from evenhand.contest._play import Come, Log, Progress, play
from evenhand.contest._refused import refused
from evenhand.contesting._advice import opened, with_dimensions
from evenhand.contesting._kept import contest_record, kept_events
from evenhand.contesting._sitting import Sitting, merged
from evenhand.contesting._terms import digest_of, to_resume
from evenhand.errors import ContestError, Fault
from evenhand.judging import How
from evenhand.judging.models import Connections
from evenhand.runs import run_id
from evenhand.runs.store import Row, Store, this_process

Json = dict[str, Any]
DEFAULT = How()
OPEN = "it is open: its task has no deadline, and nothing has passed yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """What a contest is played from: its task, what was handed in, and who doubted the ranking."""

    task: Task
    submissions: Sequence[Submission]
    challenges: Sequence[Challenge] = ()
    until: datetime | None = None  # What lies behind this moment does not happen yet; None plays it to its end.
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
    """Play a contest as far as it goes; every event is kept before it counts. `resume` goes on with the task's last.

    A judge that cannot be asked stops it where it is: nobody is passed over because a server was down.
    """
    row = to_resume(store, contest.task, how) if resume else None
    begun = [] if row is None else kept_events(store, row["id"])
    _refuse_changed(rebuilt(begun), contest.submissions)
    if row is not None and row["state"] == "finished":
        return Played(id=row["id"], record=_over(store, row["id"], begun, contest))
    judges, others = opened(contest.task.judges, connections), opened(contest.task.challenge_judges, connections)
    locked = None if begun else await with_dimensions(contest.task, connections, how)
    if row is None:
        row = _begun(store, contest, how)
    else:
        store.contests.take(row["id"], this_process())
    sitting = Sitting(store, row, how, connections)
    log = Log(begun, sitting.keep)
    why = ""
    try:
        if locked is not None:
            log.write(Created(at=_start(contest), task=locked))
        await play(log, Panels(judges, others, how), _come(contest), tell)
        why = _why_open(log.state, contest.until)
    except UnansweredError as error:
        why = str(error)
    except BaseException as error:
        by_hand = isinstance(error, (asyncio.CancelledError, KeyboardInterrupt))
        why = "it was stopped by hand" if by_hand else f"{type(error).__name__}: {error}"
        raise
    finally:
        more = sitting.end(log, why)
    return Played(id=sitting.id, record={"id": sitting.id, **record(log.events), **more}, why_stopped=why)


def _over(store: Store, id: str, events: Sequence[Event], contest: Contest) -> Json:
    """A contest that is over, as it is kept; what came since is told with the reason, and changes nothing."""
    state, kept = rebuilt(events), contest_record(store, id)
    late: list[Submitted | Challenged] = [hand_in(one) for one in contest.submissions if one.id not in state.entries]
    late += [Challenged(challenge=one) for one in contest.challenges if one != state.challenge]
    return {**kept, "refused": merged(kept["refused"], refused(events, late), state)}


def _begun(store: Store, contest: Contest, how: How) -> Row:
    began = datetime.now(UTC)
    row: Row = {
        "id": run_id(began),
        "name": contest.task.name,
        "digest": digest_of(contest.task, how),
        "state": "running",
        "started": began.isoformat(timespec="milliseconds"),
        "ended": None,
        "holder": this_process(),
        "source": contest.source,
        "summary": None,
    }
    store.contests.begin(row)
    return row


def _come(contest: Contest) -> Come:
    return Come(submissions=contest.submissions, challenges=contest.challenges, until=contest.until)


def _start(contest: Contest) -> datetime:
    """In the time of the contest it begins with the first that comes."""
    deadline = contest.task.deadline
    times = [one.at for one in contest.submissions] + ([deadline] if deadline else [])
    return min(times, default=datetime.now(UTC))


def _refuse_changed(state: State, submissions: Sequence[Submission]) -> None:
    """A submission that was judged cannot become another one."""
    for one in submissions:
        kept = state.entries.get(one.id)
        if kept is not None and kept.submission != one:
            what = f"the submission {one.id!r} has changed since the contest began"
            raise ContestError(Fault(what, "hand it in as a revision with an id of its own"))


def _why_open(state: State, until: datetime | None) -> str:
    """Why a contest that was played as far as it goes is not at its end."""
    if state.phase == "closed":
        return ""
    moment = "" if until is None else until.isoformat(timespec="seconds")
    return f"it waits: what comes after {moment} has not happened" if moment else OPEN
