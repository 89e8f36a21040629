"""Score one output inside a test as a run does it: the same guards, assertions, judges and arithmetic, in memory."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from evenhand.assertions.assertion import AnyAssertion
from evenhand.assertions.reading import read_plain_assertions
from evenhand.errors import Fault, InputError
from evenhand.evals.eval_definition import DEFAULT_TAG, Eval
from evenhand.evals.sample import SINGLE_VARIANT, EvalSample
from evenhand.evals.samples import InlineSamples
from evenhand.evals.variants.makers import RecordedVariant, open_variant_output_makers
from evenhand.files.rubrics import load_rubric
from evenhand.model.rubric import Rubric
from evenhand.model.sample import VariantOutput
from evenhand.models.connections import Connections
from evenhand.models.prices import Prices
from evenhand.models.requests import EMBEDDED
from evenhand.runs.execute import RunWorker
from evenhand.runs.reply_cache import ReplyCache
from evenhand.runs.run_record import RunRecorder
from evenhand.runs.setup import build_run_setup, collect_run_keys_to_hide
from evenhand.store.rows import Row
from evenhand.store.run_holds import RunHold
from evenhand.workflows.judge import JudgesLike

__all__ = ["SINGLE_VARIANT", "OutputRows", "judge_and_score_user_output", "load_rubric", "resolve_user_assertions"]

Json = dict[str, Any]
PYTEST_RUN_NAME = "pytest"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputRows:
    """What a run would keep of one output."""

    sample: Json
    result: Row
    calls: list[Row]
    frame: Json


async def judge_and_score_user_output(
    test: str,
    outputs: Mapping[str, VariantOutput],
    texts: Mapping[str, str],
    *,
    rubric: Rubric | None,
    assertions: tuple[AnyAssertion, ...],
    judges: JudgesLike | None,
) -> OutputRows:
    """Score the output of one variant; `texts` are the input, the reference and the context of its sample."""
    sample = EvalSample(id=test, outputs=outputs, **cast("Json", texts))
    (variant,) = outputs
    async with NamedJudgeConnections(judges or EMBEDDED) as connections:
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
        notes = WorkflowMemoryRecorder()
        book = cast("RunRecorder", notes)
        async with open_variant_output_makers(eval.variants, connections, os.environ, 1) as makers:
            memory = ReplyCache(book, connections.price, fresh=True)
            secrets = collect_run_keys_to_hide(eval, os.environ)
            await RunWorker(setup, book, memory, makers, os.environ, secrets).score_sample(sample, 0, 0)
    frame = cast("Json", setup.describe_setup()["frame"])
    return OutputRows(sample=sample.to_json(), result=notes.rows["results"][0], calls=notes.rows["calls"], frame=frame)


def resolve_user_assertions(given: object, folder: Path) -> tuple[AnyAssertion, ...]:
    """Assertions from plain data; files that they name are looked for in a folder."""
    faults: list[Fault] = []
    read = read_plain_assertions(given, folder, faults, ("assertions",)) if given is not None else ()
    if faults:
        raise InputError(*faults)
    return read


class NamedJudgeConnections(Connections):
    """Connections that find judges which are objects or functions by their names too."""

    def __init__(self, judges: JudgesLike) -> None:
        super().__init__(os.environ, prices=Prices.shipped())
        several = list(judges) if isinstance(judges, (list, tuple)) else [judges]
        opened = [one if isinstance(one, str) else self.adopt(one) for one in several]
        self.names = tuple(one if isinstance(one, str) else one.name for one in opened)
        self._models |= {one.name: one for one in opened if not isinstance(one, str)}


class WorkflowMemoryRecorder:
    """A book, and the store behind it, as far as scoring one output needs them.

    No two outputs share one: a reply is never taken from another test, which may have scripted its judge otherwise.
    """

    hold = RunHold(run=PYTEST_RUN_NAME, token=0)
    has_other_workers = False

    def __init__(self) -> None:
        self.rows: dict[str, list[Row]] = {"calls": [], "results": []}
        self.store = self

    def now(self) -> str:
        """This moment, written so that it sorts."""
        return datetime.now(UTC).isoformat(timespec="milliseconds")

    def put_row(self, kind: str, row: Row, _texts: Iterable[str] = ()) -> Awaitable[None]:
        """Note a row."""
        self.rows[kind].append(row)
        done = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done

    def find_cached_replies(self, keys: Sequence[str], *, run: str | None = None) -> dict[str, Row]:
        """The replies to calls that were made about this output already."""
        return {row["key"]: row for row in self.rows["calls"] if row["key"] in keys and row["reply"] is not None}
