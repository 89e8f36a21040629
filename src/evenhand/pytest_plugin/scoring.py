"""Scoring one output as a run does it: the same guards, assertions, judges and arithmetic, kept in memory."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Awaitable, Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar, cast

from evenhand.assertions.assertion import AnyAssertion
from evenhand.assertions.reading import read_plain_assertions
from evenhand.errors import Fault, InputError
from evenhand.evals.eval_definition import DEFAULT_TAG, Eval
from evenhand.evals.sample import SINGLE_VARIANT, EvalSample
from evenhand.evals.samples import InlineSamples
from evenhand.evals.variants.makers import open_output_makers
from evenhand.evals.variants.variant import RecordedVariant
from evenhand.files.rubrics import load_rubric
from evenhand.model.rubric import Rubric
from evenhand.model.sample import VariantOutput
from evenhand.models.connections import Connections
from evenhand.models.prices import Prices
from evenhand.models.requests import EMBEDDED
from evenhand.pytest_plugin.scored_output import OutputRequirements, ScoredOutput, resolve_beside_test
from evenhand.pytest_plugin.shortfalls import OutputThreshold, list_test_shortfalls
from evenhand.runs.execute import RunWorker
from evenhand.runs.reply_cache import ReplyCache
from evenhand.runs.run_record import RunRecorder
from evenhand.runs.setup import build_run_setup
from evenhand.store.rows import Row
from evenhand.workflows.judge import JudgesLike, RubricLike

OutputJson = dict[str, Any]
T = TypeVar("T")
PYTEST_RUN_NAME = "pytest"
SHOWN_SCORES = ("score", "composite")


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputRows:
    """What a run would keep of one output."""

    sample: OutputJson
    result: Row
    calls: list[Row]
    frame: OutputJson


def score_test_output(
    output: str | VariantOutput, demand: OutputRequirements, test: str, folder: Path
) -> tuple[ScoredOutput, OutputRows]:
    """Score an output; an EvenhandError where what is asked cannot be."""
    if not isinstance(output, str | VariantOutput):
        raise InputError(Fault(f"an output is a text or a VariantOutput, got {type(output).__name__}"))
    made = VariantOutput(text=output) if isinstance(output, str) else output
    rubric = _load_test_rubric(demand.rubric, folder)
    assertions = _read_test_assertions(demand.assertions, folder)
    if rubric is None and not assertions:
        raise InputError(Fault("there is nothing to score by", "give a rubric, or assertions, or both"))
    threshold = OutputThreshold.from_requirements(demand, rubric)
    variant = demand.variant or SINGLE_VARIANT
    texts: dict[str, Any] = {name: getattr(demand, name) or "" for name in ("input", "reference", "context")}
    sample = EvalSample(id=test, outputs={variant: made}, **texts)
    rows = run_beside_test_loop(_score_test_output(sample, variant, rubric, assertions, demand.judges or EMBEDDED))
    # The row of a result as plain data for readers.
    content = json.loads(rows.result["content"])
    layers = {name: _pytest_row_to_float(value) for name, value in content["layers"].items()}
    shown = {name: _pytest_row_to_float(rows.result[name]) for name in SHOWN_SCORES}
    data = {**content, "state": rows.result["state"], **shown, "layers": layers}
    missed = tuple(threshold.missed(rows.result, data["scorecard"] or {}, rubric))
    problems, scales = tuple(list_test_shortfalls(data, missed)), _collect_pytest_scales(rubric)
    return ScoredOutput(test=test, variant=variant, missed=missed, problems=problems, scales=scales, data=data), rows


def run_beside_test_loop(work: Coroutine[Any, Any, T]) -> T:
    """What the work comes to, done in a thread with a loop of its own: a loop of the test's is left as it is."""
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(asyncio.run(work))
        except BaseException as problem:  # Whatever it is, whoever waits is told.
            done.set_exception(problem)

    threading.Thread(target=run, name="evenhand", daemon=True).start()
    return done.result()


