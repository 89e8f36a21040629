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
