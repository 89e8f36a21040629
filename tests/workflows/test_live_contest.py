"""Contests that take submissions at any time and are played up to the present, by one player at a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, update

from evenhand import ContestError, Limits, Task
from evenhand.contest.read_task import load_task
from evenhand.contest.record import list_contest_changes
from evenhand.contest.task import ContestMode
from evenhand.errors import EvenhandError, StoreError
from evenhand.models.connections import Connections
from evenhand.models.hidden_keys import HIDDEN
from evenhand.store.contest_store import ContestStore
from evenhand.store.store import Store
from evenhand.store.tables import CONTESTS, EVENTS, OUTBOX
from evenhand.testing import FakeServer
from evenhand.workflows.contest import Contest, run_contest
from evenhand.workflows.contest_files import load_user_task_to_send
from evenhand.workflows.contest_receiving import challenge_contest, submit_to_contest
from evenhand.workflows.contests import load_contest, open_contest_log_for_user, refuse_changed_payment_message
from evenhand.workflows.live_contest import (
    create_live_contest,
    find_overdue_contest,
    list_due_contests,
    play_live_contest,
    view_live_contest,
    watch_contest,
)
from evenhand.workflows.sent_inputs import build_task_for_service, parse_task_for_service
from evenhand.workflows.webhooks import ContestHooks, WebhookTargets, deliver_due_messages
from tests.contest.answering import answer, counted, dialogue_of, server
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


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_WEBHOOK_SECRET", "a long random text")


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


def test_the_text_of_a_task_is_kept_without_keys(store: Store) -> None:
    """A comment in the file may have one; what is read from the file is kept as it was written."""
    key = "canary+Key/0123456789abcdef"

    async def begin(asked: Task) -> str:
        async with Connections({"EVENHAND_API_KEY": key}, limits=QUICK) as connections:
            return await create_live_contest(store, asked, connections=connections, source=f"# {key}\n")

    with server() as judge:
        contest = asyncio.run(begin(terms(judge, description=f"Tell {key}.")))

    assert store.contests.find_contest(contest)["source"] == f"# {HIDDEN}\n"
    assert view_live_contest(store, contest)["description"] == f"Tell {key}."


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


def test_files_do_not_play_what_takes_submissions_over_http(store: Store) -> None:
    """They would close it without what was sent in, and release its payment with nobody told."""
    with server() as judge:
        contest = create(store, terms(judge), ContestHooks(payment="https://pay.example/hook"))
        submit_to_contest(store, contest, author="ann", text="This is worth 75.")
        with pytest.raises(ContestError, match="is played by a service"):
            run_from_files(store, terms(judge))
        [played] = play(store, contest)
        with store._connect(writes=True) as connection:
            connection.execute(update(CONTESTS).values(hooks=None))
        with pytest.raises(StoreError, match="was changed"):
            run_from_files(store, terms(judge))

    assert [one["status"] for one in played.record["submissions"]] == ["gate_passed"]


def test_a_service_does_not_play_what_is_played_from_files(store: Store, clock: Clock) -> None:
    """It would pay without the files and challenges that came since: no time in the store makes it look there."""
    with server() as judge:
        run_from_files(store, terms(judge))
        with store._connect(writes=True) as connection:
            connection.execute(update(CONTESTS).values(wakes=NOON.isoformat()))
        before = store.contests.list_contests()
        clock.pass_hours(11)

        due = list_due_contests(store)
        with pytest.raises(ContestError, match="is played from files"):
            play(store, before[0]["id"])

    assert due == [] and find_overdue_contest(store, before[0]["id"]) is None
    assert store.contests.list_contests() == before


def run_from_files(store: Store, terms: Task) -> None:
    async def run() -> None:
        async with Connections({}, limits=QUICK) as connections:
            await run_contest(Contest(task=terms, submissions=(), until=NOON), connections=connections, store=store)

    asyncio.run(run())


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
        with pytest.raises(ContestError, match="there is no ranking to challenge: the contest is open"):
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


CHANGES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "nothing": lambda row: {},
    "the payee": lambda row: {"body": row["body"].replace('"ann"', '"eve"')},
    "the reward": lambda row: {"body": row["body"].replace("invoice 7", "invoice 8")},
    "the address": lambda row: {"target": "https://eve.example/hook"},
    "the kind and the payee": lambda row: {"kind": "state", "body": row["body"].replace('"ann"', '"eve"')},
    "a key twice": lambda row: {"kind": "state", "body": row["body"].replace("{", '{"author":"eve","type":"x",', 1)},
    "no JSON": lambda row: {"kind": "state", "body": "author: eve"},
    "the id": lambda row: {"id": "pay-again"},
}


def test_a_task_whose_contest_was_damaged_is_not_created_again(store: Store) -> None:
    """It may have been paid. What begins one looks itself, too: the damage may be done after the first look."""
    with server() as judge:
        task = terms(judge)
        contest = create(store, task)
        [row] = store.contests.list_contests()
        with store._connect(writes=True) as connection:
            connection.execute(delete(EVENTS).where(EVENTS.c.number == 0))
            connection.execute(update(CONTESTS).values(key=None))

        said = f"contest {contest} of '{task.name}' is damaged: no other one is begun in its place"
        with pytest.raises(StoreError, match=said):
            create(store, task)
        with pytest.raises(StoreError, match=said):
            store.contests.begin_contest({**row, "id": "another"})
        create(store, replace(task, name="another task"))

    assert len(store.contests.list_contests()) == 2


@pytest.mark.parametrize("what", CHANGES)
def test_a_payment_is_told_as_the_log_has_it_or_not_at_all(what: str, store: Store, clock: Clock) -> None:
    """Whoever changed the message in the store would have another one paid, under a signature that is good."""
    with server() as judge:
        paying = replace(terms(judge), reward="invoice 7")
        contest = create(store, paying, ContestHooks(payment="https://pay.example/hook"))
        submit_to_contest(store, contest, author="ann", text="worth 75")
        for hours in (0, 11, 100):
            clock.pass_hours(hours)
            play(store, contest)
    [row] = store.outbox.list_messages(contest=contest)
    changed = CHANGES[what](row)
    with store._connect(writes=True) as connection:
        connection.execute(update(OUTBOX).values(**{**row, **changed}))

    sent = deliver(store)

    [after] = store.outbox.list_messages(contest=contest)
    assert (len(sent), after["state"]) == ((0, "dead") if changed else (1, "delivered"))
    why = "body is not what it was" if what == "no JSON" else "tells of a payment that the log does not have"
    assert why in (after["failure"] or "") or not changed


@pytest.mark.parametrize("state", ["pending", "delivered", "dead"])
def test_no_message_keeps_a_payment_from_being_released_and_told(state: str, store: Store, clock: Clock) -> None:
    """Something else may have its id in the store: that is put aside, and never sent under it."""
    hooks = ContestHooks(payment="https://pay.example/hook", operator="https://op.example/hook")
    with server() as judge:
        contest = create(store, terms(judge), hooks)
        with store._connect(writes=True) as connection:
            connection.execute(update(OUTBOX).values(id=f"pay-{contest}", state=state))
        early = deliver(store)
        submit_to_contest(store, contest, author="ann", text="worth 75")
        for hours in (0, 11, 100):
            clock.pass_hours(hours)
            [played] = play(store, contest)
        late = deliver(store)

    rows = {one["id"]: one for one in store.outbox.list_messages(contest=contest)}
    [moved] = [one for id, one in rows.items() if id.startswith(f"pay-{contest}-")]
    assert played.record["payment"]["state"] == "released"
    assert f"pay-{contest}" not in early and f"pay-{contest}" in late and moved["id"] not in late
    assert json.loads(rows[f"pay-{contest}"]["body"])["author"] == "ann"
    assert moved["state"] == ("dead" if state == "pending" else state)


def deliver(store: Store) -> list[str]:
    """Send what is due; the ids of what was sent."""
    sent: list[str] = []

    async def send(_: object, row: Json, *__: object) -> str:
        sent.append(row["id"])
        return ""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evenhand.workflows.webhooks._send_webhook_message", send)
        asyncio.run(deliver_due_messages(store, WebhookTargets(), refuse_changed_payment_message))
    return sent


def test_no_address_of_an_author_stops_a_contest(store: Store) -> None:
    """Two with digests that begin alike are found in minutes: their messages have ids of their own all the same."""
    alike = ["http://127.0.0.1:18735/14260231", "http://127.0.0.1:18735/25725801"]
    with server() as judge:
        contest = create(store, terms(judge, "fastest_first", deadline=None, challenge_period=timedelta(0)))
        for number, notify in enumerate(alike):
            submit_to_contest(store, contest, author=f"eve{number}", text="worth 40", notify=notify)
        submit_to_contest(store, contest, author="ann", text="worth 75")
        [played] = play(store, contest)

    assert len({sha256(one.encode()).hexdigest()[:12] for one in alike}) == 1
    assert played.record["winner"] == "ann"
    assert {one["target"] for one in store.outbox.list_messages(contest=contest)} == set(alike)


def test_no_message_in_the_store_stops_a_contest(store: Store) -> None:
    """One whose address was changed is not counted any more, and the next would have its id."""
    with server() as judge:
        contest = create(store, terms(judge))
        for number in range(3):
            submit_to_contest(store, contest, author="ann", text=f"{number}: worth 75", notify="https://a.example/")
            play(store, contest)
            with store._connect(writes=True) as connection:
                connection.execute(update(OUTBOX).values(target="https://b.example/"))

    assert [one.kind for one in open_contest_log_for_user(store, contest)].count("scored") == 3


def test_messages_are_numbered_for_each_address(store: Store, clock: Clock) -> None:
    """In the order of events, from 1 without a gap, also over several sittings; nothing of it tells of others."""
    hooks = ContestHooks(operator="https://op.example/hook")
    with server() as judge:
        contest = create(store, terms(judge), hooks)
        for name in ("ben", "cid", "ann"):
            notify = "https://ann.example/hook" if name == "ann" else None
            submit_to_contest(store, contest, author=name, text=f"{name}: worth 75", notify=notify)
            play(store, contest)
        clock.pass_hours(11)
        play(store, contest)
        clock.pass_hours(100)
        play(store, contest)

    rows = store.outbox.list_messages(contest=contest)
    for kind in ("state", "feedback"):
        told = sorted((json.loads(one["body"]) for one in rows if one["kind"] == kind), key=lambda one: one["sequence"])
        assert len(told) > 2 and [one["sequence"] for one in told] == list(range(1, len(told) + 1))
        assert [one["at"] for one in told] == sorted(one["at"] for one in told)
        if kind == "feedback":
            ends = sorted(int(one["id"].rpartition("-")[2]) for one in rows if one["kind"] == kind)
            assert ends == [one["sequence"] for one in told]
            assert told[0]["status"] == "gate_passed"


def test_a_submission_is_not_earlier_than_what_happened_before_it(store: Store, clock: Clock) -> None:
    """A clock that is set back by a second loses none: one that was earlier than its contest would not be played."""
    with server() as judge:
        contest = create(store, terms(judge))
        clock.pass_hours(-1 / 3600)
        receipt = submit_to_contest(store, contest, author="ann", text="This is worth 75.")
        clock.pass_hours(1)
        play(store, contest)

    assert datetime.fromisoformat(receipt.at) == NOON
    assert [one.kind for one in open_contest_log_for_user(store, contest)][1:] == [
        "submitted",
        "gate_checked",
        "scored",
    ]


def test_a_watch_tells_each_change_once_and_ends_with_the_contest(store: Store, clock: Clock) -> None:
    """As its operator, an author and anybody see it; the payment is told of although it comes after the end."""
    told: dict[str, list[Json]] = {}
    with server() as judge:
        contest = create(store, terms(judge, challenge_period=timedelta(hours=2)))

        def live(_: float) -> None:
            """What happens between two looks."""
            if not view_live_contest(store, contest, "ann")["submissions"]:
                submit_to_contest(store, contest, author="ann", text="This is worth 75.")
            else:
                clock.pass_hours(5)
                play(store, contest)

        looks = {
            "operator": lambda: load_contest(store, contest),
            "ann": lambda: view_live_contest(store, contest, "ann"),
            "anybody": lambda: view_live_contest(store, contest),
        }
        told["operator"] = list(watch_contest(looks["operator"], pause=live))
        for who in ("ann", "anybody"):
            told[who] = list(watch_contest(looks[who], pause=live))  # It is closed: one look tells it all.

    def list_states(who: str) -> list[str]:
        return [one["state"] for one in told[who] if one["event"] == "state"]

    events = [one["event"] for one in told["operator"] if one["event"] != "state"]
    assert list_states("operator") == ["open", "challenge_period", "closed"]
    assert list_states("ann") == list_states("anybody") == ["closed"]
    for changes in told.values():  # Whoever reads it from top to bottom reads what happened first first.
        times = [datetime.fromisoformat(one["at"]) for one in changes]
        assert times == sorted(times)
    seen = [one["status"] or one["event"] for one in told["ann"]]
    assert seen == ["received", "deadline_reached", "deadline_reached", "released", "won", "state"]
    assert events == [one.kind for one in open_contest_log_for_user(store, contest)]
    assert [one["status"] for one in told["operator"] if one["event"] == "scored"] == ["gate_passed"]
    submissions = [one for one in told["ann"] if one["event"] == "submission"]
    assert [(one["submission"], one["status"]) for one in submissions] == [("ann", "received"), ("ann", "won")]
    assert {one["submission"] for one in told["anybody"]} == {None}
    assert told["anybody"][-1]["winner"] == "ann"


def test_a_watch_waits_for_the_payment_one_look_long() -> None:
    """It is released in the step after the last; where none is to come, the end is the end."""

    def count_looks(winner: Json | None, *kinds: str) -> int:
        """How often one looks at a contest that is open, then closed, and then has these events."""
        opened: Json = {"state": "open", "winner": None, "events": [], "submissions": []}
        closed = {**opened, "state": "closed", "winner": winner}
        paid = {**closed, "events": [{"kind": kind, "at": NOON.isoformat()} for kind in kinds]}
        looks, seen = [opened, closed, paid, paid, paid], []
        list(watch_contest(lambda: seen.append(1) or looks[len(seen) - 1], pause=lambda _: None))  # type: ignore[func-returns-value]
        return len(seen)

    won = {"submission": "a", "author": "a"}
    assert (count_looks(None), count_looks(won), count_looks(won, "released")) == (2, 3, 3)


def test_a_watch_tells_of_a_review_between_two_looks() -> None:
    """Who challenged, that it was reviewed, and who is first now, though the state is what it was."""
    before: Json = {"state": "challenge_period", "winner": {"submission": "a"}, "events": [], "submissions": []}
    said = [{"kind": "challenged", "at": NOON.isoformat(), "by": "ben"}, {"kind": "resolved", "at": NOON.isoformat()}]
    after = {**before, "winner": {"submission": "b"}, "events": said}
    found = list_contest_changes(before, after, seen=NOON.isoformat())

    assert [(one["event"], one["author"], one["winner"]) for one in found] == [
        ("challenged", "ben", None),
        ("resolved", None, None),
        ("state", None, "b"),
    ]
    assert list_contest_changes(after, after, seen=NOON.isoformat()) == []


def test_a_task_that_is_sent_to_a_service_is_the_same_task(tmp_path: Path) -> None:
    """With weights that no decimal holds, a zone of its own, and everything else that a file may say."""
    file = tmp_path / "task.yaml"
    file.write_text(
        "description: 'yes'\nacceptance: ['1', 'null']\nmode: quality_first\ndeadline: 2099-11-09T18:00:00+05:30\n"
        "revisions: 2\nchallenge_period: 1.5 min\nreward: 007\nkeep: masked\nchallenge_judges: openai/c\n"
        "judges: {openai/a: 1/3, openai/b: 2/3}\ndimensions:\n"
        "  - {id: a, asks: A?, weight: 1/3, fixed: true}\n  - {id: b, asks: B?, weight: 1/3, fixed: true}\n"
        "  - {id: c, asks: C?, weight: 1/6, fixed: true}\n  - {id: d, asks: D?, weight: 1/6}\n"
    )
    named, _ = load_task(file, {})
    plain = Task(name="n", description="d", acceptance=("a",), mode="fastest_first")

    assert parse_task_for_service(json.loads(json.dumps(load_user_task_to_send(file))))[0] == named
    assert parse_task_for_service(build_task_for_service(plain))[0] == plain


def test_what_nobody_plays_is_overdue(store: Store, clock: Clock) -> None:
    """A few seconds after it was due; not while somebody plays it, nor once it was played."""
    with server() as judge:
        contest = create(store, terms(judge))
        receipt = submit_to_contest(store, contest, author="ann", text="This is worth 75.")
        found = [find_overdue_contest(store, contest)]
        clock.pass_hours(0.01)
        found.append(find_overdue_contest(store, contest))
        store.contests.hold_contest(contest, "somebody", now=clock())
        found.append(find_overdue_contest(store, contest))
        clock.pass_hours(1)
        play(store, contest)
        found.append(find_overdue_contest(store, contest))

    assert found == [None, receipt.at, None, None]


def test_what_is_to_be_masked_is_not_received_as_it_came(store: Store, clock: Clock) -> None:
    """Neither kept, nor shown to a judge: a log that only grows cannot be masked later."""
    with server() as judge, server(more=1) as other:
        more: Json = {"challenge_period": timedelta(hours=2), "challenge_judges": (other.judge,), "masked": True}
        contest = create(store, terms(judge, **more))
        for author in ("ann", "ben"):
            submit_to_contest(store, contest, author=author, text=f"{author}@example.org says it is worth 75.")
        clock.pass_hours(11)
        play(store, contest)
        challenge_contest(store, contest, author="ben", reason="Ask ben@example.org.")
        play(store, contest)
        asked = json.dumps([judge.asked, other.asked])
    kept = json.dumps([store.inbox.list_rows(contest), load_contest(store, contest)])

    assert "worth 75" in asked and "worth 75" in kept and "resolved" in kept
    assert "@example.org" not in asked + kept


def test_a_player_that_dies_is_always_found(store: Store, clock: Clock) -> None:
    """Also where it took up, for nothing, what another was about to put to rest."""
    with server() as judge:
        contest = create(store, terms(judge))
        store.contests.hold_contest(contest, "elsewhere:1:1#one")
        store.contests.settle_wake(contest, None, seen=0)
        while_it_beats = list_due_contests(store)
        clock.pass_hours(0.1)
        silent = list_due_contests(store)
        play(store, contest)

    assert (while_it_beats, silent, list_due_contests(store)) == ([], [contest], [])


def test_a_contest_counts_what_was_asked_for_it_alone(store: Store) -> None:
    """A worker plays many: what others cost is not on its bill, however often it is played."""
    with server() as judge:
        contests = [create(store, terms(judge, name=f"task {number}")) for number in range(3)]
        for contest in contests:
            submit_to_contest(store, contest, author="ann", text="This is worth 75.")
        for _ in range(2):
            play(store, *contests)
        asked = [load_contest(store, contest)["spent"]["requests"] for contest in contests]

    assert asked == [2, 2, 2]


def test_answers_that_cannot_be_read_are_not_asked_for_every_second(store: Store, clock: Clock) -> None:
    """Nothing but other judges would help: it is looked at again after a while, and costs nothing meanwhile."""
    with FakeServer(lambda body: answer(body) if dialogue_of(body) != "gate" else "Well.") as babbling:
        contest = create(store, terms(babbling))
        submit_to_contest(store, contest, author="ann", text="This is worth 75.")
        clock.pass_hours(11)
        [stuck] = play(store, contest)
        at_once = list_due_contests(store)
        clock.pass_hours(0.1)

        assert stuck.next_step == "begin with other judges"
        assert (at_once, list_due_contests(store)) == ([], [contest])


def test_a_contest_begins_whole_or_not_at_all(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that dies while it creates one leaves no name taken."""
    with server() as judge:
        with monkeypatch.context() as patched:
            patched.setattr(ContestStore, "_seal_contest", _die)
            with pytest.raises(KeyboardInterrupt):
                create(store, terms(judge))
        before = store.contests.list_contests()
        contest = create(store, terms(judge))

    assert before == []
    assert view_live_contest(store, contest)["state"] == "open"


