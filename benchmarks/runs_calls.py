"""One judge call for each of many samples: as a whole run, and sent by hand."""

import asyncio
import json
import os
import time
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, TCPConnector

from evenhand import Sample, load_eval, run
from evenhand.judging.dialogues.pointwise import ask_judge_pointwise
from evenhand.judging.prompts import JudgeSetup, load_prompts
from evenhand.workflows.run import RunOptions

CALLS = 1500
CRITERIA = ("correctness", "safety", "efficiency")
ANSWER = {"evidence": ["Two plus two is four"], "reason": "It says so."}
REPLIES = [  # Every three scores from 5 to 9.
    {"criteria": {id: {**ANSWER, "score": score} for id, score in zip(CRITERIA, scores, strict=True)}}
    for scores in product(range(5, 10), repeat=len(CRITERIA))
]
OUTPUT = "Two plus two is four, as anyone can count on the fingers of one hand. " * 4
EVAL = """
name: bench
samples: samples.jsonl
rubric:
  method: judge-skill
  criteria: [{id: correctness, weight: 0.5}, {id: safety, weight: 0.2}, {id: efficiency, weight: 0.3}]
"""
UNGUARDED = "guards: {injection: off, safety: off, personal: off}\n"


@dataclass(frozen=True, kw_only=True)
class Took:
    """What a number of calls took: CPU seconds of this process, and seconds by the clock."""

    cpu: float
    wall: float


def find_best_round(rounds: list[Took]) -> Took:
    """The least CPU and the least time of several rounds: what others do on the machine only adds to them."""
    return Took(cpu=min(one.cpu for one in rounds), wall=min(one.wall for one in rounds))


def write_samples(folder: Path, count: int) -> None:
    """Samples with one recorded output each, all different."""
    with (folder / "samples.jsonl").open("w") as file:
        for number in range(count):
            asked = f"What is two plus two, for the {number}th time?"
            file.write(json.dumps({"id": f"s{number}", "input": asked, "output": f"{OUTPUT}{number}"}) + "\n")


def write_eval(folder: Path, url: str, at_once: int, *, guards: bool = False) -> Path:
    """An eval over the samples of a folder: one judge, all criteria in one call."""
    file = folder / "eval.yaml"
    judges = f"judges: [openai-compatible:{url}/m]\nconcurrency: {at_once}\n"
    file.write_text(EVAL + judges + ("" if guards else UNGUARDED))
    return file


def whole_run(file: Path, store: Path) -> Took:
    """A run from its file to its decision, into a store of its own."""
    return _took(_run(file, store))


def bare_loop(bodies: list[dict[str, object]], url: str, at_once: int) -> Took:
    """The same requests sent by hand: encoded, the reply decoded, nothing else."""
    return _took(_post_all(bodies, url, at_once))


def bodies_of(file: Path) -> Iterator[dict[str, object]]:
    """What a run of an eval posts, sample by sample."""
    eval = load_eval(file, os.environ)
    manner = JudgeSetup(judge="m", prompts=load_prompts("en"))
    for sample in eval.samples:
        shown = Sample(input=sample.input, outputs={"output": sample.outputs["output"].text})
        (request,) = next(ask_judge_pointwise(eval.rubrics[""], shown, "output", manner))
        answer = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": request.schema}}
        messages = [{"role": message.role, "content": message.text} for message in request.messages]
        yield {"model": "m", "messages": messages, "max_tokens": 4096, "temperature": 0, "response_format": answer}


def _took(work: Coroutine[Any, Any, None]) -> Took:
    cpu, wall = time.process_time(), time.perf_counter()
    asyncio.run(work)
    return Took(cpu=time.process_time() - cpu, wall=time.perf_counter() - wall)


async def _run(file: Path, store: Path) -> None:
    ran = await run(file, options=RunOptions(place=store))
    assert ran.head["variants"][0]["scored"] == CALLS


async def _post_all(bodies: list[dict[str, object]], url: str, at_once: int) -> None:
    left = iter(bodies)
    async with ClientSession(connector=TCPConnector(limit=at_once)) as session:

        async def worker() -> None:
            for body in left:
                async with session.post(f"{url}/chat/completions", json=body) as response:
                    assert json.loads((await response.json())["choices"][0]["message"]["content"])

        await asyncio.gather(*(worker() for _ in range(at_once)))
