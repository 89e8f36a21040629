"""One worker of a fleet: a shard of samples is scored as a run on one machine does it, into the store of the run.

What travels is the eval without its samples, the shard, and no secret: keys and the address of the database come from
the environment of each node. Nothing here knows of Ray.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from evenhand._version import __version__
from evenhand.errors import BudgetError, EvalError, Fault, InputError, OutputError, StoreError
from evenhand.evals.eval_definition import Eval
from evenhand.evals.sample import EvalSample
from evenhand.evals.variants.makers import open_variant_output_makers
from evenhand.evals.variants.variant import CommandVariant, FunctionVariant, VariantOutputMaker
from evenhand.model.sample import VariantOutput
from evenhand.models.budget import Budget, ModelBudgetAmount, ModelBudgetLedger, Spending
from evenhand.models.connections import Connections
from evenhand.models.prices import Prices
from evenhand.models.shared_limits import ModelLimitSlices, SharedLimits
from evenhand.runs.execute import RunProgress, RunWorker, score_run_stage
from evenhand.runs.reply_cache import ReplyCache
from evenhand.runs.run_record import RunRecorder
from evenhand.runs.setup import RunSetup, build_run_setup, collect_run_keys_to_hide
from evenhand.store.database import DATABASE_VARIABLE
from evenhand.store.rows import StoreWriter
from evenhand.store.run_holds import RunHold
from evenhand.store.store import Store
from evenhand.workflows.fleet_ledger import NOTHING, BudgetAnswer, ShardProgress
from evenhand.workflows.run import read_clock_for_user

T = TypeVar("T")
REPORT_SECONDS = 0.5  # Between two reports of how far a shard is.
BUDGET_SECONDS = 0.25  # Before the budget is asked for again, where others may leave some of it.


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetJob:
    """All that a worker must know of a run, but for samples and secrets."""

    hold: RunHold
    line: tuple[str, ...]  # The run, and those that it took over from.
    eval: Eval
    place: str | None  # The file of a store that is one; None where each node names the same database.
    store: str  # As messages name it, without a password.
    prices: Prices
    questions: tuple[str, ...]
    fingerprints: Mapping[str, str]
    programs: Mapping[str, str]
    digests: Mapping[str, str]
    fresh: bool
    sources: Mapping[str, bytes] = field(default_factory=dict)  # Python files beside the eval.
    version: str = __version__


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetShard:
    """Some samples of a run with their positions, and how many calls at once they may take."""

    number: int
    places: int
    samples: tuple[tuple[int, EvalSample], ...]
    # By variant and sample: outputs from files where the run was begun, or why there is none.
    recorded: Mapping[str, Mapping[str, VariantOutput | str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardResult:
    """What came of a shard: how far it came, and why no further."""

    progress: ShardProgress
    spent: str = ""  # Why the budget does not reach.
    silent: str = ""  # Why a model is asked no more.


class FleetLedgerLink(Protocol):
    """The ledger of the fleet, as a worker reaches it."""

    async def change_slices(
        self, server: str, change: Callable[[ModelLimitSlices, float], tuple[ModelLimitSlices, T]]
    ) -> T:
        """A slice of a rate."""
        ...

    async def take_budget(
        self, shard: int, attempt: str, progress: ShardProgress, short: ModelBudgetAmount, unspent: ModelBudgetAmount
    ) -> BudgetAnswer:
        """A slice of the budget."""
        ...

    async def begin_shard(self, shard: int, attempt: str) -> None:
        """That an attempt begins."""
        ...

    async def report_shard(self, shard: int, attempt: str, progress: ShardProgress) -> bool:
        """How far an attempt is; whether it is to stop."""
        ...

    async def end_shard(self, shard: int, attempt: str, progress: ShardProgress, unspent: ModelBudgetAmount) -> None:
        """That an attempt is over, and what it gives back."""
        ...


@dataclass(slots=True)
class FleetSession:
    """What one process opens once for all shards that it gets: the store, the judges, the makers of outputs."""

    job: FleetJob
    places: int
    eval: Eval
    store: Store
    connections: Connections
    budget: ModelBudgetLedger
    makers: Mapping[str, VariantOutputMaker]
    setup: RunSetup
    ledger: FleetLedgerLink
    course: RunProgress = field(default_factory=lambda: RunProgress(total=0))
    shard: int = 0
    attempt: str = ""
    granted: ModelBudgetAmount = NOTHING
    spent_before: Spending = field(default_factory=Spending)  # In shards before this one.

    def read_progress(self) -> ShardProgress:
        """How far the shard is."""
        counts = {name: getattr(self.course, name) for name in ("done", "skipped", "failed", "made", "carried")}
        spent = _subtract_fleet_spending(self.connections.spent, self.spent_before)
        return ShardProgress(**counts, spent=spent, granted=self.granted)

    async def take_budget(self, short: ModelBudgetAmount, unspent: ModelBudgetAmount) -> ModelBudgetAmount:
        """More of the budget, or nothing where others may leave some; a BudgetError where nobody will."""
        answer = await self.ledger.take_budget(self.shard, self.attempt, self.read_progress(), short, unspent)
        if answer.kind == "refused":
            raise BudgetError(answer.why)
        if answer.kind == "wait":
            if self.course.stopping:
                raise asyncio.CancelledError
            await asyncio.sleep(BUDGET_SECONDS)
        self.granted += answer.more
        return answer.more


async def open_fleet_session(
    stack: AsyncExitStack, job: FleetJob, places: int, ledger: FleetLedgerLink
) -> FleetSession:
    """Open what all shards of a job need; an InputError says what this node lacks."""
    if job.version != __version__:
        what, hint = f"Evenhand {__version__} is installed here, and the run was begun with {job.version}", "install it"
        raise InputError(Fault(what, hint))
    eval = _load_eval_on_fleet_worker(stack, job, places)
    store = stack.enter_context(Store.open(job.place, os.environ, create=False))
    try:
        store.find_run(job.hold.run)
    except StoreError:
        what = f"the run is in {job.store}, and not in the store of this node"
        hint = f"set {DATABASE_VARIABLE} to the same database on every node"
        raise InputError(Fault(what, hint, where=store.shown)) from None
    own = Budget(
        money=None if not eval.budget or eval.budget.money is None else NOTHING.money,
        tokens=None if not eval.budget or eval.budget.tokens is None else 0,
    )
    connections = Connections(os.environ, limits=eval.limits, budget=own if eval.budget else None, prices=job.prices)
    connections.hide_variables(eval.sent_variables)
    limits = job.eval.limits
    if limits.requests_per_minute or limits.tokens_per_minute:
        connections.share_limits(SharedLimits(limits, ledger, str, rates_only=True))
    await stack.enter_async_context(connections)
    session: FleetSession
    makers = await stack.enter_async_context(
        open_variant_output_makers(
            eval.variants, connections, os.environ, places, stopping=lambda: session.course.stopping
        )
    )
    setup = build_run_setup(eval, connections, job.questions)
    if dict(setup.fingerprints) != dict(job.fingerprints):
        what = "the rubric, its prompts or its judges are others here than where the run was begun"
        raise EvalError(Fault(what, "install the same packages and local models on every node"))
    setup = replace(setup, programs=job.programs, digests=job.digests)
    session = FleetSession(job, places, eval, store, connections, NO_BUDGET, makers, setup, ledger)
    session.budget = connections.share_budget(session)
    return session


NO_BUDGET = ModelBudgetLedger(None, None)


def _load_eval_on_fleet_worker(stack: AsyncExitStack, job: FleetJob, places: int) -> Eval:
    """The eval with its part of the calls at once, and its Python files where this node can import them."""
    limits = replace(job.eval.limits, concurrency=places, requests_per_minute=None, tokens_per_minute=None)
    eval = replace(job.eval, limits=limits)
    if all(_has_fleet_worker_file(eval.folder / name, content) for name, content in job.sources.items()):
        return eval
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="evenhand-fleet-")))
    for name, content in job.sources.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    variants = {
        name: replace(one, folder=folder) if isinstance(one, FunctionVariant | CommandVariant) else one
        for name, one in eval.variants.items()
    }
    return replace(eval, folder=folder, variants=variants)


def _has_fleet_worker_file(path: Path, content: bytes) -> bool:
    try:
        return path.read_bytes() == content
    except OSError:
        return False


async def score_fleet_shard(session: FleetSession, shard: FleetShard, attempt: str) -> ShardResult:
    """Score the samples of a shard that have no results yet, and write those into the store as they come."""
    job, store, eval = session.job, session.store, session.eval
    session.shard, session.attempt, session.granted = shard.number, attempt, NOTHING
    session.course = course = RunProgress(total=len(shard.samples) * eval.repeats)
    course.on_stop = session.connections.shut
    session.spent_before = session.connections.spent
    await session.ledger.begin_shard(shard.number, attempt)

    with closing(
        StoreWriter(partial(store.write_rows, hold=job.hold, has_other_workers=True), course.stop_run)
    ) as writer:
        book = RunRecorder(store, writer, job.hold, read_clock_for_user, eval.keep, has_other_workers=True)
        memory = ReplyCache(book, session.connections.price, job.fresh, lambda: course.stopping)
        recorded = {name: FleetShippedOutputs(made) for name, made in shard.recorded.items()}
        makers = {**session.makers, **recorded}
        secrets = collect_run_keys_to_hide(eval, os.environ)
        worker = RunWorker(session.setup, book, memory, makers, os.environ, secrets, job.line, course=course)
        rows = store.rows.list_results_at(job.hold.run, [position for position, _ in shard.samples])
        finished = {(row["position"], row["variant"], row["repeat"]): row["key"] for row in rows}
        reporting = asyncio.create_task(_keep_reporting_to_fleet(session))
        try:
            await score_run_stage(worker, shard.samples, course, None, finished)
            await worker.memory.turns.wait_until_idle()
        finally:
            reporting.cancel()
            with suppress(asyncio.CancelledError):
                await reporting
    progress = session.read_progress()
    await session.ledger.end_shard(shard.number, attempt, progress, session.budget.take_unspent())
    return ShardResult(progress=progress, spent=str(memory.spent or ""), silent=str(memory.silent or ""))


async def _keep_reporting_to_fleet(session: FleetSession) -> None:
    """Tell the ledger how far it is, and stop when it says so, or when it is gone for good: so is the run, then."""
    while True:
        await asyncio.sleep(REPORT_SECONDS)
        try:
            is_over = await session.ledger.report_shard(session.shard, session.attempt, session.read_progress())
        except Exception:  # Ray's own: the ledger goes with whoever began the run.
            is_over = True
        if is_over and not session.course.stopping:
            session.course.stop_run()


def _subtract_fleet_spending(now: Spending, before: Spending) -> Spending:
    counts = ("requests", "input", "output", "cached", "unpriced", "replayed")
    left = {name: getattr(now, name) - getattr(before, name) for name in counts}
    priced = now.priced - before.priced
    return Spending(**left, priced=priced, cost=None if left["unpriced"] else priced)


@dataclass(frozen=True, slots=True)
class FleetShippedOutputs:
    """Recorded outputs that came with a shard, by sample."""

    recorded: Mapping[str, VariantOutput | str]

    async def make(self, sample: EvalSample, repeat: int) -> VariantOutput:
        """The output, or an OutputError where none is recorded."""
        found = self.recorded[sample.id]
        if isinstance(found, str):
            raise OutputError(found)
        return found
