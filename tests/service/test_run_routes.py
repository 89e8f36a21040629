"""Runs over HTTP: started, followed, reported, stopped, and resumed whatever happened to the worker."""

from __future__ import annotations

import asyncio
import io
import json
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evenhand import run_sync
from evenhand.testing import FakeServer
from evenhand.workflows.align import align_run, encode_alignment
from evenhand.workflows.compare import CompareTerms, compare_runs
from evenhand.workflows.labels import choose_labels, next_labels_to_json
from evenhand.workflows.run import RunOptions
from evenhand.workflows.runs import delete_runs, export_run, import_run
from evenhand.workflows.trust import encode_run_trust, measure_trust
from tests.service.serving import Served, serve, wait_until

Json = dict[str, Any]
OUTPUTS = {"old": "No idea.", "new": "Open the page Orders."}
LABEL_FIELDS = ("sample", "variant", "output", "chance")
RUBRIC = {"criteria": ["Does it name the page 'Orders'?"]}


def build_eval(count: int = 2, /, **more: Any) -> Json:
    entries = [{"id": f"s{number}", "input": f"Where is {number}?", "outputs": OUTPUTS} for number in range(count)]
    return {"name": "orders", "samples": entries, "rubric": RUBRIC, "judges": ["embedded"], **more}


def build_written_eval(folder: Path, judge: str) -> Path:
    eval = folder / "eval.yaml"
    eval.write_text(json.dumps({**build_eval(2), "rubric": "rubric.yaml", "judges": [judge]}))
    return eval


def start(served: Served, eval: Json, **more: Any) -> str:
    answer = served.client.post("/v1/runs", json={"eval": eval, **more})
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"/v1/runs/{answer.json()['id']}"
    return str(answer.json()["id"])


def see(served: Served, run: str) -> Json:
    answer = served.client.get(f"/v1/runs/{run}")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def wait_for_state(served: Served, run: str, state: str) -> Json:
    def reached() -> Json | None:
        view = see(served, run)
        assert view["state"] != "failed" or state == "failed", view
        return view if view["state"] == state else None

    return dict(wait_until(reached))


class SlowJudge:
    """A model that answers when it is let; each question is counted."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.server = FakeServer(self.answer)

    def answer(self, body: Json) -> str:
        """No to everything, once it may."""
        if len(self.server.asked) > 2:
            self.free.wait(30)
        schema = body["response_format"]["json_schema"]["schema"]["properties"]["criteria"]["properties"]
        said = {"evidence": [], "reason": "read", "answer": "no"}
        return json.dumps({"criteria": dict.fromkeys(schema, said)})


@pytest.fixture
def slow() -> Iterator[SlowJudge]:
    judge = SlowJudge()
    with judge.server:
        yield judge
        judge.free.set()


PROMPTED = {"prompt": "Answer: {input}"}
UNASKABLE: dict[str, tuple[Json, str, str]] = {
    "an unknown provider": ({"variants": {"new": {"model": "nonsense/x", **PROMPTED}}}, "variant 'new'", "no model of"),
    "an odd spelling": ({"variants": {"new": {"model": "OpenAI/x", **PROMPTED}}}, "variant 'new'", "no model of"),
    "no name behind it": ({"variants": {"new": {"model": "openai/", **PROMPTED}}}, "variant 'new'", "needs the name"),
    "no key": ({"variants": {"new": {"model": "anthropic/x", **PROMPTED}}}, "variant 'new'", "API_KEY is not set"),
    "no price for a budget": (
        {"variants": {"new": {"model": "ollama/x", **PROMPTED}}, "budget": 5},
        "variant 'new'",
        "its price is not known",
    ),
    "a judge": ({"judges": ["nonsense/x"]}, "model 'nonsense/x'", "no model of"),
    "no price of a judge": ({"judges": ["openai-compatible:http://127.0.0.1:9/v1/x"], "budget": 5}, "", "not known"),
}


@pytest.mark.parametrize("name", UNASKABLE)
def test_a_run_that_asks_whom_nobody_knows_is_refused_at_once(
    name: str, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Models under test as judges: it was answered with 202, and failed where nobody looked."""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    parts, where, what = UNASKABLE[name]
    eval = build_eval(1, **parts)
    if "variants" in parts:
        del eval["samples"][0]["outputs"]
    answer = served.client.post("/v1/runs", json={"eval": eval})

    assert answer.status_code == 422, answer.text
    [fault] = answer.json()["faults"]
    assert where in fault["where"] and what in fault["what"], fault
    assert served.client.get("/v1/runs").json()["runs"] == []


