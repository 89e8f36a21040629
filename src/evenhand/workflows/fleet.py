"""A run on many machines: where its cluster is, what travels to the workers, and its stages cut into shards."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from evenhand.assertions.assertion import list_outside_assertions
from evenhand.errors import EvalError, Fault, InputError, StoreError
from evenhand.evals.eval_definition import Eval, RecheckedSamples
from evenhand.evals.sample import EvalSample
from evenhand.evals.samples import InlineSamples, are_samples_from_file
from evenhand.evals.variants.makers import RecordedVariant
from evenhand.evals.variants.variant import FunctionVariant
from evenhand.models.budget import Spending
from evenhand.models.prices import Prices
from evenhand.runs.cascade_draw import SampleStages, StopRunOnceDecided
from evenhand.runs.execute import (
    FinishedResults,
    RunProgress,
    RunWorker,
    drop_replies_unneeded_by_run,
    list_unfinished_repeats,
)
from evenhand.store.database import DATABASE_VARIABLE
from evenhand.store.store import Store
from evenhand.workflows.fleet_cluster import connect_to_ray_fleet, disconnect_from_ray_fleet, list_fleet_hosts
from evenhand.workflows.fleet_ray import RayFleetCrew, UnfinishedSample
from evenhand.workflows.fleet_worker import FleetJob

MOST_SOURCE_FILES, MOST_SOURCE_BYTES = 1_000, 20_000_000


@asynccontextmanager
async def open_run_fleet(where: str) -> AsyncIterator[RayFleet]:
    """The workers of a Ray cluster: one that is there, or one on this machine."""
    address = find_fleet_address(where, os.environ)
    connect_to_ray_fleet(address)
    try:
        yield RayFleet()
    finally:
        disconnect_from_ray_fleet()


def find_fleet_address(where: str, environ: Mapping[str, str]) -> str | None:
    """The address of a cluster that is meant; None for one of our own."""
    kind, colon, rest = where.partition("://")
    if kind != "ray" or (colon and not rest):
        raise InputError(Fault(f"{where!r} does not name a fleet", "ray, or ray://HOST:PORT for a running cluster"))
    return where if colon else environ.get("RAY_ADDRESS") or None


@dataclass(slots=True)
class RayFleet:
    """Executes a run on the nodes of a cluster."""

    _crew: RayFleetCrew | None = None

    def read_spending(self) -> Spending:
        """What all workers have spent, as far as they have told."""
        return self._crew.spent if self._crew is not None else Spending()

    async def execute_run(
        self,
        worker: RunWorker,
        samples: RecheckedSamples,
        course: RunProgress,
        ending: StopRunOnceDecided | None,
        *,
        goes_on: bool = True,
    ) -> None:
        """Work through every sample that is not finished, as `execute_run` of one machine does."""
        refuse_store_out_of_fleet_reach(worker.book.store)
        job = build_fleet_job(worker, samples)
        finished = await drop_replies_unneeded_by_run(worker) if goes_on else {}
        stages: SampleStages = (enumerate(samples),) if ending is None else ending.plan_stages(samples)
        self._crew = crew = RayFleetCrew(job, worker, course, ending)
        try:
            for stage in stages:
                pieces = self._list_pieces(worker, stage, course, ending, finished)
                await crew.score_stage(pieces if ending is None else iter(list(pieces)))
                if course.settled or course.stopping or worker.memory.asks_no_more:
                    break
        finally:
            crew.dismiss()

    def _list_pieces(
        self,
        worker: RunWorker,
        stage: Iterable[tuple[int, EvalSample]],
        course: RunProgress,
        ending: StopRunOnceDecided | None,
        finished: FinishedResults,
    ) -> Iterator[UnfinishedSample]:
        for position, sample in stage:
            if course.stopping or worker.memory.asks_no_more:
                return
            todo = list_unfinished_repeats(worker.setup, sample, position, course, ending, finished)
            if todo:
                yield position, sample, todo


def refuse_store_out_of_fleet_reach(store: Store) -> None:
    """Say what workers could not write to, before any of them tries."""
    if isinstance(store.address, Path):
        hosts = list_fleet_hosts() - {socket.gethostname()}
        if hosts:
            what = f"other machines cannot write into a file of this one ({', '.join(sorted(hosts)[:3])})"
            hint = f"a fleet needs PostgreSQL: set {DATABASE_VARIABLE} here and on every node"
            raise StoreError(Fault(what, hint, where=store.shown))
    elif not os.environ.get(DATABASE_VARIABLE):
        what = "workers take the address of the database, which holds a password, from their environment"
        raise StoreError(Fault(what, f"set {DATABASE_VARIABLE} here and on every node", where=store.shown))


def build_fleet_job(worker: RunWorker, samples: RecheckedSamples) -> FleetJob:
    """What travels to the workers of a run: no sample, no secret."""
    setup, store, eval = worker.setup, worker.book.store, worker.setup.eval
    inline = InlineSamples((), eval.samples.where, from_file=are_samples_from_file(eval.samples))
    rubrics = replace(eval.own_rubrics, environ={})
    # Outputs that stand in files here travel with their samples.
    variants = {
        name: replace(one, outputs=None) if isinstance(one, RecordedVariant) else one
        for name, one in eval.variants.items()
    }
    return FleetJob(
        hold=worker.book.hold,
        line=tuple(worker.runs),
        eval=replace(eval, samples=inline, variants=variants, source="", own_rubrics=rubrics),
        place=str(store.address) if isinstance(store.address, Path) else None,
        store=store.shown,
        prices=Prices.load(eval.prices) if eval.prices else Prices.shipped(),
        questions=samples.counted.questions,
        fingerprints=dict(setup.fingerprints),
        programs=dict(setup.programs),
        digests=dict(setup.digests),
        fresh=worker.memory.fresh,
        sources=_read_fleet_python_sources(eval),
    )


def _read_fleet_python_sources(eval: Eval) -> dict[str, bytes]:
    """The Python files beside an eval that names functions: nodes may not have them."""
    named = any(isinstance(one, FunctionVariant) and one.call is None for one in eval.variants.values())
    named = named or any(name.startswith("python:") for name in eval.judges)
    checks = list_outside_assertions((*eval.assertions, *eval.checks.values()))
    if not named and not any(leaf.kind == "custom" for leaf in checks):
        return {}
    found: dict[str, bytes] = {}
    size = 0
    for file in sorted(eval.folder.rglob("*.py")):
        name = file.relative_to(eval.folder)
        if any(part.startswith(".") or part in ("site-packages", "node_modules") for part in name.parts):
            continue
        found[str(name)] = file.read_bytes()
        size += len(found[str(name)])
        if len(found) > MOST_SOURCE_FILES or size > MOST_SOURCE_BYTES:
            what = (
                f"more than {MOST_SOURCE_FILES:,} Python files, or {MOST_SOURCE_BYTES // 10**6} MB of them, stand here"
            )
            raise EvalError(
                Fault(what, "put the eval and its functions into a folder of their own", where=str(eval.folder))
            )
    return found
