"""One process works on a contest at a time; a dead one holds nothing, and what it wrote is there."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest
from sqlalchemy import update

from evenhand.errors import StoreError
from evenhand.store.contest_store import ContestStore
from evenhand.store.lost_writes import PAUSES_AFTER_LOSS
from evenhand.store.run_holds import PLAYER_SIGN, name_lock_process
from evenhand.store.store import Store
from evenhand.store.tables import CONTESTS
from tests.store.databases import cut_commit, execute_statement, new_database
from tests.store.rows import CONTEST, contest_row, event_row
from tests.warm.processes import command_line

OTHER = "20261117-101010-ffffff"
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
AT_NOON = "2026-11-18T12:00:00.000+00:00"
Act = Callable[[ContestStore], None]


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    with Store.open(database, {}) as opened:
        yield opened


@pytest.fixture
def neighbour() -> Iterator[str]:
    """Another process of this machine, as it would hold a contest."""
    code = "from evenhand.store import run_holds as locks; print(locks.name_lock_process(), flush=True); input()"
    command = command_line("python", code)
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.communicate("\n")


def test_a_contest_is_taken_and_let_go(store: Store) -> None:
    """Running while it is held; stopped or finished with a summary after."""
    ended = "2026-11-16T08:00:00+00:00"
    store.contests.begin_contest(contest_row(state="stopped", ended=ended))

    store.contests.hold_contest(CONTEST, name_lock_process(), now=NOON)
    taken = store.contests.find_contest(CONTEST)
    held = store.contests.is_contest_held(taken)
    store.contests.release_contest(CONTEST, "finished", ended, '{"winner":"a"}')

    assert taken == contest_row(holder=name_lock_process(), touched=AT_NOON)
    assert held
    told = {"summary": '{"winner":"a"}'}
    finished = contest_row(state="finished", ended=ended, touched=AT_NOON, **told)
    assert store.contests.find_contest(CONTEST) == finished
    assert not store.contests.is_contest_held(finished)


def test_whoever_was_overtaken_lets_go_of_nothing(store: Store) -> None:
    """Taken for dead, and alive: it must not stop the other's contest, nor undo its end."""
    ended = "2026-11-18T12:05:00+00:00"
    store.contests.begin_contest(contest_row(holder="elsewhere:1:1"), now=NOON - timedelta(days=1))
    store.contests.hold_contest(CONTEST, name_lock_process(), now=NOON)

    store.contests.release_contest(CONTEST, "stopped", ended, None, holder="elsewhere:1:1")
    at_work = store.contests.find_contest(CONTEST)
    store.contests.release_contest(CONTEST, "finished", ended, '{"winner":"a"}', holder=name_lock_process())
    store.contests.release_contest(CONTEST, "stopped", ended, None, holder="elsewhere:1:1")

    told = {"summary": '{"winner":"a"}'}
    finished = contest_row(state="finished", ended=ended, touched=AT_NOON, **told)
    assert at_work == contest_row(holder=name_lock_process(), touched=AT_NOON)
    assert store.contests.find_contest(CONTEST) == finished


def test_a_contest_at_work_is_neither_taken_nor_deleted(store: Store, neighbour: str) -> None:
    """However long ago it wrote: on this machine it can be seen that the process lives."""
    store.contests.begin_contest(contest_row(holder=neighbour))

    with pytest.raises(StoreError, match=f"another process is at work on contest {CONTEST}"):
        store.contests.hold_contest(CONTEST, name_lock_process(), now=NOON + timedelta(days=99))
    with pytest.raises(StoreError, match=f"a process is at work on contest {CONTEST}"):
        store.contests.delete_contest("latest", now=NOON + timedelta(days=99))

    assert store.contests.find_contest(CONTEST)["holder"] == neighbour


@pytest.mark.parametrize(
    "sign",
    [
        lambda contests: contests.begin_contest(contest_row(id=OTHER, holder="elsewhere:1:1"), now=NOON),
        lambda contests: contests.hold_contest(CONTEST, "elsewhere:1:1", now=NOON),
        lambda contests: contests.append_event(event_row(), now=NOON),
    ],
    ids=["begun", "taken", "appended"],
)
def test_a_contest_on_another_machine_is_held_while_it_gives_a_sign(store: Store, sign: Act) -> None:
    """A minute of silence by the clock counts as death; the times of the contest itself may lie anywhere."""
    store.contests.begin_contest(contest_row(holder="elsewhere:1:1"), now=NOON - timedelta(days=1))
    sign(store.contests)
    contest = max(store.contests.list_contests(), key=lambda row: str(row["touched"]))
    soon, later = NOON + timedelta(seconds=59), NOON + timedelta(seconds=61)

    held = [store.contests.is_contest_held(contest, now=now) for now in (soon, later)]

    assert held == [True, False]
    with pytest.raises(StoreError, match="another process is at work on contest"):
        store.contests.hold_contest(contest["id"], name_lock_process(), now=soon)
    store.contests.hold_contest(contest["id"], name_lock_process(), now=later)