async def _score_test_output(
    sample: EvalSample, variant: str, rubric: Rubric | None, assertions: tuple[AnyAssertion, ...], judges: JudgesLike
) -> OutputRows:
    async with PluginConnections(judges) as connections:
        eval = Eval(
            name=PYTEST_RUN_NAME,
            samples=InlineSamples((sample,), sample.id),
            variants={variant: RecordedVariant(about="scored in tests")},
            control=variant,
            rubrics={DEFAULT_TAG: rubric} if rubric else {},
            assertions=assertions,
            judges=connections.names,
        )
        setup = build_run_setup(eval, connections)
        notes = PytestRecorder()
        book = cast("RunRecorder", notes)
        async with open_output_makers(eval.variants, connections, os.environ, 1) as makers:
            memory = ReplyCache(book, connections.price, fresh=True)
            await RunWorker(setup, book, memory, makers, os.environ).score_sample(sample, 0, 0)
    frame = cast("OutputJson", setup.describe_setup()["frame"])
    return OutputRows(sample=sample.to_json(), result=notes.rows["results"][0], calls=notes.rows["calls"], frame=frame)


class PluginConnections(Connections):
    """Connections that find judges which are objects or functions by their names too."""

    def __init__(self, judges: JudgesLike) -> None:
        super().__init__(os.environ, prices=Prices.shipped())
        several = list(judges) if isinstance(judges, (list, tuple)) else [judges]
        opened = [one if isinstance(one, str) else self.adopt(one) for one in several]
        self.names = tuple(one if isinstance(one, str) else one.name for one in opened)
        self._models |= {one.name: one for one in opened if not isinstance(one, str)}


def _load_test_rubric(given: RubricLike | None, folder: Path) -> Rubric | None:
    if given is None or isinstance(given, Rubric):
        return given
    return load_rubric(cast("str | Path", resolve_beside_test(given, folder)))


def _read_test_assertions(given: object, folder: Path) -> tuple[AnyAssertion, ...]:
    faults: list[Fault] = []
    read = read_plain_assertions(given, folder, faults, ("assertions",)) if given is not None else ()
    if faults:
        raise InputError(*faults)
    return read


def _pytest_row_to_float(exact: str | None) -> float | None:
    return None if exact is None else float(Fraction(exact))


def _collect_pytest_scales(rubric: Rubric | None) -> dict[str, tuple[float, float]]:
    if rubric is None:
        return {}
    scales = {leaf.id: leaf.scale for leaf in rubric.leaves.values()}
    span = rubric.method.scale
    return {"": (float(span.min), float(span.max))} | {id: (float(s.min), float(s.max)) for id, s in scales.items()}


def serialize_pytest_entry(scored: ScoredOutput, rows: OutputRows | None) -> str:
    """The text; `rows` are for the report, where one is asked for."""
    return json.dumps(
        {
            "test": scored.test,
            "variant": scored.variant,
            "state": scored.state,
            "composite": scored.composite,
            "missed": list(scored.missed),
            "problems": list(scored.problems),
            "rows": None if rows is None else asdict(rows),
        }
    )


class PytestRecorder:
    """A book, and the store behind it, as far as scoring one output needs them.

    No two outputs share one: a reply is never taken from another test, which may have scripted its judge otherwise.
    """

    run = "pytest"

    def __init__(self) -> None:
        self.rows: dict[str, list[Row]] = {"calls": [], "results": []}

    def now(self) -> str:
        """This moment, written so that it sorts."""
        return format_test_moment(datetime.now(UTC))

    @property
    def store(self) -> PytestRecorder:
        """Where to look for what is kept."""
        return self

    @property
    def writer(self) -> PytestRecorder:
        """What takes rows."""
        return self

    def put(self, kind: str, row: Row) -> Awaitable[None]:
        """Note a row."""
        self.rows[kind].append(row)
        done = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done

    def find_cached_replies(self, keys: Sequence[str], *, run: str | None = None) -> dict[str, Row]:
        """The replies to calls that were made about this output already."""
        return {row["key"]: row for row in self.rows["calls"] if row["key"] in keys and row["reply"] is not None}


def format_test_moment(at: datetime) -> str:
    """A time as a run keeps it."""
    return at.isoformat(timespec="milliseconds")
