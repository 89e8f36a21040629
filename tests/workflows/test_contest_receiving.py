"""What comes for contests at the same time: few transactions, each answered for itself, nothing lost."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import event

from evenhand import ContestError, Limits
from evenhand.contest.task import ContestMode
from evenhand.errors import StoreError
from evenhand.models.connections import Connections
from evenhand.store.contest_queues import ContestArrivals, ContestPosition, StoredContestNews
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.workflows.contest_receiving import (
    ContestReceipt,
    ReceiveWorkflow,
    SubmitWorkflowArrival,
    submit_to_contest,
)
from evenhand.workflows.live_contest import create_live_contest, list_due_contests, view_live_contest
from tests.contest.building import task
from tests.store.databases import database, execute_statement, new_database, postgresql_server

__all__ = ["database", "postgresql_server"]

JUDGE = "openai-compatible:http://127.0.0.1:1/v1/m"  # Nobody plays here.
# How a database is made to take no row of an inbox, and to take them again; by whether it is a server.
REFUSE_ROWS = {
    False: (
        "CREATE TRIGGER refused BEFORE INSERT ON contest_inbox BEGIN SELECT RAISE(ABORT, 'refused'); END",
        "DROP TRIGGER refused",
    ),
    True: (
        "ALTER TABLE contest_inbox ADD CONSTRAINT refused CHECK (false) NOT VALID",
        "ALTER TABLE contest_inbox DROP CONSTRAINT refused",
    ),
}


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    with Store.open(database, {}) as opened:
        yield opened


def create(store: Store, name: str = "essay", mode: ContestMode = "quality_first") -> str:
    deadline = datetime.now(UTC) + timedelta(days=1) if mode == "quality_first" else None
    terms = task(mode, name=name, judges=(JUDGE,), challenge_judges=(), deadline=deadline)

    async def begin() -> str:
        async with Connections({}, limits=Limits(retries=0)) as connections:
            return await create_live_contest(store, terms, connections=connections)

    return asyncio.run(begin())


def receive(store: Store, *arrivals: SubmitWorkflowArrival) -> list[ContestReceipt | BaseException]:
    """Receive all of them at the same time, as a service does."""

    async def receive_all() -> list[ContestReceipt | BaseException]:
        receiver = ReceiveWorkflow(store)
        return await asyncio.gather(*map(receiver.receive, arrivals), return_exceptions=True)

    return asyncio.run(receive_all())


def arrive(contest: str, author: str, id: str | None = None, text: str = "An essay.") -> SubmitWorkflowArrival:
    return SubmitWorkflowArrival(contest=contest, author=author, text=text, id=id)


def list_received(answers: list[ContestReceipt | BaseException]) -> list[ContestReceipt]:
    return [one for one in answers if isinstance(one, ContestReceipt)]


def test_what_comes_at_once_is_written_in_few_transactions(store: Store) -> None:
    """Authors hand in at a deadline: each gets a receipt of its own, with a later time, for very few commits."""
    contests, commits = [create(store, name) for name in ("first", "second")], []
    event.listen(store._engine, "commit", lambda _: commits.append(1))

    answers = receive(store, *(arrive(contests[number % 2], f"author {number}") for number in range(60)))

    assert [one.author for one in list_received(answers)] == [f"author {number}" for number in range(60)]
    assert len(commits) <= 4
    for contest in contests:
        rows = store.inbox.list_rows(contest)
        assert [row["number"] for row in rows] == list(range(30))
        assert [row["at"] for row in rows] == sorted({row["at"] for row in rows})
    assert sorted(list_due_contests(store)) == sorted(contests)


def test_one_that_is_refused_keeps_nobody_else_out(store: Store) -> None:
    """A name that is taken, a blank text or a contest that is not there is a fault of that one alone."""
    contest = create(store)
    submit_to_contest(store, contest, author="ann", text="The first.", id="taken")

    answers = receive(
        store,
        arrive(contest, "ben"),
        arrive(contest, "cat", id="taken"),
        arrive(contest, "dan", text=" "),
        arrive("20200101-000000-nobody", "eve"),
        arrive(contest, "fay", id="ben"),
        arrive("latest", "gus"),
        arrive(contest, "gus"),
    )

    assert [type(one) for one in answers] == [
        *(ContestReceipt, ContestError, ContestError, StoreError, ContestError, ContestReceipt, ContestReceipt)
    ]
    assert [row["id"] for row in store.inbox.list_rows(contest)] == ["taken", "ben", "gus", "gus-2"]


ADD_ROW = (
    "INSERT INTO contest_inbox SELECT contest, number + 1, kind, id || 'x', author, at, content FROM contest_inbox"
)
INBOX_DAMAGE = {
    "at": ("'zzz'", "x'ff'", "'2026-01-01'", "'0001-01-01T00:00:00+14:00'"),
    "content": ("'[]'", "'{}'", "x'ff'", "printf('%.*c', 100000, '[')", '\'{"text":"a","notify":5}\''),
    "author": ("x'ff'",),
    "id": ("x'ff'",),
    "kind": ("x'ff'",),
    "number": ("x'ff'", "'x'", "1.5"),
}


@pytest.mark.parametrize(
    ("column", "value"), [(name, one) for name, several in INBOX_DAMAGE.items() for one in several]
)
def test_a_damaged_row_of_an_inbox_is_told_as_damage_of_its_contest(tmp_path: Path, column: str, value: str) -> None:
    """Whoever looks or plays is told which row; what comes for other contests at the same time is received."""
    with Store.open(tmp_path, {}) as store:
        damaged, other = create(store, "damaged"), create(store, "other")
        submit_to_contest(store, damaged, author="ann", text="The first.")
        with closing(sqlite3.connect(tmp_path / "store.sqlite")) as database:
            database.execute(ADD_ROW)
            database.execute(f"UPDATE contest_inbox SET {column} = {value} WHERE id LIKE '%x'")
            database.commit()

        told, received = receive(store, arrive(damaged, "ben"), arrive(other, "cat"))

        said = f"of what came for contest {damaged} was changed: {column} is not what it was"
        assert isinstance(told, StoreError) and said in str(told)
        assert isinstance(received, ContestReceipt)
        with pytest.raises(StoreError, match=said):
            view_live_contest(store, damaged, "ann")
        with pytest.raises(StoreError, match=said):
            store.inbox.take_stock(damaged)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE contests SET wakes = 'zzz' WHERE name = 'damaged'",
        "UPDATE contests SET seal = '', touched = 5 WHERE name = 'damaged'",
        "INSERT INTO contest_events SELECT contest, 99, 'zzz', content, calls, hash FROM contest_events "
        "WHERE contest = (SELECT id FROM contests WHERE name = 'damaged')",
    ],
)
def test_a_damaged_contest_keeps_no_other_from_receiving(tmp_path: Path, change: str) -> None:
    """Several are received for in one transaction."""
    with Store.open(tmp_path, {}) as store:
        damaged, other = create(store, "damaged"), create(store, "other")
        for contest in (damaged, other):
            submit_to_contest(store, contest, author="ann", text="The first.")
        with closing(sqlite3.connect(tmp_path / "store.sqlite")) as database:
            database.execute(change)
            database.execute("UPDATE contests SET seal = 'x' WHERE name = 'damaged'")
            database.commit()

        told, received = receive(store, arrive(damaged, "ben"), arrive(other, "cat"))

    assert isinstance(told, StoreError) and damaged in str(told)
    assert isinstance(received, ContestReceipt)


def test_what_comes_over_http_is_held_to_the_rules_of_files(store: Store) -> None:
    """A text that no database can hold is refused in the same words, and a name is what can be seen of it."""
    contest = create(store)

    refused, taken, next_ = receive(
        store, arrive(contest, "dan", text="a\0b"), arrive(contest, " ann "), arrive(contest, "ann\u200b")
    )

    assert isinstance(refused, ContestError)
    assert str(refused) == "it holds a NUL character, which no database can hold"
    assert [(one.id, one.author) for one in list_received([taken, next_])] == [("ann", "ann"), ("ann-2", "ann")]


def test_a_contest_that_is_gone_is_said_to_be(store: Store) -> None:
    """What a process knows of it does not bring it back, and others are received."""
    gone, here = create(store, "gone"), create(store, "here")
    submit_to_contest(store, gone, author="ann", text="The first.")
    store.contests.delete_contest(gone)

    answers = receive(store, arrive(gone, "ben"), arrive(here, "ben"))

    assert "no contest" in str(answers[0])
    assert isinstance(answers[1], ContestReceipt)


def test_nothing_is_answered_or_remembered_that_was_not_written(store: Store, database: str) -> None:
    """A database that fails while a batch is written: all are told so, and the next ones follow without a gap."""
    contest = create(store)
    submit_to_contest(store, contest, author="ann", text="The first.")
    refuse, take_again = REFUSE_ROWS["://" in database]
    execute_statement(database, refuse)
    failed = receive(store, arrive(contest, "ben"), arrive(contest, "cat"))
    execute_statement(database, take_again)

    after = receive(store, arrive(contest, "cat"))

    assert [type(one) for one in failed] == [StoreError, StoreError]
    assert [(row["number"], row["author"]) for row in store.inbox.list_rows(contest)] == [(0, "ann"), (1, "cat")]
    assert list_received(after)[0].id == "cat"
    assert view_live_contest(store, contest, "ben")["submissions"] == []


def test_two_processes_receive_for_one_contest(database: str) -> None:
    """Each reads what the other received before it chooses numbers, names and times."""
    with Store.open(database, {}) as one, Store.open(database, {}) as other:
        contest = create(one)
        many = [[arrive(contest, f"{side} {number}") for number in range(20)] for side in ("one", "other")]
        answers: list[ContestReceipt | BaseException] = []
        threads = [
            threading.Thread(target=lambda pair=pair: answers.extend(receive(pair[0], *pair[1])))
            for pair in zip((one, other), many, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rows = one.inbox.list_rows(contest)

    assert len(list_received(answers)) == 40
    assert [row["number"] for row in rows] == list(range(40))
    assert [row["at"] for row in rows] == sorted({row["at"] for row in rows})


def test_a_submission_that_comes_while_a_player_lets_go_is_due(postgresql_server: str) -> None:
    """The player waits for whoever receives, and counts what came only then: it would sleep until the deadline."""
    with new_database(postgresql_server) as address, Store.open(address, {}) as store:
        contest = create(store)
        submit_to_contest(store, contest, author="ann", text="The first.")
        later, errors = store.now() + timedelta(days=1), list[StoreError]()
        player = threading.Thread(target=store.contests.settle_wake, args=(contest, later), kwargs={"seen": 1})

        def make_rows(_: StoredContestNews) -> list[Row]:
            player.start()
            _wait_for_somebody_who_waits(address)
            return [{"kind": "submission", "id": "ben", "author": "ben", "content": "{}"}]

        given = ContestArrivals(contest=contest, since=ContestPosition(), make_rows=make_rows, refuse=errors.append)
        store.inbox.receive_rows([given])
        player.join()

        assert (list_due_contests(store), errors) == ([contest], [])


def test_the_clock_of_a_server_is_not_ahead_of_it_however_slow_it_answers(postgresql_server: str) -> None:
    """A contest that began in the future would leave out what comes at once."""
    with new_database(postgresql_server) as address, Store.open(address, {}) as store:
        event.listen(store._engine, "before_cursor_execute", lambda *_: time.sleep(0.2))
        told = store.now()
        with psycopg.connect(address) as connection:
            [[now]] = connection.execute("SELECT clock_timestamp()")

    assert told <= now


def test_a_key_in_a_submission_is_hidden_before_it_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A receiver collects the keys of its environment once, when it begins."""
    monkeypatch.setenv("SHOP_API_KEY", "k3y-that-nobody-shows-0815")
    with Store.open(tmp_path / "store", {}) as store:
        contest = create(store)
        receive(store, arrive(contest, "ann", text="It is k3y-that-nobody-shows-0815."))

        assert "0815" not in store.inbox.list_rows(contest)[0]["content"]


def _wait_for_somebody_who_waits(address: str) -> None:
    """Until a transaction of this database waits for a lock."""
    with psycopg.connect(address, autocommit=True) as connection:
        for _ in range(500):
            if connection.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone():
                return
            time.sleep(0.01)
    raise AssertionError("nobody waits")
