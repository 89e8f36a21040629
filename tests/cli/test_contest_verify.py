"""A log that was changed is noticed: nothing of it is shown, and nobody is paid."""

import json
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evenhand.store.contest_store import hash_stored_contest_event, seal_stored_contest_summary
from tests.cli.contest_example import REPLAY, contest, copied

RUN = ("run", "task.yaml", "submissions", *REPLAY)
EVENTS = "UPDATE contest_events SET"
# What somebody with the file of the store could change, and what would follow if nobody looked.
CHANGES = {
    "the scores of the final": f"{EVENTS} content = replace(content, '\"score\":90', '\"score\":10') "
    "WHERE content LIKE '%\"ranked\"%'",
    "the author of the winner": f'{EVENTS} content = replace(content, \'"author":"kestrel"\', \'"author":"rival"\')',
    "the reward": f"{EVENTS} content = replace(content, 'invoice 2026-118', 'invoice 666') WHERE number = 0",
    "a reply": f"{EVENTS} calls = replace(calls, 'yes', 'no') WHERE number = 2",
    "a time": f"{EVENTS} at = '2020-01-01T00:00:00+00:00' WHERE number = 3",
    "a hash": f"{EVENTS} hash = 'x' WHERE number = 3",
    "no hash": f"{EVENTS} hash = NULL WHERE number = 3",
    "an event in between": "DELETE FROM contest_events WHERE number = 4",
    "the last event": "DELETE FROM contest_events WHERE number = (SELECT max(number) FROM contest_events)",
    "all events": "DELETE FROM contest_events",
    "the winner that is listed": "UPDATE contests SET summary = replace(summary, 'kestrel', 'rival')",
    "the seal": "UPDATE contests SET seal = NULL",
}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the example has been played."""
    folder = copied(tmp_path_factory.mktemp("played"))
    assert contest(folder, *RUN).returncode == 0
    return folder


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "desk"))


def change_store(folder: Path, statement: str) -> int:
    with closing(sqlite3.connect(folder / ".evenhand" / "store.sqlite")) as database:
        changed = database.execute(statement).rowcount
        database.commit()
    return changed


@pytest.mark.parametrize("name", CHANGES)
def test_a_row_that_was_changed_is_refused_by_every_command(folder: Path, name: str) -> None:
    """With what was found; the exit code pays nobody."""
    assert change_store(folder, CHANGES[name]) > 0

    refused = [
        contest(folder, *arguments)
        for arguments in (
            ("verify", "latest"), ("show", "latest"), ("show", "latest", "--json"), RUN, ("report", "latest", "--json"),
        )
    ]  # fmt: skip

    assert [done.returncode for done in refused] == [2] * 5
    assert [done.stdout for done in refused] == [""] * 5
    for done in refused:
        assert "the store was changed by something else: nothing is shown or paid" in done.stderr


@pytest.mark.parametrize("name", ["the last event", "the winner that is listed", "the seal"])
def test_a_list_repeats_nothing_of_what_was_changed(folder: Path, name: str) -> None:
    """The winner in it stands beside the log, and is bound to it."""
    change_store(folder, CHANGES[name])

    (listed,) = json.loads(contest(folder, "list", "--json").stdout)

    assert (listed["state"], listed["winner"]) == ("damaged", None)


def test_a_list_tells_the_changed_from_the_others(folder: Path) -> None:
    """Each contest by its own log, however many events the others have."""
    for name in ("second", "third"):
        contest(folder, *RUN, "--again", name, "--until", "2026-11-06T00:00:00+01:00")
    before = [one["state"] for one in json.loads(contest(folder, "list", "--json").stdout)]
    change_store(folder, "UPDATE contests SET summary = replace(summary, 'kestrel', 'rival') WHERE state = 'finished'")

    after = [one["state"] for one in json.loads(contest(folder, "list", "--json").stdout)]

    assert (before, after) == (["waiting", "waiting", "finished"], ["waiting", "waiting", "damaged"])


def test_a_payment_that_is_due_is_not_released_from_a_changed_log(folder: Path) -> None:
    """The last event, by which it was released, is gone: it is not released a second time."""
    change_store(folder, CHANGES["the last event"])
    change_store(folder, "UPDATE contests SET state = 'stopped'")

    done = contest(folder, *RUN)

    assert done.returncode == 2
    assert "events at its end are missing" in done.stderr


def test_a_contest_that_was_not_changed_verifies(played: Path) -> None:
    """With its winner, its payment and the hash of its last event, to be noted elsewhere."""
    data = json.loads(contest(played, "verify", "latest", "--json").stdout)
    done = contest(played, "verify", data["id"], "--head", data["head"])

    assert (data["state"], data["winner"], data["payment"]) == ("closed", "kestrel", f"pay-{data['id']}")
    assert done.returncode == 0
    assert f"contest {data['id']}: {data['events']} events are what was written" in done.stdout


def test_a_log_that_was_written_anew_is_found_by_a_hash_noted_elsewhere(folder: Path) -> None:
    """Whoever can write the store can make all hashes anew; the one that left the store stays what it was."""
    head = json.loads(contest(folder, "verify", "latest", "--json").stdout)["head"]
    change_store(folder, CHANGES["the reward"])
    with closing(sqlite3.connect(folder / ".evenhand" / "store.sqlite")) as database:
        database.row_factory = sqlite3.Row
        last = ""
        for row in database.execute("SELECT * FROM contest_events ORDER BY number").fetchall():
            last = hash_stored_contest_event(last, dict(row))
            database.execute("UPDATE contest_events SET hash = ? WHERE number = ?", (last, row["number"]))
        (summary,) = database.execute("SELECT summary FROM contests").fetchone()
        database.execute("UPDATE contests SET seal = ?", (seal_stored_contest_summary(last, summary),))
        database.commit()

    plain, held = contest(folder, "verify", "latest"), contest(folder, "verify", "latest", "--head", head)

    assert (plain.returncode, held.returncode) == (0, 2)
    assert f"has the hash {head}" in held.stderr


@pytest.mark.parametrize(("days", "side"), [(400, "after"), (-400, "before")])
def test_a_clock_that_jumps_closes_nothing(tmp_path: Path, days: int, side: str) -> None:
    """The contest stays as it was, and goes on once the clock is right, or the jump is said to be."""
    folder = copied(tmp_path)
    early = ("--until", "2026-11-06T00:00:00+01:00")
    assert contest(folder, *RUN, *early).returncode == 1
    before = contest(folder, "show", "latest").stdout
    # The clock did not jump: the last sign of the contest is moved the other way.
    touched = (datetime.now(UTC) - timedelta(days=days)).isoformat()
    change_store(folder, f"UPDATE contests SET touched = '{touched}'")

    refused = contest(folder, *RUN)
    kept = contest(folder, "show", "latest").stdout
    right = contest(folder, *RUN, "--longest-gap", "500 days")

    assert refused.returncode == 2
    assert f" 400 days {side} the last sign of contest " in refused.stderr
    assert "if it is right, name a longer time: --longest-gap '401 days'" in refused.stderr
    assert kept == before
    assert right.returncode == 0


def test_a_gap_is_a_length_of_time(tmp_path: Path) -> None:
    """With its unit."""
    done = contest(copied(tmp_path), *RUN, "--longest-gap", "3")

    assert done.returncode == 2
    assert "--longest-gap 3 has no unit (as in 3 days" in done.stderr
