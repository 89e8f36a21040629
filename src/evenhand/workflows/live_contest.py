"""Contests that run by themselves: created, submitted to and challenged at any time, and played up to the present.

The log of events is the only truth. What comes is received by the store's clock; one player at a time goes on with a
contest; `wakes` says when something is due next, and whoever looks for what is due finds it there.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from evenhand.contest.events import ContestCreated
from evenhand.contest.play import ContestEventLog, ContestMachinePanels
from evenhand.contest.record import RECEIVED, list_contest_changes, view_contest_record
from evenhand.contest.state import ContestState
from evenhand.contest.task import Challenge, Submission, Task, normalize_contest_author_name
from evenhand.errors import ContestError, Fault, StoreError
from evenhand.judging.single_judge import JudgeOptions
from evenhand.models.connections import Connections
from evenhand.models.requests import ModelSettings
from evenhand.runs.run_record import make_run_record_id
from evenhand.store.database import NO_CONTESTS
from evenhand.store.rows import Row, to_stored_json
from evenhand.store.run_holds import name_lock_holder_of_contest
from evenhand.store.store import Store
from evenhand.workflows.contest import (
    DEFAULT_CONTEST_OPTIONS,
    LONGEST_GAP,
    Contest,
    ContestResult,
    load_dimensions_for_user,
    play_stored_contest,
    refuse_clock_jump_for_user,
)
from evenhand.workflows.contest_following import follow_contest, load_inbox_submission
from evenhand.workflows.contest_judges import open_contest_judges_for_user
from evenhand.workflows.contests import (
    UserContestSession,
    build_user_contest_key,
    digest_user_contest_terms,
    verify_contest_log_for_user,
)
from evenhand.workflows.stores import StoreLike, open_user_store
from evenhand.workflows.webhooks import NO_HOOKS, ContestHooks, refuse_unsigned_webhooks

Json = dict[str, Any]
BEAT_SECONDS = 15.0
SIGN_EVERY = timedelta(days=1)
RETRY_AFTER = timedelta(seconds=60)  # A judge that could not be asked is asked again.
OVERDUE_AFTER = timedelta(seconds=5)  # Workers look every second.


async def create_live_contest(
    store: Store,
    task: Task,
    *,
    connections: Connections,
    source: str = "",
    hooks: ContestHooks = NO_HOOKS,
    how: JudgeOptions = DEFAULT_CONTEST_OPTIONS,
    again: str | None = None,
) -> str:
    """Begin a contest and lock its dimensions; its id. Submissions may come from now on."""
    refuse_unsigned_webhooks(hooks.payment, hooks.operator)
    if task.deadline is not None and task.deadline <= store.now():
        raise ContestError(Fault(f"the deadline {task.deadline.isoformat()} is over", "name a later one"))
    key = build_user_contest_key(task, again)
    if (begun := store.contests.find_contest_by_key(key)) is not None:
        what = f"the contest of {task.name!r} has begun: {begun['id']}"
        raise StoreError(
            Fault(
                what, "--again NAME, over HTTP again, begins another one with a payment of its own", where=store.shown
            )
        )
    store.contests.refuse_damaged_task(key)  # Before anybody is asked.
    open_contest_judges_for_user(
        [*task.judges, *task.challenge_judges], connections
    )  # Names that nobody has are told now.
    locked = await load_dimensions_for_user(task, connections, how)
    began = store.now()
    moment = began.isoformat(timespec="milliseconds")
    row: Row = {
        "id": make_run_record_id(began),
        "name": task.name,
        "digest": digest_user_contest_terms(task, how),
        "state": "stopped",
        "started": moment,
        "ended": moment,
        "holder": None,
        "summary": None,
        "source": connections.hide_keys(source),
        "key": key,
        "hooks": to_stored_json(hooks.to_json()),
        "wakes": min(filter(None, (locked.deadline, began + SIGN_EVERY))).astimezone(UTC).isoformat(),
    }
    sitting = UserContestSession(store, row, how, connections, hooks=hooks, begins=True)
    log = ContestEventLog((), sitting.record_event)
    begun = sitting.summarize_session(log, "it is open: it waits for submissions")
    row["summary"] = to_stored_json({**begun, "waits": True})
    log.write(ContestCreated(at=began, task=locked, contest=row["id"]))
    return str(row["id"])


def view_live_contest(store: StoreLike, contest: str, author: str | None = None) -> Json:
    """A contest as an author, or anybody, may see it; with what the author handed in and nobody has looked at yet."""
    with open_user_store(store, empty=NO_CONTESTS) as opened:
        known = follow_contest(opened, contest)
        known.follow_news(opened, opened.inbox.read_news(known.id, known.place))
        view = view_contest_record(known.events, author, known=known.state)
        if author is not None:
            name = normalize_contest_author_name(author)
            waiting = [one for one in list(known.waiting.values()) if one["author"] == name]
            view["submissions"] += [_load_waiting_submission(one) for one in waiting]
        return view


async def play_live_contest(
    store: Store, contest: str, *, connections: Connections, longest_gap: timedelta = LONGEST_GAP
) -> ContestResult | None:
    """Play a contest up to the present; None where another player is at work on it.

    Whatever happens, it says when something is due next: what came meanwhile, a deadline, or another try.
    """
    taken = await asyncio.to_thread(_resume_live_contest, store, contest, connections, longest_gap)
    if taken is None:
        return None
    id, log = taken.sitting.row["id"], taken.log
    async with _keep_live_contest_held(store, id, taken.sitting.holder, longest_gap):
        result = await play_stored_contest(taken.sitting, log, taken.panels, taken.given)
    now = store.now()
    # A clock that has jumped meanwhile does not say either when something is due: it stays due.
    refuse_clock_jump_for_user(await asyncio.to_thread(store.contests.find_contest, id), longest_gap, now)
    stuck = bool(result.why_stopped) and result.next_step != "resume later"
    wakes = now + RETRY_AFTER if stuck else _next_live_contest_wake(log.state, now)
    await asyncio.to_thread(store.contests.settle_wake, id, wakes, seen=taken.seen)
    return result


@dataclass(frozen=True, slots=True, kw_only=True)
class _TakenContest:
    """A contest that a player holds, with what had come for it."""

    sitting: UserContestSession
    log: ContestEventLog
    panels: ContestMachinePanels
    given: Contest
    seen: int  # How much had come.


def _resume_live_contest(
    store: Store, contest: str, connections: Connections, longest_gap: timedelta
) -> _TakenContest | None:
    """Hold a contest as it stands; None where another player has it, or was faster. Left alone if the clock jumped."""
    row = store.contests.find_contest(contest)
    if store.contests.is_contest_held(row):
        return None
    refuse_clock_jump_for_user(row, longest_gap, store.now())
    received = store.inbox.take_stock(row["id"])
    row, events, _ = verify_contest_log_for_user(store, row["id"])
    if row["hooks"] is None:  # Sealed, as the time at which it is looked at is not.
        what = f"contest {row['id']} is played from files: what is in its folder is not known here"
        raise ContestError(Fault(what, "evenhand contest run goes on with it"))
    if not events:
        return None
    created, how = events[0], _load_contest_judge_options(store, row["id"])
    assert isinstance(created, ContestCreated)
    panels = ContestMachinePanels(
        open_contest_judges_for_user(created.task.judges, connections, masked=created.task.masked),
        open_contest_judges_for_user(created.task.challenge_judges, connections, masked=created.task.masked),
        how,
    )
    holder, hooks = (
        name_lock_holder_of_contest(),
        ContestHooks.from_json(row["hooks"], _list_author_hooks(received.rows)),
    )
    try:
        store.contests.hold_contest(row["id"], holder, seen=len(events), longest_gap=longest_gap)
    except StoreError:
        return None
    sitting = UserContestSession(store, row, how, connections, holder=holder, hooks=hooks, longest_gap=longest_gap)
    submissions, challenges = _load_inbox_rows(received.rows)
    given = Contest(task=created.task, submissions=submissions, challenges=challenges, until=received.until)
    log = ContestEventLog(events, sitting.record_event)
    return _TakenContest(sitting=sitting, log=log, panels=panels, given=given, seen=len(received.rows))


def list_due_contests(store: Store, now: datetime | None = None) -> list[str]:
    """The contests in which something is due, whoever was to be told of it."""
    # Moments are compared as texts: written to the millisecond, as they are kept, the present is not before itself.
    return store.contests.list_waking((now or store.now()).astimezone(UTC).isoformat(timespec="milliseconds"))


def find_overdue_contest(store: StoreLike, contest: str) -> str | None:
    """Since when something has been due in a contest that nobody plays; None where nothing is, or somebody does."""
    with open_user_store(store, empty=NO_CONTESTS) as opened:
        row = opened.contests.find_contest(contest)
        is_played_here = row["hooks"] is not None and row["wakes"] is not None
        late = is_played_here and datetime.fromisoformat(row["wakes"]) < opened.now() - OVERDUE_AFTER
        return row["wakes"] if late and not opened.contests.is_contest_held(row) else None


def watch_contest(
    look: Callable[[], Json], *, every: float = 2.0, pause: Callable[[float], None] = time.sleep
) -> Iterator[Json]:
    """What happens in a contest, from its beginning to its end, as often as one looks: each change once.

    A look is a contest as the operator has it or as an author may see it, of a store or of a service.
    """
    before: Json | None = None
    while True:
        after = look()
        changes = list_contest_changes(before, after, seen=datetime.now(UTC).isoformat(timespec="seconds"))
        yield from changes
        if after["state"] == "closed" and (before is None or _is_live_contest_settled(before, after, changes)):
            return
        before = after
        pause(every)


def _is_live_contest_settled(before: Json, after: Json, changes: Sequence[Json]) -> bool:
    """The payment is released in the step after the last: where it is to come, one look more is taken."""
    paid = after["winner"] is None or any(one["event"] == "released" for one in changes)
    return paid or before["state"] == "closed"


def _load_inbox_rows(rows: Sequence[Row]) -> tuple[list[Submission], list[Challenge]]:
    submissions = [load_inbox_submission(row) for row in rows if row["kind"] == "submission"]
    challenges = [
        Challenge(by=row["author"], at=datetime.fromisoformat(row["at"]), reason=json.loads(row["content"])["reason"])
        for row in rows
        if row["kind"] == "challenge"
    ]
    return submissions, challenges


def _list_author_hooks(rows: Sequence[Row]) -> dict[str, str]:
    contents = {row["id"]: json.loads(row["content"]) for row in rows if row["kind"] == "submission"}
    return {id: content["notify"] for id, content in contents.items() if content.get("notify")}


def _load_waiting_submission(row: Row) -> Json:
    content = json.loads(row["content"])
    empty: Json = {"rank": None, "score": None, "feedback": [], "why": None}
    given = {name: row[name] for name in ("id", "author", "at")}
    return {**given, "status": RECEIVED, **empty, "revises": content.get("revises"), "text": content.get("text")}


def _load_contest_judge_options(store: Store, id: str) -> JudgeOptions:
    """How judges are asked in this contest, as it was begun."""
    first = next(store.contests.stream_events(id, calls=True))
    how = json.loads(first["calls"])["how"]
    names = ("temperature", "max_tokens", "top_logprobs")
    settings = ModelSettings(**{name: how[name] for name in names}, seed=how["model_seed"])
    return JudgeOptions(language=how["language"], seed=how["seed"], settings=settings)


def _next_live_contest_wake(state: ContestState, now: datetime) -> datetime | None:
    """When something is due by itself: the deadline, the end of the challenge period, or nothing any more.

    Until then it gives a sign every day, so that a clock that jumps can be told from a contest in which nothing comes.
    """
    if state.phase == "open":
        return min(filter(None, (state.required_task.deadline, now + SIGN_EVERY)))
    if state.phase == "challenge_period":
        return min(filter(None, (state.period_ends, now + SIGN_EVERY)))
    return None if state.phase == "closed" else now + RETRY_AFTER


@asynccontextmanager
async def _keep_live_contest_held(store: Store, id: str, holder: str, longest_gap: timedelta) -> AsyncIterator[None]:
    """Say again and again that the player lives: judges may take minutes."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            with suppress(StoreError):  # A database that cannot be reached for a moment: the next beat tells.
                await asyncio.to_thread(store.contests.beat_contest, id, holder, longest_gap=longest_gap)

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()
        with suppress(asyncio.CancelledError):
            await beating
