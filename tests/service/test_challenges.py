"""A challenge is decided once: judges decide it, nobody does by hand, and of two who try at once one is too late."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from evenhand import ContestError
from evenhand.contest.events import ChallengeResolved, RankingChallenged
from evenhand.models.connections import Connections
from evenhand.store.store import Store
from evenhand.workflows.contest_receiving import challenge_contest, submit_to_contest
from evenhand.workflows.contests import open_contest_log_for_user
from evenhand.workflows.live_contest import (
    create_live_contest,
    play_live_contest,
    view_live_contest,
)
from tests.contest.answering import server
from tests.contest.building import task
from tests.service.serving import Clock, Served, wait_until


def play(store: Store, contest: str) -> Any:
    async def go() -> Any:
        async with Connections({}) as connections:
            return await play_live_contest(store, contest, connections=connections)

    return asyncio.run(go())


def do_at_once(*actions: Callable[[], Any]) -> list[Any]:
    """What comes of actions in threads that begin together; errors are results."""
    found: list[Any] = []
    ready = threading.Barrier(len(actions))

    def act(action: Callable[[], Any]) -> None:
        ready.wait()
        try:
            found.append(action())
        except ContestError as error:
            found.append(error)

    threads = [threading.Thread(target=act, args=(one,)) for one in actions]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return found


def test_of_two_operators_who_challenge_and_play_at_once_one_decides(database: str) -> None:
    """Two workers with stores of their own: one challenge is received, and it is resolved by one event."""
    moved, clock = "://" not in database, Clock()  # PostgreSQL goes by its own clock: there a deadline is waited for.
    opened: Any = {"clock": clock} if moved else {}
    with (
        server() as judge,
        server(more=1) as others,
        Store.open(database, {}, **opened) as one,
        Store.open(database, {}, **opened) as two,
    ):
        deadline = one.now() + (timedelta(hours=1) if moved else timedelta(seconds=8))
        panels = {"judges": (judge.judge,), "challenge_judges": (others.judge,)}
        terms = task("quality_first", deadline=deadline, challenge_period=timedelta(hours=1), **panels)

        async def begin() -> str:
            async with Connections({}) as connections:
                return await create_live_contest(one, terms, connections=connections)

        contest = asyncio.run(begin())
        for author, worth in (("ann", 75), ("ben", 81), ("cat", 70)):
            submit_to_contest(one, contest, author=author, text=f"This is worth {worth}.")
        clock.pass_hours(1.5)
        wait_until(lambda: play(one, contest) and view_live_contest(one, contest)["ranking"])
        received = do_at_once(
            lambda: challenge_contest(one, contest, author="ann", reason="mine is better"),
            lambda: challenge_contest(two, contest, author="cat", reason="mine is better"),
        )
        for _ in range(3):
            do_at_once(lambda: play(one, contest), lambda: play(two, contest))
        events = open_contest_log_for_user(one, contest)

    refused = [found for found in received if isinstance(found, ContestError)]
    assert [str(found.faults[0].hint) for found in refused] == ["one review of a ranking is final"]
    assert [type(event) for event in events if isinstance(event, (RankingChallenged, ChallengeResolved))] == [
        RankingChallenged,
        ChallengeResolved,
    ]
    assert len(others.asked) == 4  # Each dimension once.


def test_no_route_decides_a_challenge_by_hand(served: Served) -> None:
    """An operator may hand one in for an author; only judges resolve it."""
    paths = served.client.get("/openapi.json").json()["paths"]
    about_contests = {(method, path) for path, methods in paths.items() for method in methods if "contests/" in path}

    assert about_contests == {
        ("get", "/v1/contests/{id}"),
        ("get", "/v1/contests/{id}/log"),
        ("post", "/v1/contests/{id}/submissions"),
        ("post", "/v1/contests/{id}/challenges"),
    }
