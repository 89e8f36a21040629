"""Rewards over HTTP: numbers or null with why, and the shapes that trainers send."""

from __future__ import annotations

from typing import Any

from evenhand.workflows.rewards import load_rewards
from tests.service.serving import Served

RUBRIC = {"name": "short", "criteria": ["Is it at most 3 words long?"]}
HARD = {"name": "hard", "criteria": ["Is it true to life?"]}


def reward(served: Served, outputs: list[dict[str, Any]], **more: Any) -> Any:
    """The answer to a batch."""
    return served.client.post("/v1/rewards", json={"rubric": RUBRIC, "outputs": outputs, **more})


def test_each_output_has_a_number_or_null_with_why(served: Served) -> None:
    """And the scorecards are kept in the store of the service."""
    done = reward(served, [{"output": "One two."}, {"output": "One two three four."}]).json()
    unknown = reward(served, [{"output": "One two."}], rubric=HARD, subject="mine").json()

    assert done["rewards"] == [1.0, 0.0]
    assert done["missing"] == []
    assert unknown["rewards"] == [None]
    assert unknown["missing"][0]["index"] == 0
    assert unknown["missing"][0]["kind"] == "abstained"
    assert unknown["missing"][0]["why"]
    assert [one["reward"] for one in load_rewards(served.store, "reward-short")] == [1.0, 0.0]
    assert [one["reward"] for one in load_rewards(served.store, "mine")] == [None]


def test_the_names_of_trainers_are_understood(served: Served) -> None:
    """verl's solution_str and ground_truth, slime's response and label, a conversation as a prompt."""
    verl = {"solution_str": "One two.", "ground_truth": "x"}
    slime = {"response": "One two.", "label": None, "prompt": [{"role": "user", "content": "q"}]}

    assert reward(served, [verl, slime]).json()["rewards"] == [1.0, 1.0]


def test_slime_is_answered_with_the_number_itself(served: Served) -> None:
    """Its remote reward model posts one sample, and takes the JSON that comes for the reward."""
    sent = {"prompt": "q", "response": "One two.", "label": "x"}

    lost = served.client.post("/v1/rewards/slime?rubric=summary", json=sent)
    wrong = served.client.post("/v1/rewards/slime?rubric=none", json=sent)

    assert (lost.status_code, lost.json()) == (200, None)
    assert wrong.status_code == 422


def test_what_cannot_be_a_reward_is_refused(served: Served) -> None:
    """With what would work."""
    assert reward(served, []).status_code == 422
    assert reward(served, [{"output": "x", "scor": 1}]).status_code == 422
    assert reward(served, [{"output": "x"}], scale="log").json()["detail"] == "scale is share or rubric, got 'log'"
    assert reward(served, [{"output": "x"}], judges=["python:a:b"]).status_code == 422