def test_a_player_of_a_dead_process_holds_nothing_and_a_silent_one_not_for_long(store: Store, neighbour: str) -> None:
    """A process may play many contests: one of its players may be gone while it lives, so silence counts as well."""
    dead = f"{neighbour.rpartition(':')[0]}:1{PLAYER_SIGN}one"
    alive = f"{neighbour}{PLAYER_SIGN}one"
    times = [NOON + timedelta(seconds=seconds) for seconds in (1, 59, 61)]
    held = {}
    for number, holder in enumerate((dead, alive)):
        store.contests.begin_contest(contest_row(id=f"{OTHER}{number}", holder=holder), now=NOON)
        row = store.contests.find_contest(f"{OTHER}{number}")
        held[holder] = [store.contests.is_contest_held(row, now=now) for now in times]

    assert held == {dead: [False, False, False], alive: [True, True, False]}


@pytest.mark.parametrize("number", ["9" * 20, "9" * 5000, "0", "-1", "١٢", ""])
def test_a_holder_that_no_process_can_be_holds_by_its_signs(store: Store, number: str) -> None:
    """A value in one row stops no list of all; and a contest is not taken from who may live."""
    host, _, began = name_lock_process().rsplit(":", 2)
    row = contest_row(holder=f"{host}:{number}:{began}", touched=AT_NOON)

    held = [store.contests.is_contest_held(row, now=NOON + timedelta(seconds=late)) for late in (1, 120)]

    assert held == [True, False]


def test_what_was_appended_when_the_process_was_killed_is_there(database: str) -> None:
    """kill -9 in the middle of writing, twice: every event it told of is kept, and the next process goes on from it."""
    with Store.open(database, {}) as store:
        store.contests.begin_contest(contest_row(state="stopped"))
    command = [sys.executable, "-m", "tests.store.appending", database]
    told: list[int] = []

    for _ in range(2):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        told += [int(line) for line in islice(process.stdout, 20)]
        process.kill()
        told += [int(line) for line in process.communicate()[0].splitlines()]

    with Store.open(database, {}) as store:
        killed = store.contests.find_contest(CONTEST)
        held = store.contests.is_contest_held(killed)
        store.contests.hold_contest(
            CONTEST, name_lock_process()
        )  # Waits for what a server has not yet heard the end of.
        kept = [row["number"] for row in store.contests.stream_events(CONTEST)]
    assert (killed["state"], held) == ("running", False)
    assert kept == [*range(len(kept))]
    assert set(told) <= set(kept)
    assert 40 <= len(told) <= len(kept) <= len(told) + 2


def test_a_late_process_cannot_rewrite_a_closed_contest(store: Store) -> None:
    """It had read the log before another went on and finished: it holds nothing, writes nothing and ends nothing."""
    ended = "2026-11-18T12:05:00+00:00"
    store.contests.begin_contest(contest_row(state="stopped"))
    store.contests.append_event(event_row(0))
    store.contests.hold_contest(CONTEST, "other:1:1", seen=1, now=NOON)
    store.contests.append_event(event_row(1), holder="other:1:1")
    store.contests.release_contest(CONTEST, "finished", ended, '{"winner":"a"}', holder="other:1:1", seen=2)
    finished = store.contests.find_contest(CONTEST)

    with pytest.raises(StoreError, match="its next event is 2, not 1"):
        store.contests.hold_contest(CONTEST, name_lock_process(), seen=1)
    with pytest.raises(StoreError, match="another process has gone on with contest"):
        store.contests.append_event(event_row(1), holder=name_lock_process())
    with pytest.raises(StoreError, match="another process has taken over contest"):
        store.contests.append_event(event_row(2), holder=name_lock_process())
    store.contests.release_contest(CONTEST, "stopped", ended, '{"winner":null}', seen=1)

    assert store.contests.find_contest(CONTEST) == finished
    assert len([*store.contests.stream_events(CONTEST)]) == 2


