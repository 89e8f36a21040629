"""A log that was changed is noticed: nothing of it is shown, and nobody is paid."""

import json
import shutil
import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evenhand.store.contest_seals import hash_stored_contest_event, seal_contest_row
from evenhand.store.tables import CONTESTS as CONTESTS_TABLE
from evenhand.store.tables import EVENTS as EVENTS_TABLE
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
    "the name": "UPDATE contests SET name = 'other'",
    "the task": "UPDATE contests SET source = ''",
    "whose contest it is": "UPDATE contests SET key = NULL",
    "whose contest it is, for another's": "UPDATE contests SET key = '[\"other\",null]'",
    "the state": "UPDATE contests SET state = 'stopped'",
}

LAST = "(SELECT max(number) FROM contest_events)"
ADD = "INSERT INTO contest_events SELECT contest, number + {}, at, content, calls, hash FROM contest_events"
ENDS = {
    "one more with the same hash": (f"{ADD.format(1)} WHERE number = {LAST}",),
    "one far behind with the same hash": (f"{ADD.format(50)} WHERE number = {LAST}",),
    "one before the first": (f"{ADD.format(-1)} WHERE number = 0",),
    "one in between stands before the first": (f"{EVENTS} number = -1 WHERE number = 3",),
    "one in between has no whole number": (f"{EVENTS} number = 1.5 WHERE number = 1",),
    "one in between is gone, and another is there twice": (
        "DELETE FROM contest_events WHERE number = 3",
        f"{ADD.format(0.5)} WHERE number = 2",
    ),
    "one in between is gone": (CHANGES["an event in between"],),
    "the last is gone, and the one before has its hash": (
        f"{EVENTS} hash = (SELECT hash FROM contest_events WHERE number = {LAST}) WHERE number = {LAST} - 1",
        CHANGES["the last event"],
    ),
}
WRONG_TYPES = ("CAST({} AS BLOB)", "x'ff00'", "'x'", "3.5", "NULL")
COLUMNS = [
    *(("contests", "id", column.name) for column in CONTESTS_TABLE.columns),
    *(("contest_events", f"number = {place} AND contest", column.name)
      for column in EVENTS_TABLE.columns for place in (0, LAST)),
]  # fmt: skip


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the example has been played."""
    folder = copied(tmp_path_factory.mktemp("played"))
    assert contest(folder, *RUN).returncode == 0
    return folder


@pytest.fixture(scope="module")
def two(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the example has been played twice, with a copy of its store."""
    folder = Path(shutil.copytree(played, tmp_path_factory.mktemp("two") / "desk"))
    assert contest(folder, *RUN, "--again", "second").returncode == 0
    shutil.copy(folder / ".evenhand" / "store.sqlite", folder / "intact")
    return folder


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "desk"))


def change_store(folder: Path, statement: str) -> int:
    with closing(sqlite3.connect(folder / ".evenhand" / "store.sqlite")) as database:
        changed = database.execute(statement).rowcount
        database.commit()
    return changed


def hash_anew(folder: Path) -> None:
    """What somebody who knows the code would do after a change."""
    with closing(sqlite3.connect(folder / ".evenhand" / "store.sqlite")) as database:
        database.row_factory = sqlite3.Row
        last = ""
        for row in database.execute("SELECT * FROM contest_events ORDER BY number").fetchall():
            last = hash_stored_contest_event(last, dict(row))
            database.execute("UPDATE contest_events SET hash = ? WHERE number = ?", (last, row["number"]))
        row = dict(database.execute("SELECT * FROM contests").fetchone())
        database.execute("UPDATE contests SET seal = ?", (seal_contest_row(last, row),))
        database.commit()


def test_answers_that_the_replies_do_not_give_are_found_though_all_hashes_fit(folder: Path) -> None:
    """The judges are asked again by what they said: a score in the log that no reply has is not theirs."""
    verified = json.loads(contest(folder, "verify", "latest", "--json").stdout)
    assert change_store(folder, CHANGES["the scores of the final"]) > 0
    hash_anew(folder)

    done = contest(folder, "verify", "latest")

    assert (verified["replayed"] >= 8, verified["not_replayed"]) == (True, [])
    assert done.returncode == 2
    assert "are not what the replies behind them say" in done.stderr


