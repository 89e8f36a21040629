"""What is refused: one shape for everything, and nothing of the machine in it."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import RefusedError, StoreError
from evenhand.service.app import LimitedRequestBodies
from evenhand.service.problems import ProblemError
from evenhand.service.settings import LimitedTurns
from tests.service.serving import Served, serve

TASK = {"description": "d", "acceptance": ["a"], "mode": "fastest_first", "judges": ["embedded"]}
REFUSED: dict[str, tuple[int, str, str, Any]] = {
    "no such route": (404, "GET", "/v1/nothing", None),
    "another method": (405, "DELETE", "/v1/rubrics", None),
    "no such contest": (404, "GET", "/v1/contests/20261116-000000-000000", None),
    "no such contest to hand in to": (404, "POST", "/v1/contests/x/submissions", {"text": "t", "author": "ann"}),
    "a field that is missing": (422, "POST", "/v1/score", {"rubric": "oracle"}),
    "a field too many": (422, "POST", "/v1/score", {"rubric": "oracle", "answers": {}, "file": "x"}),
    "a rubric that does not ship": (422, "POST", "/v1/score", {"rubric": "/etc/passwd", "answers": {}}),
    "a method that is a file": (422, "POST", "/v1/score", {"rubric": {"method": "/etc/passwd"}, "answers": {}}),
    "a parent that is a file": (422, "POST", "/v1/score", {"rubric": {"extends": "/etc/passwd"}, "answers": {}}),
    "a rubric with a fault": (422, "POST", "/v1/score", {"rubric": {"criteria": 3}, "answers": {}}),
    "a judge that is code": (
        422, "POST", "/v1/judge", {"rubric": "oracle", "outputs": {"a": "x"}, "judges": ["python:os:system"]}
    ),
    "a judge that cannot be": (
        422, "POST", "/v1/judge", {"rubric": "oracle", "outputs": {"a": "x"}, "judges": ["nobody"]}
    ),
    "a task with faults": (422, "POST", "/v1/contests", {"task": {"mode": "slowest"}}),
    "a task judged by code": (422, "POST", "/v1/contests", {"task": {**TASK, "judges": ["python:os:system"]}}),
    "a task judged by a file": (422, "POST", "/v1/contests", {"task": {**TASK, "judges": "panel.yaml"}}),
    "a private hook": (422, "POST", "/v1/contests", {"task": TASK, "payment_hook": "https://127.0.0.1/pay"}),
    "a hook over http": (422, "POST", "/v1/contests", {"task": TASK, "payment_hook": "http://example.org/pay"}),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_every_refusal_is_a_problem(name: str, served: Served) -> None:
    """With its status, in words, and, fault by fault, where, what and what would work."""
    status, method, path, content = REFUSED[name]
    answer = served.client.request(method, path, json=content)
    body = answer.json()

    assert (answer.status_code, body["status"]) == (status, status), body
    assert answer.headers["content-type"] == "application/problem+json"
    assert set(body) == {"type", "title", "status", "detail", "faults"}
    assert body["title"] and body["detail"] and body["faults"]
    assert all(set(one) == {"where", "what", "would_work"} and one["what"] for one in body["faults"])
    assert "store.sqlite" not in answer.text and "Traceback" not in answer.text
    assert "root:" not in answer.text


def test_a_body_that_is_no_json_is_a_problem(served: Served) -> None:
    """Not a fault of Evenhand."""
    answer = served.client.post("/v1/score", content=b"{", headers={"content-type": "application/json"})

    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")


JSON_TYPE = {"content-type": "application/json"}
UNFIT: dict[str, tuple[str, bytes, dict[str, str], dict[str, tuple[str, str]]]] = {
    "no content type": (
        "/v1/compare", b'{"run": "a"}', {}, {"body": ("it does not say what it is", "send it as application/json")},
    ),
    "the content type of a form": (
        "/v1/compare", b'{"run": "a"}', {"content-type": "application/x-www-form-urlencoded"},
        {"body": ("it came as application/x-www-form-urlencoded", "send it as application/json")},
    ),
    "no JSON": (
        "/v1/compare", b"{bad", JSON_TYPE,
        {"body": ("it is no JSON: expecting property name enclosed in double quotes, at character 1", "send JSON")},
    ),
    "a list": ("/v1/compare", b"[1]", JSON_TYPE, {"body": ("must be an object", "/docs has the fields")}),
    "nothing": ("/v1/compare", b"", JSON_TYPE, {"body": ("is missing", "/docs has the fields")}),
    "other names": (
        "/v1/compare", b'{"runs": []}', JSON_TYPE,
        {"body.run": ("is missing", "The run to decide on: an id or"),
         "body.runs": ("is no field of this route", "there are run, against, control,")},
    ),
    "texts without names": (
        "/v1/judge", b'{"rubric": 3, "outputs": ["x"]}', JSON_TYPE,
        {"body.rubric": ("must be a text or an object", "The name of a shipped rubric, or"),
         "body.outputs": ("must be an object", 'The texts to judge, each under a name of yours: {"a": "text"}')},
    ),
    "below a list": (
        "/v1/rewards", b'{"rubric": "oracle", "outputs": [{"output": 3, "x": 1}, "y"]}', JSON_TYPE,
        {"body.outputs.0.output": ("must be a text or a list", "The text to reward, or"),
         "body.outputs.0.x": ("is no field of this route", "there are output, prompt,"),
         "body.outputs.1": ("must be an object", "A list of objects: ")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNFIT)
def test_what_does_not_fit_a_route_is_told_what_would(name: str, served: Served) -> None:
    """Each place once, in words that need no knowledge of how it is checked."""
    path, content, headers, told = UNFIT[name]
    answer = served.client.post(path, content=content, headers=headers)
    faults = {one["where"]: one for one in answer.json()["faults"]}

    assert (answer.status_code, set(faults)) == (422, set(told)), answer.text
    for where, (what, would_work) in told.items():
        assert faults[where]["what"] == what
        assert faults[where]["would_work"].startswith(would_work), faults[where]


def test_a_parameter_that_does_not_fit_is_told_where_it_is_described(served: Served) -> None:
    """The parts of an address have no body to describe them."""
    [fault] = served.client.get("/v1/runs?limit=0").json()["faults"]

    assert (fault["where"], fault["would_work"]) == ("query.limit", "/docs has the fields of each route")


@pytest.mark.parametrize("panel", ["judges", "challenge_judges"])
def test_a_contest_is_not_judged_by_words(panel: str, served: Served) -> None:
    """Nobody would be scored, and every author be told that a level is not guessed."""
    slow = {"mode": "quality_first", "deadline": "2026-12-01T18:00:00+00:00", "challenge_period": "1 h"}
    panels = {"judges": ["ollama/a"], "challenge_judges": ["ollama/b"], panel: ["embedded"]}
    [fault] = served.client.post("/v1/contests", json={"task": {**TASK, **slow, **panels}}).json()["faults"]

    assert fault["where"] == panel
    assert fault["what"] == "embedded gives no scores, and a contest needs them"
    assert fault["would_work"] == "name a model that does, as in openai/NAME"


def test_every_field_of_a_body_is_described(served: Served) -> None:
    """The page of the API is where a caller learns what to send."""
    schemas = served.client.get("/openapi.json").json()["components"]["schemas"]
    bare = [
        f"{name}.{field}"
        for name, schema in schemas.items()
        if name not in ("Problem", "Fault")
        for field, about in schema.get("properties", {}).items()
        if not about.get("description")
    ]

    assert bare == []


def test_a_fault_of_evenhand_says_no_more_than_its_kind(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """What went wrong inside is for the log."""

    def fail() -> None:
        raise RuntimeError("secret of the machine")

    monkeypatch.setattr("evenhand.service.scoring_routes.list_rubrics", fail)
    answer = served.client.get("/v1/rubrics")

    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "secret of the machine" not in answer.text


HALF: Any = "\ud800"
RUBRIC: Any = {"criteria": ["Is it short?"]}
HALVES: dict[str, tuple[str, Any, list[str]]] = {
    "an output": ("/v1/judge", {"rubric": RUBRIC, "outputs": {"a": "x", "b": HALF}}, ["body.outputs.b"]),
    "the name of an output": ("/v1/judge", {"rubric": RUBRIC, "outputs": {HALF: "x"}}, ["body.outputs"]),
    "an input": ("/v1/judge", {"rubric": RUBRIC, "outputs": {"a": "x"}, "input": HALF}, ["body.input"]),
    "a criterion": ("/v1/judge", {"rubric": {"criteria": [HALF]}, "outputs": {"a": "x"}}, ["body.rubric.criteria.0"]),
    "a field of no route": ("/v1/judge", {HALF: "x"}, ["body"]),
    "an answer": ("/v1/score", {"rubric": "oracle", "answers": {"id": HALF}}, ["body.answers.id"]),
    "rewarded outputs": (
        "/v1/rewards", {"rubric": RUBRIC, "outputs": [{"output": HALF}, {"output": "x", "prompt": HALF}]},
        ["body.outputs.0.output", "body.outputs.1.prompt"],
    ),
    "slime's": ("/v1/rewards/slime?rubric=oracle", {"response": HALF}, ["body.response"]),
    "a sample": ("/v1/runs", {"eval": {"samples": [{"input": HALF}]}}, ["body.eval.samples.0.input"]),
    "a compared run": ("/v1/compare", {"run": HALF}, ["body.run"]),
    "a label": ("/v1/runs/x/trust", {"labels": [{"id": HALF}]}, ["body.labels.0.id"]),
    "a rubric to align": ("/v1/runs/x/align", {"rubric": {"name": HALF}}, ["body.rubric.name"]),
    "a label so far": ("/v1/runs/x/labels/next", {"labels": [{"id": HALF}]}, ["body.labels.0.id"]),
    "a task": ("/v1/contests", {"task": {**TASK, "description": HALF}}, ["body.task.description"]),
    "a submission": ("/v1/contests/x/submissions", {"text": HALF, "author": "ann"}, ["body.text"]),
    "a challenge": ("/v1/contests/x/challenges", {"reason": HALF, "author": "ann"}, ["body.reason"]),
}  # fmt: skip


@pytest.mark.parametrize("name", HALVES)
def test_half_a_character_is_refused_where_it_stands(name: str, served: Served) -> None:
    """No answer could repeat it, no store keep it and no model be sent it: it was a fault of Evenhand somewhere."""
    path, content, places = HALVES[name]
    raw = json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogatepass")
    for body in (json.dumps(content).encode(), raw):
        answer = served.client.post(path, content=body, headers=JSON_TYPE)
        faults = answer.json()["faults"]

        assert (answer.status_code, [one["where"] for one in faults]) == (422, places), answer.text
        assert all("half a character (a lone surrogate)" in one["what"] for one in faults)
        assert all(one["would_work"] for one in faults)


def test_every_route_that_takes_a_body_is_tried_with_half_a_character(served: Served) -> None:
    """A new one is to be listed above."""
    paths = served.client.get("/openapi.json").json()["paths"]
    taking = {path for path, ways in paths.items() if any("requestBody" in one for one in ways.values())}

    assert taking == {re.sub("/x/", "/{id}/", path).partition("?")[0] for path, _, _ in HALVES.values()}


def test_two_halves_that_make_a_character_are_one(served: Served) -> None:
    """As most programs write what is not in ASCII."""
    body = rb'{"rubric": {"criteria": ["Is it at most 5 words long?"]}, "outputs": {"a": "\\ud83d\\ude00"}}'

    assert served.client.post("/v1/judge", content=body, headers=JSON_TYPE).status_code == 200


def test_whoever_may_not_call_is_told_that_first(served: Served) -> None:
    """What a body holds is looked at for callers alone."""
    body = json.dumps({"input": HALF}).encode()
    served.make_token("operator", "ann")

    assert served.client.post("/v1/judge", content=body, headers=JSON_TYPE).status_code == 401


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_long_is_refused(chunked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its head, or, where that says nothing, while it comes."""
    content = iter([b"x" * 100] * 11) if chunked else b"x" * 1001
    with serve(tmp_path, monkeypatch, body_bytes=1000) as served:
        answer = served.client.post("/v1/score", content=content)
        fits = served.client.post("/v1/score", content=b"x" * 1000)

    assert (answer.status_code, answer.headers["content-type"]) == (413, "application/problem+json")
    assert fits.status_code == 422