def test_of_many_that_begin_the_contest_of_one_task_one_does(database: str) -> None:
    """Each in a transaction of its own: the database decides, and rehearsals take nobody's place."""
    stores = [Store.open(database, {}) for _ in range(4)]

    def begin(number: int) -> bool:
        try:
            stores[number].contests.begin_contest(
                contest_row(id=f"2026111{number}-071500-c0ffee", key='["slogan",null]')
            )
        except StoreError as error:
            assert "there is a contest of this task already" in str(error)
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        begun = [*pool.map(begin, range(4))]
    for number in (5, 6):
        stores[0].contests.begin_contest(contest_row(id=f"2026111{number}-071500-c0ffee"))

    assert sum(begun) == 1
    assert len(stores[0].contests.list_contests("slogan")) == 3
    assert stores[0].contests.find_contest_by_key('["slogan",null]') is not None
    assert stores[0].contests.find_contest_by_key('["other",null]') is None
    for store in stores:
        store.close()


def test_a_damaged_contest_keeps_its_task_from_beginning_in_every_database(store: Store) -> None:
    """By the name in its row; one of another task, or begun again on purpose, is not kept."""
    key = '["slogan",null]'
    store.contests.begin_contest(contest_row(key=key), first=event_row())
    store.contests.refuse_damaged_task(key)
    with store._connect(writes=True) as connection:
        connection.execute(update(CONTESTS).values(key=None))

    with pytest.raises(StoreError, match=f"contest {CONTEST} of 'slogan' is damaged"):
        store.contests.refuse_damaged_task(key)
    with pytest.raises(StoreError, match=f"contest {CONTEST} of 'slogan' is damaged"):
        store.contests.begin_contest(contest_row(id=OTHER, key=key))
    store.contests.refuse_damaged_task('["slogan","again"]')
    store.contests.refuse_damaged_task('["other",null]')


def test_a_log_without_a_row_keeps_its_task_from_beginning_in_every_database(store: Store, database: str) -> None:
    """Its first event says whose it is; one of another task, or begun again on purpose, is not kept."""
    key = '["slogan",null]'
    first = event_row(content='{"task":{"name":"slogan"}}', calls='{"key":"[\\"slogan\\",null]"}')
    store.contests.begin_contest(contest_row(key=key), first=first)
    intact = store.contests.list_orphaned_logs()
    if "://" in database:
        execute_statement(database, "ALTER TABLE contest_events DROP CONSTRAINT contest_events_contest_fkey")
    execute_statement(database, "DELETE FROM contests")

    with pytest.raises(StoreError, match=f"contest {CONTEST} of 'slogan' is damaged"):
        store.contests.refuse_damaged_task(key)
    with pytest.raises(StoreError, match=f"contest {CONTEST} of 'slogan' is damaged"):
        store.contests.begin_contest(contest_row(id=OTHER, key=key))
    store.contests.refuse_damaged_task('["slogan","again"]')
    store.contests.refuse_damaged_task('["other",null]')
    assert (intact, store.contests.list_orphaned_logs()) == ([], [{"id": CONTEST, "name": "slogan"}])


def test_a_contest_that_was_deleted_leaves_no_log(store: Store) -> None:
    """A log without its row is damage, and nothing else."""
    key = '["slogan",null]'
    store.contests.begin_contest(contest_row(key=key), first=event_row(content='{"task":{"name":"slogan"}}'))
    store.contests.delete_contest(CONTEST)

    store.contests.refuse_damaged_task(key)

    assert store.contests.list_orphaned_logs() == []


def test_a_receipt_is_written_once(store: Store) -> None:
    """Whoever sees a file later cannot move the time at which it came; it goes with the contest of its task."""
    key, seen = '["slogan",null]', {"file": "a.md", "digest": "d1", "at": AT_NOON}
    store.contests.begin_contest(contest_row(key=key))

    store.contests.add_receipts(key, [seen])
    store.contests.add_receipts(key, [{**seen, "digest": "d2", "at": "2020"}, {**seen, "file": "b.md"}])
    store.contests.add_receipts('["other",null]', [seen])
    found = store.contests.list_receipts(key)
    store.contests.delete_contest(CONTEST)

    assert found == [{**seen, "key": key}, {**seen, "key": key, "file": "b.md"}]
    assert store.contests.list_receipts(key) == []
    assert len(store.contests.list_receipts('["other",null]')) == 1


@pytest.mark.parametrize("is_forwarded", [True, False])
def test_an_event_whose_answer_was_lost_is_known_to_be_written_or_not(
    postgresql_server: str, is_forwarded: bool
) -> None:
    """The server has it or not, whatever the writer heard; where it has, the writer goes on."""
    holder, content = name_lock_process(), '{"event":"submitted","id":"Heronsong"}'
    with new_database(postgresql_server) as address:
        with Store.open(address, {}) as store:
            store.contests.begin_contest(contest_row(holder=holder))
        with cut_commit(address, b"Heronsong", is_forwarded=is_forwarded) as cut, Store.open(cut, {}) as store:
            with nullcontext() if is_forwarded else pytest.raises(StoreError, match="cannot be reached"):
                store.contests.append_event(event_row(content=content), holder=holder)
            kept = [one["content"] for one in store.contests.stream_events(CONTEST)]
            store.contests.append_event(event_row(len(kept)), holder=holder)

    assert kept == ([content] if is_forwarded else [])


