"""Workers of one store ask each model together no more than one of them might."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.service.chaos.workers import Worker
from tests.service.test_run_routes import build_eval
from tests.soak import often
from tests.warm.processes import wait_until

WORKERS, TEXTS, AT_ONCE, PER_SECOND = 3, 10, 4, 40
SLICE = PER_SECOND  # What the rate allows in a second is handed out at once.


@dataclass
class CountingJudge:
    """A model that answers after a while, and notes when it was asked and how many waited for it at once."""

    pause: float = 0.0
    times: list[float] = field(default_factory=list)
    most: int = 0
    _inside: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, body: dict[str, Any]) -> bytes:
        """No to everything."""
        with self._lock:
            self.times.append(time.monotonic())
            self._inside += 1
            self.most = max(self.most, self._inside)
        time.sleep(self.pause)
        with self._lock:
            self._inside -= 1
        schema = body["response_format"]["json_schema"]["schema"]["properties"]["criteria"]["properties"]
        said = {"criteria": {key: {"evidence": [], "reason": "read", "answer": "no"} for key in schema}}
        choice = {"message": {"role": "assistant", "content": json.dumps(said)}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 9, "completion_tokens": 9}
        return json.dumps({"id": "c", "model": "tiny", "choices": [choice], "usage": usage}).encode()


@contextmanager
def serve_judge(judge: CountingJudge) -> Iterator[str]:
    """The name under which workers ask it."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_POST(self) -> None:
            said = judge.answer(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 256

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"openai-compatible:http://127.0.0.1:{server.server_port}/v1/tiny"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def workers(database: str, tmp_path: Path) -> Iterator[list[Worker]]:
    limits = ("--concurrency", str(AT_ONCE), "--rpm", str(60 * PER_SECOND))
    with ExitStack() as life:
        made = [Worker(tmp_path, database, options=limits) for _ in range(WORKERS)]
        for one in made:
            life.push(one.__exit__)
        yield [one.__enter__() for one in made]


def ask_all(workers: list[Worker], judge: str, each: int, *, killed: bool = False) -> None:
    """Have all workers judge so many times ten texts at once; with `killed`, one of them dies on the way."""
    outputs = {f"o{number}": f"text {number}" for number in range(TEXTS)}
    body = {"rubric": {"criteria": ["Is it?"]}, "judges": [judge], "outputs": outputs}

    def ask(worker: Worker) -> None:
        try:
            status, text = worker.call("POST", "/v1/judge", body)
        except OSError:
            assert killed and worker is workers[-1]
            return
        assert status == 200, text
        assert len(json.loads(text)["scorecards"]) == TEXTS

    with ThreadPoolExecutor(len(workers) * each) as threads:
        asked = [threads.submit(ask, worker) for worker in workers for _ in range(each)]
        if killed:
            time.sleep(1)
            workers[-1].kill()
        for one in asked:
            one.result()


def test_workers_keep_the_limits_of_a_model_together(workers: list[Worker]) -> None:
    """With three workers, three times as much would have been asked: calls at once, and requests in a minute."""
    slow, quick = CountingJudge(pause=0.2), CountingJudge()
    with serve_judge(slow) as slow_name, serve_judge(quick) as quick_name:
        status, text = workers[0].call("POST", "/v1/runs", {"eval": build_eval(4, judges=[slow_name])})
        ask_all(workers, slow_name, often(1, 8))
        wait_until(lambda: '"finished"' in workers[0].call("GET", f"/v1/runs/{json.loads(text)['id']}")[1])
        ask_all(workers, quick_name, often(5, 50), killed=often(0, 1) == 1)

    assert 1 < slow.most <= AT_ONCE
    assert quick.most <= AT_ONCE
    assert (status, len(slow.times)) == (202, TEXTS * WORKERS * often(1, 8) + 8)
    sent = sorted(quick.times)
    assert len(sent) <= (sent[-1] - sent[0]) * PER_SECOND + SLICE + 1
