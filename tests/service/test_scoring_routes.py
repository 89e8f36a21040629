"""Judging and scoring over HTTP: what the workflows say, as JSON."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from evenhand import score
from evenhand.judging import judge as judging
from evenhand.judging.embedded.replies import EmbeddedReplier
from evenhand.scoring.scores_json import scores_to_json
from evenhand.service import scoring_routes
from evenhand.workflows import service_runs
from tests.service.serving import Served

ANSWERS = {"id": "A", "scores": {"accuracy": 9, "relevance": 8, "completeness": 8, "conciseness": 6, "clarity": 7}}


LONG = {"criteria": ["Is it at most 5 words long?"] * 1_001}
ROUTES: dict[str, Any] = {
    "/v1/judge": {"rubric": LONG, "outputs": {"a": "x"}},
    "/v1/score": {"rubric": LONG, "answers": {}},
    "/v1/rewards": {"rubric": LONG, "outputs": [{"output": "x"}]},
    "/v1/runs": {"eval": {"name": "e", "rubric": LONG, "samples": [{"input": "x", "outputs": {"a": "x"}}]}},
}


@pytest.mark.parametrize("path", ROUTES)
def test_a_rubric_with_more_criteria_than_anybody_needs_is_refused(path: str, served: Served) -> None:
    """20,000 of them kept all other callers waiting for 18 seconds."""
    answer = served.client.post(path, json=ROUTES[path])
    [fault] = answer.json()["faults"]

    assert (answer.status_code, fault["what"]) == (422, "1,001 criteria, and 1,000 are the most for a rubric")
    assert fault["where"] and fault["would_work"]


@pytest.mark.parametrize("path", ROUTES)
def test_a_long_rubric_holds_no_other_caller_up(path: str, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read, answered and scored in threads: what stands in the loop, everybody waits for."""
    in_loop: dict[str, bool] = {}

    def watch(owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def note(*given: Any, **named: Any) -> Any:
            in_loop[name] = asyncio._get_running_loop() is not None
            return real(*given, **named)

        monkeypatch.setattr(owner, name, note)

    watch(scoring_routes, "load_rubric_for_service")
    watch(service_runs, "parse_eval_for_service")
    watch(EmbeddedReplier, "reply")
    watch(judging, "_score_judge_opinions")
    watch(scoring_routes, "judge_panel_reviews_to_json")
    rubric = {"criteria": LONG["criteria"][:200]}
    sent = {**ROUTES[path], "rubric": rubric}
    if path == "/v1/runs":
        sent = {"eval": {**ROUTES[path]["eval"], "rubric": rubric}}

    assert served.client.post(path, json=sent).status_code in (200, 202, 422)
    assert in_loop and not any(in_loop.values()), in_loop


def test_answers_are_scored_as_python_scores_them(served: Served) -> None:
    """The same JSON, to the last digit."""
    answer = served.client.post("/v1/score", json={"rubric": "council", "answers": ANSWERS})

    assert answer.status_code == 200, answer.text
    assert answer.json() == json.loads(json.dumps(scores_to_json(score("council", ANSWERS))))


def test_outputs_are_judged(served: Served) -> None:
    """By whoever is named, under a rubric that is sent; nobody's personal data comes back in what a judge quotes."""
    rubric = {"criteria": ["Does it name the page 'Orders'?"]}
    content = {"rubric": rubric, "outputs": {"a": "Open Orders.", "b": "No idea."}, "judges": ["embedded"]}
    answer = served.client.post("/v1/judge", json=content)

    assert answer.status_code == 200, answer.text
    assert answer.json()["ranking"][0]["id"] == "a"


def test_what_ships_is_listed(served: Served) -> None:
    """Each rubric with its method and criteria."""
    found = served.client.get("/v1/rubrics").json()

    assert "council" in {one["name"] for one in found["rubrics"]}
    assert all(one["criteria"] for one in found["rubrics"])


def test_it_says_that_it_is_alive_and_ready(served: Served) -> None:
    """Whoever watches it needs no token."""
    served.make_token("operator", "ops")

    assert [served.client.get(path).text for path in ("/healthz", "/readyz")] == ["ok", "ready"]