@pytest.mark.parametrize("sent", [{"limit": 10**400}, {"limit": 2**63}, {"repeats": 10**400}, {"eval": 2**31}])
def test_a_number_that_nothing_counts_to_is_refused(served: Served, sent: Json) -> None:
    """It was a fault of the service, or a run without end."""
    eval = build_eval(1, **({"repeats": sent["eval"]} if "eval" in sent else {}))
    answer = served.client.post(
        "/v1/runs", json={"eval": eval, **{name: sent[name] for name in sent if name != "eval"}}
    )

    assert answer.status_code == 422, answer.text
    assert re.search(
        r"must be from 1 to 1,000,000,000|at most 1,000,000|less than or equal to", answer.json()["detail"]
    )


def test_a_run_is_started_followed_and_reported(served: Served) -> None:
    """From an eval that is sent to a report in every format, and nothing is left of the request."""
    run = start(served, build_eval())
    view = wait_for_state(served, run, "finished")
    path = f"/v1/runs/{run}/report"
    reports = {name: served.client.get(path, params={"format": name}) for name in ("html", "markdown", "csv", "junit")}
    data = served.client.get(path)
    page = served.client.get(path, headers={"accept": "text/html,application/xhtml+xml,*/*;q=0.8"})

    assert (view["name"], view["failures"], view["cost"]) == ("orders", {}, 0.0)
    assert data.json()["run"]["id"] == run and len(data.json()["samples"]) == 2
    assert {name: one.status_code for name, one in reports.items()} == dict.fromkeys(reports, 200)
    assert page.text == reports["html"].text and page.text.startswith("<!doctype html>")
    assert "sandbox" in page.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert reports["csv"].text.count("\n") == 5 and "<testsuite" in reports["junit"].text
    assert served.store.requests.find_run(run) is None


def test_a_run_is_what_the_command_line_would_have_run(served: Served) -> None:
    """The same eval, the same fingerprint, and the text that was sent is kept with it."""
    run = start(served, build_eval(), repeats=2, limit=1)
    wait_for_state(served, run, "finished")
    row = served.store.find_run(run)

    assert json.loads(row["source"])["name"] == "orders"
    assert json.loads(row["setup"])["selection"] == {"limit": 1, "only": [], "tags": []}
    assert len(list(served.store.results(run))) == 4


def test_progress_is_sent_while_a_run_goes_on(served: Served, slow: SlowJudge) -> None:
    """Each event is the state as GET gives it; the last one says that it is over."""
    run = start(served, build_eval(4, judges=[slow.server.judge], concurrency=1))
    wait_until(lambda: (see(served, run)["progress"] or {}).get("done"))
    under_way = see(served, run)
    events: list[tuple[str, Json]] = []
    with served.client.stream("GET", f"/v1/runs/{run}/events") as stream:
        kind = ""
        for line in stream.iter_lines():
            if line.startswith("event: "):
                kind = line.removeprefix("event: ")
            elif line.startswith("data: "):
                events.append((kind, json.loads(line.removeprefix("data: "))))
                slow.free.set()

    assert (under_way["state"], under_way["progress"]["total"]) == ("running", 4)
    assert events[0][0] == "progress" and events[-1][0] == "end"
    assert events[-1][1]["state"] == "finished"
    assert {name for name, _ in events[:-1]} == {"progress"}


def test_a_run_is_stopped_and_resumed(served: Served, slow: SlowJudge) -> None:
    """What was asked is not asked again."""
    run = start(served, build_eval(4, judges=[slow.server.judge], concurrency=1))
    wait_until(lambda: len(slow.server.asked) > 2)
    threading.Timer(0.2, slow.free.set).start()
    stopped = served.client.delete(f"/v1/runs/{run}")
    view = wait_for_state(served, run, "stopped")
    asked = len(slow.server.asked)
    resumed = served.client.post(f"/v1/runs/{run}/resume")
    wait_for_state(served, run, "finished")
    again = served.client.post(f"/v1/runs/{run}/resume")

    assert (stopped.status_code, stopped.json()["state"]) == (202, "stopped")
    assert view["why"] == "stopped by hand"
    assert asked < 8
    assert resumed.status_code == 202
    assert len(slow.server.asked) == 8  # Two variants of four samples, each once.
    assert again.status_code == 409


