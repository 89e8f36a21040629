"""Workers of several machines whose clocks are wrong: the database's counts."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evenhand.contest.events import ContestEvent
from evenhand.contest.machine import rebuild_contest_state
from evenhand.store.store import Store
from evenhand.workflows.contests import open_contest_log_for_user
from tests.contest.answering import server
from tests.service.chaos.contests import assert_contest_is_sound, begin_contest, hand_in, wait_for_the_end
from tests.service.chaos.receiver import Receiver
from tests.service.chaos.workers import SECRET, Crew
from tests.store.databases import new_database, postgresql_server
from tests.warm.processes import wait_until

__all__ = ["postgresql_server"]
SOON, LONG = 8.0, 3600.0


def test_a_contest_ends_in_time_whatever_the_clocks_of_its_workers_say(
    postgresql_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One worker lives a day ahead and one a day behind: no contest closes early, or late, and signatures are fresh."""
    monkeypatch.setenv("EVENHAND_WEBHOOK_SECRET", SECRET)
    with (
        new_database(postgresql_server) as address,
        server() as judge,
        Receiver(0) as receiver,
        Store.open(address, {}) as store,
        Crew(tmp_path, address, random.Random(1), ("+1d", "-1d")) as crew,
    ):
        began = datetime.now(UTC)
        going_on, ending = (
            begin_contest(crew, store, number, judge.judge, receiver.url, seconds=seconds)
            for number, seconds in enumerate((LONG, SOON))
        )
        for number in range(4):
            hand_in(crew, ending, f"a{number}", 61 + number, receiver.url)
            hand_in(crew, going_on, f"a{number}", 61 + number, receiver.url)
        wait_for_the_end(store, [ending], within=60)
        wait_until(lambda: all(one.scored for one in rebuild_contest_state(log(store, going_on.id)).entries.values()))

        assert receiver.forged == []
        assert_contest_is_sound(store, ending, receiver)
        assert rebuild_contest_state(log(store, going_on.id)).phase == "open"
        times = [one.at - began for one in (*log(store, ending.id), *log(store, going_on.id))]
        assert timedelta(seconds=-2) < min(times) <= max(times) < timedelta(minutes=2)


def log(store: Store, contest: str) -> list[ContestEvent]:
    return open_contest_log_for_user(store, contest)
