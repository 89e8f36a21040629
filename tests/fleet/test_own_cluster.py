"""A fleet that begins a cluster of its own on this machine: how it stops, and what it leaves behind."""

import signal
from pathlib import Path

from tests.warm.processes import started, wait_until
from tests.workflows.test_kept_texts import HANGING, _count_results, _read_store
from tests.workflows.test_killed_texts import MADE, REPLIED, write_eval


def test_it_is_stopped_as_a_run_without_a_fleet_and_leaves_no_text_and_no_token(tmp_path: Path) -> None:
    """Ray sets handlers of SIGTERM that end a process at once, and writes a token to $HOME that all others may read."""
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "hanging.py").write_text(HANGING)
    write_eval(tmp_path)
    argv = ("run", "eval.yaml", "--report-only", "--fleet", "ray")
    with started(tmp_path, *argv, environ={"HOME": str(home)}) as process:
        wait_until(lambda: process.over() or _count_results(tmp_path) == 1)
        before = _read_store(tmp_path)
        process.signal(signal.SIGTERM)
        wait_until(lambda: process.over() or "stopping" in process.said)
        process.signal(signal.SIGTERM)
        process.signal(signal.SIGINT)  # The judge never answers: nobody waits for it any more.
        done = process.done()

    left = _read_store(tmp_path)
    assert (MADE in before, REPLIED in before) == (True, True)
    assert (done.code, "SIGTERM received" in done.err) == (130, False)
    assert (MADE in left, REPLIED in left) == (False, False)
    assert not (home / ".ray").exists()