def test_replies_without_their_questions_are_said_not_to_be_read_again(folder: Path) -> None:
    """As in logs of older versions; where this version asked, they would be there."""
    name = '"evenhand":'
    changed = change_store(folder, f"{EVENTS} calls = replace(calls, '\"key\":', '\"other\":') WHERE number > 0")
    hash_anew(folder)
    ours = contest(folder, "verify", "latest")
    change_store(folder, f"{EVENTS} calls = replace(calls, '{name}', '\"was\":') WHERE number = 0")
    hash_anew(folder)

    older = contest(folder, "verify", "latest")

    assert changed > 0
    assert (ours.returncode, older.returncode) == (2, 0)
    assert "not read again, as another version asked: event " in older.stdout


def test_a_contest_whose_key_was_taken_away_is_still_that_of_its_task(folder: Path) -> None:
    """By its log, also where the seal was made anew: a second one does not pay again."""
    change_store(folder, "UPDATE contests SET key = NULL, name = 'other'")
    hash_anew(folder)

    done = contest(folder, *RUN)

    assert (done.returncode, done.stdout) == (2, "")
    assert "the store was changed by something else: nothing is shown or paid" in done.stderr


NO_FIRST = "DELETE FROM contest_events WHERE number = 0"
BEGINNINGS = {
    "the first event and the key": (NO_FIRST, CHANGES["whose contest it is"]),
    "the first event and the key, for another's": (NO_FIRST, CHANGES["whose contest it is, for another's"]),
    "the number of the first event, and the key": (
        f"{EVENTS} number = 99 WHERE number = 0",
        CHANGES["whose contest it is"],
    ),
    "the type of the first event, and the key": (
        f"{EVENTS} content = x'ff', calls = x'ff' WHERE number = 0",
        CHANGES["whose contest it is"],
    ),
    "all events and the key": (CHANGES["all events"], CHANGES["whose contest it is"]),
    "the name and the key": (CHANGES["the name"], CHANGES["whose contest it is"]),
    "the name, the key and what is kept beside the first event": (
        CHANGES["the name"],
        CHANGES["whose contest it is"],
        f"{EVENTS} calls = '[]' WHERE number = 0",
    ),
}


ORPHANS = {
    "the row is gone": "DELETE FROM contests",
    "the row has another id": "UPDATE contests SET id = 'zz', name = 'q', key = 'q'",
    "the row has values of another type": "UPDATE contests SET id = x'ff', name = x'ff', key = x'ff'",
    "the log has another id": f"{EVENTS} contest = 'zz'",
}


@pytest.mark.parametrize("name", ORPHANS)
def test_a_task_whose_log_has_no_row_does_not_begin_again(folder: Path, name: str) -> None:
    """By its first event, which nobody touched, it is that of the task, and was paid; it is listed as damaged."""
    id = json.loads(contest(folder, "list", "--json").stdout)[0]["id"]
    change_store(folder, ORPHANS[name])
    if name == "the log has another id":
        id = "zz"
        change_store(folder, "UPDATE contests SET name = 'q', key = 'q'")
    text = (folder / RUN[1]).read_text("utf-8")
    (folder / "other.yaml").write_text(text.replace("name: returns-answer", "name: other-task"), "utf-8")

    refused = [contest(folder, *RUN), contest(folder, *RUN, "--resume")]
    listed = {one["id"]: one for one in json.loads(contest(folder, "list", "--json").stdout)}
    of_task = json.loads(contest(folder, "list", "--name", "returns-answer", "--json").stdout)
    on_purpose = contest(folder, *RUN, "--again", "second")
    other = contest(folder, "run", "other.yaml", *RUN[2:])

    assert [(one.returncode, one.stdout) for one in refused] == [(2, "")] * 2
    assert all(f"contest {id} of 'returns-answer' is damaged" in one.stderr for one in refused)
    assert all("its log is there without its row" in one.stderr for one in refused)
    assert (listed[id]["state"], listed[id]["task"]) == ("damaged", "returns-answer")
    assert [one["id"] for one in of_task] == [id]
    assert (on_purpose.returncode, other.returncode) == (0, 0), on_purpose.stderr + other.stderr


