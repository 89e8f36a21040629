"""A run belongs to the process that beats for it; one that fell silent is taken over, and loses cleanly."""

import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import psycopg

from evenhand.store.store import Store
from tests.runs.chaos.elsewhere import started_elsewhere
from tests.runs.chaos.evals import VARIANTS, Kept, write_eval
from tests.runs.chaos.judges import Judges
from tests.runs.chaos.sittings import by_every_judge, outputs
from tests.store.databases import silence_run
from tests.warm.processes import run, wait_until

SAMPLES = 3
UNDER_WAY = 4  # The eval's concurrency.


def test_a_run_whose_judges_take_minutes_is_neither_resumed_nor_deleted(tmp_path: Path, database: str) -> None:
    """It has written nothing for more than a minute, and beats from another machine."""
    environ = {"EVENHAND_DATABASE_URL": database}
    with Judges() as judges:
        write_eval(tmp_path, judges, SAMPLES)
        judges.hold()
        with started_elsewhere(tmp_path, "run", "eval.yaml", "--json", place=database) as slow:
            wait_until(lambda: judges.asked.total() == UNDER_WAY)
            silence_run(database, 3600)
            wait_until(lambda: _is_held(database))

            resumed = run(tmp_path, "run", "eval.yaml", "--resume", environ=environ)
            deleted = run(tmp_path, "runs", "delete", "latest", environ=environ)
            judges.go_on()
            slow.communicate()

    assert (resumed.code, deleted.code) == (2, 2)
    assert "another process is at work on run" in resumed.err
    assert "a process is at work on run" in deleted.err
    assert [row["state"] for row in Kept(database).runs] == ["finished"]


def test_whoever_was_taken_over_says_so_and_keeps_its_paid_replies(tmp_path: Path, database: str) -> None:
    """A machine that slept wakes up with replies in its hands, and the run is another's by now."""
    with Judges() as judges:
        write_eval(tmp_path, judges, SAMPLES)
        judges.hold()
        with started_elsewhere(tmp_path, "run", "eval.yaml", "--json", place=database) as slept:
            wait_until(lambda: judges.asked.total() == UNDER_WAY)
            _put_to_sleep(slept, database)
            judges.go_on()
            winner = run(
                tmp_path, "run", "eval.yaml", "--resume", "--json", environ={"EVENHAND_DATABASE_URL": database}
            )
            slept.send_signal(signal.SIGCONT)
            _, said = slept.communicate()
        asked = judges.sitting()

    kept, id = Kept(database), winner.head["run"]["id"]
    everything = by_every_judge(outputs(SAMPLES, *VARIANTS))
    assert slept.returncode == 2
    assert said.splitlines()[-1].count(f"another process has taken over run {id}") == 1
    assert "a fault of Evenhand" not in said
    assert [(row["state"], row["holder"]) for row in kept.runs] == [("finished", None)]
    assert asked.total() >= everything.total() + UNDER_WAY
    assert kept.finished() == asked  # What was paid for twice is kept twice.
    assert {len(kept.results())} == {SAMPLES * 2 * len(VARIANTS)}


def _put_to_sleep(process: "subprocess.Popen[str]", database: str) -> None:
    """Stop a process for more than a minute, at a moment when it is not writing."""
    while True:
        process.send_signal(signal.SIGSTOP)
        try:
            silence_run(database, 61)
        except (sqlite3.OperationalError, psycopg.errors.LockNotAvailable):
            process.send_signal(signal.SIGCONT)
            time.sleep(0.1)  # Stopped again at once, it would never get to the end of what it writes.
        else:
            return


def _is_held(database: str) -> bool:
    with Store.open(database, {}, create=False) as store:
        return store.is_run_held(store.find_run("latest"))
