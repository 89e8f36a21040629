"""Asking judges from Python: a sample and a rubric in, scores with evidence out."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path

from evenhand.errors import Fault, InputError, nearest
from evenhand.guards import guarded
from evenhand.judging import EMBEDDED, How, Judged, Model, Preferred, Request, Usage, judge_sample, prefer_sample
from evenhand.judging.models import Connections, Prices
from evenhand.loading import load_rubric
from evenhand.model import Rubric, Sample

RubricLike = Rubric | str | Path | Mapping[str, object]
SampleLike = Sample | str | Mapping[str, object]
Judge = str | Model | Callable[[Request], object]
JudgesLike = Judge | Sequence[Judge]
TEXTS = ("id", "input", "reference", "context")
MAPS = ("outputs", "authors")
DEFAULT = How()


async def judge(
    rubric: RubricLike,
    sample: SampleLike,
    *,
    judges: JudgesLike = EMBEDDED,
    how: How = DEFAULT,
    connections: Connections | None = None,
) -> Judged:
    """Ask judges, named or opened, about the outputs of a sample, and score what they say.

    `connections` shares one session, budget and record between calls; without it the call opens and closes its own.
    """
    chosen, read = _rubric(rubric), guarded(read_sample(sample))
    async with _opened(connections) as open_:
        return await judge_sample(chosen, read, _models(judges, open_), how, costs(open_))


async def prefer(
    rubric: RubricLike,
    sample: SampleLike,
    *,
    judges: JudgesLike,
    how: How = DEFAULT,
    connections: Connections | None = None,
) -> Preferred:
    """Ask judges which of the outputs they prefer: every pair, in both orders."""
    chosen, read = _rubric(rubric), read_sample(sample)
    async with _opened(connections) as open_:
        return await prefer_sample(chosen, read, _models(judges, open_), how)


def read_sample(sample: SampleLike) -> Sample:
    """A sample from plain data: {"input": …, "output": …} or {"outputs": {name: text}}; a text is an output."""
    if isinstance(sample, Sample):
        return sample
    if isinstance(sample, str):
        return Sample(outputs={"output": sample})
    if not isinstance(sample, Mapping):
        raise InputError(Fault(f"a sample is a text, a mapping or a Sample, got {type(sample).__name__}"))
    parts: dict[str, object] = dict(sample)
    if "output" in parts and "outputs" in parts:
        raise InputError(Fault("'output' and 'outputs' are the same field", "keep one of them"))
    if "output" in parts:
        parts["outputs"] = {"output": parts.pop("output")}
    faults = [
        Fault(f"unknown field {name!r}", nearest(name, ("output", *TEXTS, *MAPS)), (name,))
        for name in parts
        if name not in (*TEXTS, *MAPS)
    ]
    faults += [
        Fault(f"{name} must be text", path=(name,)) for name in TEXTS if not isinstance(parts.get(name, ""), str)
    ]
    for name in MAPS:
        given = parts.get(name, {})
        if not isinstance(given, Mapping) or not all(isinstance(text, str) for pair in given.items() for text in pair):
            faults.append(Fault(f"{name} must map names to texts", path=(name,)))
    if faults:
        raise InputError(*faults)
    parts.setdefault("outputs", {})
    return Sample(**parts)  # type: ignore[arg-type]


def _rubric(rubric: RubricLike) -> Rubric:
    return rubric if isinstance(rubric, Rubric) else load_rubric(rubric)


def costs(connections: Connections) -> Callable[[str, Usage], Decimal | None]:
    """What a reply of a model costs, as far as its price is known."""

    def cost(name: str, usage: Usage) -> Decimal | None:
        price = connections.price(name)
        return price.cost(usage) if price else None

    return cost


@asynccontextmanager
async def _opened(connections: Connections | None) -> AsyncIterator[Connections]:
    if connections is not None:
        if not isinstance(connections, Connections):
            raise InputError(f"connections must be Connections, got {type(connections).__name__}")
        yield connections
        return
    async with Connections(os.environ, prices=Prices.shipped()) as own:
        yield own


def _models(judges: JudgesLike, connections: Connections) -> list[Model]:
    several = list(judges) if isinstance(judges, (list, tuple)) else [judges]
    return [connections.open(one) if isinstance(one, str) else connections.adopt(one) for one in several]
