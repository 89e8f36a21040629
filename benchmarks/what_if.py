"""How long a run of 100,000 scorecards takes to answer what if, beside a bare page of the same framework."""

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
from fastapi.responses import HTMLResponse
from starlette.testclient import TestClient
from tests.web.stored_runs import build_help_desk

from benchmarks.figure import Figure
from evenhand.compare.what_if import prepare_what_if_comparison
from evenhand.runs.columns import RunTable, load_run_columns
from evenhand.runs.stored_judgments import find_run_rubric_for_tag
from evenhand.service.app import build_service
from evenhand.service.settings import ServiceSettings
from evenhand.web.workbench import add_workbench
from evenhand.workflows.run import RunOptions
from evenhand.workflows.sync import run_sync
from evenhand.workflows.what_if import PREPARED_RUNS

SCORECARDS, ROUNDS = 100_000, 15
MOST_SECONDS = 0.1


def measure_what_if_page() -> Iterator[Figure]:
    """The page with a weight changed each time, in turn with one that only says hello."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "store"
        run = run_sync(build_help_desk(), options=RunOptions(place=place)).id
        app = build_service(ServiceSettings(store=place, requests_per_minute=100_000))
        add_workbench(app)
        app.add_api_route("/bare", lambda: HTMLResponse("<!doctype html><title>bare</title><p>Hello."))
        with TestClient(app, base_url="http://127.0.0.1:8321") as client:
            _enlarge_prepared_run(app.state.store, run)
            asked, bare = [], []
            for number in range(ROUNDS):
                bare.append(_time_call(lambda: client.get("/bare")))
                query = f"weight-0={0.05 + number / 50:.2f}"
                asked.append(_time_call(lambda query=query: client.get(f"/runs/{run}/what-if?{query}")))  # type: ignore[misc]
    seconds, ratio = median(asked), median(asked) / median(bare)
    name = f"what if, {SCORECARDS:,} scorecards: CPU per answer"
    yield Figure(name, f"{seconds * 1000:.0f} ms", f"under {MOST_SECONDS * 1000:.0f} ms", seconds < MOST_SECONDS)
    yield Figure("what if: CPU beside a bare page", f"{ratio:.1f} times", "shown", True)


def _time_call(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


def _enlarge_prepared_run(store: object, run: str) -> None:
    """Put a run in memory that is so often the small one, its answers shuffled."""
    row = store.find_run(run)  # type: ignore[attr-defined]
    prepared = PREPARED_RUNS.find_prepared_run(store, row)  # type: ignore[arg-type]
    large = _repeat_table(load_run_columns(store, run))  # type: ignore[arg-type]
    asked = find_run_rubric_for_tag(json.loads(row["setup"]), "")
    prepared.columns = prepare_what_if_comparison(large, prepared.columns.rubric, asked)
    prepared.positions = list(range(len(large.samples)))


def _repeat_table(table: RunTable) -> RunTable:
    times, rng = -(-SCORECARDS // len(table.score)), np.random.default_rng(7)
    shift = np.repeat(np.arange(times), len(table.score)) * len(table.samples)
    rows = rng.permutation(times * len(table.score)) % len(table.score)
    order = np.arange(times * len(table.score)) % len(table.score)
    return replace(
        table,
        samples=tuple(f"s{at}" for at in range(times * len(table.samples))),
        variant=table.variant[order],
        sample=table.sample[order] + shift,
        repeat=table.repeat[order],
        cluster=table.sample[order] + shift,
        score=table.score[rows],
        composite=table.composite[rows],
        layers={name: column[rows] for name, column in table.layers.items()},
        marks={name: column[rows] for name, column in table.marks.items()},
        criteria={id: column[rows] for id, column in table.criteria.items()},
        judgments={key: column[rows] for key, column in table.judgments.items()},
    )
