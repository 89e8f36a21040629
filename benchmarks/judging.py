"""What a judge call costs beside the bare request: both against one server on loopback, in one run."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import ClientSession, TCPConnector

from benchmarks.figure import Figure
from benchmarks.loopback import saying, serving
from evenhand import Connections, Limits, Sample, load_rubric
from evenhand.judging.dialogues.pointwise import ask_judge_pointwise
from evenhand.judging.judge import ask_judges_for_reviews
from evenhand.judging.prompts import JudgeSetup, load_prompts
from evenhand.models.requests import Model

CALLS = 1500
AT_ONCE = 50
ROUNDS = 3
RUBRIC = load_rubric(
    {
        "method": "judge-skill",
        "criteria": [
            {"id": "correctness", "weight": 0.5},
            {"id": "safety", "weight": 0.2},
            {"id": "efficiency", "weight": 0.3},
        ],
    }
)
SAMPLE = Sample(input="What is two plus two?", outputs={"a": "Two plus two is four, as anyone can count."})
ANSWER = {"evidence": ["Two plus two is four"], "reason": "It says so.", "score": 8}
REPLY = {"criteria": dict.fromkeys(("correctness", "safety", "efficiency"), ANSWER)}


def measure_judging() -> list[Figure]:
    """The ratio of CPU time, a judge call to a bare post, best of several rounds each."""
    with serving(saying(REPLY)) as url:
        bare, ours = asyncio.run(_measure(url))
    shown = f"{1000 * ours / CALLS:.2f} ms ({ours / bare:.1f} ×)"
    return [Figure("CPU of a judge call, and against a bare post", shown, "≤ 3 ×", ours <= 3 * bare)]


async def _measure(url: str) -> tuple[float, float]:
    async with _judging(url) as judged, _posting(url) as posted:
        await _all(judged), await _all(posted)
        rounds = [(await _all(posted), await _all(judged)) for _ in range(ROUNDS)]
    return min(bare for bare, _ in rounds), min(ours for _, ours in rounds)


async def _all(call: Callable[[], Awaitable[None]]) -> float:
    """CPU seconds of this process for all calls, so many at once."""
    left = iter(range(CALLS))

    async def worker() -> None:
        for _ in left:
            await call()

    started = time.process_time()
    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
    return time.process_time() - started


@asynccontextmanager
async def _judging(url: str) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    async with Connections({}, limits=Limits(concurrency=AT_ONCE)) as connections:
        model: Model = connections.open(f"openai-compatible:{url}/m")

        async def call() -> None:
            judged = await ask_judges_for_reviews(RUBRIC, SAMPLE, [model])
            assert judged.scores["a"].score is not None

        yield call


@asynccontextmanager
async def _posting(url: str) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """The same request sent by hand: its body encoded, the reply decoded, nothing else."""
    (request,) = next(ask_judge_pointwise(RUBRIC, SAMPLE, "a", JudgeSetup(judge="m", prompts=load_prompts("en"))))
    answer = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": request.schema}}
    messages = [{"role": message.role, "content": message.text} for message in request.messages]
    body = {"model": "m", "messages": messages, "max_tokens": 4096, "temperature": 0, "response_format": answer}
    async with ClientSession(connector=TCPConnector(limit=AT_ONCE)) as session:

        async def call() -> None:
            async with session.post(f"{url}/chat/completions", json=body) as response:
                assert json.loads((await response.json())["choices"][0]["message"]["content"])

        yield call
