"""One process works on a contest at a time; a dead one holds nothing, and what it wrote is there."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from evenhand.errors import StoreError
from evenhand.store.contest_store import ContestStore
from evenhand.store.queries import process_holder_name
from evenhand.store.store import Store
from tests.store.rows import CONTEST, contest_row, event_row

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
    code = "from evenhand.store import queries as locks; print(locks.process_holder_name(), flush=True); input()"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.communicate("\n")


def test_a_contest_is_taken_and_let_go(store: Store) -> None:
    """Running while it is held; stopped or finished with a summary after."""
    ended = "2026-11-16T08:00:00+00:00"
    store.contests.begin_contest(contest_row(state="stopped", ended=ended))

    store.contests.hold_contest(CONTEST, process_holder_name(), now=NOON)
    taken = store.contests.find_contest(CONTEST)
    held = store.contests.is_contest_held(taken)
    store.contests.release_contest(CONTEST, "finished", ended, '{"winner":"a"}')

    assert taken == contest_row(holder=process_holder_name(), touched=AT_NOON)
    assert held
    finished = contest_row(state="finished", ended=ended, touched=AT_NOON, summary='{"winner":"a"}')
    assert store.contests.find_contest(CONTEST) == finished
    assert not store.contests.is_contest_held(finished)


def test_whoever_was_overtaken_lets_go_of_nothing(store: Store) -> None:
    """Taken for dead, and alive: it must not stop the other's contest, nor undo its end."""
    ended = "2026-11-18T12:05:00+00:00"
    store.contests.begin_contest(contest_row(holder="elsewhere:1:1"), now=NOON - timedelta(days=1))
    store.contests.hold_contest(CONTEST, process_holder_name(), now=NOON)

    store.contests.release_contest(CONTEST, "stopped", ended, None, holder="elsewhere:1:1")
    at_work = store.contests.find_contest(CONTEST)
    store.contests.release_contest(CONTEST, "finished", ended, '{"winner":"a"}', holder=process_holder_name())
    store.contests.release_contest(CONTEST, "stopped", ended, None, holder="elsewhere:1:1")

    finished = contest_row(state="finished", ended=ended, touched=AT_NOON, summary='{"winner":"a"}')
    assert at_work == contest_row(holder=process_holder_name(), touched=AT_NOON)
    assert store.contests.find_contest(CONTEST) == finished


def test_a_contest_at_work_is_neither_taken_nor_deleted(store: Store, neighbour: str) -> None:
    """However long ago it wrote: on this machine it can be seen that the process lives."""
    store.contests.begin_contest(contest_row(holder=neighbour))

    with pytest.raises(StoreError, match=f"another process is at work on contest {CONTEST}"):
        store.contests.hold_contest(CONTEST, process_holder_name(), now=NOON + timedelta(days=99))
    with pytest.raises(StoreError, match=f"a process is at work on contest {CONTEST}"):
        store.contests.delete_contest("latest", now=NOON + timedelta(days=99))

    assert store.contests.find_contest(CONTEST)["holder"] == neighbour


@pytest.mark.parametrize(
    "sign",
    [
        lambda contests: contests.begin_contest(contest_row(id=OTHER, holder="elsewhere:1:1"), now=NOON),
        lambda contests: contests.hold_contest(CONTEST, "elsewhere:1:1", now=NOON),
        lambda contests: contests.append_event(**event_row(), now=NOON),
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
        store.contests.hold_contest(contest["id"], process_holder_name(), now=soon)
    store.contests.hold_contest(contest["id"], process_holder_name(), now=later)


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
            CONTEST, process_holder_name()
        )  # Waits for what a server has not yet heard the end of.
        kept = [row["number"] for row in store.contests.stream_events(CONTEST)]
    assert (killed["state"], held) == ("running", False)
    assert kept == [*range(len(kept))]
    assert set(told) <= set(kept)
    assert 40 <= len(told) <= len(kept) <= len(told) + 2
