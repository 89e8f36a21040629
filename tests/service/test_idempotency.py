"""Requests that are sent again: done once, answered alike, also by another worker and after a restart."""

from __future__ import annotations

import sqlite3
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from evenhand.errors import Fault, StoreError
from evenhand.store.service_store import StoredServiceRequests
from evenhand.store.store import Store
from tests.contest.answering import server
from tests.service.serving import Served, serve, wait_until
from tests.service.test_contest_routes import build_task, create, wait_for_status
from tests.service.test_run_routes import build_eval

Json = dict[str, Any]
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
KEY = {"idempotency-key": "7f3c"}


def test_a_request_that_is_sent_again_is_done_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answer, after a restart too; other callers have keys of their own."""
    content = {"eval": build_eval(1)}
    with serve(tmp_path, monkeypatch) as served:
        first = served.client.post("/v1/runs", json=content, headers=KEY)
    with serve(tmp_path, monkeypatch) as served:
        again = served.client.post("/v1/runs", json=content, headers=KEY)
        runs = served.client.get("/v1/runs").json()["runs"]
        other = served.client.post("/v1/runs", json=content, headers={**KEY, **served.make_token("operator", "eve")})

    assert (first.status_code, again.status_code) == (202, 202)
    assert (again.json(), again.headers["location"]) == (first.json(), first.headers["location"])
    assert (first.headers.get("idempotency-replayed"), again.headers["idempotency-replayed"]) == (None, "true")
    assert [one["id"] for one in runs] == [first.json()["id"]]
    assert other.json()["id"] != first.json()["id"]


def test_a_submission_is_handed_in_once(served: Served) -> None:
    """An author who sends it again after a lost answer has one submission, with one receipt."""
    ops, ann = served.make_token("operator", "ops"), {**served.make_token("submitter", "ann"), **KEY}
    with server() as judge:
        contest = create(served, ops, build_task(judge))
        path, content = f"/v1/contests/{contest}/submissions", {"text": "worth 75"}
        receipts = [served.client.post(path, json=content, headers=ann) for _ in range(2)]
        wait_for_status(served, contest, ann, "gate_passed")

    assert [one.status_code for one in receipts] == [202, 202]
    assert receipts[0].json() == receipts[1].json()


def test_a_key_is_for_one_request(served: Served) -> None:
    """Another body under it is refused, and so is what is no key."""
    answers = {"id": "A", "scores": {"accuracy": 9}}
    first = served.client.post("/v1/score", json={"rubric": "council", "answers": answers}, headers=KEY)
    other = served.client.post("/v1/score", json={"rubric": "oracle", "answers": answers}, headers=KEY)
    wrong = [
        served.client.post("/v1/score", json={}, headers={"idempotency-key": key}) for key in ("", "a b", "x" * 201)
    ]

    assert (first.status_code, other.status_code) == (200, 422)
    assert other.json()["detail"] == "this Idempotency-Key was used for another request"
    assert [one.json()["faults"][0]["would_work"] for one in wrong] == ["as in a random UUID"] * 3


def test_a_request_that_was_refused_may_be_sent_again(served: Served) -> None:
    """Nothing was done under its key; a caller without a good token learns nothing of it."""
    refused = served.client.post("/v1/runs", json={"eval": {}}, headers=KEY)
    mended = served.client.post("/v1/runs", json={"eval": build_eval(1)}, headers=KEY)
    served.make_token("operator", "ops")
    stranger = served.client.post("/v1/runs", json={"eval": build_eval(1)}, headers=KEY)

    assert (refused.status_code, mended.status_code, stranger.status_code) == (422, 202, 401)


@pytest.mark.parametrize(("was_cut_off", "answer"), [(True, 409), (False, 202)])
def test_a_request_that_may_have_been_done_is_not_done_again(
    served: Served, monkeypatch: pytest.MonkeyPatch, was_cut_off: bool, answer: int
) -> None:
    """The database was cut off as it stored the run, and stays away; whoever could not connect has stored nothing."""
    monkeypatch.setattr("evenhand.service.idempotency.WAIT_SECONDS", 0.0)
    content, add_run = {"eval": build_eval(1)}, StoredServiceRequests.add_run

    def lose(requests: StoredServiceRequests, row: Any) -> None:
        if was_cut_off:
            add_run(requests, row)
        cause = OperationalError("COMMIT", {}, OSError(), connection_invalidated=was_cut_off)
        raise StoreError(Fault("cannot be reached")) from cause

    monkeypatch.setattr(StoredServiceRequests, "add_run", lose)
    lost = served.client.post("/v1/runs", json=content, headers=KEY)
    monkeypatch.setattr(StoredServiceRequests, "add_run", add_run)
    again = served.client.post("/v1/runs", json=content, headers=KEY)

    assert (lost.status_code, again.status_code) == (503, answer)
    assert len(served.client.get("/v1/runs").json()["runs"]) == 1


def test_two_at_once_are_done_once(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second waits for the answer to the first; where that does not come, it is told so."""
    monkeypatch.setattr("evenhand.service.idempotency.WAIT_SECONDS", 5.0)
    answers: list[Any] = []
    content = {"eval": build_eval(1)}

    def send() -> None:
        answers.append(served.client.post("/v1/runs", json=content, headers=KEY))

    threads = [threading.Thread(target=send) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    served.store.requests.claim_key("", "lost", digest="", now=NOW, expires=NOW + timedelta(days=1))
    monkeypatch.setattr("evenhand.service.idempotency.WAIT_SECONDS", 0.0)
    monkeypatch.setattr("evenhand.service.idempotency.sha256", lambda _: type("", (), {"hexdigest": lambda _: ""})())
    cut_off = served.client.post("/v1/runs", json=content, headers={"idempotency-key": "lost"})

    assert {one.status_code for one in answers} == {202}
    assert len({one.json()["id"] for one in answers}) == 1
    assert len(served.client.get("/v1/runs").json()["runs"]) == 1
    assert (cut_off.status_code, cut_off.headers["retry-after"]) == (409, "10")


def test_a_key_is_free_again_once_it_expired(database: str) -> None:
    """In either database: one of two that claim it gets it, until its time is over."""
    with Store.open(database, {}) as store:
        later = NOW + timedelta(hours=24)
        claims = [
            store.requests.claim_key("ann", "k", digest=digest, now=NOW, expires=later) for digest in ("one", "two")
        ]
        store.requests.keep_answer("ann", "k", "said", later)
        kept = store.requests.claim_key("ann", "k", digest="two", now=NOW, expires=later)
        other = store.requests.claim_key("ben", "k", digest="two", now=NOW, expires=later)
        expired = store.requests.claim_key("ann", "k", digest="two", now=later, expires=later + timedelta(hours=1))
        store.requests.release_key("ann", "k")
        released = store.requests.claim_key("ann", "k", digest="new", now=NOW, expires=later)

    assert claims[0] is None and claims[1] is not None and claims[1]["digest"] == "one"
    assert kept is not None and kept["answer"] == "said"
    assert (other, expired, released) == (None, None, None)


def test_a_kept_answer_is_gone_after_its_time_whoever_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may quote a private output: a worker forgets it, also when nobody sends a key again."""
    with serve(tmp_path, monkeypatch) as served:
        yesterday = NOW - timedelta(hours=24)
        served.store.requests.claim_key("ann", "old", digest="", now=yesterday, expires=NOW)
        served.store.requests.keep_answer("ann", "old", "private", NOW)
    with serve(tmp_path, monkeypatch) as served:
        wait_until(lambda: _count_kept_answers(served) == 0)


def _count_kept_answers(served: Served) -> int:
    with sqlite3.connect(served.store.address) as connection:
        return int(connection.execute("select count(*) from idempotency_keys").fetchone()[0])