def test_a_server_that_restarts_meanwhile_is_waited_for(
    postgresql_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A restart takes seconds: it is looked for during half a minute, and the event is found."""
    assert 25 <= sum(PAUSES_AFTER_LOSS) <= 35
    monkeypatch.setattr("evenhand.store.lost_writes.PAUSES_AFTER_LOSS", (0.0,) * len(PAUSES_AFTER_LOSS))
    holder, content = name_lock_process(), '{"event":"submitted","id":"Heronsong"}'
    away = len(PAUSES_AFTER_LOSS) - 1
    with new_database(postgresql_server) as address:
        with Store.open(address, {}) as store:
            store.contests.begin_contest(contest_row(holder=holder))
        with cut_commit(address, b"Heronsong", is_forwarded=True, refused=away) as cut, Store.open(cut, {}) as store:
            store.contests.append_event(event_row(content=content), holder=holder)
            assert [one["content"] for one in store.contests.stream_events(CONTEST)] == [content]


@pytest.mark.parametrize("is_forwarded", [True, False])
def test_a_contest_and_a_run_whose_writer_was_cut_off_are_there_once(
    postgresql_server: str, is_forwarded: bool
) -> None:
    """Where the server has them the writer goes on; where not, it is told, and they can be written again."""
    run = {"id": "20261116-090000-heron1", "name": "Heronsong", "content": "{}", "made": "2026-11-16T09:00:00+00:00"}
    with new_database(postgresql_server) as address:
        with Store.open(address, {}):
            pass
        writes: list[Callable[[Store], None]] = [
            lambda store: store.contests.begin_contest(contest_row(name="Heronsong")),
            lambda store: store.requests.add_run(run),
        ]
        for write in writes:
            with cut_commit(address, b"Heronsong", is_forwarded=is_forwarded) as cut, Store.open(cut, {}) as store:
                with nullcontext() if is_forwarded else pytest.raises(StoreError, match="cannot be reached"):
                    write(store)
                with pytest.raises(StoreError) if is_forwarded else nullcontext():
                    write(store)
        with Store.open(address, {}) as store:
            assert [one["name"] for one in store.contests.list_contests()] == ["Heronsong"]
            assert store.requests.list_due_runs() == [run["id"]]


def test_an_event_that_cannot_be_looked_for_says_what_to_do(
    postgresql_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server stays away: whoever may have released a payment is told how to find out."""
    monkeypatch.setattr("evenhand.store.lost_writes.PAUSES_AFTER_LOSS", (0.0, 0.0))
    holder = name_lock_process()
    with new_database(postgresql_server) as address:
        with Store.open(address, {}) as store:
            store.contests.begin_contest(contest_row(holder=holder))
        with cut_commit(address, b"Heronsong", is_forwarded=True, is_final=True) as cut, Store.open(cut, {}) as store:
            event = event_row(content='{"event":"submitted","id":"Heronsong"}')
            with pytest.raises(StoreError, match=r"whether event 0 of contest .* was written is not known") as raised:
                store.contests.append_event(event, holder=holder)

    assert f"evenhand contest show {CONTEST}" in str(raised.value)


def test_what_a_contest_writes_is_on_the_disk(database: str) -> None:
    """A payment was released with an answer that a power cut took back, and the next call released it again."""
    if "://" in database:
        execute_statement(database, f"ALTER DATABASE {database.rpartition('/')[2]} SET synchronous_commit = off")
    waits = "SHOW synchronous_commit" if "://" in database else "PRAGMA synchronous"

    with Store.open(database, {}) as opened, opened.contests._write() as connection:
        synced = connection.exec_driver_sql(waits).scalar()

    assert synced in ("on", 2)


def test_an_event_that_a_trigger_swallows_is_no_event(database: str) -> None:
    """The call went on, released the payment, and the next one did so again."""
    with Store.open(database, {}) as opened:
        opened.contests.begin_contest(contest_row())
    if "://" in database:
        body = "BEGIN RETURN NULL; END"
        execute_statement(database, f"CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$")
        made = "FOR EACH ROW EXECUTE FUNCTION swallow()"
    else:
        made = "BEGIN SELECT RAISE(IGNORE); END"
    execute_statement(database, f"CREATE TRIGGER no_events BEFORE INSERT ON contest_events {made}")

    with Store.open(database, {}) as opened, pytest.raises(StoreError, match="was not stored"):
        opened.contests.append_event(event_row(0))
