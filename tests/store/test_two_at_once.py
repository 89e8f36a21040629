"""Several processes on one store do not disturb each other, from its very first moment."""

import subprocess

from evenhand.store.rows import RowBatch
from evenhand.store.store import Store
from tests.store.rows import RUN, call_row, run_row
from tests.warm.processes import module_command


def test_runs_at_once_do_not_disturb_each_other(database: str) -> None:
    """All of them find no store, make one, and write into it."""
    ids = [f"20261116-051233-00000{number}" for number in range(3)]
    processes = [
        subprocess.Popen(
            module_command("tests.store.writing", database, id, "20"),
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
    with Store.open(database, {}, create=False) as store:
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
