"""Shards of a run as Ray tasks, and the ledger of a fleet as a Ray actor: Ray finds what has died and starts it again.

Nothing is queued, leased or watched over here. This module and `fleet_cluster` are the ones that know Ray.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import Any, TypeVar
from uuid import uuid4

from evenhand.errors import (
    BudgetError,
    CircuitOpenError,
    EvenhandError,
    Fault,
    InputError,
    OutputError,
    RunLostError,
    StoreError,
)
from evenhand.evals.sample import EvalSample
from evenhand.evals.variants.makers import RecordedVariant
from evenhand.model.sample import VariantOutput
from evenhand.models.budget import ModelBudgetAmount, Spending, add_model_spending
from evenhand.models.shared_limits import ModelLimitSlices
from evenhand.runs.cascade_draw import StopRunOnceDecided
from evenhand.runs.execute import RunProgress, RunWorker
from evenhand.store.store import Store
from evenhand.workflows.fleet_cluster import load_ray
from evenhand.workflows.fleet_ledger import BudgetAnswer, FleetLedger, ShardProgress
from evenhand.workflows.fleet_worker import (
    FleetJob,
    FleetSession,
    FleetShard,
    ShardResult,
    open_fleet_session,
    score_fleet_shard,
)

T = TypeVar("T")
UnfinishedSample = tuple[int, EvalSample, list[int]]  # A position, its sample, and the repeats that are to be done.
MOST_SAMPLES = 500  # Of one shard: what a shard costs beside its calls is then nothing.
SHARDS_PER_WORKER = 8  # At least, where there are so many samples: the last ones end at nearly the same time.
ATTEMPTS = 20  # Retries of a shard whose worker or node has died.
POLL_SECONDS = 0.5
DISMISS_SECONDS = 10.0
STORE_PAUSE = 2.0  # Seconds before a shard is tried again whose store did not answer.


class RayFleetCrew:
    """The workers of one run: as many shards at once as the cluster has CPUs, and their part of the calls at once."""

    def __init__(
        self, job: FleetJob, worker: RunWorker, course: RunProgress, ending: StopRunOnceDecided | None
    ) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        ray = load_ray()
        self._worker, self._course, self._ending = worker, course, ending
        self._live_variants = sum(variant.live for variant in worker.setup.eval.variants.values())
        self._job = ray.put(job)
        # With whoever began the run: it ends with that.
        near = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=True)
        keeper = ray.remote(FleetLedgerProcess).options(
            num_cpus=0, max_restarts=-1, max_task_retries=-1, scheduling_strategy=near
        )
        self._ledger = keeper.remote(job)
        self._task = ray.remote(run_shard).options(
            num_cpus=1, max_retries=ATTEMPTS, retry_exceptions=[StoreAwayError], scheduling_strategy="SPREAD"
        )
        most = worker.setup.eval.limits.concurrency
        self._places = divide_calls_over_fleet(most, int(ray.cluster_resources().get("CPU", 1)))
        self._numbers = count()
        self._live: dict[int, tuple[Any, int]] = {}  # By shard: its task, and what was finished before.
        self._over: list[int] = []  # Shards whose end the ledger is to be told of.
        self._ended = _FleetShardSums()
        self._spent_by_ended = self.spent = Spending()
        self._error: EvenhandError | None = None
        self._shut = course.on_stop
        course.on_stop = self._stop_workers

    async def score_stage(self, pieces: Iterator[UnfinishedSample]) -> None:
        """Work through some samples; the first error ends all, once what is under way has ended."""
        shards = self._cut_shards(pieces)
        polling = asyncio.create_task(self._keep_polling())
        slots = [asyncio.create_task(self._score_shards(shards, places)) for places in self._places]
        try:
            await asyncio.gather(*slots)
        finally:
            for task in (polling, *slots):
                task.cancel()
            await asyncio.gather(polling, *slots, return_exceptions=True)
        if self._error is not None:
            raise self._error
        try:
            await self._look()
        except Exception as error:  # Ray's own: the ledger cannot be started any more.
            raise explain_dead_fleet_task(error, "the ledger of the fleet") from None

    def dismiss(self) -> None:
        """End the workers that are left, and wait for it: what they write must not come after texts are dropped."""
        ray = load_ray()
        self._course.on_stop = self._shut
        tasks = [task for task, _ in self._live.values()]
        for task in tasks:
            ray.cancel(task, force=True)
        ray.kill(self._ledger)
        if tasks:
            ray.wait(tasks, num_returns=len(tasks), timeout=DISMISS_SECONDS, fetch_local=False)

    def _stop_workers(self) -> None:
        self._shut()
        self._ledger.call.remote("stop_shards")

    def _cut_shards(self, pieces: Iterator[UnfinishedSample]) -> Iterator[list[UnfinishedSample]]:
        whole = self._course.total // self._course.repeats
        size = min(MOST_SAMPLES, max(1, whole // (SHARDS_PER_WORKER * len(self._places))))
        while some := list(islice(pieces, size)):
            yield some
            if self._course.stopping or self._worker.memory.asks_no_more or self._error is not None:
                return

    async def _score_shards(self, shards: Iterator[list[UnfinishedSample]], places: int) -> None:
        """Have one shard after the other scored; several of these share the shards."""
        for pieces in shards:
            number = next(self._numbers)
            shard = FleetShard(
                number=number,
                places=places,
                samples=tuple((position, sample) for position, sample, _ in pieces),
                recorded=await self._make_recorded(pieces),
            )
            before = sum(self._course.repeats - len(todo) for _, _, todo in pieces)
            task = self._task.remote(self._job, shard, self._ledger)
            self._live[number] = (task, before)
            try:
                outcome = await asyncio.wrap_future(task.future())
            except asyncio.CancelledError:
                raise
            except Exception as error:  # Ray's own: the shard was tried again as often as it may.
                outcome = explain_dead_fleet_task(error, f"samples {pieces[0][1].id!r} to {pieces[-1][1].id!r}")
            del self._live[number]
            self._over.append(number)
            if isinstance(outcome, EvenhandError):
                self._error = self._error or outcome
                self._stop_workers()
                return
            self._take_result(outcome, pieces, before)

    async def _make_recorded(self, pieces: list[UnfinishedSample]) -> dict[str, dict[str, VariantOutput | str]]:
        """The outputs that stand in files here."""
        found: dict[str, dict[str, VariantOutput | str]] = {}
        for name, variant in self._worker.setup.eval.variants.items():
            if isinstance(variant, RecordedVariant) and variant.outputs is not None:
                found[name] = {}
                for _, sample, _ in pieces:
                    try:
                        found[name][sample.id] = await self._worker.makers[name].make(sample, 0)
                    except OutputError as error:
                        found[name][sample.id] = str(error)
        return found

    def _take_result(self, result: ShardResult, pieces: list[UnfinishedSample], before: int) -> None:
        self._ended.add_shard(result.progress, before, self._live_variants)
        for why, kind in ((result.spent, BudgetError), (result.silent, CircuitOpenError)):
            if why:
                self._worker.memory.note_end_of_asking(kind(why))
        if self._ending is not None:
            self._note_results(self._ending, pieces)

    def _note_results(self, ending: StopRunOnceDecided, pieces: list[UnfinishedSample]) -> None:
        """Tell the rule what each sample scored that now has all its results."""
        book, variants = self._worker.book, len(self._worker.setup.eval.variants)
        rows = book.store.rows.list_results_at(book.hold.run, [position for position, _, _ in pieces])
        counts = Counter((row["position"], row["repeat"]) for row in rows)
        for row in rows:
            ending.note_result(row)
        for position, _, todo in pieces:
            for repeat in todo:
                if counts[position, repeat] == variants:
                    self._course.settled = self._course.settled or ending.why_stop(position, repeat)

    async def _keep_polling(self) -> None:
        while True:
            await asyncio.sleep(POLL_SECONDS)
            with suppress(Exception):  # Ray's own, while the ledger is started again.
                await self._look()

    async def _look(self) -> None:
        """Learn how far all shards are."""
        over = list(self._over)
        told: dict[int, ShardProgress] = await self._ledger.call.remote("read_progress", over)
        self._over = self._over[len(over) :]
        self._spent_by_ended = add_model_spending(
            [self._spent_by_ended, *(told[one].spent for one in over if one in told)]
        )
        under_way = {number: progress for number, progress in told.items() if number in self._live}
        self.spent = add_model_spending([self._spent_by_ended, *(progress.spent for progress in under_way.values())])
        sums = replace(self._ended)
        for number, progress in under_way.items():
            sums.add_shard(progress, self._live[number][1], self._live_variants)
        self._course.done, self._course.failed, self._course.carried = sums.done, sums.failed, sums.carried
        self._course.made = sums.made + self._course.skipped * self._live_variants


@dataclass(slots=True)
class _FleetShardSums:
    """What shards have come to, together."""

    done: int = 0
    failed: int = 0
    made: int = 0
    carried: int = 0

    def add_shard(self, progress: ShardProgress, before: int, live: int) -> None:
        """Count a shard in, but for pieces that were finished before it began."""
        self.done += max(progress.done + progress.skipped - before, 0)
        self.failed += progress.failed
        self.made += max(progress.made - before * live, 0)
        self.carried += progress.carried


def divide_calls_over_fleet(most: int, cpus: int) -> list[int]:
    """The calls at once of each worker: no more workers than calls, and together not one more than `most`."""
    workers = max(1, min(most, cpus))
    return [most // workers + (number < most % workers) for number in range(workers)]


def explain_dead_fleet_task(error: Exception, where: str) -> EvenhandError:
    """What Ray says of a shard or the ledger that it gave up, in words of ours."""
    lines = [line.strip() for line in str(error).splitlines()]
    lacks = [line for line in lines if "No module named" in line or "cannot import name" in line]
    if lacks:
        hint = "install the same version of Evenhand, with the extra fleet, on every node"
        return InputError(Fault(f"a node lacks a package: {lacks[-1]}", hint, where="--fleet"))
    hint = "the logs of Ray on its node say why; evenhand run EVAL --resume goes on with what is left"
    return InputError(Fault(f"every worker that had it died: {type(error).__name__}", hint, where=where))


class StoreAwayError(Exception):
    """The store did not answer a worker: the shard is tried again."""


class FleetLedgerProcess:
    """The ledger of a run, in a process of its own."""

    def __init__(self, job: FleetJob) -> None:
        store = Store.open(job.place, os.environ, create=False)
        recovered = load_ray().get_runtime_context().was_current_actor_reconstructed
        self._ledger = FleetLedger(store, job.eval, job.line, recovered=recovered)

    def call(self, name: str, *args: object) -> object:
        """Call a method of the ledger."""
        return getattr(self._ledger, name)(*args)


@dataclass(frozen=True, slots=True)
class RayFleetLedgerLink:
    """The ledger as a worker reaches it; while its store does not answer, it is asked again."""

    process: Any

    async def _call(self, name: str, *args: object) -> Any:
        while True:
            try:
                return await asyncio.wrap_future(self.process.call.remote(name, *args).future())
            except StoreError:
                await asyncio.sleep(STORE_PAUSE)

    async def change_slices(
        self, server: str, change: Callable[[ModelLimitSlices, float], tuple[ModelLimitSlices, T]]
    ) -> T:
        """A slice of a rate."""
        found: T = await self._call("change_slices", server, change)
        return found

    async def take_budget(
        self, shard: int, attempt: str, progress: ShardProgress, short: ModelBudgetAmount, unspent: ModelBudgetAmount
    ) -> BudgetAnswer:
        """A slice of the budget."""
        answer: BudgetAnswer = await self._call("take_budget", shard, attempt, progress, short, unspent)
        return answer

    async def begin_shard(self, shard: int, attempt: str) -> None:
        """That an attempt begins."""
        await self._call("begin_shard", shard, attempt)

    async def report_shard(self, shard: int, attempt: str, progress: ShardProgress) -> bool:
        """How far an attempt is; whether it is to stop."""
        return bool(await self._call("report_shard", shard, attempt, progress))

    async def end_shard(self, shard: int, attempt: str, progress: ShardProgress, unspent: ModelBudgetAmount) -> None:
        """That an attempt is over, and what it gives back."""
        await self._call("end_shard", shard, attempt, progress, unspent)


@dataclass(slots=True)
class _WorkerProcess:
    """What stays open in a process from one shard to the next: connections belong to the loop that made them."""

    loop: asyncio.AbstractEventLoop
    opened: dict[tuple[str, int, int], FleetSession]


_PROCESS: list[_WorkerProcess] = []


def run_shard(job: FleetJob, shard: FleetShard, ledger: Any) -> ShardResult | EvenhandError:
    """Score a shard in a process of the cluster; what is wrong with this node is returned, for it would be so again."""
    if not _PROCESS:
        _PROCESS.append(_WorkerProcess(asyncio.new_event_loop(), {}))
    process = _PROCESS[0]
    try:
        return process.loop.run_until_complete(_run_shard(process, job, shard, RayFleetLedgerLink(ledger)))
    except RunLostError as error:
        return error
    except StoreError as error:
        raise StoreAwayError(str(error)) from None
    except InputError as error:
        node = f"node {socket.gethostname()}"
        return type(error)(*(replace(one, where=f"{node}: {one}", what="", hint="") for one in error.faults))
    except EvenhandError as error:
        return InputError(Fault(str(error), where=f"node {socket.gethostname()}"))


async def _run_shard(
    process: _WorkerProcess, job: FleetJob, shard: FleetShard, link: RayFleetLedgerLink
) -> ShardResult:
    key = (job.hold.run, job.hold.token, shard.places)
    if key not in process.opened:
        async with AsyncExitStack() as stack:
            process.opened[key] = await open_fleet_session(stack, job, shard.places, link)
            stack.pop_all()  # It stays open for as long as this process lives, which is for one run.
    return await score_fleet_shard(process.opened[key], shard, uuid4().hex)
