"""Contests of both modes, handed in to while workers die, and what must be true of each when all is over."""

from __future__ import annotations

import json
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from evenhand.contest.machine import rebuild_contest_state
from evenhand.contest.state import ContestState
from evenhand.store.store import Store
from evenhand.workflows.contests import open_contest_log_for_user, verify_contest
from evenhand.workflows.webhooks import list_hook_messages
from tests.service.chaos.receiver import Receiver
from tests.service.chaos.workers import Crew

Json = dict[str, Any]
PASSING, BAND_C = 60, 50
DIMENSIONS = [
    {"id": id, "asks": f"Is it good in {id}?", "weight": 0.25, "fixed": id != "sources"}
    for id in ("substantiveness", "credibility", "completeness", "sources")
]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How many contests of which modes for how long, submissions to each and how many of them pass, and what happens:
    kills, one time for each worker, and how often a message may be dropped.
    """

    contests: int
    each: int
    passing: int
    seconds: float
    kills: int
    clocks: tuple[str, ...]
    drops: int
    sides: int = 4  # From how many submissions come at once.
    gated: bool = False  # Judges answer only once all was handed in: no submission comes too late to race.
    modes: tuple[str, ...] = ("quality_first", "fastest_first")


@dataclass
class Played:
    """A contest that was begun: its mode, and the worth of each submission that was answered with 202, by id."""

    id: str
    mode: str
    handed_in: dict[str, int] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


def begin_contest(
    crew: Crew, store: Store, number: int, judge: str, hook: str, *, mode: str = "quality_first", seconds: float
) -> Played:
    """Create one; where the answer got lost with its worker, the contest is there or it is not."""
    deadline = store.now() + timedelta(seconds=seconds)
    task: Json = {
        "name": f"essay {number}",
        "description": "Write an essay.",
        "acceptance": ["It is useful."],
        "mode": mode,
        "reward": "100 EUR",
        "dimensions": DIMENSIONS,
        "judges": [judge],
        **({"deadline": deadline.isoformat(), "challenge_period": "1 s"} if mode == "quality_first" else {}),
    }
    body = {"task": task, "payment_hook": hook, "operator_hook": hook}
    status, text = crew.call("POST", "/v1/contests", body)
    if status != 201:
        assert "there is a contest of this task already" in text, text
        row = next(one for one in store.contests.list_contests(f"essay {number}"))
        return Played(row["id"], mode)
    return Played(json.loads(text)["id"], mode)


def hand_in(crew: Crew, contest: Played, id: str, worth: int, hook: str) -> None:
    """Hand in until it is answered; what is there already came with a request whose answer got lost."""
    body = {"text": f"{id} is worth {worth}.", "author": id, "id": id, "notify": hook}
    status, text = crew.call("POST", f"/v1/contests/{contest.id}/submissions", body)
    if status == 202 or "already" in text:
        contest.handed_in[id] = worth
    else:
        assert "takes no submissions any more" in text or "is late" in text, text
        contest.refused[id] = text


def hand_in_all(crew: Crew, contests: list[Played], plan: Plan, hook: str, chance: random.Random) -> None:
    """Hand in to all contests from several sides at once, spread over half of the time."""
    each, low = plan.each, plan.each - plan.passing
    jobs = [
        (one, f"a{number}", worth)
        for one in contests
        for number, worth in enumerate(
            [*chance.choices(range(30, 60), k=low), *chance.sample(range(60, 95), each - low)]
        )
    ]
    chance.shuffle(jobs)
    pause, lock = plan.seconds / 2 / len(jobs), threading.Lock()

    def work() -> None:
        while True:
            with lock:
                if not jobs:
                    return
                job = jobs.pop()
            hand_in(crew, *job, hook)
            time.sleep(pause * plan.sides)

    with ThreadPoolExecutor(plan.sides) as threads:
        for side in [threads.submit(work) for _ in range(plan.sides)]:
            side.result()


def wait_for_the_end(store: Store, contests: list[Played], within: float) -> None:
    """Until every contest has come to its end, and everybody was told."""
    give_up = time.monotonic() + within
    while True:
        rows = {row["id"]: row["state"] for row in store.contests.list_contests()}
        going_on = [one.id for one in contests if rows[one.id] != "finished"]
        waiting = store.outbox.list_messages(state="pending", most=10)
        if not going_on and not waiting:
            return
        assert time.monotonic() < give_up, (going_on, waiting)
        time.sleep(0.2)


def assert_contest_is_sound(store: Store, contest: Played, receiver: Receiver) -> None:
    """Judged, fired once, one winner, one payment; the log verifies, and says what is kept and was told."""
    verified = verify_contest(store, contest.id)
    events = open_contest_log_for_user(store, contest.id)
    state = rebuild_contest_state(events)
    kinds = [one.kind for one in events]
    fired = [getattr(one, "deadline", "") for one in events if one.kind == "deadline_reached"]
    inbox = [row["id"] for row in store.inbox.list_rows(contest.id)]
    paid = [one for one in list_hook_messages(store, contest=contest.id) if one["kind"] == "payment"]

    assert (verified.state, verified.winner) == ("closed", state.winner)
    assert set(inbox) == set(contest.handed_in), contest.refused
    phases = ["submissions", "challenges"] if state.winner else ["submissions"]  # What nobody won is not challenged.
    assert fired == (phases if contest.mode == "quality_first" else [])
    assert state.winner == find_expected_winner(contest, inbox)
    assert_all_are_judged(contest, state, inbox)
    if state.winner is None:  # Nobody came in time, or nobody passed.
        assert paid == []
        return
    assert kinds.count("released") == 1
    assert [one["id"] for one in paid] == [f"pay-{contest.id}"]
    [(id, body)] = receiver.payments()[contest.id]
    assert (id, json.loads(body)["submission"]) == (f"pay-{contest.id}", state.winner)


def find_expected_winner(contest: Played, inbox: list[str]) -> str | None:
    """The best of all that pass, or the first to pass in the order in which they were received."""
    if contest.mode == "quality_first":
        passed = {id: worth for id, worth in contest.handed_in.items() if worth >= BAND_C}
        return max(passed, key=passed.__getitem__, default=None)
    return next((id for id in inbox if contest.handed_in[id] >= PASSING), None)


def assert_all_are_judged(contest: Played, state: ContestState, inbox: list[str]) -> None:
    """Each that was received, or, where the first to pass wins, each up to the winner and none after it."""
    closed = contest.mode == "fastest_first" and state.winner is not None
    due = inbox[: inbox.index(str(state.winner)) + 1] if closed else inbox
    assert list(state.entries) == due, (contest.id, list(state.entries), due, contest.refused)
    for id in due:
        card = {one.criterion: one.score for one in state.entries[id].judgments}
        assert len(card) == len(DIMENSIONS), (contest.id, id, state.entries[id].status)
