"""Contests that take submissions at any time and are played up to the present, by one player at a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evenhand import ContestError, Limits, Task
from evenhand.contest.task import ContestMode
from evenhand.models.connections import Connections
from evenhand.store.store import Store
from evenhand.testing.fakes import FakeServer
from evenhand.workflows.contest_messages import ContestHooks
from evenhand.workflows.live_contest import (
    challenge_contest,
    create_live_contest,
    list_due_contests,
    play_live_contest,
    submit_to_contest,
    view_live_contest,
)
from tests.contest.answering import answer, counted, server
from tests.contest.building import task

Json = dict[str, Any]
QUICK = Limits(retries=0)
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.at = NOON

    def __call__(self) -> datetime:
        return self.at

    def pass_hours(self, hours: float) -> None:
        self.at += timedelta(hours=hours)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with Store.open(tmp_path / "store", {}, clock=clock) as opened:
        yield opened


def create(store: Store, terms: Task, hooks: ContestHooks | None = None) -> str:
    async def begin() -> str:
        async with Connections({}, limits=QUICK) as connections:
            return await create_live_contest(store, terms, connections=connections, hooks=hooks or ContestHooks())

    return asyncio.run(begin())


def play(store: Store, *contests: str) -> list[Any]:
    """Play contests at the same time."""

    async def go() -> list[Any]:
        async with Connections({}, limits=QUICK) as connections:
            played = (play_live_contest(store, one, connections=connections) for one in contests)
            return list(await asyncio.gather(*played))

    return asyncio.run(go())


def terms(judge: FakeServer, mode: ContestMode = "quality_first", **more: Any) -> Task:
    given: Json = {"judges": (judge.judge,), "challenge_judges": (), "deadline": NOON + timedelta(hours=10), **more}
    return task(mode, **given)


def test_a_contest_lives_from_its_creation_to_the_payment(store: Store, clock: Clock) -> None:
    """Nobody starts anything: what is due is found, played, and nothing is played twice."""
    with server() as judge:
        contest = create(store, terms(judge, challenge_period=timedelta(hours=2)))
        clock.pass_hours(1)
        submit_to_contest(store, contest, author="ann", text="This is worth 75.")
        submit_to_contest(store, contest, author="ben", text="This is worth 81.")
        due = [list_due_contests(store)]
        play(store, contest)
        due.append(list_due_contests(store))
        clock.pass_hours(10)
        due.append(list_due_contests(store))
        [ranked] = play(store, contest)
        clock.pass_hours(3)
        due.append(list_due_contests(store))
        [paid] = play(store, contest)
        due.append(list_due_contests(store))

    assert due == [[contest], [], [contest], [contest], []]
    assert (ranked.record["state"], ranked.record["winner"]) == ("challenge_period", "ben")
    assert (paid.record["payment"]["state"], paid.exit_code) == ("released", 0)


def test_nobody_sees_what_is_not_theirs(store: Store, clock: Clock) -> None:
    """Before the ranking: one's own submissions and advice, no score; nothing of others, not even that they are."""
    with server() as judge:
        contest = create(store, terms(judge))
        submit_to_contest(store, contest, author="ann", text="Secret of Ann, worth 75.")
        play(store, contest)
        submit_to_contest(store, contest, author="ben", text="Secret of Ben, worth 81.")
        ann, ben, anybody = (view_live_contest(store, contest, who) for who in ("ann", "ben", None))
        clock.pass_hours(11)
        play(store, contest)
        after = view_live_contest(store, contest, "ann")

    assert "Ben" not in json.dumps(ann) and "ben" not in json.dumps(ann)
    assert [one["status"] for one in ann["submissions"] + ben["submissions"]] == ["gate_passed", "received"]
    assert ann["submissions"][0]["score"] is None
    assert len(ann["submissions"][0]["feedback"][0]["revision_suggestions"]) == 2
    assert anybody["submissions"] == [] and "ann" not in json.dumps(anybody)
    assert [one["author"] for one in after["ranking"]] == ["ben", "ann"]
    assert "Secret of Ben" not in json.dumps(after)


def test_one_player_at_a_time(store: Store) -> None:
    """Ten wake up at once: one plays, the others leave it alone, and no judge is asked twice."""
    with server() as judge:
        contest = create(store, terms(judge))
        submit_to_contest(store, contest, author="ann", text="This is worth 75.")
        played = play(store, *[contest] * 10)

        asked = counted(judge.asked)

    assert sum(one is not None for one in played) == 1
    assert asked == {"gate": 1, "individual": 1}


def test_what_comes_while_it_is_played_is_due_afterwards(store: Store, clock: Clock) -> None:
    """The player had not seen it when it began: somebody has to look again."""
    came: list[str] = []

    def judge(body: Json) -> str | int:
        if not came:
            came.append("ben")
            with Store.open(store.address, {}, clock=clock) as other:
                submit_to_contest(other, contest, author="ben", text="This is worth 81.")
        return answer(body)

    with FakeServer(judge) as busy:
        contest = create(store, terms(busy))
        submit_to_contest(store, contest, author="ann", text="This is worth 75.")
        play(store, contest)
        due = list_due_contests(store)
        play(store, contest)

    assert due == [contest]
    assert list_due_contests(store) == []
    assert view_live_contest(store, contest, "ben")["submissions"][0]["status"] == "gate_passed"


