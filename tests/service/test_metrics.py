"""Metrics and telemetry: what was done, counted for Prometheus and sent as OpenTelemetry where that is asked for."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import requests
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client.parser import text_string_to_metric_families

from tests.service.serving import Served, serve_in_process, wait_until
from tests.service.test_run_routes import build_eval, start, wait_for_state

Json = dict[str, Any]
JUDGED: Any = {
    "rubric": {"criteria": ["Does it name the page 'Orders'?", "Is it kind?"]},
    "outputs": {"a": "Open Orders. Ask max@example.org."},
    "judges": ["embedded"],
}


def read_metrics(text: str) -> dict[tuple[str, ...], float]:
    """Each number by its name and the values of its labels."""
    return {
        (one.name, *one.labels.values()): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def test_what_was_done_is_counted(served: Served) -> None:
    """By route and status, never by id; what has no score is counted by its kind, and runs with what they did."""
    served.client.post("/v1/judge", json=JUDGED)
    run = start(served, build_eval(2))
    wait_for_state(served, run, "finished")
    # It is let go a moment after all can read that it is finished.
    wait_until(lambda: read_metrics(served.client.get("/metrics").text)["evenhand_runs_under_way",] == 0)
    served.client.get("/v1/contests/none")
    served.client.get("/nothing")
    answer = served.client.get("/metrics")
    found = read_metrics(answer.text)

    assert answer.headers["content-type"].startswith("text/plain")
    assert found["evenhand_requests_total", "POST", "/v1/judge", "200"] == 1
    assert found["evenhand_requests_total", "GET", "/v1/contests/{id}", "404"] == 1
    assert found["evenhand_requests_total", "GET", "none", "404"] == 1
    assert found["evenhand_request_seconds_count", "POST", "/v1/runs"] == 1
    assert found["evenhand_criteria_missing_total", "abstained"] == 1
    assert found["evenhand_criteria_judged_total",] == 1 + 4
    assert found["evenhand_judge_calls_total",] == 1 + 4
    assert found["evenhand_runs_under_way",] == 0
    assert run not in answer.text


def test_what_there_is_is_counted_by_state(served: Served) -> None:
    """Contests, messages and runs that wait, as the store has them."""
    served.store.requests.add_run({"id": "x", "name": "n", "made": "", "content": "{}"})
    served.store.requests.change_run("x", among=("due",), state="stopped")
    found = read_metrics(served.client.get("/metrics").text)

    assert found["evenhand_run_requests", "stopped"] == 1


class Collector:
    """A receiver of OTLP over HTTP that decodes what comes."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.events: list[Json] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                content = self.rfile.read(int(self.headers["content-length"]))
                collector.take(self.path, content)
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def take(self, path: str, content: bytes) -> None:
        """Decode one message."""
        if path == "/v1/traces":
            traces = ExportTraceServiceRequest.FromString(content)
            self.spans += [span for one in traces.resource_spans for scope in one.scope_spans for span in scope.spans]
            return
        logs = ExportLogsServiceRequest.FromString(content)
        for one in (record for part in logs.resource_logs for scope in part.scope_logs for record in scope.log_records):
            values = {each.key: each.value.string_value or each.value.double_value for each in one.attributes}
            self.events.append({"event": one.event_name, "trace": one.trace_id, **values})


@pytest.fixture
def collector() -> Iterator[Collector]:
    found = Collector()
    thread = threading.Thread(target=found.server.serve_forever, args=(0.02,))
    thread.start()
    yield found
    found.server.shutdown()
    thread.join()
    found.server.server_close()


