"""One process works on a run at a time; a dead one holds nothing."""

import json
import os
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evenhand.errors import RunLostError, StoreError
from evenhand.store import run_holds
from evenhand.store.rows import RowBatch
from evenhand.store.run_holds import name_lock_process
from evenhand.store.store import Store
from tests.store.databases import execute_statement, silence_run
from tests.store.rows import RUN, call_row, key, made_row, result_row, run_row, sample_row
from tests.warm.processes import wait_until

NOW = datetime(2026, 11, 16, 5, 12, 39, tzinfo=UTC)


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    with Store.open(database, {}) as opened:
        yield opened


@pytest.fixture
def neighbour() -> Iterator["subprocess.Popen[bytes]"]:
    """Another process of this machine, which waits until it is told to end."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.communicate(b"\n")


def test_a_run_that_stopped_is_taken_and_let_go(store: Store) -> None:
    """Running while it is held; stopped or finished with a summary after."""
    store.begin_run(run_row(state="stopped", ended="2026-11-16T06:00:00+00:00"))

    store.hold_run(RUN, name_lock_process())
    taken = store.find_run(RUN)
    store.release_run(RUN, "finished", "2026-11-16T07:00:00+00:00", '{"n":1}')

    assert (taken["state"], taken["holder"], taken["ended"]) == ("running", name_lock_process(), None)
    assert store.find_run(RUN) == run_row(state="finished", ended="2026-11-16T07:00:00+00:00", summary='{"n":1}')


def test_a_run_in_the_hands_of_a_living_process_is_refused(store: Store, neighbour: "subprocess.Popen[bytes]") -> None:
    """Two at work on one run would pay for everything twice."""
    holder = _holder(neighbour.pid)
    store.begin_run(run_row(holder=holder))

    with pytest.raises(StoreError, match=f"another process is at work on run {RUN}"):
        store.hold_run(RUN, name_lock_process())

    assert store.find_run(RUN)["holder"] == holder
    assert store.is_run_held(store.find_run(RUN))


def test_a_run_of_a_dead_process_is_taken_over(store: Store, neighbour: "subprocess.Popen[bytes]") -> None:
    """Killed, and its number perhaps given to another process since."""
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    holders = (f"{socket.gethostname()}:{dead.pid}:1", f"{socket.gethostname()}:{neighbour.pid}:1")

    for holder in holders:
        store.hold_run(_begun(store, holder), name_lock_process())

    assert [row["holder"] for row in store.list_runs()] == [name_lock_process()] * 2


def test_a_killed_child_that_nobody_has_buried_holds_nothing(store: Store) -> None:
    """In a container nobody may ever do so."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    store.begin_run(run_row(holder=_holder(child.pid)))
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

    store.hold_run(RUN, name_lock_process())

    assert store.find_run(RUN)["holder"] == name_lock_process()
    child.communicate()


@pytest.mark.parametrize(("seconds", "refused"), [(50, True), (61, False)])
def test_a_run_on_another_machine_is_held_while_it_beats(
    store: Store, database: str, seconds: int, refused: bool
) -> None:
    """Nobody can see from here whether it lives; a minute without a beat counts as death, whatever it has written."""
    store.begin_run(run_row(holder="elsewhere:1:1", started="2001-01-01T00:00:00+00:00"))
    silence_run(database, seconds)

    held = store.is_run_held(store.find_run(RUN))

    assert held is refused
    if refused:
        with pytest.raises(StoreError, match="another process is at work"):
            store.hold_run(RUN, name_lock_process())
        with pytest.raises(StoreError, match="a process is at work"):
            store.delete_run(RUN)
    else:
        store.hold_run(RUN, name_lock_process())


def test_another_machine_of_the_same_name_is_another_machine(store: Store, database: str) -> None:
    """Two containers may share a name; a number of a process of one says nothing in the other."""
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    store.begin_run(run_row(holder=f"{socket.gethostname()}:abcdef:{dead.pid}:1"))

    beating = store.is_run_held(store.find_run(RUN))
    silence_run(database, 61)

    assert (beating, store.is_run_held(store.find_run(RUN))) == (True, False)


def test_whoever_was_taken_over_writes_nothing_but_what_was_paid_for(store: Store, database: str) -> None:
    """Its results, samples and state are refused; replies and outputs are kept beside those of the new holder."""
    lost = store.begin_run(run_row(holder="elsewhere:1:1"))
    silence_run(database, 61)
    held = store.hold_run(RUN, name_lock_process())
    store.write_rows(RowBatch(calls=[call_row(0)], made=[made_row(0)]), hold=held)
    late = RowBatch(
        samples=[sample_row(0)],
        results=[result_row(0)],
        calls=[
            call_row(0, at="2026-11-16T05:12:50+00:00"),
            call_row(1),
            call_row(2, failed="busy", reply=None, kept="none"),
        ],
        made=[made_row(0, content='{"text":"late"}'), made_row(1)],
        drop=[{"run": RUN, "key": key("call", 0), "reply": None, "kept": "none"}],
    )

    with pytest.raises(RunLostError, match=f"another process has taken over run {RUN}"):
        store.write_rows(late, hold=lost)
    with pytest.raises(RunLostError, match="the replies that were paid for here are kept"):
        store.release_run(RUN, "finished", "2026-11-16T07:00:00+00:00", None, hold=lost)

    assert (lost.token, held.token) == (1, 2)
    assert store.find_run(RUN)["state"] == "running"
    assert ([*store.samples(RUN)], [*store.results(RUN)]) == ([], [])
    assert {row["key"]: row["reply"] for row in store.calls(RUN)} == {
        key("call", 0): '{"text":"7"}',
        f"{key('call', 0)} 2026-11-16T05:12:50+00:00": '{"text":"7"}',
        key("call", 1): '{"text":"7"}',
    }
    assert {row["key"]: row["content"] for row in store.list_outputs(RUN)} == {
        key("made", 0): '{"text":"out"}',
        key("made", 1): '{"text":"out"}',
    }


