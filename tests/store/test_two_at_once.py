"""Several processes on one store do not disturb each other, from its very first moment."""

import subprocess
import sys

from evenhand.store.store import Store


def test_runs_at_once_do_not_disturb_each_other(database: str) -> None:
    """All of them find no store, make one, and write into it."""
    ids = [f"20261116-051233-00000{number}" for number in range(3)]
    command = [sys.executable, "-m", "tests.store.writing", database]
    processes = [
        subprocess.Popen([*command, id, "20"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for id in ids
    ]

    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    told = [process.communicate()[1] for process in processes]

    assert told == [""] * 3
    with Store.open(database, {}, create=False) as store:
        assert sorted(row["id"] for row in store.list_runs()) == ids
        assert [len([*store.calls(id)]) for id in ids] == [20] * 3
        assert [len([*store.results(id)]) for id in ids] == [20] * 3
