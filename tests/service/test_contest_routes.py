"""Contests over HTTP: from creation to payment, and what each may see on the way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from evenhand.testing import FakeServer
from tests.contest.answering import server
from tests.service.serving import NOON, Served, serve, wait_until
from tests.service.test_callers import BODIES, ROUTES

Json = dict[str, Any]
DEADLINE = NOON + timedelta(hours=10)
PAY = "https://192.0.2.1.example/pay"


@pytest.fixture
def judge() -> Iterator[FakeServer]:
    with server() as found:
        yield found


@pytest.fixture(autouse=True)
def public_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names have public addresses here, and nothing is sent: messages stay in the outbox."""

    async def send_nothing(*_: Any, **__: Any) -> int:
        return 0

    monkeypatch.setattr("evenhand.workflows.webhooks.WebhookTargets.find_private_address", lambda self, host: "")
    monkeypatch.setattr("evenhand.service.engine.deliver_due_messages", send_nothing)


def make_callers(served: Served) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """The headers of an operator, and of the authors ann and ben."""
    ops, ann = served.make_token("operator", "ops"), served.make_token("submitter", "ann")
    return ops, ann, served.make_token("submitter", "ben")


def build_task(judge: FakeServer, **more: Any) -> Json:
    dimensions = [
        {"id": id, "asks": f"Is it good in {id}?", "weight": 0.25, "fixed": id != "sources"}
        for id in ("substantiveness", "credibility", "completeness", "sources")
    ]
    return {
        "name": "essay",
        "description": "Write an essay.",
        "acceptance": ["It is useful."],
        "mode": "quality_first",
        "deadline": DEADLINE.isoformat(),
        "challenge_period": "2 h",
        "reward": "100 EUR",
        "dimensions": dimensions,
        "judges": [judge.judge],
        **more,
    }


def create(served: Served, headers: dict[str, str], task: Json, **more: Any) -> str:
    answer = served.client.post("/v1/contests", json={"task": task, **more}, headers=headers)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def hand_in(served: Served, contest: str, headers: dict[str, str], text: str) -> Json:
    answer = served.client.post(f"/v1/contests/{contest}/submissions", json={"text": text}, headers=headers)
    assert answer.status_code == 202, answer.text
    return dict(answer.json())


def see(served: Served, contest: str, headers: dict[str, str]) -> Json:
    answer = served.client.get(f"/v1/contests/{contest}", headers=headers)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def wait_for_status(served: Served, contest: str, headers: dict[str, str], status: str) -> None:
    wait_until(lambda: [one["status"] for one in see(served, contest, headers)["submissions"]] == [status])


def test_a_contest_runs_from_creation_to_payment(served: Served, judge: FakeServer) -> None:
    """Nobody starts anything: two hand in, the deadline ranks, the period ends, and one payment is in the outbox."""
    ops, ann, ben = make_callers(served)
    contest = create(served, ops, build_task(judge), payment_hook=PAY)
    receipts = [hand_in(served, contest, ann, "worth 75"), hand_in(served, contest, ben, "worth 81")]
    for who in (ann, ben):
        wait_for_status(served, contest, who, "gate_passed")
    served.clock.pass_hours(11)
    ranked = wait_until(lambda: see(served, contest, ann)["ranking"])
    before = served.store.outbox.list_messages(contest=contest)
    served.clock.pass_hours(3)
    wait_until(lambda: see(served, contest, ann)["state"] == "closed")
    [payment] = served.store.outbox.list_messages(contest=contest)
    log = served.client.get(f"/v1/contests/{contest}/log", headers=ops)

    assert [(one["author"], one["kind"]) for one in receipts] == [("ann", "submission"), ("ben", "submission")]
    assert [one["author"] for one in ranked] == ["ben", "ann"]
    assert before == []
    assert (payment["id"], payment["target"], payment["state"]) == (f"pay-{contest}", PAY, "pending")
    assert json.loads(payment["body"])["author"] == "ben"
    assert see(served, contest, ops)["payment"]["state"] == "released"
    assert log.status_code == 200


