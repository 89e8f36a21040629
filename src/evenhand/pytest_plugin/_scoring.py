"""Scoring one output as a run does it: the same guards, assertions, judges and arithmetic."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar, cast

from evenhand.asking import JudgesLike, RubricLike, costs
from evenhand.assertions import AnyAssertion, read_plain
from evenhand.errors import Fault, InputError
from evenhand.judging import EMBEDDED, Model
from evenhand.judging.models import Connections, Prices
from evenhand.loading import load_rubric
from evenhand.model import Made, Rubric
from evenhand.pytest_plugin._demand import Demand, beside
from evenhand.pytest_plugin._notes import Notes
from evenhand.pytest_plugin._thresholds import Threshold, shortcomings
from evenhand.pytest_plugin._verdict import ScoredOutput
from evenhand.runs import Book, Eval, Memory, Outputs, RunSample, Turns, Worker, prepare
from evenhand.runs._eval import DEFAULT_TAG
from evenhand.runs._sample import SINGLE
from evenhand.runs._samples import InlineSamples
from evenhand.runs.store import Row
from evenhand.runs.variants import Recorded, open_makers

Json = dict[str, Any]
T = TypeVar("T")
NAME = "pytest"
SHOWN = ("score", "composite")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What a run would keep of one output."""

    sample: Json
    result: Row
    calls: list[Row]
    frame: Json


def score_output(output: str | Made, demand: Demand, test: str, folder: Path) -> tuple[ScoredOutput, Rows]:
    """Score an output; an EvenhandError where what is asked cannot be."""
    made = _made(output)
    rubric = _rubric(demand.rubric, folder)
    assertions = _assertions(demand.assertions, folder)
    if rubric is None and not assertions:
        raise InputError(Fault("there is nothing to score by", "give a rubric, or assertions, or both"))
    threshold = Threshold.of(demand, rubric)
    variant = demand.variant or SINGLE
    sample = RunSample(
        id=test,
        input=demand.input or "",
        outputs={variant: made},
        reference=demand.reference or "",
        context=demand.context or "",
    )
    rows = in_own_loop(_rows(sample, variant, rubric, assertions, demand.judges or EMBEDDED))
    data = _data(rows.result)
    missed = tuple(threshold.missed(rows.result, data["scorecard"] or {}, rubric))
    scored = ScoredOutput(
        test=test,
        variant=variant,
        missed=missed,
        problems=tuple(shortcomings(data, missed)),
        scales=_scales(rubric),
        data=data,
    )
    return scored, rows


def in_own_loop(work: Coroutine[Any, Any, T]) -> T:
    """What the work comes to, done in a thread with a loop of its own: a loop of the test's is left as it is."""
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(asyncio.run(work))
        except BaseException as problem:  # Whatever it is, whoever waits is told.
            done.set_exception(problem)

    threading.Thread(target=run, name="evenhand", daemon=True).start()
    return done.result()


async def _rows(
    sample: RunSample, variant: str, rubric: Rubric | None, assertions: tuple[AnyAssertion, ...], judges: JudgesLike
) -> Rows:
    async with Judges(judges) as connections:
        eval = Eval(
            name=NAME,
            samples=InlineSamples((sample,), sample.id),
            variants={variant: Recorded(about="scored in tests")},
            control=variant,
            rubrics={DEFAULT_TAG: rubric} if rubric else {},
            assertions=assertions,
            judges=connections.names,
        )
        setup = prepare(eval, connections)
        notes = Notes()
        book = cast("Book", notes)
        async with open_makers(eval.variants, connections, os.environ, 1) as makers:
            turns = Turns()
            memory = Memory(book, costs(connections), turns, fresh=True)
            outputs = Outputs(eval.variants, makers, book, turns, ())
            await Worker(setup, book, memory, outputs, os.environ).work(sample, 0, 0)
    frame = cast("Json", setup.described()["frame"])
    return Rows(sample=sample.content(), result=notes.rows["results"][0], calls=notes.rows["calls"], frame=frame)


class Judges(Connections):
    """Connections that find judges which are objects or functions by their names too."""

    def __init__(self, judges: JudgesLike) -> None:
        super().__init__(os.environ, prices=Prices.shipped())
        several = list(judges) if isinstance(judges, (list, tuple)) else [judges]
        opened = [one if isinstance(one, str) else self.adopt(one) for one in several]
        self.names = tuple(one if isinstance(one, str) else one.name for one in opened)
        self._own = {one.name: one for one in opened if not isinstance(one, str)}

    def open(self, name: str) -> Model:
        """The judge of that name."""
        return self._own[name] if name in self._own else super().open(name)


def _made(output: object) -> Made:
    if isinstance(output, Made):
        return output
    if not isinstance(output, str):
        raise InputError(Fault(f"an output is a text or a Made, got {type(output).__name__}"))
    return Made(text=output)


def _rubric(given: RubricLike | None, folder: Path) -> Rubric | None:
    if given is None or isinstance(given, Rubric):
        return given
    return load_rubric(cast("str | Path", beside(given, folder)))


def _assertions(given: object, folder: Path) -> tuple[AnyAssertion, ...]:
    faults: list[Fault] = []
    read = read_plain(given, folder, faults, ("assertions",)) if given is not None else ()
    if faults:
        raise InputError(*faults)
    return read


def _data(row: Row) -> Json:
    """The row of a result as plain data for readers."""
    content = json.loads(row["content"])
    layers = {name: _number(value) for name, value in content["layers"].items()}
    return {**content, "state": row["state"], **{name: _number(row[name]) for name in SHOWN}, "layers": layers}


def _number(exact: str | None) -> float | None:
    return None if exact is None else float(Fraction(exact))


def _scales(rubric: Rubric | None) -> dict[str, tuple[float, float]]:
    if rubric is None:
        return {}
    scales = {leaf.id: leaf.scale for leaf in rubric.leaves.values()}
    span = rubric.method.scale
    return {"": (float(span.min), float(span.max))} | {id: (float(s.min), float(s.max)) for id, s in scales.items()}