def test_a_repetition_whose_log_has_no_row_is_still_that_repetition(two: Path, tmp_path: Path) -> None:
    """Its log says which one it was: it does not begin again, and others do."""
    folder = Path(shutil.copytree(two, tmp_path / "desk"))
    shutil.copy(two / "intact", folder / ".evenhand" / "store.sqlite")
    assert change_store(folder, "DELETE FROM contests WHERE key LIKE '%second%'") == 1

    done = [contest(folder, *RUN, *again).returncode for again in (("--again", "second"), ("--again", "third"), ())]

    assert done == [2, 0, 4]


@pytest.mark.parametrize("name", BEGINNINGS)
def test_a_task_whose_contest_was_damaged_does_not_begin_again(folder: Path, name: str) -> None:
    """Whatever is left of it, it may have been paid; another one is begun on purpose, and other tasks go on."""
    [kept] = json.loads(contest(folder, "list", "--json").stdout)
    for statement in BEGINNINGS[name]:
        assert change_store(folder, statement) > 0
    text = (folder / RUN[1]).read_text("utf-8")
    (folder / "other.yaml").write_text(text.replace("name: returns-answer", "name: other-task"), "utf-8")

    refused = [contest(folder, *RUN), contest(folder, *RUN, "--resume"), contest(folder, "create", RUN[1])]
    on_purpose = contest(folder, *RUN, "--again", "second")
    other = contest(folder, "run", "other.yaml", *RUN[2:])

    assert [(one.returncode, one.stdout) for one in refused] == [(2, "")] * 3
    assert all(f"contest {kept['id']} of 'returns-answer' is damaged" in one.stderr for one in refused[:2])
    assert (on_purpose.returncode, other.returncode) == (0, 0), on_purpose.stderr + other.stderr


def test_a_repetition_whose_key_was_taken_away_is_still_that_repetition(two: Path, tmp_path: Path) -> None:
    """By its seal, though its log does not say any more which one it was."""
    folder = Path(shutil.copytree(two, tmp_path / "desk"))
    second = "(SELECT id FROM contests WHERE key LIKE '%second%')"
    assert change_store(folder, f"{NO_FIRST} AND contest = {second}") == 1
    assert change_store(folder, f"UPDATE contests SET key = NULL WHERE id = {second}") == 1

    done = [contest(folder, *RUN, "--again", name).returncode for name in ("second", "third")]

    assert (done, contest(folder, *RUN).returncode) == ([2, 0], 4)


@pytest.mark.parametrize("change", ["at = 'zzz'", "at = '2026-01-01'", "at = x'ff'", "file = x'ff'", "digest = x'ff'"])
def test_a_receipt_of_another_type_is_told_as_damage(folder: Path, change: str) -> None:
    """With the file and the column, and not as a fault of Evenhand."""
    one = "file = (SELECT min(file) FROM contest_receipts)"
    assert change_store(folder, f"UPDATE contest_receipts SET {change} WHERE {one}") == 1

    done = contest(folder, *RUN)

    assert (done.returncode, done.stdout) == (2, "")
    assert ": the receipt of " in done.stderr
    assert f" was changed: {change.partition(' ')[0]} is not what it was (the store was changed" in done.stderr


def test_other_terms_are_told_from_a_log_that_verifies_only(folder: Path) -> None:
    """They stand in its first event, and that is gone."""
    change_store(folder, NO_FIRST)
    assert change_store(folder, "UPDATE contests SET digest = 'x'") > 0

    done = contest(folder, *RUN)

    assert (done.returncode, done.stdout) == (2, "")
    assert "is not what was written, or one before it is missing" in done.stderr


@pytest.mark.parametrize("head", ["abc", "0" * 63, "g" * 64, "A" * 64])
def test_what_is_no_hash_is_not_taken_for_tampering(folder: Path, head: str) -> None:
    """A typo is the operator's, and is told as one."""
    done = contest(folder, "verify", "latest", "--head", head)

    assert done.returncode == 2
    assert "--head: " in done.stderr
    assert "is not the hash of an event" in done.stderr
    assert "changed by something else" not in done.stderr


