"""What a judge call costs beside the bare request: both against one server on loopback, in one run."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager

from aiohttp import ClientSession, TCPConnector

from benchmarks.figure import Figure
from benchmarks.loopback import saying, serving
from benchmarks.runs_calls import Took, find_best_round
from benchmarks.runs_peers import compare_with_peers
from evenhand import Connections, Limits, Sample, load_rubric
from evenhand.judging.dialogues.pointwise import ask_judge_pointwise
from evenhand.judging.judge import ask_judges_for_reviews
from evenhand.judging.prompts import JudgeSetup, load_prompts
from evenhand.models.requests import Model

CALLS = 1500
AT_ONCE, MANY_AT_ONCE = 50, 500
ROUNDS = 3
MOST, LEAST, OF_PEER = 2, 0.5, 0.25  # CPU and rate of a bare post, and CPU of the leanest of the others.
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


def measure_judging() -> Iterator[Figure]:
    """CPU of a judge call and calls a second, each of a bare post; and CPU, of that of the leanest of the others."""
    with serving(saying(REPLY)) as url:
        bare, ours = asyncio.run(_measure(url, AT_ONCE))
    shown = f"{1000 * ours.cpu / CALLS:.2f} ms ({ours.cpu / bare.cpu:.1f} ×)"
    yield Figure("CPU of a judge call, and against a bare post", shown, f"≤ {MOST} ×", ours.cpu <= MOST * bare.cpu)
    yield from compare_with_peers("judge", ours.cpu / CALLS, OF_PEER)
    with serving(saying(REPLY), after=0.05) as url:
        bare, ours = asyncio.run(_measure(url, MANY_AT_ONCE))
    share = bare.wall / ours.wall
    shown = f"{CALLS / ours.wall:,.0f} ({share:.2f})"
    name = f"judge calls per s, 50 ms, {MANY_AT_ONCE} at once, of bare posts"
    yield Figure(name, shown, f"≥ {LEAST}", share >= LEAST)


async def _measure(url: str, at_once: int) -> tuple[Took, Took]:
    """The best of several rounds of bare posts and of judge calls, taken in turn after one that does not count."""
    async with _judging(url, at_once) as judged, _posting(url, at_once) as posted:
        await _all(judged, at_once), await _all(posted, at_once)
        rounds = [(await _all(posted, at_once), await _all(judged, at_once)) for _ in range(ROUNDS)]
    return find_best_round([bare for bare, _ in rounds]), find_best_round([ours for _, ours in rounds])


async def _all(call: Callable[[], Awaitable[None]], at_once: int) -> Took:
    """What all calls take, so many at once."""
    left = iter(range(CALLS))

    async def worker() -> None:
        for _ in left:
            await call()

    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(at_once)))
    return Took(cpu=time.process_time() - cpu, wall=time.perf_counter() - wall)


@asynccontextmanager
async def _judging(url: str, at_once: int) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    async with Connections({}, limits=Limits(concurrency=at_once)) as connections:
        model: Model = connections.open(f"openai-compatible:{url}/m")

        async def call() -> None:
            judged = await ask_judges_for_reviews(RUBRIC, SAMPLE, [model])
            assert judged.scores["a"].score is not None

        yield call


@asynccontextmanager
async def _posting(url: str, at_once: int) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """The same request sent by hand: its body encoded, the reply decoded, nothing else."""
    (request,) = next(ask_judge_pointwise(RUBRIC, SAMPLE, "a", JudgeSetup(judge="m", prompts=load_prompts("en"))))
    answer = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": request.schema}}
    messages = [{"role": message.role, "content": message.text} for message in request.messages]
    body = {"model": "m", "messages": messages, "max_tokens": 4096, "temperature": 0, "response_format": answer}
    async with ClientSession(connector=TCPConnector(limit=at_once)) as session:

        async def call() -> None:
            async with session.post(f"{url}/chat/completions", json=body) as response:
                assert json.loads((await response.json())["choices"][0]["message"]["content"])

        yield call