def test_a_submitter_learns_nothing_of_another_before_the_ranking(served: Served, judge: FakeServer) -> None:
    """Not from any route, not from what is refused: no name, no text, no score, not even that somebody is there."""
    ops, ben = served.make_token("operator", "ops"), served.make_token("submitter", "quillfeather")
    ann = served.make_token("submitter", "ann")
    contest = create(served, ops, build_task(judge))
    hand_in(served, contest, ben, "Heronsong, worth 81")
    wait_for_status(served, contest, ben, "gate_passed")
    path = f"/v1/contests/{contest}"
    taken = served.client.post(f"{path}/submissions", json={"text": "x worth 1", "id": "quillfeather"}, headers=ann)
    free = served.client.post(f"{path}/submissions", json={"text": "x worth 1", "id": "nobody"}, headers=ann)
    other = served.client.post(f"{path}/submissions", json={"text": "x", "author": "quillfeather"}, headers=ann)
    hand_in(served, contest, ann, "worth 75")
    wait_for_status(served, contest, ann, "gate_passed")
    told = [
        served.client.request(method, route.replace("{id}", contest), json=BODIES.get(route), headers=ann).text
        for method, route in ROUTES
    ]
    own = see(served, contest, ann)

    assert (taken.status_code, taken.json()) == (free.status_code, free.json())
    assert (taken.status_code, other.status_code) == (403, 403)
    for text in told:
        assert "quillfeather" not in text and "Heronsong" not in text and "81" not in text.replace(contest, "")
    assert own["ranking"] is None and own["winner"] is None and own["decision"] is None
    assert {one["score"] for one in own["submissions"]} == {None}


def test_an_operator_may_look_as_others_do_and_nobody_else_may(served: Served, judge: FakeServer) -> None:
    """What an author sees and what is public; a submitter and a reader see no author but themselves."""
    ops, ann, ben = make_callers(served)
    board = served.make_token("reader", "board")
    contest = create(served, ops, build_task(judge))
    hand_in(served, contest, ann, "worth 75")
    wait_for_status(served, contest, ann, "gate_passed")

    def look(who: dict[str, str], **query: str) -> tuple[int, Any]:
        answer = served.client.get(f"/v1/contests/{contest}", params=query, headers=who)
        return answer.status_code, answer.json()

    own, public = look(ann), look(board)
    assert own[0] == public[0] == 200 and own != public
    assert look(ops, author="ann") == look(ann, author="ann") == own
    assert look(ops, public="true") == look(ann, public="true") == look(board, public="true") == public
    assert [look(who, author="ann")[0] for who in (ben, board)] == [403, 403]


