"""Contests that run by themselves: created, submitted to and challenged at any time, and played up to the present.

The log of events is the only truth. What comes is received by the store's clock; one player at a time goes on with a
contest; `wakes` says when something is due next, and whoever looks for what is due finds it there.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from evenhand.contest.events import ContestCreated, RankingChallenged, make_submission_received_event
from evenhand.contest.machine import apply_contest_event, refuse_challenge_without_stake, refuse_submission
from evenhand.contest.panels import ContestMachinePanels
from evenhand.contest.play import ContestEventLog
from evenhand.contest.state import ContestState
from evenhand.contest.task import Challenge, Submission, Task, normalize_contest_author_name
from evenhand.contest.views import view_contest
from evenhand.errors import ContestError, Fault, StoreError
from evenhand.guards.personal_data import mask_personal_data
from evenhand.judging.single_judge import JudgeOptions
from evenhand.models.connections import Connections
from evenhand.models.hidden_keys import collect_keys_to_hide
from evenhand.models.requests import ModelSettings
from evenhand.runs.run_record import make_run_record_id
from evenhand.store.database import NO_CONTESTS
from evenhand.store.rows import Row, to_stored_json
from evenhand.store.run_holds import process_holder_name
from evenhand.store.store import Store
from evenhand.workflows.contest import (
    DEFAULT_CONTEST_OPTIONS,
    Contest,
    ContestResult,
    load_dimensions_for_user,
    open_contest_judges_for_user,
    play_stored_contest,
)
from evenhand.workflows.contest_messages import NO_HOOKS, ContestHooks
from evenhand.workflows.contests import (
    UserContestSession,
    build_user_contest_key,
    digest_user_contest_terms,
    open_contest_log_for_user,
)
from evenhand.workflows.stores import StoreLike, open_user_store

Json = dict[str, Any]
BEAT_SECONDS = 15.0
RETRY_AFTER = timedelta(seconds=60)  # A judge that could not be asked is asked again.


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestReceipt:
    """That something was received for a contest: under which id, of whom, and when."""

    contest: str
    kind: str
    id: str
    author: str
    at: str


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
    if task.deadline is not None and task.deadline <= store.now():
        raise ContestError(Fault(f"the deadline {task.deadline.isoformat()} is over", "name a later one"))
    open_contest_judges_for_user(
        [*task.judges, *task.challenge_judges], connections
    )  # Names that nobody has are told now.
    locked = await load_dimensions_for_user(task, connections, how)
    began = store.now()
    row: Row = {
        "id": make_run_record_id(began),
        "name": task.name,
        "digest": digest_user_contest_terms(task, how),
        "state": "running",
        "started": began.isoformat(timespec="milliseconds"),
        "holder": _name_contest_player(),
        "source": source,
        "key": build_user_contest_key(task, again),
        "hooks": to_stored_json(hooks.to_json()),
        "wakes": began.isoformat(),
    }
    row = {**dict.fromkeys(("ended", "summary")), **row}
    store.contests.begin_contest(row)
    sitting = UserContestSession(store, row, how, connections, holder=row["holder"], hooks=hooks)
    log = ContestEventLog((), sitting.record_event)
    log.write(ContestCreated(at=began, task=locked, contest=row["id"]))
    sitting.end_session(log, "it is open: it waits for submissions")
    store.contests.settle_wake(row["id"], _next_contest_wake(log.state, began), seen=0)
    return str(row["id"])


def submit_to_contest(
    store: StoreLike, contest: str, *, author: str, text: str, id: str | None = None, notify: str | None = None
) -> ContestReceipt:
    """Receive a submission now; refused with the reason if the contest would not take it.

    Where revisions are asked for, a further submission of an author revises the one before.
    """

    def make_row(at: datetime, before: list[Row]) -> Row:
        state = _foresee_contest_state(opened, row, before)
        own = state.entries_by_author(normalize_contest_author_name(author))
        revises = own[-1].id if own and state.required_task.mode == "quality_first" else None
        name = id or _choose_submission_id(author, state)
        given = Submission(id=name, author=author, at=at, text=_hide_in_received_text(text, state), revises=revises)
        _refuse_closed_contest(state)
        refuse_submission(state, given)
        content = {"text": given.text, "revises": revises, "notify": notify}
        return {"kind": "submission", "id": given.id, "author": given.author, "content": to_stored_json(content)}

    with open_user_store(store, empty=NO_CONTESTS) as opened:
        row = opened.contests.find_contest(contest)
        return _receive_contest_row(opened, row, make_row)


def challenge_contest(store: StoreLike, contest: str, *, author: str, reason: str) -> ContestReceipt:
    """Receive a challenge of the ranking now; refused with the reason if there is none to challenge, or no time."""

    def make_row(at: datetime, before: list[Row]) -> Row:
        waiting = [one for one in before if one["kind"] == "challenge"]
        if waiting:
            what = f"the ranking was challenged by {waiting[0]['author']} before"
            raise ContestError(Fault(what, "one review of a ranking is final"))
        state = _foresee_contest_state(opened, row, before)
        given = Challenge(by=author, at=at, reason=_hide_in_received_text(reason, state))
        refuse_challenge_without_stake(state, given)
        apply_contest_event(replace(state, at=min(at, state.at or at)), RankingChallenged(challenge=given))
        content = to_stored_json({"reason": given.reason})
        return {"kind": "challenge", "id": "challenge", "author": given.by, "content": content}

    with open_user_store(store, empty=NO_CONTESTS) as opened:
        row = opened.contests.find_contest(contest)
        return _receive_contest_row(opened, row, make_row)


def view_live_contest(store: StoreLike, contest: str, author: str | None = None) -> Json:
    """A contest as an author, or anybody, may see it; with what the author handed in and nobody has looked at yet."""
    with open_user_store(store, empty=NO_CONTESTS) as opened:
        row = opened.contests.find_contest(contest)
        view = view_contest(open_contest_log_for_user(opened, row["id"]), author)
        if author is not None:
            known = {one["id"] for one in view["submissions"]}
            name = normalize_contest_author_name(author)
            waiting = [one for one in opened.inbox.list_rows(row["id"]) if one["author"] == name]
            view["submissions"] += [_waiting_submission(one) for one in waiting if one["id"] not in known]
        return view


async def play_live_contest(store: Store, contest: str, *, connections: Connections) -> ContestResult | None:
    """Play a contest up to the present; None where another player is at work on it.

    Whatever happens, it says when something is due next: what came meanwhile, a deadline, or another try.
    """
    row = store.contests.find_contest(contest)
    id, holder = row["id"], _name_contest_player()
    received = store.inbox.take_stock(id)
    events = open_contest_log_for_user(store, id)
    if not events:
        return None
    try:
        store.contests.hold_contest(id, holder, seen=len(events))
    except StoreError:
        return None
    how = _load_contest_judge_options(store, id)
    created = events[0]
    assert isinstance(created, ContestCreated)
    hooks = ContestHooks.from_json(row["hooks"], _list_author_hooks(received.rows))
    sitting = UserContestSession(store, row, how, connections, holder=holder, hooks=hooks)
    log = ContestEventLog(events, sitting.record_event)
    panels = ContestMachinePanels(
        open_contest_judges_for_user(created.task.judges, connections, masked=created.task.masked),
        open_contest_judges_for_user(created.task.challenge_judges, connections, masked=created.task.masked),
        how,
    )
    submissions, challenges = _read_inbox_rows(received.rows)
    given = Contest(task=created.task, submissions=submissions, challenges=challenges, until=received.until)
    async with _keep_contest_held(store, id, holder):
        result = await play_stored_contest(sitting, log, panels, given)
    now = store.now()
    wakes = now + RETRY_AFTER if result.next_step == "resume" else _next_contest_wake(log.state, now)
    store.contests.settle_wake(id, wakes, seen=len(received.rows))
    return result


def list_due_contests(store: Store, now: datetime | None = None) -> list[str]:
    """The contests in which something is due, whoever was to be told of it."""
    return store.contests.list_waking((now or store.now()).isoformat())


def _receive_contest_row(store: Store, row: Row, make_row: Callable[[datetime, list[Row]], Row]) -> ContestReceipt:
    if row["hooks"] is None:
        what = f"contest {row['id']} is played from files: it takes what is in its folder"
        raise ContestError(Fault(what, "POST /v1/contests begins one that takes submissions"))
    kept = store.inbox.receive_row(row["id"], make_row)
    return ContestReceipt(**{name: kept[name] for name in ("contest", "kind", "id", "author", "at")})


def _foresee_contest_state(store: Store, row: Row, before: Sequence[Row]) -> ContestState:
    """The state of a contest once what has been received is in it; nobody is asked for that."""
    log = open_contest_log_for_user(store, row["id"])
    state = ContestState()
    for event in log:
        state, _ = apply_contest_event(state, event)
    for submission in _read_inbox_rows(before)[0]:
        if submission.id not in state.entries and state.phase == "open":
            with suppress(ContestError):
                state, _ = apply_contest_event(state, make_submission_received_event(submission))
    return state


def _hide_in_received_text(text: str, state: ContestState) -> str:
    """What somebody sent as it is kept and judged: without keys, and masked where the task says so."""
    text = collect_keys_to_hide(os.environ).remove_keys(text)
    return mask_personal_data(text) if state.required_task.masked else text


def _refuse_closed_contest(state: ContestState) -> None:
    if state.phase != "open":
        raise ContestError(Fault(f"the contest takes no submissions any more: it is {state.phase}"))


def _choose_submission_id(author: str, state: ContestState) -> str:
    """The author's name, and a number from the second on."""
    number = len(state.entries_by_author(normalize_contest_author_name(author))) + 1
    while (name := author if number == 1 else f"{author}-{number}") in state.entries:
        number += 1
    return name


