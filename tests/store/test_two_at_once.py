"""Several processes on one store do not disturb each other, from its very first moment."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.store.rows import RowBatch
from evenhand.store.store import Store
from evenhand.workflows.run import RunOptions, run
from tests.store.rows import RUN, call_row, run_row
from tests.warm.processes import module_command


def test_runs_at_once_do_not_disturb_each_other(empty_database: str) -> None:
    """All of them find no store, make one, and write into it."""
    ids = [f"20261116-051233-00000{number}" for number in range(3)]
    processes = [
        subprocess.Popen(
            module_command("tests.store.writing", empty_database, id, "20"),
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for id in ids
    ]

    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    told = [process.communicate()[1] for process in processes]

    assert told == [""] * 3
    with Store.open(empty_database, {}, create=False) as store:
        assert sorted(row["id"] for row in store.list_runs()) == ids
        assert [len([*store.calls(id)]) for id in ids] == [20] * 3
        assert [len([*store.results(id)]) for id in ids] == [20] * 3


def test_the_first_of_two_replies_to_one_question_counts_for_all_workers(database: str) -> None:
    """Two workers of a run asked the same: results of both rest on one reply, and both replies were paid for."""
    with Store.open(database, {}) as store:
        hold = store.begin_run(run_row())
        failed = call_row(reply=None, kept="none", failed="no answer", at="1")
        ours, theirs = call_row(reply='{"text":"7"}', at="2"), call_row(reply='{"text":"3"}', at="3")

        late = [
            store.write_rows(RowBatch(calls=[row]), hold=hold, has_other_workers=True)
            for row in (failed, theirs, theirs, ours)
        ]
        found = store.find_cached_replies([ours["key"]])
        kept = {row["key"]: row["reply"] for row in store.calls(RUN)}

    assert late == [set(), set(), set(), {ours["key"]}]
    assert found[ours["key"]]["reply"] == theirs["reply"]
    assert kept == {ours["key"]: theirs["reply"], f"{ours['key']} 2": ours["reply"]}


EVAL = "samples: [{id: a, input: Hi, output: Hello}]\nassertions: [{contains: Hello}]\nname: desk\n"
READ = """
import sys
from evenhand.store.store import Store
with Store.open(sys.argv[1], {}, create=False) as store:
    print(*(row["id"] for row in store.list_runs()))
"""


def list_from_another_process(folder: Path) -> list[str]:
    command = [sys.executable, "-c", READ, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def open_again(folder: Path) -> None:
    Store.open(folder, {}).close()


def carry_out_a_run(folder: Path) -> None:
    (folder / "eval.yaml").write_text(EVAL, "utf-8")
    asyncio.run(run(folder / "eval.yaml", options=RunOptions(place=folder)))


@pytest.mark.parametrize("meanwhile", [open_again, carry_out_a_run])
def test_a_store_that_is_opened_twice_in_a_process_keeps_its_locks(
    tmp_path: Path, meanwhile: Callable[[Path], None]
) -> None:
    """A service opens its store once for its pages and once per run; without the lock, whoever reads and closes it
    next takes itself for the last one, and removes the log that the service goes on to write to."""
    with Store.open(tmp_path, {}) as store:
        store.list_runs()

        meanwhile(tmp_path)
        list_from_another_process(tmp_path)
        store.begin_run(run_row())

        assert RUN in list_from_another_process(tmp_path)
    assert RUN in list_from_another_process(tmp_path)


def test_a_store_behind_a_link_is_made_for_its_owner(tmp_path: Path) -> None:
    """As a file whose target is on another disk, and not there yet."""
    (tmp_path / "store.sqlite").symlink_to(tmp_path / "elsewhere.sqlite")

    Store.open(tmp_path, {}).close()

    assert (tmp_path / "elsewhere.sqlite").stat().st_mode & 0o777 == 0o600
    assert sorted(file.name for file in tmp_path.iterdir()) == ["elsewhere.sqlite", "store.sqlite"]
