"""Processes that end: told to, after what is under way; killed, with nothing lost that was paid for."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from evenhand.store.store import Store
from evenhand.testing import FakeServer
from tests.contest.answering import answer
from tests.service.chaos.contests import DIMENSIONS
from tests.service.serving import ServingProcess, serve_in_process, wait_until
from tests.service.test_metrics import read_metrics
from tests.service.test_run_routes import SlowJudge, build_eval
from tests.service.test_shared_limits import CountingJudge, serve_judge
from tests.warm import processes

Json = dict[str, Any]
QUESTIONS = 8  # Two variants of four samples.


@pytest.fixture
def slow() -> Iterator[SlowJudge]:
    judge = SlowJudge()
    with judge.server:
        yield judge
        judge.free.set()


def start_run(served: ServingProcess, slow: SlowJudge) -> str:
    """A run that has asked some questions and waits for an answer."""
    eval = build_eval(4, judges=[slow.server.judge], concurrency=1)
    answer = requests.post(f"{served.address}/v1/runs", json={"eval": eval}, timeout=30)
    assert answer.status_code == 202, answer.text
    wait_until(lambda: len(slow.server.asked) > 2)
    return str(answer.json()["id"])


def wait_until_finished(served: ServingProcess, run: str) -> Json:
    def reached() -> Json | None:
        view: Json = requests.get(f"{served.address}/v1/runs/{run}", timeout=30).json()
        return view if view["state"] == "finished" else None

    return dict(wait_until(reached))


def test_told_to_end_it_answers_what_is_under_way(slow: SlowJudge, tmp_path: Path) -> None:
    """A request that waits for a judge is answered, a stream ends, and the run goes on in the next process."""
    told: list[Any] = []
    store = tmp_path / "store"
    with serve_in_process(store) as served:
        run = start_run(served, slow)
        judged: Any = {"rubric": {"criteria": ["Is it?"]}, "outputs": {"a": "x"}, "judges": [slow.server.judge]}

        def ask() -> None:
            told.append(requests.post(f"{served.address}/v1/judge", json=judged, timeout=60).status_code)

        def follow() -> None:
            with requests.get(f"{served.address}/v1/runs/{run}/events", stream=True, timeout=60) as stream:
                told.append(stream.raw.read().count(b"event: ") > 0)

        threads = [threading.Thread(target=one) for one in (ask, follow)]
        for one in threads:
            one.start()
        wait_until(lambda: _count_requests(served) >= 2)
        threading.Timer(0.5, slow.free.set).start()
        code = served.end(signal.SIGTERM)
        for one in threads:
            one.join()
    with serve_in_process(store) as served:
        view = wait_until_finished(served, run)

    assert code == 0
    assert sorted(told) == [True, 200]
    assert len(slow.server.asked) == QUESTIONS + 1  # One of them is the request's.
    assert view["failures"] == {}


def _count_requests(served: ServingProcess) -> float:
    """How many requests wait for an answer, beside the one that asks."""
    text = requests.get(f"{served.address}/metrics", timeout=30).text
    return read_metrics(text)["evenhand_requests_under_way",] - 1


def test_killed_it_loses_nothing_that_was_paid_for(slow: SlowJudge, database: str) -> None:
    """The next process goes on by itself and asks only what has no answer, in either database."""
    with serve_in_process(database) as served:
        run = start_run(served, slow)
        with Store.open(database, {}) as store:
            wait_until(lambda: len(list(store.calls(run))) >= 2)  # Those that were answered.
        assert served.end(signal.SIGKILL) == -signal.SIGKILL
    slow.free.set()
    with serve_in_process(database) as served:
        view = wait_until_finished(served, run)

    assert view["failures"] == {}
    assert QUESTIONS < len(slow.server.asked) <= QUESTIONS + 1  # The one under way when it died.


@pytest.mark.parametrize("how", ["told to end", "stopped and killed"])
def test_no_reply_that_came_or_was_under_way_is_asked_for_again(how: str, tmp_path: Path) -> None:
    """Whether a process is told to end, or a run is stopped and its process killed as soon as that is answered."""
    judge, samples = CountingJudge(pause=0.3), 40
    with serve_judge(judge) as name:
        with serve_in_process(tmp_path) as served:
            eval = build_eval(samples, judges=[name], concurrency=8)
            run = requests.post(f"{served.address}/v1/runs", json={"eval": eval}, timeout=30).json()["id"]
            wait_until(lambda: len(judge.times) > 10)
            if how == "told to end":
                assert served.end(signal.SIGTERM) == 0
            else:
                stopped = requests.delete(f"{served.address}/v1/runs/{run}", timeout=30).json()
                assert (stopped["state"], served.end(signal.SIGKILL)) == ("stopped", -signal.SIGKILL)
        asked = len(judge.times)
        with serve_in_process(tmp_path) as served:
            if how == "stopped and killed":
                requests.post(f"{served.address}/v1/runs/{run}/resume", timeout=30)
            wait_until_finished(served, run)

    assert asked < 2 * samples == len(judge.times)


def test_told_to_end_it_hears_the_judges_of_a_contest_out(tmp_path: Path) -> None:
    """An event is kept with the replies that it rests on: one that is cut off would be paid for twice."""
    free, began = threading.Event(), threading.Event()

    def judge(body: Json) -> str:
        began.set()
        free.wait(30)
        return answer(body)

    task: Json = {"name": "essay", "description": "Write.", "acceptance": ["It is useful."], "mode": "fastest_first",
            "reward": "1 EUR", "dimensions": DIMENSIONS}  # fmt: skip
    with FakeServer(judge) as server:
        with serve_in_process(tmp_path) as served:
            contests = f"{served.address}/v1/contests"
            created = requests.post(contests, json={"task": {**task, "judges": [server.judge]}}, timeout=30)
            body = {"text": "a is worth 75.", "author": "a", "id": "a"}
            requests.post(f"{contests}/{created.json()['id']}/submissions", json=body, timeout=30)
            assert began.wait(30)
            threading.Timer(0.5, free.set).start()
            code = served.end(signal.SIGTERM)
        asked = len(server.asked)
        with serve_in_process(tmp_path) as served:
            path = f"{served.address}/v1/contests/{created.json()['id']}"
            wait_until(lambda: requests.get(path, timeout=30).json()["state"] == "closed")

    assert code == 0
    assert len(server.asked) == asked == len({json.dumps(one) for one in server.asked})


def test_a_port_that_is_taken_is_refused_before_it_says_that_it_serves(tmp_path: Path) -> None:
    """In one sentence of ours, as bad input; whoever has the port is not disturbed."""
    with serve_in_process(tmp_path / "first") as served:
        port = served.address.rpartition(":")[2]
        done = processes.run(tmp_path, "serve", "--port", port, "--store", str(tmp_path / "second"))
        alive = requests.get(f"{served.address}/healthz", timeout=30).text

    assert (done.code, done.out) == (2, "")
    assert done.err == f"port {port} of 127.0.0.1 is taken (name another one: --port N)\n"
    assert alive == "ok"