def test_a_judge_that_is_down_is_asked_again(store: Store, clock: Clock) -> None:
    """The contest waits for its judge, and is due again after a while."""
    down = [True]

    def judge(body: Json) -> str | int:
        return 503 if down[0] else answer(body)

    with FakeServer(judge) as flaky:
        contest = create(store, terms(flaky))
        submit_to_contest(store, contest, author="ann", text="This is worth 75.")
        play(store, contest)
        at_once = list_due_contests(store)
        down[0] = False
        clock.pass_hours(0.1)
        later = list_due_contests(store)
        play(store, contest)

    assert (at_once, later) == ([], [contest])
    assert view_live_contest(store, contest, "ann")["submissions"][0]["status"] == "gate_passed"


@pytest.mark.parametrize(
    ("hours", "text", "says"),
    [
        (11, "This is worth 75.", "is late"),
        (1, " \n", "there is nothing in"),
    ],
)
def test_what_it_would_not_take_is_refused_at_the_door(
    hours: float, text: str, says: str, store: Store, clock: Clock
) -> None:
    """Whoever hands it in learns at once, with the reason, and nothing is kept."""
    with server() as judge:
        contest = create(store, terms(judge))
        clock.pass_hours(hours)
        with pytest.raises(ContestError, match=says):
            submit_to_contest(store, contest, author="ann", text=text)

    assert store.inbox.list_rows(contest) == []


def test_a_challenge_is_judged_by_others_once(store: Store, clock: Clock) -> None:
    """Two who challenge cannot both: one review is final, and its judges did not judge before."""
    with server() as judge, server(more=1) as other:
        more: Json = {"challenge_period": timedelta(hours=2), "challenge_judges": (other.judge,)}
        contest = create(store, terms(judge, **more))
        submit_to_contest(store, contest, author="ann", text="This is worth 75.")
        submit_to_contest(store, contest, author="ben", text="This is worth 81.")
        with pytest.raises(ContestError, match="challenged cannot happen"):
            challenge_contest(store, contest, author="ann", reason="too early")
        clock.pass_hours(11)
        play(store, contest)
        challenge_contest(store, contest, author="ann", reason="mine is better")
        with pytest.raises(ContestError, match="challenged by ann before"):
            challenge_contest(store, contest, author="ben", reason="mine is")
        play(store, contest)
        asked = counted(other.asked)
        clock.pass_hours(3)
        [paid] = play(store, contest)

    assert set(asked) == {"horizontal"}
    assert paid.record["payment"]["state"] == "released"


def test_the_first_to_pass_closes_it_once(store: Store) -> None:
    """Whoever came first and passes wins, whatever came after it and however often it is played."""
    with server() as judge:
        contest = create(store, terms(judge, "fastest_first", deadline=None, challenge_period=timedelta(0)))
        for number, worth in enumerate((40, 75, 90)):
            submit_to_contest(store, contest, author=f"a{number}", text=f"This is worth {worth}.")
        play(store, *[contest] * 5)
        play(store, contest)

    view = view_live_contest(store, contest)
    assert view["winner"]["author"] == "a1"
    assert view["state"] == "closed"


def test_messages_are_written_with_the_events_that_they_tell_of(store: Store, clock: Clock) -> None:
    """Payment, state and feedback, each once, with the key under which it is sent however often."""
    hooks = ContestHooks(payment="https://pay.example/hook", operator="https://op.example/hook")
    with server() as judge:
        contest = create(store, terms(judge), hooks)
        submit_to_contest(store, contest, author="ann", text="worth 75", notify="https://ann.example/hook")
        play(store, contest)
        clock.pass_hours(11)
        play(store, contest)
        clock.pass_hours(100)
        play(store, contest)
        play(store, contest)

    rows = store.outbox.list_messages(contest=contest)
    payments = [json.loads(one["body"]) for one in rows if one["kind"] == "payment"]
    assert [one["id"] for one in rows if one["kind"] == "payment"] == [f"pay-{contest}"]
    assert payments[0]["author"] == "ann"
    assert {one["target"] for one in rows if one["kind"] == "feedback"} == {"https://ann.example/hook"}
    assert {one["kind"] for one in rows} == {"payment", "state", "feedback"}


@pytest.mark.parametrize("masked", [True, False])
def test_what_is_sent_in_is_kept_and_judged_without_keys(
    store: Store, monkeypatch: pytest.MonkeyPatch, masked: bool
) -> None:
    """Hidden before it is received; where the task says so, personal data is masked then, too."""
    monkeypatch.setenv("SHOP_TOKEN", secret := "tok-Zq8vR2pLw5TnXe7Kc3Yb")
    with server() as judge:
        contest = create(store, terms(judge, masked=masked))
        submit_to_contest(store, contest, author="ann", text=f"This is worth 75. {secret} ann@mail.example.org")
        [row] = store.inbox.list_rows(contest)
        play(store, contest)

    told = [row["content"], json.dumps(judge.asked), json.dumps(view_live_contest(store, contest, "ann"))]
    assert [secret in one for one in told] == [False] * 3
    assert ["[key hidden]" in one for one in told[:2]] == [True, True]
    assert ["ann@mail.example.org" in one for one in told[:2]] == [not masked] * 2
