"""How many rewards a second come from a scripted judge, scorecards kept, beside judging and keeping nothing."""

import asyncio
import json
import tempfile
import time

from benchmarks.figure import Figure
from evenhand import Connections, judge, load_rubric
from evenhand.models.requests import Request
from evenhand.rewards import rubric_reward

OUTPUTS = 2000
BATCH = 250
ROUNDS = 3
RUBRIC = load_rubric({"name": "bench", "criteria": ["Is it correct?", "Is it short?", "Is it polite?"]})
ANSWER = {"evidence": ["It says what was asked for"], "reason": "It does.", "answer": "yes"}


async def answer(request: Request) -> str:
    """A judge that costs nothing."""
    return json.dumps({"criteria": dict.fromkeys(request.ids, ANSWER)})


def measure_rewards() -> list[Figure]:
    """Rewards for each second of CPU time, best of several rounds; and against judging alone."""
    texts = [f"The answer is {n}. It says what was asked for, no more than that." for n in range(OUTPUTS)]
    bare = min(asyncio.run(_judge_all(texts)) for _ in range(ROUNDS))
    with tempfile.TemporaryDirectory() as folder:
        reward = rubric_reward(RUBRIC, judges=answer, store=folder)
        reward(["q"], texts[:1])
        ours = min(_reward_all(reward, texts) for _ in range(ROUNDS))
        reward.close()
    rate = OUTPUTS / ours
    shown = f"{rate:,.0f}/s ({ours / bare:.2f} ×)"
    return [Figure("rewards, and against judging without keeping", shown, "≥ 1,000/s", rate >= 1000)]


def _reward_all(reward: object, texts: list[str]) -> float:
    assert callable(reward)
    started = time.process_time()
    for start in range(0, OUTPUTS, BATCH):
        found = reward(["What is it?"] * BATCH, texts[start : start + BATCH])
        assert found == [1.0] * BATCH
    return time.process_time() - started


async def _judge_all(texts: list[str]) -> float:
    async with Connections({}) as connections:
        model = connections.adopt(answer)
        started = time.process_time()
        for start in range(0, OUTPUTS, BATCH):
            samples = [{"input": "What is it?", "output": text} for text in texts[start : start + BATCH]]
            await asyncio.gather(*(judge(RUBRIC, one, judges=model, connections=connections) for one in samples))
        return time.process_time() - started