def _die(*_: Any) -> None:
    raise KeyboardInterrupt


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


def test_an_address_with_a_key_is_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be kept and shown as it came: it could not be called without the key."""
    monkeypatch.setenv("SHOP_TOKEN", secret := "tok-Zq8vR2pLw5TnXe7Kc3Yb")
    with server() as judge:
        contest = create(store, terms(judge))

    with pytest.raises(ContestError, match="notify: a key that is hidden here stands in the address"):
        submit_to_contest(store, contest, author="ann", text="worth 75", notify=f"https://ann.example/?t={secret}")
    assert store.inbox.list_rows(contest) == []


def test_a_clock_that_jumps_closes_nothing(store: Store, clock: Clock) -> None:
    """A year ahead, the deadline is over and somebody would be paid; with the clock right again it goes on."""
    with server() as judge:
        contest = create(store, terms(judge, deadline=NOON + timedelta(days=10)))
        submit_to_contest(store, contest, author="ann", text="This is worth 75.")
        play(store, contest)
        clock.pass_hours(365 * 24)
        due = list_due_contests(store)
        with pytest.raises(ContestError, match="365 days after the last sign of contest"):
            play(store, contest)
        left = view_live_contest(store, contest)["state"], find_overdue_contest(store, contest) is not None
        clock.pass_hours(-365 * 24)
        submit_to_contest(store, contest, author="ben", text="This is worth 81.")
        play(store, contest)

    assert due == [contest]
    assert left == ("open", True)
    assert view_live_contest(store, contest, "ben")["submissions"][0]["status"] == "gate_passed"


def test_a_clock_that_jumps_while_a_contest_is_played_does_not_vouch_for_itself(store: Store, clock: Clock) -> None:
    """What is written after the jump would be the last sign, and the next look would close the contest and pay."""

    jumps = [365 * 24]

    def judge(body: Json) -> str | int:
        clock.pass_hours(jumps.pop() if jumps else 0)
        return answer(body)

    with FakeServer(judge) as leaping:
        contest = create(store, terms(leaping, deadline=NOON + timedelta(days=10)))
        submit_to_contest(store, contest, author="ann", text="This is worth 75.")
        for _ in range(3):
            with pytest.raises(EvenhandError, match="365 days after the last sign of contest"):
                play(store, contest)
        due = list_due_contests(store)
        clock.pass_hours(-365 * 24)
        play(store, contest)

    assert due == [contest]
    assert view_live_contest(store, contest, "ann")["submissions"][0]["status"] == "gate_passed"
    assert view_live_contest(store, contest)["state"] == "open"


@pytest.mark.parametrize("days", [365, -365])
def test_a_contest_that_a_jump_of_the_clock_stopped_did_not_stop_at_that_time(
    store: Store, clock: Clock, days: int
) -> None:
    """The call is refused: what it leaves of itself, that it let go, has the time of the last sign."""
    jumps = [days * 24]

    def judge(body: Json) -> str | int:
        clock.pass_hours(jumps.pop() if jumps else 0)
        return answer(body)

    with FakeServer(judge) as leaping:
        contest = create(store, terms(leaping, deadline=NOON + timedelta(days=10)))
        submit_to_contest(store, contest, author="ann", text="This is worth 75.")
        with pytest.raises(EvenhandError, match="365 days"):
            play(store, contest)

    row = store.contests.find_contest(contest)
    summary = json.loads(row["summary"])
    assert (row["state"], row["ended"], summary["ended"]) == ("stopped", row["touched"], row["touched"])
    assert summary["ahead"] is None


def test_the_id_of_a_submission_tells_nothing_of_others(store: Store) -> None:
    """One named like the second submission of another would be numbered anew, and know that the other is there."""
    with server() as judge:
        alone, both = (create(store, replace(terms(judge), name=name)) for name in ("alone", "both"))
    ids: dict[str, list[str]] = {contest: [] for contest in (alone, both)}
    for contest, authors in {alone: ["ann-2"] * 2, both: ["ann", "ann", "ann-2", "ann-2", "ann-2-1"]}.items():
        for author in authors:
            ids[contest].append(submit_to_contest(store, contest, author=author, text="worth 75").id)

    assert ids[both] == ["ann", "ann-2", "ann-2-1", "ann-2-2", "ann-2-1-1"]
    assert ids[alone] == ids[both][2:4]


def test_a_challenge_says_something(store: Store, clock: Clock) -> None:
    """As a submission must."""
    with server() as judge:
        contest = create(store, terms(judge))
        for author, worth in (("ann", 81), ("ben", 75)):
            submit_to_contest(store, contest, author=author, text=f"This is worth {worth}.")
        play(store, contest)
        clock.pass_hours(11)
        play(store, contest)

    with pytest.raises(ContestError, match="there is nothing in the challenge"):
        challenge_contest(store, contest, author="ben", reason=" \u200b")


def test_a_quiet_contest_is_ended_on_time(store: Store, clock: Clock) -> None:
    """Nothing comes for ten days: it gives a sign every day, so that this is no jump."""
    with server() as judge:
        contest = create(store, terms(judge, deadline=NOON + timedelta(days=10)))
        submit_to_contest(store, contest, author="ann", text="This is worth 75.")
        looks = []
        for _ in range(14):
            looks += [due := list_due_contests(store)]
            play(store, *due)
            clock.pass_hours(24)

    assert looks[:11] == [[contest]] * 11
    assert (looks[-1], view_live_contest(store, contest)["state"]) == ([], "closed")
