"""Scoring an output for a test: what is asked of it read, scored as a run does it, and held against its thresholds."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar, cast

from evenhand.errors import Fault, InputError
from evenhand.model.rubric import Rubric
from evenhand.model.sample import VariantOutput
from evenhand.pytest_plugin.scored_output import OutputRequirements, ScoredOutput, resolve_beside_test
from evenhand.pytest_plugin.shortfalls import OutputThreshold, list_test_shortfalls
from evenhand.workflows.score_in_test import (
    SINGLE_VARIANT,
    OutputRows,
    load_rubric,
    read_user_assertions,
    score_in_test,
)

T = TypeVar("T")
SHOWN_SCORES = ("score", "composite")


def score_test_output(
    output: str | VariantOutput, demand: OutputRequirements, test: str, folder: Path
) -> tuple[ScoredOutput, OutputRows]:
    """Score an output; an EvenhandError where what is asked cannot be."""
    if not isinstance(output, str | VariantOutput):
        raise InputError(Fault(f"an output is a text or a VariantOutput, got {type(output).__name__}"))
    made = VariantOutput(text=output) if isinstance(output, str) else output
    rubric = demand.rubric
    if rubric is not None and not isinstance(rubric, Rubric):
        rubric = load_rubric(cast("str | Path", resolve_beside_test(rubric, folder)))
    assertions = read_user_assertions(demand.assertions, folder)
    if rubric is None and not assertions:
        raise InputError(Fault("there is nothing to score by", "give a rubric, or assertions, or both"))
    threshold = OutputThreshold.from_requirements(demand, rubric)
    variant = demand.variant or SINGLE_VARIANT
    texts = {name: getattr(demand, name) or "" for name in ("input", "reference", "context")}
    rows = run_beside_test_loop(
        score_in_test(test, {variant: made}, texts, rubric=rubric, assertions=assertions, judges=demand.judges)
    )
    # The row of a result as plain data for readers.
    content = json.loads(rows.result["content"])
    layers = {name: _pytest_row_to_float(value) for name, value in content["layers"].items()}
    shown = {name: _pytest_row_to_float(rows.result[name]) for name in SHOWN_SCORES}
    data = {**content, "state": rows.result["state"], **shown, "layers": layers}
    missed = tuple(threshold.missed(rows.result, data["scorecard"] or {}, rubric))
    problems, scales = tuple(list_test_shortfalls(data, missed)), {}
    if rubric is not None:
        scales = {leaf.id: (float(leaf.scale.min), float(leaf.scale.max)) for leaf in rubric.leaves.values()}
        scales[""] = (float(rubric.method.scale.min), float(rubric.method.scale.max))
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


def _pytest_row_to_float(exact: str | None) -> float | None:
    return None if exact is None else float(Fraction(exact))


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