def _read_inbox_rows(rows: Sequence[Row]) -> tuple[list[Submission], list[Challenge]]:
    submissions, challenges = [], []
    for row in rows:
        content, at = json.loads(row["content"]), datetime.fromisoformat(row["at"])
        if row["kind"] == "submission":
            text, revises = content["text"], content["revises"]
            submissions.append(Submission(id=row["id"], author=row["author"], at=at, text=text, revises=revises))
        else:
            challenges.append(Challenge(by=row["author"], at=at, reason=content["reason"]))
    return submissions, challenges


def _list_author_hooks(rows: Sequence[Row]) -> dict[str, str]:
    contents = {row["id"]: json.loads(row["content"]) for row in rows if row["kind"] == "submission"}
    return {id: content["notify"] for id, content in contents.items() if content.get("notify")}


def _waiting_submission(row: Row) -> Json:
    content = json.loads(row["content"])
    empty: Json = {"rank": None, "score": None, "feedback": [], "why": None}
    given = {name: row[name] for name in ("id", "author", "at")}
    return {**given, "status": "received", **empty, "revises": content.get("revises"), "text": content.get("text")}


def _load_contest_judge_options(store: Store, id: str) -> JudgeOptions:
    """How judges are asked in this contest, as it was begun."""
    first = next(store.contests.stream_events(id, calls=True))
    how = json.loads(first["calls"])["how"]
    names = ("temperature", "max_tokens", "top_logprobs")
    settings = ModelSettings(**{name: how[name] for name in names}, seed=how["model_seed"])
    return JudgeOptions(language=how["language"], seed=how["seed"], settings=settings)


def _next_contest_wake(state: ContestState, now: datetime) -> datetime | None:
    """When something is due by itself: the deadline, the end of the challenge period, or nothing any more."""
    if state.phase == "open":
        return state.required_task.deadline
    if state.phase == "challenge_period":
        return state.period_ends
    return None if state.phase == "closed" else now + RETRY_AFTER


def _name_contest_player() -> str:
    """A process may play several contests at once, but one of them only once."""
    return f"{process_holder_name()}:{uuid4().hex}"


@asynccontextmanager
async def _keep_contest_held(store: Store, id: str, holder: str) -> AsyncIterator[None]:
    """Say again and again that the player lives: judges may take minutes."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            await asyncio.to_thread(store.contests.beat_contest, id, holder)

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()
        with suppress(asyncio.CancelledError, StoreError):
            await beating
