"""What others take for a judge call, in a process of their own."""

import json
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from benchmarks.figure import Figure
from benchmarks.loopback import saying, serving
from benchmarks.peers import find_peer_python
from benchmarks.runs_calls import CRITERIA, OUTPUT

MINUTES = 2
CALLS, AT_ONCE = 500, 50


def compare_with_peers(what: str, ours: float, most: float) -> Iterator[Figure]:
    """CPU of a call of ours, given in seconds, as a share of that of the leanest of the others."""
    took = _measure_peers()
    if took:
        name, least = min(took.items(), key=lambda one: one[1])
        value = f"{1000 * ours:.2f} ms ({ours / least:.2f} ×)"
        yield Figure(f"CPU per call of {what}, of that of {name}", value, f"≤ {most} ×", ours <= most * least)


@cache
def _measure_peers() -> dict[str, float]:
    """CPU seconds per call of each that can be measured; once, for all that is held against them."""
    python = find_peer_python()
    if python is None:
        return {}
    took = {name: seconds for name in PEERS if (seconds := _cpu(python, name)) is not None}
    for name, seconds in took.items():
        print(f"        {name}: {1000 * seconds:.2f} ms of CPU per call, 0 ms, {AT_ONCE} at once")
    return took


def _cpu(python: Path, name: str) -> float | None:
    """CPU seconds per call, or None where it cannot be measured, which is said."""
    message, script = PEERS[name]
    with serving(message) as url:
        command = [str(python), "-c", script + _LOOP, url, str(CALLS), str(AT_ONCE), OUTPUT, json.dumps(CRITERIA)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60 * MINUTES, check=False)
        except subprocess.TimeoutExpired:
            print(f"        {name}: not measured, not done within {MINUTES} minutes")
            return None
    if done.returncode:
        print(f"        {name}: not measured: {(done.stderr.strip().splitlines() or ['it failed'])[-1]}")
        return None
    return float(done.stdout)


_LOOP = """
import asyncio, sys, time
url, calls, at_once, output, criteria = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5]

async def main():
    judge = opened(url, __import__("json").loads(criteria))

    async def worker(left):
        for number in left:
            await judge(f"What is two plus two, for the {number}th time?", f"{output}{number}")

    async def everything():
        left = iter(range(calls))
        await asyncio.gather(*(worker(left) for _ in range(at_once)))

    await everything()
    began = time.process_time()
    await everything()
    print((time.process_time() - began) / calls)

asyncio.run(main())
"""

_RUBRIC = """
from openai import AsyncOpenAI
from rubric import Rubric
from rubric.autograders import PerCriterionOneShotGrader
from rubric.autograders.schemas import OneShotOutput

def opened(url, criteria):
    client = AsyncOpenAI(base_url=url, api_key="none")

    async def ask(system_prompt, user_prompt, **_):
        said = [{"role": "system", "content": system_prompt}, {"role": "user", "content": user_prompt}]
        reply = await client.chat.completions.create(model="m", messages=said)
        return OneShotOutput.model_validate_json(reply.choices[0].message.content)

    rubric = Rubric.from_dict([{"weight": 1.0, "requirement": name} for name in criteria])
    grader = PerCriterionOneShotGrader(generate_fn=ask)

    async def judge(asked, output):
        assert (await rubric.grade(output, query=asked, autograder=grader)).score == 1
    return judge
"""

_AUTOEVALS = """
from autoevals.llm import LLMClassifier
from openai import AsyncOpenAI

def opened(url, criteria):
    client = AsyncOpenAI(base_url=url, api_key="none")
    prompt = "Is this right? {{input}} {{output}} Look at " + ", ".join(criteria)
    scorer = LLMClassifier("right", prompt, {"Y": 1, "N": 0}, model="m", use_cot=True, client=client)

    async def judge(asked, output):
        assert (await scorer.eval_async(output, input=asked)).score == 1
    return judge
"""

_MET = [{"criterion_number": n, "criterion_status": "MET", "explanation": "It says so."} for n in (1, 2, 3)]
_CHOICE = {"name": "select_choice", "arguments": json.dumps({"reasons": "It says so.", "choice": "Y"})}
PEERS: dict[str, tuple[dict[str, object], str]] = {
    "rubric": (saying({"criteria_evaluations": _MET}), _RUBRIC),
    "autoevals": ({"content": None, "tool_calls": [{"id": "1", "type": "function", "function": _CHOICE}]}, _AUTOEVALS),
}
