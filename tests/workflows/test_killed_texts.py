"""Texts that a run with `keep: none` had no time to drop: who drops them, and that it is said where nobody does."""

import signal
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from evenhand import Eval, RunOptions, StoreError, run_sync
from evenhand.store.store import Store
from evenhand.testing import scripted_judge
from evenhand.workflows import run_resuming
from tests.warm.processes import run, started, wait_until
from tests.workflows.test_kept_texts import HANGING, _count_results, _read_store

MADE = "Zephyrine first"
REPLIED = "Obnubilate"
PROGRAM = [sys.executable, "-c", "import json, sys; print('Zephyrine', json.load(sys.stdin)['input'])"]


def write_eval(folder: Path, **changed: Any) -> None:
    whole = {"name": "ended", "keep": "none", "samples": [{"id": one, "input": one} for one in ("first", "third")],
             "variants": {"y": {"command": PROGRAM}}, "rubric": {"criteria": [{"id": "a", "asks": "Is it?"}]},
             "judges": "python:hanging:judge", **changed}  # fmt: skip
    (folder / "eval.yaml").write_text(yaml.safe_dump(whole))


def kill_run(folder: Path) -> None:
    """Begin a run and kill it, with texts in its store."""
    (folder / "hanging.py").write_text(HANGING)
    write_eval(folder)
    with started(folder, "run", "eval.yaml", "--report-only") as process:
        wait_until(lambda: _count_results(folder) == 1)
        process.signal(signal.SIGKILL)
        process.done()


@pytest.mark.parametrize("keep", ["none", "raw"])
def test_a_killed_run_loses_its_texts_once_a_changed_eval_took_over_from_it(tmp_path: Path, keep: str) -> None:
    """Nobody resumes it any more, so nobody would ever drop them. The new run keeps what it keeps itself."""
    kill_run(tmp_path)
    before = _read_store(tmp_path)
    (tmp_path / "hanging.py").write_text(HANGING.replace('"third" in text', "False"))
    write_eval(tmp_path, keep=keep, assertions=[{"word_count_max": 400}])
    done = run(tmp_path, "run", "eval.yaml", "--resume", "--report-only")

    left = _read_store(tmp_path)
    with Store.open(tmp_path / ".evenhand", {}) as store:
        new, old = store.list_runs()
        kept = [row["kept"] for row in store.calls(old["id"])]
        again = [row["content"] for row in store.list_outputs(old["id"])]
    assert (done.code, MADE in before, REPLIED in before) == (0, True, True)
    assert (new["taken_from"], new["state"], old["state"]) == (old["id"], "finished", "stopped")
    assert set(kept) == {"none"} and not [one for one in again if "Zephyrine" in one]
    assert (MADE in left, REPLIED in left) == (keep == "raw", keep == "raw")


def test_a_run_that_cannot_drop_its_texts_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may keep the store locked for longer than anybody waits."""

    async def fail(*_: object, **__: object) -> None:
        raise StoreError("another process keeps it locked")

    monkeypatch.setattr(run_resuming, "drop_replies_unneeded_by_run", fail)
    eval = Eval(
        name="locked",
        samples=[{"id": "s", "input": "q", "output": "It is."}],
        rubric={"criteria": ["Is it?"]},
        judges=[scripted_judge({"rubric-1": 1})],
        keep="none",
    )

    with pytest.raises(StoreError) as caught:
        run_sync(eval, options=RunOptions(place=tmp_path))

    with Store.open(tmp_path, {}) as store:
        [row] = store.list_runs()
    assert str(caught.value) == (
        f"another process keeps it locked\nreplies and outputs of run {row['id']} are left as they came "
        f"(--resume replaces them, evenhand runs delete {row['id']} removes them)"
    )