def test_each_criterion_is_an_event_of_its_request(collector: Collector, tmp_path: Path) -> None:
    """With its score and why, or the kind of what is missing; nobody's personal data is in it."""
    with serve_in_process(tmp_path / "store", OTEL_EXPORTER_OTLP_ENDPOINT=collector.address) as served:
        assert requests.post(f"{served.address}/v1/judge", json=JUDGED, timeout=30).status_code == 200
        assert served.end(signal.SIGTERM) == 0  # What waits is sent before it ends.
    events = {one["gen_ai.evaluation.name"]: one for one in collector.events}
    [span] = [one for one in collector.spans if one.name == "POST /v1/judge"]
    found, missing = events["rubric-1"], events["rubric-2"]

    assert [one["event"] for one in collector.events] == ["gen_ai.evaluation.result"] * 2
    assert (found["gen_ai.evaluation.score.value"], found["gen_ai.evaluation.score.label"]) == (1.0, "yes")
    assert (found["evenhand.output"], found["evenhand.rubric"]) == ("a", "rubric")
    assert missing["error.type"] == "abstained" and "gen_ai.evaluation.score.value" not in missing
    assert missing["gen_ai.evaluation.explanation"].startswith("abstained: ")
    assert {one["trace"] for one in collector.events} == {span.trace_id}
    assert "max@example.org" not in str(collector.events)


def test_no_key_is_in_what_is_sent_of_requests(collector: Collector, tmp_path: Path) -> None:
    """Neither in an address that somebody asked for, in whatever form, nor in the name of an output."""
    key = "tok-Zq8vR2pLw5TnXe7Kc3Yb"
    named = {**JUDGED, "outputs": {key: "Thanks."}}
    with serve_in_process(tmp_path / "store", OTEL_EXPORTER_OTLP_ENDPOINT=collector.address, SHOP_TOKEN=key) as served:
        for path in (f"/v1/runs/{key}", f"/nothing?a={key}", f"/v1/runs/{quote(key[::-1])}"):
            assert requests.get(f"{served.address}{path}", timeout=30).status_code == 404
        assert requests.post(f"{served.address}/v1/judge", json=named, timeout=30).status_code == 200
        assert served.end(signal.SIGTERM) == 0
    told = str(collector.spans) + str(collector.events)

    assert len(collector.spans) >= 4 and "[key hidden]" in told
    assert key not in told and key[::-1] not in told


def test_what_ends_a_run_is_told_by_its_kind_only(collector: Collector, tmp_path: Path) -> None:
    """What an exception says, and the lines of its traceback, may be anything."""
    (tmp_path / "eval.json").write_text(json.dumps({**build_eval(1), "judges": ["python:odd:judge"]}))
    (tmp_path / "odd.py").write_text("raise ValueError('it said so')")
    environ = {"PATH": "/usr/bin", "OTEL_EXPORTER_OTLP_ENDPOINT": collector.address}
    command = [sys.executable, "-m", "evenhand", "run", "eval.json"]

    ended = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)

    [span] = collector.spans
    assert "it said so" in ended.stderr
    assert (span.name, span.status.message, list(span.events)) == ("evenhand run", "JudgeError", [])


def test_the_command_line_sends_them_too(collector: Collector, tmp_path: Path) -> None:
    """A run is one trace; where no variable asks for it, nothing of it is even loaded."""
    (tmp_path / "eval.json").write_text(json.dumps(build_eval(2)))
    code = (
        "import sys\nfrom evenhand.cli.app import run_cli\ntry: run_cli()\n"
        "finally: print([one for one in sys.modules if one.startswith('opentelemetry')])"
    )

    def run_eval(environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code, "run", "eval.json", "--json", "--report-only"]
        return subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)

    sent = run_eval({"PATH": "/usr/bin", "OTEL_EXPORTER_OTLP_ENDPOINT": collector.address})
    silent = run_eval({"PATH": "/usr/bin"})
    wait_until(lambda: len(collector.events) >= 4)

    assert sent.returncode == silent.returncode == 0, sent.stderr
    assert [one.name for one in collector.spans] == ["evenhand run"]
    assert {one["evenhand.sample"] for one in collector.events} == {"s0", "s1"}
    assert {one["trace"] for one in collector.events} == {collector.spans[0].trace_id}
    assert silent.stdout.endswith("[]\n") and not sent.stdout.endswith("[]\n")
