"""Run where verifiers is: a task takes the reward, as an attribute and by configuration; prints what it saw."""

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import verifiers  # type: ignore[import-not-found]
import verifiers.v1 as vf  # type: ignore[import-not-found]

from evenhand.models.requests import Request
from evenhand.rewards import load_rewards, rubric_reward

RUBRIC = {"name": "tiny", "method": "judge-skill", "criteria": [{"id": "good", "asks": "Is it good?", "weight": 1}]}


def answer(request: Request) -> str:
    """A high score, but for an output that the judge has nothing to say of."""
    if "silence" in request.messages[-1].text:
        return "I cannot say."
    return json.dumps({"criteria": {"good": {"evidence": ["hello"], "reason": "", "score": 10}}})


FOLDER = tempfile.mkdtemp()
REWARD = rubric_reward(RUBRIC, judges=answer, store=FOLDER)
plugged = REWARD.verifiers


class Data(vf.TaskData):  # type: ignore[misc]
    """A row of a task set."""

    answer: str = "a greeting"


class Greeting(vf.Task[Data, vf.State, vf.TaskConfig]):  # type: ignore[misc]
    """A task whose quality the rubric judges."""

    quality = vf.reward(REWARD.verifiers, weight=2.0)


class Bare(vf.Task[Data, vf.State, vf.TaskConfig]):  # type: ignore[misc]
    """A task that is given its reward by configuration."""


async def score(task: Any, reply: str) -> dict[str, Any]:
    """What scoring leaves on a trace."""
    recorded = vf.TraceTask(type=type(task).__name__, data=task.data)
    trace = vf.Trace(task=recorded, agent=vf.AgentInfo(config=vf.AgentConfig()), root_reply=reply)
    error = ""
    try:
        await task.score(trace)
    except Exception as problem:
        error = f"{type(problem).__name__}: {problem}"
    values = {name: None if one is None else one.value for name, one in trace.rewards.items()}
    return {"rewards": values, "error": error}


async def main() -> None:
    """A good reply and one that nobody can judge."""
    here = f"{Path(__file__).resolve()}:plugged"
    config = vf.TaskConfig(rewards={"quality": {"fn": here}})
    data = Data(prompt="Say hello.")
    seen = {
        "verifiers": verifiers.__version__,
        "good": await score(Greeting(data), "hello there"),
        "missing": await score(Greeting(data), "silence"),
    }
    try:
        seen["plugged"] = await score(Bare(data, config), "hello there")
    except Exception as problem:
        seen["plugged"] = f"{type(problem).__name__}: {problem}"
    seen["kept"] = [one["reward"] for one in load_rewards(FOLDER, "reward-tiny")]
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    asyncio.run(main())
