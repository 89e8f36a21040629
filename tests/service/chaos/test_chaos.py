"""Contests run by themselves while their workers are killed, some for good, under clocks that are wrong."""

from __future__ import annotations

import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from evenhand.store.store import Store
from evenhand.testing import FakeServer
from evenhand.workflows.contests import open_contest_log_for_user
from tests.contest.answering import answer
from tests.service.chaos.contests import (
    Plan,
    Played,
    assert_contest_is_sound,
    begin_contest,
    hand_in_all,
    wait_for_the_end,
)
from tests.service.chaos.receiver import Receiver
from tests.service.chaos.workers import SECRET, Crew
from tests.soak import SOAK, often
from tests.store.databases import database, postgresql_server

__all__ = ["database", "postgresql_server"]
WRONG_TIMES = ("", "+1d", "-1d", "+90s")  # Of a server and three workers.
DOWN = 0.05  # The share of requests in which a judge is down.


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_WEBHOOK_SECRET", SECRET)


def test_killed_workers_leave_nothing_undone(database: str, tmp_path: Path) -> None:
    """A handful of contests, several kills, a worker that never returns; at length two hundred, and a server and three
    workers of whom one is a day ahead, one a day behind, and one a minute and a half ahead.
    """
    few = Plan(contests=6, each=3, passing=2, seconds=6.0, kills=4, clocks=("", "", ""), drops=1)
    many = Plan(contests=200, each=4, passing=2, seconds=240.0, kills=40, clocks=WRONG_TIMES, drops=3)
    on_one_machine = Plan(contests=50, each=4, passing=2, seconds=60.0, kills=20, clocks=("", "", "", ""), drops=2)
    at_length = many if "://" in database else on_one_machine
    play_through_kills(database, tmp_path, at_length if SOAK else few)


def test_the_first_to_pass_wins_once_however_many_race(database: str, tmp_path: Path) -> None:
    """Submissions from all sides at once, judges that are down now and then, workers that die: one winner, the first
    in the order in which they were received.
    """
    each, kills = often(12, 100), often(2, 10)
    race = Plan(
        contests=1, each=each, passing=3, seconds=often(2, 20), kills=kills, clocks=("", "", ""), drops=0,
        sides=often(6, 25), gated=True, modes=("fastest_first",),
    )  # fmt: skip
    play_through_kills(database, tmp_path, race)


def play_through_kills(store_at: str, folder: Path, plan: Plan) -> None:
    """Begin contests, hand in, kill meanwhile, wait until all is over, and look at every one of them."""
    chance, began, may_answer = random.Random(often(1, int(time.time()))), time.monotonic(), Event()

    def judge(body: Any) -> str | int:
        may_answer.wait(often(30, 300))
        return 503 if random.random() < DOWN else answer(body)

    with (
        FakeServer(judge) as judges,
        Receiver(plan.drops) as receiver,
        Store.open(store_at, {}) as store,
        Crew(folder, store_at, chance, plan.clocks) as crew,
        ThreadPoolExecutor(1) as others,
    ):
        begun = []
        for number in range(plan.contests):
            mode = plan.modes[number % len(plan.modes)]
            begun.append(
                begin_contest(crew, store, number, judges.judge, receiver.url, mode=mode, seconds=plan.seconds)
            )
        by_others = random.Random(chance.random())
        if not plan.gated:
            may_answer.set()

        def hand_in() -> None:
            try:
                hand_in_all(crew, begun, plan, receiver.url, by_others)
            finally:
                may_answer.set()

        handing_in = others.submit(hand_in)
        for number in range(plan.kills):
            time.sleep(chance.uniform(0.5, 1.5) * plan.seconds / plan.kills)
            crew.kill_one(for_good=number % 13 == 1)
        handing_in.result()
        wait_for_the_end(store, begun, within=often(60, 1200))

        assert receiver.forged == []
        assert crew.killed == plan.kills
        for contest in begun:
            assert_contest_is_sound(store, contest, receiver)
            assert not plan.gated or len(contest.handed_in) == plan.each, contest.refused
        tell_figures(begun, store, receiver, crew.killed, time.monotonic() - began)


def tell_figures(begun: list[Played], store: Store, receiver: Receiver, killed: int, seconds: float) -> None:
    """What was played, for whoever wants to know how much that says: `make soak` prints it."""
    received, refused = sum(len(one.handed_in) for one in begun), sum(len(one.refused) for one in begun)
    events = sum(len(open_contest_log_for_user(store, one.id)) for one in begun)
    tries, heard = sum(receiver.tries.values()), sum(map(len, receiver.heard.values()))
    paid = receiver.payments()
    sys.stdout.write(
        f"{len(begun)} contests, {received} submissions received, {refused} after the end, {events} events, "
        f"{killed} kills; {len(receiver.heard)} messages, {tries} tries, {heard} heard; "
        f"{len(paid)} contests paid under {sum(map(len, paid.values()))} keys; {seconds:.0f} s\n"
    )
