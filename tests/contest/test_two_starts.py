"""One contest, one payment, and one call that reports it: for two starts at once, and for one that is cut off."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from evenhand import StoreError
from evenhand.store.store import Store
from tests.cli.command import evenhand
from tests.cli.contest_example import copied, fastest
from tests.contest.answering import server
from tests.contest.building import task
from tests.contest.playing import handed_in, play
from tests.soak import often
from tests.store.databases import cut_commit, database, new_database, postgresql_server
from tests.warm.processes import module_command

__all__ = ["database", "postgresql_server"]


def test_two_starts_release_one_payment(database: str, tmp_path: Path) -> None:
    """Neither knows of the other, as under a cron that overlaps; whoever loses is told so by its exit code."""
    folder, rounds = copied(tmp_path / "desk"), often(5, 200)
    fastest(folder)
    for number in range(rounds):
        shutil.copy(folder / "task.yaml", folder / f"{number}.yaml")
        text = (folder / "task.yaml").read_text("utf-8").replace("name: returns-answer", f"name: task-{number}")
        (folder / f"{number}.yaml").write_text(text, "utf-8")
    command = module_command("tests.contest.starting", database)
    told = []

    with (
        subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as one,
        subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other,
    ):
        for number in range(rounds):
            for process in (one, other):
                assert process.stdin is not None
                process.stdin.write(f"{number}.yaml\n")
                process.stdin.flush()
            told.append([json.loads(process.stdout.readline()) for process in (one, other) if process.stdout])

    codes = [sorted(code for code, _ in pair) for pair in told]
    assert [pair for pair in codes if pair not in ([0, 2], [0, 4])] == []
    with Store.open(database, {}, create=False) as store:
        ids = [row["id"] for row in store.contests.list_contests()]
        assert len(ids) == rounds
        released = [row for id in ids for row in store.contests.stream_events(id) if '"released"' in row["content"]]
        assert len(released) == rounds
    new = [paid["id"] for pair in told for code, paid in pair if code == 0 and paid["newly_released"]]
    assert sorted(new) == sorted(f"pay-{id}" for id in ids)


@pytest.mark.parametrize(("is_forwarded", "codes"), [(True, [0, 4]), (False, [2, 0])])
def test_a_call_that_is_cut_off_as_it_releases_knows_whether_it_did(
    postgresql_server: str, tmp_path: Path, is_forwarded: bool, codes: list[int]
) -> None:
    """Where the answer of the server is lost and the payment released, no later call would ever exit with 0."""
    folder = copied(tmp_path / "desk")
    fastest(folder)
    command = ("contest", "run", "task.yaml", "submissions", "--replay", "replies.jsonl")

    with new_database(postgresql_server) as address:
        with cut_commit(address, b'"released"', is_forwarded=is_forwarded) as cut:
            first = evenhand(*command, folder=folder, EVENHAND_DATABASE_URL=cut)
        later = evenhand(*command, folder=folder, EVENHAND_DATABASE_URL=address)

    assert [first.returncode, later.returncode] == codes, first.stderr + later.stderr
    assert "not known" not in first.stderr


def test_a_call_that_cannot_find_out_whether_it_released_says_so(
    postgresql_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server stays away, so that letting go of the contest fails too: that is not what has to be told."""
    monkeypatch.setattr("evenhand.store.lost_writes.PAUSES_AFTER_LOSS", (0.0, 0.0))
    with new_database(postgresql_server) as address, server() as judge:
        terms = task("fastest_first", judges=(judge.judge,))
        with Store.open(address, {}):
            pass
        with (
            cut_commit(address, b'"released"', is_forwarded=True, is_final=True) as cut,
            Store.open(cut, {}) as store,
            pytest.raises(StoreError, match=r"whether event \d+ of contest .* was written is not known"),
        ):
            play(terms, handed_in(81), store)
        with Store.open(address, {}) as store:
            [row] = store.contests.list_contests()
            assert '"released"' in list(store.contests.stream_events(row["id"]))[-1]["content"]