def test_nothing_is_read_of_a_body_that_says_that_it_is_too_long() -> None:
    """Not a byte of it, and no route hears of it."""
    sent: list[Any] = []

    async def refuse(*_: Any) -> Any:
        raise AssertionError("it was read")

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "headers": [(b"content-length", b"1001")]}
    asyncio.run(LimitedRequestBodies(refuse, most=1000)(scope, refuse, send))

    assert sent[0]["status"] == 413


@pytest.mark.parametrize("panel", ["judges", "challenge_judges"])
def test_a_task_cannot_name_code(panel: str, served: Served) -> None:
    """Whoever may begin a contest may not run what is on the machine."""
    slow = {"mode": "quality_first", "deadline": "2026-12-01T18:00:00+00:00", "challenge_period": "1 h"}
    panels = {"judges": ["openai/a"], "challenge_judges": ["openai/b"], panel: ["python:os:system"]}
    task = {**TASK, **slow, **panels}
    answer = served.client.post("/v1/contests", json={"task": task})

    assert answer.json()["detail"] == "a request cannot name a judge of the kind python:"


def test_a_task_does_not_read_a_file_of_judges(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What would be a file in a task file is a name here, and nobody has it."""
    (tmp_path / "panel.yaml").write_text("judges: [hidden-name]")
    monkeypatch.chdir(tmp_path)
    answer = served.client.post("/v1/contests", json={"task": {**TASK, "judges": "panel.yaml"}})

    assert answer.status_code == 422
    assert "hidden-name" not in answer.text


def test_what_is_above_the_limits_is_told_to_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One request may be under way, and one may ask judges while another waits: the next is refused, and none lost."""
    began, free = threading.Event(), threading.Event()
    answers: dict[str, Any] = {}

    async def judge_slowly(*_: Any, **__: Any) -> Any:
        began.set()
        await asyncio.to_thread(free.wait, 30)
        raise RefusedError("nobody")

    monkeypatch.setattr("evenhand.service.scoring_routes.judge", judge_slowly)
    content = {"rubric": "council", "outputs": {"a": "x"}, "judges": ["embedded"]}
    with serve(tmp_path, monkeypatch, requests_at_once=1) as served:

        def send(name: str) -> None:
            answers[name] = served.client.post("/v1/judge", json=content)

        first = threading.Thread(target=send, args=("first",))
        first.start()
        assert began.wait(30)
        send("second")
        watched = served.client.get("/healthz")
        free.set()
        first.join()
        later = served.client.get("/v1/rubrics")

    assert (answers["second"].status_code, answers["second"].headers["retry-after"]) == (503, "1")
    assert answers["second"].headers["content-type"] == "application/problem+json"
    assert (answers["first"].status_code, watched.status_code, later.status_code) == (502, 200, 200)


def test_few_wait_for_judges() -> None:
    """Whoever would wait too long learns it at once; turns that end are given on."""

    async def take_turns() -> list[Any]:
        turns, free = LimitedTurns(1, 1), asyncio.Event()

        async def take() -> int:
            async with turns:
                await free.wait()
                return 1

        tasks = [asyncio.create_task(take()) for _ in range(3)]
        await asyncio.sleep(0)
        free.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    found = asyncio.run(take_turns())

    assert found[:2] == [1, 1]
    assert isinstance(found[2], ProblemError) and found[2].status == 503


def test_a_store_that_fails_is_not_the_callers_fault(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told to come back, also by whoever watches, and learns nothing of the database."""

    def fail(*_: Any) -> Any:
        raise StoreError("cannot be reached: password of kestrel") from OSError("down")

    monkeypatch.setattr("evenhand.store.contest_store.ContestStore.list_waking", fail)
    monkeypatch.setattr("evenhand.service.contest_routes.list_contests", fail)
    answers = [served.client.get(path) for path in ("/v1/contests", "/readyz")]

    assert [one.status_code for one in answers] == [503, 503]
    assert all(one.headers["retry-after"] == "5" and "kestrel" not in one.text for one in answers)
