"""Judging and scoring over HTTP: what the workflows say, as JSON."""

from __future__ import annotations

import json

from evenhand import score
from evenhand.scoring.scores_json import scores_to_json
from tests.service.serving import Served

ANSWERS = {"id": "A", "scores": {"accuracy": 9, "relevance": 8, "completeness": 8, "conciseness": 6, "clarity": 7}}


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
