"""What a worker does unasked, where something cannot be played."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from evenhand.store.tables import CONTESTS
from tests.contest.answering import server
from tests.service.serving import Served, wait_until
from tests.service.test_contest_routes import build_task, create, see


def test_contests_that_cannot_be_played_keep_no_other_waiting(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """More of them than are played at once, and due for longer: what somebody changed is passed over."""
    monkeypatch.setattr("evenhand.service.engine.CONTESTS_AT_ONCE", 2)
    with server() as judge:
        changed = [create(served, {}, build_task(judge, name=f"changed {number}")) for number in range(4)]
        sound = create(served, {}, build_task(judge, name="sound"))
        with served.store._connect(writes=True) as connection:
            values = {"source": "changed by somebody", "wakes": "2000-01-01T00:00:00+00:00"}
            connection.execute(update(CONTESTS).where(CONTESTS.c.id.in_(changed)).values(**values))
        path = f"/v1/contests/{sound}/submissions"
        handed_in = served.client.post(path, json={"text": "worth 75", "author": "ann"})
        wait_until(lambda: [one["status"] for one in see(served, sound, {})["submissions"]] == ["gate_passed"])

    assert handed_in.status_code == 202


def test_a_judge_that_was_gone_for_long_is_asked_again(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command may give a silent judge up; a service lives on when the judge is back."""
    monkeypatch.setattr("evenhand.models.circuit_breaker.LONGEST_PAUSE", 0.05)
    monkeypatch.setattr("evenhand.service.engine.SILENCE_SECONDS", 0.2)
    with server() as judge:
        contest = create(served, {}, build_task(judge))
        [breaker] = served.client.app.state.connections._breakers  # type: ignore[attr-defined]
        breaker._change_state("dead")  # As after five timeouts and a probe in vain, which take minutes.
        served.client.post(f"/v1/contests/{contest}/submissions", json={"text": "worth 75", "author": "ann"})
        wait_until(lambda: breaker.state == "open")
        served.clock.pass_hours(0.1)
        wait_until(lambda: [one["status"] for one in see(served, contest, {})["submissions"]] == ["gate_passed"])

    assert breaker.state == "closed"


def test_a_run_whose_request_was_changed_fails_alone(served: Served) -> None:
    """It would be tried again and again, before all that were asked for later."""
    ids = [f"20261116-07150{number}-c0ffee" for number in range(4)]
    rows = [{"id": id, "name": "x", "made": "2026-11-16T07:15:00+00:00"} for id in ids]
    for row, content in zip(rows, ("x", "[]", "{}", "9" * 5000), strict=True):
        served.store.requests.add_run({**row, "content": content})

    wait_until(lambda: served.store.requests.list_due_runs() == [])

    found = [served.store.requests.find_run(id) for id in ids]
    assert [one and one["state"] for one in found] == ["failed"] * 4
