"""What is refused: one shape for everything, and nothing of the machine in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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


def test_a_fault_of_evenhand_says_no_more_than_its_kind(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """What went wrong inside is for the log."""

    def fail() -> None:
        raise RuntimeError("secret of the machine")

    monkeypatch.setattr("evenhand.service.scoring_routes.list_rubrics", fail)
    answer = served.client.get("/v1/rubrics")

    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "secret of the machine" not in answer.text


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_long_is_refused(chunked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its head, or, where that says nothing, while it comes: the rest is not read."""
    read: list[int] = []

    def parts() -> Iterator[bytes]:
        for number in range(100):
            read.append(number)
            yield b"x" * 100

    with serve(tmp_path, monkeypatch, body_bytes=1000) as served:
        answer = served.client.post("/v1/score", content=parts() if chunked else b"x" * 1001)
        fits = served.client.post("/v1/score", content=b"x" * 1000)

    assert (answer.status_code, answer.headers["content-type"]) == (413, "application/problem+json")
    assert fits.status_code == 422
