"""A contest from end to end against a real model: its opinions are nothing, its course is."""

import asyncio
import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

from evenhand import Connections, Contest, ContestResult, JudgeOptions, ModelSettings, Submission, run_contest
from evenhand.contest.events import contest_event_from_json
from evenhand.contest.machine import rebuild_contest_state
from evenhand.contest.state import SUBMISSION_STATUSES
from evenhand.store.store import Store
from evenhand.workflows.contests import load_contest_record_for_user
from tests.contest.building import hour, task
from tests.judging.llama import MODEL
from tests.judging.servers import Servers
from tests.soak import often

NUMBER = often(2, 30)
TEXTS = (
    "Paris is the capital of France. It lies on the Seine.",
    "The capital of France is Paris, a city of two million people.",
    "I think it is Lyon.",
    "France's capital: Paris. Source: the constitution.",
    "Berlin is a capital too, but of Germany.",
)
# Replies that are cut off are part of what must be survived; `make soak` leaves room for whole answers at the gate.
CUT_OFF = 8
TOKENS = often(CUT_OFF, 120)


def _handed_in() -> list[Submission]:
    return [
        Submission(id=f"s{number}", author=f"author-{number}", at=hour(number / 10), text=TEXTS[number % len(TEXTS)])
        for number in range(NUMBER)
    ]


def test_a_contest_is_played_to_its_end_over_http(servers: Servers, language: str, tmp_path: Path) -> None:
    """Whatever the model writes: every submission has a status, every request an answer, and the log says it all."""
    terms = task(
        description="Name the capital of France and say where you know it from.",
        acceptance=("Names Paris",),
        judges=(f"openai-compatible:{servers.openai}/{MODEL}",),
        challenge_judges=(),
        challenge_period=timedelta(),
    )

    async def go(store: Store) -> ContestResult:
        async with Connections(os.environ) as connections:
            how = JudgeOptions(settings=ModelSettings(max_tokens=TOKENS, seed=1), language=language)
            contest = Contest(task=terms, submissions=_handed_in())
            return await run_contest(contest, connections=connections, store=store, how=how)

    with Store.open(tmp_path, os.environ) as store:
        played = asyncio.run(go(store))
        rows = list(store.contests.stream_events(played.id, calls=True))

        shown = load_contest_record_for_user(store, played.id)
        assert {**shown, "spent_now": shown["spent"]} == played.record
    calls: list[dict[str, Any]] = [call for row in rows[1:] for call in json.loads(row["calls"])]
    state = rebuild_contest_state(contest_event_from_json(json.loads(row["content"])) for row in rows)
    if TOKENS == CUT_OFF:  # Nothing can be read of that: the contest says so and stays open.
        assert (state.phase, "could be read" in played.why_stopped) == ("open", True)
    else:
        assert (state.phase, played.why_stopped) == ("closed", "")
    assert played.record["state"] == state.phase
    assert [one["id"] for one in played.record["submissions"]] == [one.id for one in _handed_in()]
    assert {one["status"] for one in played.record["submissions"]} <= set(SUBMISSION_STATUSES) - {
        "submitted",
        "gate_passed",
    }
    assert len(calls) >= NUMBER
    assert all("failed" not in call and call["output_tokens"] for call in calls)
    assert state.paid == (state.winner is not None)