@pytest.mark.parametrize("keep", ["masked", "none"])
def test_whoever_was_taken_over_leaves_no_text_in_a_run_that_keeps_none(store: Store, database: str, keep: str) -> None:
    """The new holder may have dropped its texts already, and nobody would drop these; what they cost is kept."""
    lost = store.begin_run(run_row(holder="elsewhere:1:1", keep=keep))
    silence_run(database, 61)
    store.hold_run(RUN, name_lock_process())
    made = made_row(0, content='{"text":"canary","cost":"0.25","trace":[{"name":"canary"}]}')

    with pytest.raises(RunLostError):
        store.write_rows(RowBatch(calls=[call_row(0, reply='{"text":"canary"}')], made=[made]), hold=lost)

    calls, outputs = [*store.calls(RUN)], [*store.list_outputs(RUN)]
    assert [(row["reply"], row["kept"], row["cost"]) for row in calls] == [(None, "none", "0.00031")]
    assert [json.loads(row["content"]) for row in outputs] == [
        {"text": "", "cost": "0.25", "trace": None, "kept": "none"}
    ]


def test_whose_run_was_deleted_is_told_so(store: Store, database: str) -> None:
    """The sentence of a foreign key would help nobody."""
    lost = store.begin_run(run_row(holder="elsewhere:1:1"))
    silence_run(database, 61)
    store.delete_run(RUN)

    with pytest.raises(RunLostError, match=f"run {RUN} is gone .it was deleted while this process gave no sign"):
        store.write_rows(RowBatch(calls=[call_row(0)]), hold=lost)


def test_a_heartbeat_needs_nobody_and_says_when_the_run_is_lost(
    store: Store, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread of its own: the one that works may wait for minutes."""
    monkeypatch.setattr(run_holds, "BEAT_SECONDS", 0.01)
    hold = store.begin_run(run_row(holder="elsewhere:1:1"))
    silence_run(database, 61)
    lost = threading.Event()

    with store.beat_for_run(hold, lost.set):
        wait_until(lambda: store.is_run_held(store.find_run(RUN)))
        was_lost = lost.is_set()
        execute_statement(database, "UPDATE run_holds SET token = token + 1")
        assert lost.wait(60)

    assert not was_lost


def test_of_many_that_reach_for_a_run_one_gets_it(store: Store, neighbour: "subprocess.Popen[bytes]") -> None:
    """Both look before either writes: the database decides, not the clock."""
    store.begin_run(run_row(state="stopped"))
    holders = [_holder(neighbour.pid), name_lock_process()] * 4

    def reach(holder: str) -> str | None:
        try:
            store.hold_run(RUN, holder)
        except StoreError as error:
            assert "another process is at work" in str(error)
            return None
        return holder

    with ThreadPoolExecutor(8) as pool:
        got = set(pool.map(reach, holders)) - {None}

    assert got == {store.find_run(RUN)["holder"]}


def test_nobody_writes_between_the_look_and_the_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite lets a transaction that has only read be overtaken, and then fails it."""
    others: list[str] = []

    def look(*_: object) -> bool:
        other = sqlite3.connect(tmp_path / "store.sqlite", timeout=0)
        with pytest.raises(sqlite3.OperationalError) as caught:
            other.execute("UPDATE runs SET holder = 'other'")
        other.close()
        others.append(str(caught.value))
        return False

    monkeypatch.setattr(run_holds, "is_run_row_held", look)
    with Store.open(tmp_path, {}) as store:
        store.begin_run(run_row(holder="elsewhere:1:1"))
        store.hold_run(RUN, name_lock_process())

    assert others == ["database is locked"]


def test_a_run_at_work_is_neither_deleted_nor_collected(store: Store, neighbour: "subprocess.Popen[bytes]") -> None:
    """However old it is."""
    store.begin_run(run_row(holder=_holder(neighbour.pid)))

    collected = store.collect_garbage(timedelta(0), now=NOW + timedelta(days=900))

    assert collected.runs == ()
    with pytest.raises(StoreError, match=f"a process is at work on run {RUN}"):
        store.delete_run(RUN)


@pytest.mark.parametrize(
    "act", [lambda store: store.hold_run("x", "h:1:1"), lambda store: store.release_run(RUN, "done", "", None)]
)
def test_what_is_not_there_is_not_taken_nor_let_go(store: Store, act: object) -> None:
    """A run that does not exist, a state that does not exist."""
    store.begin_run(run_row())

    with pytest.raises(StoreError, match=r"no run 'x'|cannot be 'done'"):
        act(store)  # type: ignore[operator]


def _holder(pid: int) -> str:
    began = name_lock_process().rpartition(":")[2]
    if began:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as told:  # noqa: PTH123
            began = told.read().rpartition(")")[2].split()[19]
    return f"{socket.gethostname()}:{pid}:{began}"


def _begun(store: Store, holder: str) -> str:
    id = f"run-{len(store.list_runs())}"
    store.begin_run(run_row(id=id, holder=holder))
    return id
