"""A run in batches that is killed at any request comes to what a plain run comes to, and pays for nothing twice."""

import signal
from pathlib import Path
from typing import Any

import pytest

from tests.runs.batch_server import BatchServer, run_in_peace, write_batch_eval
from tests.runs.chaos.evals import Kept, timeless_head
from tests.soak import SOAK
from tests.warm.processes import Done, run, started

KILLS = range(3, 30) if SOAK else (4, 5, 7, 8, 9)  # Requests; the first two only ask whether there are batches.


def kill_at(folder: Path, server: BatchServer, number: int, when: str, place: str = "") -> int:
    """Begin a run in batches and have the server kill it at a request; how the process ended."""
    environ = {**server.environ, **({"EVENHAND_DATABASE_URL": place} if place else {})}
    with started(folder, "run", "eval.yaml", "--batch", "--resume", "--json", environ=environ) as process:
        server.victim, server.kill_at = process.pid, (len(server.requests) + number, when)
        return process.done().code


def assert_as_in_peace(folder: Path, peace: Done, server: BatchServer, place: str = "") -> None:
    """Finish the run, and hold it against the plain one to the last digit."""
    server.kill_at = None
    environ = {**server.environ, **({"EVENHAND_DATABASE_URL": place} if place else {})}
    done = run(folder, "run", "eval.yaml", "--resume", "--json", environ=environ)
    kept, calm = Kept(place or folder / ".evenhand"), Kept(folder.parent / "calm" / ".evenhand")
    assert kept.results() == calm.results()
    whole, plain = timeless_head(done.head), timeless_head(peace.head)
    assert whole.pop("cost")["total"] == plain.pop("cost")["total"] / 2
    assert _without_cost(whole) == _without_cost(plain)
    assert kept.finished() == calm.finished()
    assert server.twice() == {}
    assert server.direct == 0


def _without_cost(head: Any) -> Any:
    if isinstance(head, list):
        return [_without_cost(one) for one in head]
    return (
        {name: _without_cost(one) for name, one in head.items() if "cost" not in name}
        if isinstance(head, dict)
        else head
    )


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_at_any_request_nothing_is_lost_or_paid_twice(tmp_path: Path, when: str) -> None:
    """Before the server has worked on a request and after: also when a batch was created and nobody knows of it."""
    with BatchServer(looks=2) as server:
        peace = run_in_peace(tmp_path / "calm", server)
        for number in KILLS:
            folder = tmp_path / f"killed-{number}"
            write_batch_eval(folder)
            server.paid.clear()
            code = kill_at(folder, server, number, when)
            assert code in (-signal.SIGKILL, peace.code)
            assert_as_in_peace(folder, peace, server)
            if code != -signal.SIGKILL:
                break  # A run makes no more requests.