def test_a_deliberate_repetition_is_listed_and_shown_by_its_name(folder: Path) -> None:
    """Otherwise two contests of a task look the same."""
    contest(folder, *RUN, "--again", "second", "--until", "2026-11-06T00:00:00+01:00")

    listed = json.loads(contest(folder, "list", "--json").stdout)

    assert [one["again"] for one in listed] == ["second", None]
    assert "(again: second)" in " ".join(contest(folder, "list").stdout.split())
    assert "again: second · " in contest(folder, "show", "latest").stdout
    assert json.loads(contest(folder, "show", "latest", "--json").stdout)["again"] == "second"


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


@pytest.mark.parametrize("change", ENDS.values(), ids=list(ENDS))
def test_a_list_notices_events_that_were_added_or_removed_under_a_hash_that_is_sealed(
    folder: Path, change: tuple[str, ...]
) -> None:
    """The last event has its number, is the last of so many, and its hash follows from the one before."""
    for statement in change:
        assert change_store(folder, statement) > 0

    (listed,) = json.loads(contest(folder, "list", "--json").stdout)

    assert listed["state"] == "damaged"


@pytest.mark.parametrize(("table", "row", "column"), COLUMNS)
def test_a_value_of_a_wrong_type_is_damage_of_its_contest_alone(two: Path, table: str, row: str, column: str) -> None:
    """SQLite takes any type anywhere: the other contest is listed, shown and gone on with, and no command fails."""
    shutil.copy(two / "intact", two / ".evenhand" / "store.sqlite")
    (damaged, other) = (one["id"] for one in json.loads(contest(two, "list", "--json").stdout))
    for value in WRONG_TYPES if column == "number" else (WRONG_TYPES[0], WRONG_TYPES[1], WRONG_TYPES[-1]):
        shutil.copy(two / "intact", two / ".evenhand" / "store.sqlite")
        with suppress(sqlite3.IntegrityError):  # Nor can anybody else write what the database refuses.
            change_store(two, f"UPDATE {table} SET {column} = {value.format(column)} WHERE {row} = '{damaged}'")

        listed = contest(two, "list", "--json")
        states = {one["id"]: one["state"] for one in json.loads(listed.stdout)}
        latest = contest(two, "show", "latest")
        its = [contest(two, *told) for told in (("verify", damaged), (*RUN, "--again", "second"))]
        others = [contest(two, *told) for told in (("verify", other), RUN)]

        assert (len(states) >= 2, states[other]) == (True, "finished"), value  # A log may be listed without its row.
        if "damaged" in states.values():
            assert [one.returncode for one in its] == [2, 2], value
            assert latest.returncode == 2 or other in latest.stdout, value
        assert 3 not in [one.returncode for one in (latest, *its)], value
        assert [one.returncode for one in others] == [0, 4], value


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
    assert f"contest {data['id']}: the {data['events']} events are unchanged since they were written" in " ".join(
        done.stdout.split()
    )


def test_a_log_that_was_written_anew_is_found_by_a_hash_noted_elsewhere(folder: Path) -> None:
    """Whoever can write the store can make all hashes anew; the one that left the store stays what it was."""
    head = json.loads(contest(folder, "verify", "latest", "--json").stdout)["head"]
    change_store(folder, CHANGES["the reward"])
    hash_anew(folder)

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


def test_what_is_listed_is_sealed_or_not_shown(folder: Path) -> None:
    """Times and signs of life in a row are no part of its seal: a list takes its times from the id and the summary."""
    before = json.loads(contest(folder, "list", "--json").stdout)
    started = change_store(
        folder,
        "UPDATE contests SET started = '1999-01-01T00:00:00+00:00', ended = '1999-01-02T00:00:00+00:00', "
        "touched = '1999-01-03T00:00:00+00:00', holder = 'elsewhere:1:1', wakes = '1999-01-04T00:00:00+00:00'",
    )

    after = json.loads(contest(folder, "list", "--json").stdout)

    assert started == 1
    assert after == before
    (one,) = after
    assert f"{datetime.fromisoformat(one['started']):%Y%m%d-%H%M%S}" == one["id"][:15]
    assert one["ended"] > one["started"]
