"""`evenhand baseline`: runs pinned under a name, and what protects them."""

import json
from pathlib import Path

import pytest

from evenhand.store.run_holds import name_lock_process
from evenhand.store.store import Store
from tests.cli.command import evenhand
from tests.runs.stored import keep_run

A, B, STOPPED = "20261116-090000-aaaaaa", "20261116-100000-bbbbbb", "20261115-100000-cccccc"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Store.open(tmp_path / ".evenhand", {}) as store:
        keep_run(store, A, {"output": [4.0, 4.5]})
        keep_run(store, B, {"output": [4.0, 4.5]})
        keep_run(store, STOPPED, {"output": [4.0]}, state="stopped")
    return tmp_path


def test_a_baseline_says_what_it_replaces(folder: Path) -> None:
    """And what it is already."""
    told = [evenhand("baseline", "set", run, *name, folder=folder).stdout.strip() for run, name in (
        (A, ()), (A, ("--name", "main")), ("latest", ()), (A, ("--name", "release/2")),
    )]  # fmt: skip

    assert told == [
        f"baseline main is run {A} now",
        f"baseline main is run {A} already",
        f"baseline main is run {B} now; it was {A}",
        f"baseline release/2 is run {A} now",
    ]


def test_a_run_that_is_not_finished_is_refused(folder: Path) -> None:
    """With what would finish it."""
    done = evenhand("baseline", "set", STOPPED, folder=folder)

    assert done.returncode == 2
    assert f"run {STOPPED} is stopped, not finished (a baseline is a finished run: " in done.stderr
    assert "evenhand run EVAL --resume finishes it)" in done.stderr


def test_a_run_that_nobody_works_on_is_killed_and_not_running(folder: Path) -> None:
    """As the list of runs calls it; one that is at work is waited for."""
    with Store.open(folder / ".evenhand", {}) as store:
        store.hold_run(
            STOPPED, f"{name_lock_process()}9"
        )  # A number that was given out again: its first owner is dead.
    killed = evenhand("baseline", "set", STOPPED, folder=folder).stderr
    with Store.open(folder / ".evenhand", {}) as store:
        store.hold_run(STOPPED, name_lock_process())
    running = evenhand("baseline", "set", STOPPED, folder=folder).stderr

    assert f"run {STOPPED} is running, not finished (a baseline is a finished run: wait for its end)" in running
    assert f"run {STOPPED} is killed, not finished (a baseline is a finished run: evenhand run EVAL --resume" in killed


def test_baselines_are_listed_and_removed(folder: Path) -> None:
    """The run stays."""
    nothing = evenhand("baseline", "list", folder=folder).stdout
    evenhand("baseline", "set", A, folder=folder)
    table = evenhand("baseline", "list", folder=folder).stdout
    (row,) = json.loads(evenhand("baseline", "list", "--json", folder=folder).stdout)
    removed = evenhand("baseline", "remove", "main", folder=folder)
    again = evenhand("baseline", "remove", "main", folder=folder)

    assert nothing == "no baseline yet: evenhand baseline set RUN --name main\n"
    assert table.splitlines()[1].split()[:3] == ["main", A, "desk"]
    assert (row["name"], row["run"], row["eval"]) == ("main", A, "desk")
    assert removed.stdout == f"baseline main is gone; run {A} stays\n"
    assert (again.returncode, "no baseline 'main'" in again.stderr) == (2, True)


def test_a_baseline_is_deleted_only_by_whoever_says_so(folder: Path) -> None:
    """The next comparison in continuous integration would not know why it fails."""
    evenhand("baseline", "set", A, folder=folder)

    refused = evenhand("runs", "delete", A, folder=folder)
    done = evenhand("runs", "delete", A, "--baseline", folder=folder)

    assert (refused.returncode, done.returncode) == (2, 0)
    assert f"run {A} is the baseline main (evenhand baseline remove main first, or delete it with --baseline)" in (
        refused.stderr
    )
    assert done.stdout == f"run {A} is gone\n"


def test_every_command_takes_a_baseline_for_a_run(folder: Path) -> None:
    """A name that only one command knows is no name."""
    evenhand("baseline", "set", A, folder=folder)

    shown = json.loads(evenhand("runs", "show", "baseline:main", "--json", folder=folder).stdout)

    assert shown["run"]["id"] == A
