"""Told to stop while a payment is released: it is released, and the exit code says so, or it is not."""

import fcntl
import json
import os
import signal
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.contest_example import REPLAY, contest, copied
from tests.warm.processes import started, wait_until

RUN = ("run", "task.yaml", "submissions", *REPLAY, "--json")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pipes of a size, and /proc, are Linux's own")


def ignores(process: int, number: int) -> bool:
    """Whether a process ignores a signal by now."""
    [mask] = [line.split()[1] for line in Path(f"/proc/{process}/status").read_text().splitlines() if "SigIgn" in line]
    return bool(int(mask, 16) >> (number - 1) & 1)


def count_events(folder: Path, id: str, having: str = "") -> int:
    with closing(sqlite3.connect(folder / ".evenhand" / "store.sqlite")) as store:
        query = "select count(*) from contest_events where contest = ? and content like ?"
        return int(store.execute(query, (id, f"%{having}%")).fetchone()[0])


def find_contest(folder: Path) -> str:
    """The contest that was begun last."""
    with closing(sqlite3.connect(folder / ".evenhand" / "store.sqlite")) as store:
        return str(store.execute("select max(id) from contests").fetchone()[0])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_whoever_is_stopped_while_it_releases_goes_on_and_says_so(tmp_path: Path, number: int) -> None:
    """The store is locked by another writer, which is when people press Ctrl-C."""
    folder = copied(tmp_path)
    assert contest(folder, *RUN, "--again", "first").returncode == 0
    first = find_contest(folder)
    due = count_events(folder, first) - 1  # All but the release.
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    os.write(writer, b" " * 4096)  # It waits with its output until we read: nothing is released before.
    with (
        started(folder, "contest", *RUN, stdout=writer) as process,
        os.fdopen(reader) as out,
        ThreadPoolExecutor(1) as pool,
    ):
        os.close(writer)
        wait_until(lambda: (last := find_contest(folder)) != first and count_events(folder, last) == due)
        other = sqlite3.connect(folder / ".evenhand" / "store.sqlite", isolation_level=None)
        other.execute("begin immediate")
        said = pool.submit(out.read)
        wait_until(lambda: ignores(process.pid, number))
        process.signal(number)
        is_over = process.over()
        other.execute("rollback")
        other.close()
        code = process.done().code
    after = contest(folder, *RUN)

    assert (is_over, code, after.returncode) == (False, 0, 4)
    assert count_events(folder, find_contest(folder), '"released"') == 1
    assert json.loads(said.result())["payment"]["newly_released"]
