"""Two processes that start the contest of one task at the same moment: one contest, one payment."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from evenhand.store.store import Store
from tests.cli.contest_example import copied, fastest
from tests.conftest import ROOT
from tests.soak import often
from tests.store.databases import database, postgresql_server

__all__ = ["database", "postgresql_server"]


def test_two_starts_release_one_payment(database: str, tmp_path: Path) -> None:
    """Neither knows of the other, as under a cron that overlaps; whoever loses is told so by its exit code."""
    folder, rounds = copied(tmp_path / "desk"), often(5, 200)
    fastest(folder)
    for number in range(rounds):
        shutil.copy(folder / "task.yaml", folder / f"{number}.yaml")
        text = (folder / "task.yaml").read_text("utf-8").replace("name: returns-answer", f"name: task-{number}")
        (folder / f"{number}.yaml").write_text(text, "utf-8")
    command = [sys.executable, "-m", "tests.contest.starting", database]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    told = []

    with (
        subprocess.Popen(
            command, cwd=folder, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as one,
        subprocess.Popen(
            command, cwd=folder, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as other,
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