def test_a_hook_needs_a_secret_to_sign_with(served: Served, judge: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else nobody would learn before the day of the payment that it cannot be sent."""
    contest = create(served, {}, build_task(judge))
    monkeypatch.delenv("EVENHAND_WEBHOOK_SECRET")
    hooks = [{"payment_hook": PAY}, {"operator_hook": PAY}]
    refused = [
        served.client.post("/v1/contests", json={"task": build_task(judge), "again": "2", **one}) for one in hooks
    ]
    told = {"text": "worth 75", "author": "ann", "notify": PAY}
    refused.append(served.client.post(f"/v1/contests/{contest}/submissions", json=told))

    for answer in refused:
        [fault] = answer.json()["faults"]
        assert answer.status_code == 422 and "EVENHAND_WEBHOOK_SECRET" in fault["would_work"]
    assert len(served.client.get("/v1/contests").json()["contests"]) == 1
    assert served.store.inbox.list_rows(contest) == []


def test_texts_stay_with_their_authors_after_the_ranking(served: Served, judge: FakeServer) -> None:
    """Who came where is public then; what they wrote and were told is not."""
    ops, ben = served.make_token("operator", "ops"), served.make_token("submitter", "ben")
    ann, board = served.make_token("submitter", "ann"), served.make_token("reader", "board")
    contest = create(served, ops, build_task(judge))
    hand_in(served, contest, ben, "Heronsong, worth 81")
    hand_in(served, contest, ann, "worth 75")
    served.clock.pass_hours(11)
    wait_until(lambda: see(served, contest, ann)["ranking"])
    seen = [see(served, contest, who)["ranking"] for who in (ann, board)]

    assert [[one["author"] for one in ranking] for ranking in seen] == [["ben", "ann"]] * 2
    assert all("Heronsong" not in json.dumps(see(served, contest, who)) for who in (ann, board))
    assert "Heronsong" in json.dumps(see(served, contest, ben))


def test_a_challenge_comes_over_http_once(served: Served, judge: FakeServer) -> None:
    """In its time; before it, and a second time, it is refused with the reason."""
    ops, ann, ben = make_callers(served)
    with server(more=1) as others:
        contest = create(served, ops, build_task(judge, challenge_judges=[others.judge]))
        hand_in(served, contest, ann, "worth 75")
        hand_in(served, contest, ben, "worth 81")
        path, reason = f"/v1/contests/{contest}/challenges", {"reason": "mine is better"}
        early = served.client.post(path, json=reason, headers=ann)
        served.clock.pass_hours(11)
        wait_until(lambda: see(served, contest, ann)["ranking"])
        taken = served.client.post(path, json=reason, headers=ann)
        again = served.client.post(path, json=reason, headers=ben)
        wait_until(lambda: others.asked)
        wait_until(lambda: see(served, contest, ann)["state"] != "challenged")
        served.clock.pass_hours(3)
        wait_until(lambda: see(served, contest, ann)["state"] == "closed")

    assert (early.status_code, taken.status_code, again.status_code) == (422, 202, 422)


def test_what_was_received_is_played_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, judge: FakeServer
) -> None:
    """A worker that went away before it looked leaves nothing behind: the next one finds it in the store."""
    with monkeypatch.context() as patched:
        patched.setattr("evenhand.service.engine.list_due_contests", lambda _: [])
        with serve(tmp_path, monkeypatch) as served:
            contest = create(served, {}, build_task(judge))
            path = f"/v1/contests/{contest}/submissions"
            receipt = served.client.post(path, json={"text": "worth 75", "author": "ann"})
        asked_before = len(judge.asked)
    with serve(tmp_path, monkeypatch) as served:
        wait_for_status(served, contest, served.make_token("submitter", "ann"), "gate_passed")

    assert receipt.status_code == 202
    assert asked_before == 0


def test_an_operator_hands_in_for_somebody(served: Served, judge: FakeServer) -> None:
    """And has to say for whom."""
    contest = create(served, {}, build_task(judge))
    path = f"/v1/contests/{contest}/submissions"
    nobody = served.client.post(path, json={"text": "worth 75"})
    somebody = served.client.post(path, json={"text": "worth 75", "author": "ann", "id": "first"})

    assert (nobody.status_code, somebody.status_code) == (422, 202)
    assert (somebody.json()["author"], somebody.json()["id"]) == ("ann", "first")


def test_contests_come_in_pages(served: Served, judge: FakeServer) -> None:
    """The newest first, each once; others than the operator see no more than that they are there."""
    made = [create(served, {}, build_task(judge, name=f"essay {number}")) for number in range(3)]
    ann = served.make_token("submitter", "ann")
    found, cursor = [], None
    while True:
        params = {"limit": 2} if cursor is None else {"limit": 2, "cursor": cursor}
        page = served.client.get("/v1/contests", params=params, headers=ann).json()
        found += page["contests"]
        if (cursor := page["next"]) is None:
            break

    assert sorted(one["id"] for one in found) == sorted(made)
    assert [one["id"] for one in found] == sorted(made, reverse=True)
    assert all(set(one) == {"id", "task"} for one in found)
