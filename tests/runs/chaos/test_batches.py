"""A run in batches that is killed at any request comes to what a plain run comes to, and pays for nothing twice."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.runs.batch_server import BatchServer, is_repair, list_results, run_in_peace, write_batch_eval
from tests.runs.chaos.evals import Kept, timeless_head
from tests.soak import SOAK
from tests.store.databases import new_database
from tests.warm.processes import Done, run, started

# Requests at which it is killed; the first two only ask whether there are batches.
KILLS = {"before": (5,), "after": (4, 5, 9), "answered": (4, 9)}


def kill_at(folder: Path, server: BatchServer, number: int, when: str, place: str = "") -> int:
    """Begin a run in batches and have the server kill it at a request; how the process ended."""
    environ = {**server.environ, **({"EVENHAND_DATABASE_URL": place} if place else {})}
    with started(folder, "run", "eval.yaml", "--batch", "--resume", "--json", environ=environ) as process:
        server.victim, server.kill_at = os.pidfd_open(process.pid), (len(server.requests) + number, when)
        try:
            return process.done().code
        finally:
            victim, server.kill_at, server.victim = server.victim, None, None
            os.close(victim)


def assert_as_in_peace(folder: Path, peace: Done, server: BatchServer, place: str = "") -> None:
    """Finish the run, and hold it against the plain one to the last digit."""
    environ = {**server.environ, **({"EVENHAND_DATABASE_URL": place} if place else {})}
    done = run(folder, "run", "eval.yaml", "--resume", "--json", environ=environ)
    kept, calm = Kept(place or folder / ".evenhand"), Kept(folder.parent / "calm" / ".evenhand")
    assert list_results(place or folder / ".evenhand") == list_results(folder.parent / "calm" / ".evenhand")
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


@pytest.mark.parametrize("when", KILLS)
def test_killed_at_any_request_nothing_is_lost_or_paid_twice(tmp_path: Path, when: str) -> None:
    """Before the server has worked on a request, after, and a moment later: also when nobody knows of a new batch."""
    with BatchServer(looks=2) as server:
        peace = run_in_peace(tmp_path / "calm", server)
        for number in range(3, 30) if SOAK else KILLS[when]:
            folder = tmp_path / f"killed-{number}"
            write_batch_eval(folder)
            server.paid.clear()
            code = kill_at(folder, server, number, when)
            assert code in (-signal.SIGKILL, peace.code)
            assert_as_in_peace(folder, peace, server)
            if code != -signal.SIGKILL and when != "answered":
                break  # A run makes no more requests.


def test_killed_between_rounds_where_replies_are_not_kept_it_is_the_same(tmp_path: Path) -> None:
    """Unreadable replies are repaired in a second round; a reply goes once its results are there, and no sooner."""
    with BatchServer(reply=_babble_first) as server:
        peace = run_in_peace(tmp_path / "calm", server, keep="none")
        folder = tmp_path / "killed"
        write_batch_eval(folder, keep="none")
        for number in range(9, 40, 3 if SOAK else 15):
            kill_at(folder, server, number, "after")
        assert_as_in_peace(folder, peace, server)
        assert {call["reply"] for call in Kept(folder / ".evenhand").calls} == {None}


def _babble_first(body: Any) -> str | None:
    return "Well." if "s0/" in json.dumps(body) and not is_repair(body) else None


def test_on_a_database_server_a_batch_is_found_again_too(tmp_path: Path, postgresql_server: str) -> None:
    """Killed when both batches were created and neither is known: each is looked for by its mark."""
    with BatchServer(looks=2) as server:
        peace = run_in_peace(tmp_path / "calm", server)
        for number in range(3, 12) if SOAK else (5,):
            with new_database(postgresql_server) as address:
                folder = tmp_path / f"killed-{number}"
                write_batch_eval(folder)
                server.paid.clear()
                kill_at(folder, server, number, "after", address)
                assert_as_in_peace(folder, peace, server, address)