def test_a_run_goes_on_after_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow: SlowJudge) -> None:
    """The service stops gracefully: the run is left, due, and the next one asks only what is missing."""
    with serve(tmp_path, monkeypatch) as served:
        run = start(served, build_eval(4, judges=[slow.server.judge], concurrency=1))
        wait_until(lambda: len(slow.server.asked) > 2)
        threading.Timer(0.2, slow.free.set).start()
    asked = len(slow.server.asked)
    with serve(tmp_path, monkeypatch) as served:
        wait_for_state(served, run, "finished")

    assert asked < 8
    assert len(slow.server.asked) == 8


def test_whoever_stops_a_run_does_not_wait_for_ever(
    served: Served, slow: SlowJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call may take minutes: then the run is stopping, and keeps the reply if it comes in time."""
    monkeypatch.setattr("evenhand.workflows.service_runs.STOP_WAIT", 0.0)
    run = start(served, build_eval(4, judges=[slow.server.judge], concurrency=1))
    wait_until(lambda: len(slow.server.asked) > 2)
    stopping = served.client.delete(f"/v1/runs/{run}").json()["state"]
    slow.free.set()
    wait_for_state(served, run, "stopped")

    assert stopping == "stopping"
    assert len(list(served.store.calls(run))) == len(slow.server.asked) == 3


@pytest.mark.parametrize("keep", ["none", "masked"])
@pytest.mark.parametrize("how", ["DELETE", "its budget"])
def test_texts_that_are_not_kept_go_when_a_run_is_stopped(
    how: str, keep: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow: SlowJudge
) -> None:
    """Then it cannot be resumed, and says so."""
    limits = {} if how == "DELETE" else {"budget": {"tokens": 1}}
    eval = build_eval(4, judges=[slow.server.judge], concurrency=1, keep=keep, **limits)
    eval["samples"][3]["input"] = "Where is ann@heronsong.example?"
    with serve(tmp_path, monkeypatch) as served:
        run = start(served, eval)
        if how == "DELETE":
            wait_until(lambda: len(slow.server.asked) > 2)
            threading.Timer(0.2, slow.free.set).start()
            served.client.delete(f"/v1/runs/{run}")
        slow.free.set()
        view = wait_for_state(served, run, "stopped")
        resumed = served.client.post(f"/v1/runs/{run}/resume")

    assert view["why"].endswith("; cannot be resumed: its texts were not kept")
    assert (resumed.status_code, "its texts were not kept" in resumed.text) == (409, True)
    assert "ann@heronsong" not in read_store_bytes(tmp_path)


def read_store_bytes(folder: Path) -> str:
    """All that the files of a store hold."""
    found = [file.read_bytes().decode("latin-1") for file in folder.rglob("*.sqlite*")]
    assert found
    return "".join(found)


def test_a_request_is_kept_without_known_keys(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first moment on: the run may wait for long."""
    key = "zq8-Heronsong-41x7"
    monkeypatch.setenv("BOT_TOKEN", key)
    monkeypatch.setattr("evenhand.service.engine.list_due_runs", lambda _: [])
    eval = build_eval(1)
    eval["samples"][0] |= {"input": f"Use {key}.", "outputs": {"old": f"I used {key}.", "new": "No."}}
    run = start(served, eval)
    request = served.store.requests.find_run(run)

    assert request is not None and request["content"].count("[key hidden]") == 2
    assert key not in read_store_bytes(tmp_path)


def test_a_guest_is_marked(served: Served, tmp_path: Path) -> None:
    """In the list, alone, and in its events; runs of one's own say that they are none."""
    own = start(served, build_eval(1))
    wait_for_state(served, own, "finished")
    file = str(tmp_path / "run.gz")
    export_run(served.store, own, file, io.BytesIO())
    assert list(delete_runs(served.store, [own]))
    import_run(served.store, file)
    mine = start(served, build_eval(1))
    wait_for_state(served, mine, "finished")
    listed = {one["id"]: one["imported"] for one in served.client.get("/v1/runs").json()["runs"]}
    events = served.client.get(f"/v1/runs/{own}/events").text

    assert listed == {own: True, mine: False}
    assert see(served, own)["imported"] is True
    assert '"imported":true' in events.replace(" ", "")
    assert (refused := served.client.post(f"/v1/runs/{own}/align", json={})).status_code == 422
    assert refused.json()["imported"] is True
    assert served.client.post(f"/v1/runs/{own}/resume").json()["imported"] is True  # 409: it is finished.
    compared = served.client.post("/v1/compare", json={"run": f"{own}:new", "against": f"{mine}:no"})
    assert compared.json()["imported"] is True
    assert "imported" not in served.client.post("/v1/compare", json={"run": f"{mine}:no"}).json()


def test_runs_come_in_pages(served: Served) -> None:
    """The newest first, each once."""
    made = [start(served, build_eval(1)) for _ in range(3)]
    found, cursor = [], None
    while True:
        params: Json = {"limit": 2} if cursor is None else {"limit": 2, "cursor": cursor}
        page = served.client.get("/v1/runs", params=params).json()
        found += [one["id"] for one in page["runs"]]
        if (cursor := page["next"]) is None:
            break

    assert found == sorted(made, reverse=True)


# Each would be taken if it were read.
FILES = {
    "samples.jsonl": json.dumps({"id": "hidden-name", "input": "a", "outputs": OUTPUTS}),
    "outputs.jsonl": "".join(json.dumps({"id": f"s{number}", "text": "hidden-name"}) + "\n" for number in range(2)),
    "prompt.md": "hidden-name {input}",
    "panel.yaml": "criteria: [Is it the hidden-name?]",
    "judges.yaml": "judges: [embedded]",
    "schema.json": json.dumps({"title": "hidden-name"}),
    "prices.yaml": "as_of: 2026-11-05\nmodels: {openai/hidden-name: {input: 1, output: 1}}",
}
LOCAL: dict[str, Json] = {
    "samples in a file": {"samples": "@samples.jsonl"},
    "samples in a named file": {"samples": {"file": "@samples.jsonl", "format": "jsonl"}},
    "a command": {"variants": {"new": {"command": ["touch", "canary"]}}},
    "a function": {"variants": {"new": {"python": "os:getcwd"}}},
    "an address": {"variants": {"new": {"http": "http://169.254.169.254/latest"}}},
    "outputs in a file": {"variants": {"new": {"outputs": "@outputs.jsonl"}}},
    "a prompt in a file": {"variants": {"new": {"model": "openai/x", "prompt": {"file": "@prompt.md"}}}},
    "a model that is a function": {"variants": {"new": {"model": "python:os:getcwd"}}},
    "a judge that is a function": {"judges": ["python:os:getcwd"]},
    "a judge that is a file": {"judges": {"replay:@samples.jsonl": 1}},
    "judges in a file": {"judges": "judges.yaml"},
    "a rubric in a file": {"rubric": "@panel.yaml"},
    "a rubric beside": {"rubric": "panel.yaml"},
    "a rubric by tag in a file": {"rubrics": {"a": "@panel.yaml"}},
    "a method in a file": {"rubric": {"method": "/etc/passwd", **RUBRIC}},
    "a check that is run": {"assertions": [{"custom": {"command": ["touch", "canary"]}}]},
    "a check in a set": {"assertions": [{"assert_set": {"any": [{"custom": "os:getcwd"}]}}]},
    "a named check": {"checks": {"own": {"custom": "os:getcwd"}}},
    "a schema in a file": {"assertions": [{"json_schema": "@schema.json"}]},
    "prompts of one's own": {"how": {"language": "/etc"}},
    "prices": {"prices": "@prices.yaml"},
    "a sample's rubric in a file": {"samples": [{"input": "a", "outputs": OUTPUTS, "rubric": "@panel.yaml"}]},
    "a sample's schema in a file": {
        "samples": [{"input": "a", "outputs": OUTPUTS, "assertions": [{"json_schema": "@schema.json"}]}]
    },
    "a sample's check": {"samples": [{"input": "a", "outputs": OUTPUTS, "assertions": [{"custom": "os:getcwd"}]}]},
}


def test_an_eval_reads_and_runs_nothing_of_the_machine(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is refused with the field, before anything is kept."""
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    parts = json.loads(json.dumps(LOCAL).replace("@", f"{tmp_path}/"))
    answers = {name: served.client.post("/v1/runs", json={"eval": build_eval(**part)}) for name, part in parts.items()}

    assert {name: one.status_code for name, one in answers.items()} == dict.fromkeys(LOCAL, 422)
    for name, one in answers.items():
        assert one.json()["faults"][0]["where"], name
        assert "root:" not in one.text and "hidden-name" not in one.text, name
    assert not (tmp_path / "canary").exists()
    assert served.client.get("/v1/runs").json()["runs"] == []


def test_a_run_that_cannot_be_begun_says_why(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was fine when it was asked for may not be when it is begun."""
    monkeypatch.setattr("evenhand.service.engine.list_due_runs", lambda _: [])
    run = start(served, build_eval(1))
    content = {"eval": build_eval(1, rubric="gone"), "options": {}}
    with served.store.requests._write() as connection:
        connection.exec_driver_sql("UPDATE run_requests SET content = :c", {"c": json.dumps(content)})
    monkeypatch.undo()
    view = wait_for_state(served, run, "failed")

    assert "no rubric 'gone' ships" in view["why"]


def test_where_spending_is_bounded_a_run_says_what_it_may_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The budget of the service is that of requests and contests."""
    from fractions import Fraction

    from evenhand.workflows.models import ConnectionOptions

    with serve(tmp_path, monkeypatch, connect=ConnectionOptions(dollars=Fraction(5))) as served:
        without = served.client.post("/v1/runs", json={"eval": build_eval(1)})
        named = served.client.post("/v1/runs", json={"eval": build_eval(1, budget=1)})

    assert (without.status_code, named.status_code) == (422, 202)
    assert without.json()["faults"][0]["would_work"] == "as in budget: 5"


def test_a_run_is_held_against_labels_as_the_command_line_does(served: Served) -> None:
    """The same JSON, by labels that are sent; without any, and with wrong ones, it is refused with the reason."""
    run = start(served, build_eval(12))
    wait_for_state(served, run, "finished")
    labels = [
        {"sample": f"s{number}", "variant": name, "criterion": "score", "rater": "r", "score": int(name == "new")}
        for number in range(12)
        for name in OUTPUTS
    ]

    answer = served.client.post(f"/v1/runs/{run}/trust", json={"labels": labels, "at_most": 0.3})
    none = served.client.post(f"/v1/runs/{run}/trust", json={})
    wrong = served.client.post(f"/v1/runs/{run}/trust", json={"labels": [{**labels[0], "score": 7}]})

    beyond = json.dumps({"labels": labels}).replace('"score": 1}', '"score": 1e999}')
    infinite = served.client.post(f"/v1/runs/{run}/trust", content=beyond, headers={"content-type": "application/json"})

    text = "\n".join(map(json.dumps, labels))
    expected = encode_run_trust(measure_trust(served.store, run, text, most=0.3))
    assert answer.status_code == 200 and answer.json() == json.loads(json.dumps(expected))
    assert none.status_code == 422 and "no labels are kept" in none.json()["detail"]
    assert wrong.status_code == 422 and wrong.json()["faults"][0]["where"] == "labels:1"
    assert infinite.status_code == 422 and "score must be a number" in infinite.json()["detail"]


def test_the_outputs_to_label_next_are_those_of_the_command_line(served: Served) -> None:
    """The same JSON, with digests, chances and widths; what is labelled is not drawn again, and nothing is kept."""
    run = start(served, build_eval(8))
    wait_for_state(served, run, "finished")
    path = f"/v1/runs/{run}/labels/next"

    first = served.client.post(path, json={"n": 4})
    drawn = first.json()["outputs"]
    labels = [
        {"criterion": "score", "rater": "r", "score": 1, "batch": 1, **{key: one[key] for key in LABEL_FIELDS}}
        for one in drawn
    ]
    second = served.client.post(path, json={"n": 100, "labels": labels})
    assert second.status_code == 200, second.text
    wrong = [served.client.post(path, json=one).status_code for one in ({"n": 0}, {"criteria": ["none"]})]

    assert first.json() == json.loads(json.dumps(next_labels_to_json(choose_labels(served.store, run, 4))))
    assert {one["sample"] for one in drawn}.isdisjoint(one["sample"] for one in second.json()["outputs"])
    assert (second.json()["drawn"]["batch"], second.json()["labelled"], second.json()["void"]) == (2, 2, [])
    assert wrong == [422, 422] and not list(served.store.labels(run))


def test_a_rubric_is_aligned_as_the_command_line_does(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same JSON, by labels that are sent; too few of them, and too many calls, are refused before any is made."""
    run = start(served, build_eval(20))
    wait_for_state(served, run, "finished")
    labels = [
        {"sample": f"s{number}", "variant": name, "criterion": "rubric-1", "rater": "r", "score": int(name == "new")}
        for number in range(20)
        for name in OUTPUTS
    ]
    path = f"/v1/runs/{run}/align"

    answer = served.client.post(path, json={"labels": labels, "budget": 1})
    few = served.client.post(path, json={"labels": labels[:8]})
    code = served.client.post(path, json={"labels": labels, "proposer": "python:os:abort"})
    monkeypatch.setattr("evenhand.workflows.sent_inputs.MOST_SENT_CALLS", 3)
    many = served.client.post(path, json={"labels": labels})

    expected = encode_alignment(asyncio.run(align_run(served.store, run, labels)))
    assert answer.status_code == 200, answer.text
    assert {**answer.json(), "calls": 0} == {**json.loads(json.dumps(expected)), "calls": 0}
    assert [one.status_code for one in (few, code, many)] == [422, 422, 422]
    assert "a request cannot name a judge of the kind python:" in code.json()["detail"]
    assert "evenhand align" in many.json()["faults"][0]["would_work"]


def test_a_run_from_elsewhere_is_aligned_without_its_code_and_files(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of the command line may have a judge that is code, and a rubric in a file: neither is touched here."""
    (tmp_path / "rubric.yaml").write_text(json.dumps(RUBRIC))
    (tmp_path / "ours_judging.py").write_text("def judge(request):\n    return ''\n")
    monkeypatch.chdir(tmp_path)
    made = {
        judge: run_sync(build_written_eval(tmp_path, judge), options=RunOptions(place=served.store.address)).id
        for judge in ("embedded", "python:ours_judging:judge")
    }
    monkeypatch.delitem(sys.modules, "ours_judging")

    named, code = (served.client.post(f"/v1/runs/{id}/align", json={}) for id in made.values())

    assert (named.status_code, code.status_code) == (422, 422)
    assert "is outside the folder" in named.json()["detail"]
    assert "python:" in code.json()["detail"] and "ours_judging" not in sys.modules


def test_runs_are_compared_as_the_command_line_compares_them(served: Served) -> None:
    """The same JSON; what cannot be compared is refused with the reason."""
    runs = [start(served, build_eval(6)) for _ in range(2)]
    for run in runs:
        wait_for_state(served, run, "finished")
    served.store.set_baseline("main", runs[0])
    variants = served.client.post("/v1/compare", json={"run": runs[0], "power": True})
    content = {"run": f"{runs[1]}:new", "against": "baseline:main:old", "not_worse_by": 0.5}
    two = served.client.post("/v1/compare", json=content)
    missing = served.client.post("/v1/compare", json={"run": runs[0], "against": "baseline:none"})
    alone = served.client.post("/v1/compare", json={"run": f"{runs[0]}:old", "control": "nobody"})

    assert variants.status_code == 200, variants.text
    assert variants.json() == json.loads(
        json.dumps(compare_runs(served.store, runs[0], terms=CompareTerms(power=True)).to_json())
    )
    assert (two.status_code, two.json()["control"]["run"], two.json()["treatments"][0]["run"]) == (200, *runs)
    assert (missing.status_code, alone.status_code) == (404, 422)
