"""What a stranger puts into the folder of submissions moves neither places nor the payment of others."""

import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.contest_example import REPLAY, change, contest, copied, fastest, one_line, without

RUN = ("run", "task.yaml", "submissions", *REPLAY, "--json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copied(tmp_path)


def attack(folder: Path, name: str, text: str) -> None:
    """A file that is in the folder, and that the operator has given to somebody called rival."""
    (folder / "submissions" / name).write_text(text, "utf-8")
    row = {"file": name, "author": "rival", "at": "2026-11-08T10:00:00+01:00"}
    with (folder / "submissions.index.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


BEST = "\n".join(["You can return a parcel within 30 days of delivery."])
ATTACKS = {
    "another's place": f"---\nauthor: kestrel\nrevises: kestrel\n---\n{BEST}",
    "an earlier date": f"---\nat: 2026-11-01T00:00:00+01:00\n---\n{BEST}",
    "another's id": f"---\nid: kestrel\n---\n{BEST}",
    "no UTF-8": "---\nid: [\n---\n",
    "a wrong field": "---\nauthr: kestrel\n---\n",
}


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("mode", ["quality_first", "fastest_first"])
def test_a_file_that_claims_what_is_not_its_own_is_set_aside_alone(folder: Path, name: str, mode: str) -> None:
    """The others are ranked and paid as if it were not there; it is told with its reason and its author."""
    if mode == "fastest_first":
        fastest(folder)
    alone = json.loads(contest(folder, *RUN, "--again", "alone").stdout)
    attack(folder, "rival.md", ATTACKS[name])

    done = contest(folder, *RUN)

    record = json.loads(done.stdout)
    assert done.returncode == 0
    assert record["payment"]["author"] == alone["payment"]["author"] == "kestrel"
    assert [(one["id"], one["score"]) for one in record["submissions"]] == [
        (one["id"], one["score"]) for one in alone["submissions"]
    ]
    assert [(one["file"], one["author"]) for one in record["set_aside"]] == [("rival.md", "rival")]


def test_what_is_set_aside_is_shown_to_people(folder: Path) -> None:
    """On the terminal, when it is played and later."""
    attack(folder, "rival.md", ATTACKS["another's place"])

    done = contest(folder, *RUN[:-1])
    shown = contest(folder, "show", "latest")

    for said in (done, shown):
        told = "Set aside rival.md by rival: claims author 'kestrel'; the intake says 'rival' (who and when is said by"
        assert told in one_line(said.stdout)


def test_a_file_written_after_the_deadline_is_late_whatever_it_says(folder: Path) -> None:
    """Without an index a receipt says when it came: the clock of this machine, not the time of change."""
    (folder / "submissions.index.jsonl").unlink()
    for file in (folder / "submissions").iterdir():
        text = file.read_text("utf-8").split("---\n", 2)[2]
        file.write_text(text, "utf-8")
        os.utime(file, (1762000000, 1762000000))

    record = json.loads(contest(folder, *RUN, "--until", "now").stdout)

    assert (record["winner"], record["submissions"]) == (None, [])
    assert {one["why"].partition(" (")[0] for one in record["refused"]} == {"the submission is late"}


def test_what_is_exchanged_after_it_was_received_does_not_count(folder: Path) -> None:
    """A rival who can write into the folder replaces a text between two runs: what was received is ranked."""
    first = contest(folder, *RUN, "--until", "2026-11-06T00:00:00+01:00")
    (folder / "submissions" / "kestrel.md").write_text("Nothing.", "utf-8")

    record = json.loads(contest(folder, *RUN).stdout)

    assert first.returncode == 1
    assert record["payment"]["author"] == "kestrel"
    assert [one["file"] for one in record["set_aside"]] == ["kestrel.md"]


def remove(file: Path) -> None:
    file.unlink()


def link(file: Path) -> None:
    file.unlink()
    file.symlink_to("/etc/hostname")


def garble(file: Path) -> None:
    file.write_bytes(b"\xff\xfe\x00")


def shut(file: Path) -> None:
    file.unlink()
    file.mkdir()


@pytest.mark.parametrize("spoil", [remove, link, garble, shut])
@pytest.mark.parametrize("index", [True, False])
def test_nobody_is_paid_less_because_no_file_is_left(folder: Path, spoil: Callable[[Path], None], index: bool) -> None:
    """Whoever has the last file that can be read would decide whether the winner is paid."""
    before = contest(folder, *RUN, "--until", "2026-11-09T17:59:00+01:00")
    if not index:
        (folder / "submissions.index.jsonl").unlink()
    files = list((folder / "submissions").iterdir())
    for file in files:
        spoil(file)

    done = contest(folder, *RUN)

    assert (before.returncode, done.returncode) == (1, 0), done.stderr
    record = json.loads(done.stdout)
    assert (record["payment"]["author"], record["payment"]["newly_released"]) == ("kestrel", True)
    assert {one["file"] for one in record["set_aside"]} == {file.name for file in files}


def test_what_was_received_before_a_contest_could_begin_lets_it_begin(folder: Path) -> None:
    """The judge who chooses dimensions was away when the only file came, and then its author took it back."""
    task, kept = folder / "task.yaml", folder / "submissions" / "kestrel.md"
    change(task, "2026-11-09T18:00:00+01:00", "2126-11-09T18:00:00+01:00")
    without(task, "dimensions")
    (folder / "little.jsonl").write_text((folder / "replies.jsonl").read_text().splitlines()[0])
    (folder / "submissions.index.jsonl").unlink()
    for file in (folder / "submissions").iterdir():
        file.unlink()
    kept.write_text("You can return a parcel.")
    away = contest(folder, *RUN[:3], "--replay", "little.jsonl", "--until", "now")
    kept.unlink()

    done = contest(folder, *RUN, "--until", "now")

    assert (away.returncode, done.returncode) == (2, 1), done.stderr
    record = json.loads(done.stdout)
    assert (record["state"], [one["file"] for one in record["set_aside"]]) == ("open", ["kestrel.md"])


@pytest.mark.parametrize("days", [400, -400])
@pytest.mark.parametrize("begun", [True, False])
def test_a_clock_that_jumped_writes_no_receipt(folder: Path, begun: bool, days: int) -> None:
    """Else a late file is in time, or all that come later count a year ahead; a first run has only receipts to go by."""
    assert contest(folder, *RUN, "--until", "2026-11-06T00:00:00+01:00").returncode == 1
    moved = (datetime.now(UTC) + timedelta(days=days)).isoformat()  # As if the clock had jumped the other way.
    sign = f"UPDATE contests SET touched = '{moved}'" if begun else f"UPDATE contest_receipts SET at = '{moved}'"
    change_store(folder, sign, *([] if begun else ["DELETE FROM contest_events", "DELETE FROM contests"]))
    before = receipts(folder)
    attack(folder, "late.md", BEST)

    done = contest(folder, *RUN, "--until", "now")

    is_seen = begun or days > 0  # Whoever runs again a year after the first files may be right.
    assert (done.returncode == 2, receipts(folder) == before) == (is_seen, is_seen), done.stderr
    last = f"the last {'sign of contest' if begun else 'receipt for'} "
    assert f"400 days {'before' if days > 0 else 'after'} {last}" in done.stderr or not is_seen


def receipts(folder: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(folder / ".evenhand" / "store.sqlite")) as database:
        return database.execute("SELECT file, at FROM contest_receipts ORDER BY file").fetchall()


def change_store(folder: Path, *statements: str) -> None:
    """By hand, without what a store looks at."""
    with closing(sqlite3.connect(folder / ".evenhand" / "store.sqlite")) as database:
        for statement in statements:
            assert database.execute(statement).rowcount
        database.commit()


@pytest.mark.parametrize("stored", [True, False])
def test_a_folder_in_which_nothing_ever_was_is_told_of(folder: Path, stored: bool) -> None:
    """It is more likely a wrong path: no contest begins, also where others are stored beside it."""
    if stored:
        contest(folder, *RUN, "--again", "other")
    (folder / "empty").mkdir()

    done = contest(folder, "run", "task.yaml", "empty", *REPLAY)

    assert done.returncode == 2
    assert done.stderr.startswith("empty: there are no submissions in it (files that end in ")
    assert (folder / ".evenhand").exists() is stored


def test_a_folder_that_is_not_there_is_told_of_whatever_was_received(folder: Path) -> None:
    """That is no doing of an author."""
    contest(folder, *RUN, "--until", "2026-11-09T17:59:00+01:00")

    done = contest(folder, "run", "task.yaml", "submission", *REPLAY)

    assert (done.returncode, done.stderr) == (2, "submission: cannot be read: no such file or directory\n")
