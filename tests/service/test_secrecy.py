"""Who may not see something does not learn it, by any route of the OpenAPI page and any id that a caller can know."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evenhand.testing import FakeServer
from tests.contest.answering import server
from tests.service.serving import Served, wait_until
from tests.service.test_callers import BODIES
from tests.service.test_contest_routes import build_task, create, hand_in, see, wait_for_status
from tests.service.test_run_routes import build_eval
from tests.store.test_private import read_store_files

Json = dict[str, Any]
LENGTH = re.compile(r"'(?:content-length|evenhand-store)': '\w+'")  # Their digits tell nothing of anybody.
OTHER, TEXT, SCORE = "quillfeather", "Heronsong", "81"
HOOK, RUN_TEXT, RUN_NAME, OPERATOR = "sandpiper.example", "Nightjar", "kittiwake", "lapwing"


@pytest.fixture
def judge() -> Iterator[FakeServer]:
    with server() as found:
        yield found


@pytest.fixture(autouse=True)
def public_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    async def send_nothing(*_: Any, **__: Any) -> int:
        return 0

    monkeypatch.setattr("evenhand.workflows.webhooks.WebhookTargets.find_private_address", lambda self, host: "")
    monkeypatch.setattr("evenhand.service.engine.deliver_due_messages", send_nothing)


def list_requests(served: Served, ids: list[str]) -> Iterator[tuple[str, str, Json | None]]:
    """Every operation of the page, under every id, with what it takes."""
    paths: Json = served.client.get("/openapi.json").json()["paths"]
    for path, operations in paths.items():
        for method in operations:
            body: Any = BODIES.get(path) if method == "post" else None
            for id in ids if "{id}" in path else [""]:
                yield method, path.replace("{id}", id), body
                if method == "get":
                    yield method, f"{path.replace('{id}', id)}?cursor=99999999&limit=200&format=html", None


def collect_answers(served: Served, headers: dict[str, str], ids: list[str]) -> dict[str, str]:
    """What a caller is told by each request, heads included."""
    answers = {}
    for method, path, body in list_requests(served, ids):
        answer = served.client.request(method, path, json=body, headers=headers)
        assert answer.status_code < 500, (method, path, answer.text)
        answers[f"{method} {path}"] = f"{answer.headers} {answer.text}"
    return answers


def find_leaks(answers: dict[str, str], secrets: tuple[str, ...], contest: str) -> list[tuple[str, str]]:
    """Requests that tell a secret which does not stand in the request itself; the contest's id is known to all."""
    return [
        (request, secret)
        for request, told in answers.items()
        for secret in secrets
        if secret in LENGTH.sub("", told.replace(contest, "")) and secret not in request
    ]


def test_nobody_learns_what_is_not_theirs(served: Served, judge: FakeServer) -> None:
    """Before the ranking nothing of others, and after it no text; of runs and of operators never anything."""
    ops, ben = served.make_token("operator", OPERATOR), served.make_token("submitter", OTHER)
    callers = {"ann": served.make_token("submitter", "ann"), "board": served.make_token("reader", "board")}
    contest = create(served, ops, build_task(judge), payment_hook=f"https://{HOOK}/pay")
    hand_in(served, contest, ben, f"{TEXT}, worth {SCORE}")
    wait_for_status(served, contest, ben, "gate_passed")
    eval = build_eval(1, name=RUN_NAME, rubric={"criteria": [f"Is it {RUN_TEXT}?"]})
    run = served.client.post("/v1/runs", json={"eval": eval}, headers=ops).json()["id"]
    wait_until(lambda: served.client.get(f"/v1/runs/{run}", headers=ops).json()["state"] == "finished")
    ids = [contest, contest[:12], run, "latest", f"latest:{RUN_NAME}", OTHER, f"pay-{contest}", "essay", "none"]
    before = {name: collect_answers(served, headers, ids) for name, headers in callers.items()}
    control = json.dumps(see(served, contest, ops)) + served.client.get(f"/v1/runs/{run}/report", headers=ops).text
    served.clock.pass_hours(11)
    wait_until(lambda: see(served, contest, callers["ann"])["ranking"])
    after = {name: collect_answers(served, headers, ids) for name, headers in callers.items()}

    always = (TEXT, HOOK, RUN_TEXT, RUN_NAME, OPERATOR, run, judge.url)
    for answers in before.values():
        assert find_leaks(answers, (OTHER, SCORE, *always), contest) == []
    for answers in after.values():
        assert find_leaks(answers, always, contest) == []
    assert all(secret in control for secret in (OTHER, TEXT, SCORE, RUN_TEXT, RUN_NAME))  # They can be seen.


@pytest.mark.parametrize("keep", ["none", "masked"])
def test_texts_that_a_run_does_not_keep_are_in_no_file_of_the_store_once_it_is_over(
    served: Served, tmp_path: Path, keep: str
) -> None:
    """The service goes on, and the log beside the store with it: what was removed is not left there."""
    secret = "kestrel@quillfeather.example"
    samples = [{"id": "s1", "input": f"Mail {secret}", "outputs": {"new": f"Mailed {secret}", "old": secret}}]
    run = served.client.post("/v1/runs", json={"eval": build_eval(0, keep=keep, samples=samples)}).json()["id"]

    wait_until(lambda: served.client.get(f"/v1/runs/{run}").json()["state"] == "finished")
    wait_until(lambda: served.store.requests.find_run(run) is None)

    assert wait_until(lambda: secret.encode() not in read_store_files(tmp_path / "store"))
