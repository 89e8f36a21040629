"""Run an eval: samples checked, work executed and stored, numbers summed up, a decision made."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, closing, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand._version import __version__
from evenhand.compare.decision import CompareDecision, read_compare_decision
from evenhand.errors import EvalError, Fault, InputError
from evenhand.evals.eval_definition import Eval, RecheckedSamples, SampleCounts, check_eval_samples
from evenhand.evals.eval_file import load_eval, read_eval_mapping
from evenhand.evals.eval_schema import PASS_RATE
from evenhand.evals.samples import EvalSampleSelection, are_samples_from_file, select_samples
from evenhand.evals.variants.makers import open_variant_output_makers
from evenhand.files.parsing import read_text_file
from evenhand.models.budget import Budget, Spending
from evenhand.models.connections import Connections
from evenhand.models.hidden_keys import ModelSecrets
from evenhand.models.prices import Prices
from evenhand.models.shared_limits import SharedLimits
from evenhand.report.result_view import ReportedResult
from evenhand.runs.execute import RunProgress, RunWorker, execute_run
from evenhand.runs.garbage import collect_garbage_less_often
from evenhand.runs.kept_texts import mask_definition_kept_by_run, reduce_eval_source_kept_by_run
from evenhand.runs.reply_cache import ReplyCache
from evenhand.runs.run_record import (
    RunEvalRecord,
    RunRecorder,
    list_run_record_chain,
    make_run_record_id,
    write_run_record_second,
)
from evenhand.runs.setup import RunSetup, build_run_setup, collect_run_keys_to_hide, open_run_judges
from evenhand.stats.multiple_tests import planned_looks
from evenhand.stats.power import LEAST_NEEDED
from evenhand.store.rows import Row, StoreWriter, to_stored_json
from evenhand.store.run_holds import RunHold, name_lock_process
from evenhand.store.store import Store
from evenhand.workflows.report import load_user_report_head
from evenhand.workflows.run_batches import (
    describe_run_batches,
    open_run_batches,
    refuse_missing_batch_endpoints_of_run,
    refuse_run_without_batches,
)
from evenhand.workflows.run_cascade import (
    load_cascade_draw_of_run,
    plan_cascade_share_of_run,
    refuse_run_of_cascade_on_fleet,
    refuse_run_of_cascade_until_decided,
)
from evenhand.workflows.run_labels import LARGEST_LABEL_FILE
from evenhand.workflows.run_resuming import (
    BALANCED_ORDERS,
    add_pause_of_resumed_run,
    begin_run_progress_for_user,
    drop_replies_to_the_end,
    drop_texts_of_killed_runs,
    explain_stopped_run,
    find_run_to_resume,
    keep_orders_of_resumed_run,
    load_remaining_budget_for_user,
    stop_asking_for_run,
)

if TYPE_CHECKING:
    from evenhand.report.result_view import ReportedResultView
    from evenhand.workflows.fleet import RayFleet

Json = dict[str, Any]
EvalLike = Eval | str | Path | Mapping[str, Any]
RunWatcher = Callable[[RunProgress, Callable[[], Spending]], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunResult(ReportedResult):
    """A run as it stands when it is left: finished, or stopped and why."""

    id: str
    state: str
    head: Json
    why_stopped: str = ""
    needs_budget: bool = False  # It goes on only with a larger one.
    under_way: str = ""  # What its providers have in batches, in words.
    store: str | Path | None = None  # Where all of it is kept.
    labels_refused: InputError | None = None  # Why the labels that it was given are not kept with it.

    @property
    def decision(self) -> CompareDecision:
        """What was decided, as the head tells it."""
        return read_compare_decision(self.head["decision"])

    @property
    def exit_code(self) -> int:
        """0 where all that was asked for has been reached."""
        return 1 if self.why_stopped else int(self.head["decision"]["exit_code"])

    def build_view(self) -> ReportedResultView:
        """What is shown of it."""
        from evenhand.report.result_view import view_reported_run

        return view_reported_run(self.head, self.why_stopped)

    def to_rows(self) -> list[Json]:
        """A dict for each output: its id, variant, score, composite, layers, criteria and texts, from the store."""
        from evenhand.report.result_view import list_reported_result_rows
        from evenhand.workflows.report import open_report

        with open_report(self.store, self.id) as (head, samples):
            return list(list_reported_result_rows(head, samples))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a run is begun: on the last one of its eval, with nothing taken from the store, and how it ends."""

    resume: bool = False
    fresh: bool = False
    strict: bool = False  # A borderline output fails.
    until_decided: bool = False  # Ask in a random order, and no more once every treatment is settled.
    limit: int | None = None  # Only so many of the samples that `only` and `tags` choose.
    only: tuple[str, ...] = ()  # Ids of samples.
    tags: tuple[str, ...] = ()  # Samples that have one of them.
    repeats: int | None = None  # How often each sample is asked, in place of what the eval says.
    place: str | Path | None = field(default=None, repr=False)  # Of the store; an address may have a password.
    id: str | None = None  # Of the run to begin under this name, or, where there is one, to go on with.
    for_width: float | None = None  # In a cascade: pass on as many samples as an interval of this width takes.
    budget: float | None = None  # US dollars, in place of what the eval says; a cascade passes on what it pays for.
    fleet: str | None = None  # "ray", or "ray://HOST:PORT": the cluster whose nodes do the work.
    labels: str | Path | None = None  # People's labels of its outputs, to be kept with it once it is finished.
    batch: bool | None = None  # Ask judges in batches; None as the run was begun, which is directly for a new one.

    @property
    def selection(self) -> EvalSampleSelection:
        """The samples that it is about."""
        return EvalSampleSelection(limit=self.limit, only=tuple(self.only), tags=tuple(self.tags))


DEFAULT_OPTIONS = RunOptions()


@asynccontextmanager
async def ignore_user_run_progress(_course: RunProgress, _spent: Callable[[], Spending]) -> AsyncIterator[None]:
    """Nobody looks on."""
    yield


async def run(
    eval: EvalLike,
    *,
    options: RunOptions = DEFAULT_OPTIONS,
    watch: RunWatcher = ignore_user_run_progress,
    shared: SharedLimits | None = None,
) -> RunResult:
    """Run an eval: an Eval, its file, or a mapping with the fields of one.

    What was paid for is kept as it comes; the run can be resumed at any point. `shared` limits on models are kept with
    other processes, beside those of the eval.
    """
    chosen, counted = check_user_run(resolve_user_eval(eval), options)
    with collect_garbage_less_often(), Store.open(options.place, os.environ) as store:
        setup = await plan_user_run_setup(chosen, counted, batch=bool(options.batch))
        row, goes_on = _begin_or_resume_user_run(store, setup, counted, options)
        setup = keep_orders_of_resumed_run(setup, row) if goes_on or row["taken_from"] else setup
        head = json.loads(row["summary"]) if goes_on and row["state"] == "finished" and row["summary"] else None
        if head is not None and not head["unfinished"]:  # Another try could give nothing more.
            ran = RunResult(id=row["id"], state="finished", head=head, store=store.address)
        else:
            batch = bool(json.loads(row["setup"]).get("batch") if options.batch is None else options.batch)
            # Closed when no text is left to drop: a signal meanwhile ends the process.
            async with nullcontext() if options.fleet is None else _open_fleet_for_user(options.fleet) as fleet:
                ways = _RunWays(watch, shared, fleet, batch)
                row = add_pause_of_resumed_run(store, row, read_clock_for_user()) if goes_on else row
                ran = await _execute_run_for_user(store, row, setup, counted, ways, goes_on=goes_on)
        if options.labels is None or ran.state != "finished":
            return ran
        from evenhand.workflows.people_scale import add_people_scale_to_run

        return add_people_scale_to_run(store, ran, Path(options.labels))


def check_user_run(eval: Eval, options: RunOptions) -> tuple[Eval, SampleCounts]:
    """The eval as it is run, and its samples counted; what could not be run is said before anything is paid for."""
    if options.labels is not None:
        read_text_file(Path(options.labels), LARGEST_LABEL_FILE, InputError)
    chosen = narrow_user_eval(eval, options)
    if options.fleet is not None:
        if options.batch:
            raise EvalError(Fault("--batch asks from one machine", "leave --batch or --fleet out"))
        refuse_run_of_cascade_on_fleet(chosen)
    counted = check_eval_samples(chosen, os.environ)
    chosen = replace(chosen, own_rubrics=counted.rubrics)
    if options.until_decided:
        refuse_run_of_cascade_until_decided(chosen)
        # What could never be stopped early is said before anything is paid for.
        if len(chosen.variants) < 2:
            what = "there is one variant, and nothing to decide"
            raise EvalError(Fault(what, "add a second variant, or leave --until-decided out"))
        if counted.samples < LEAST_NEEDED:
            what = f"a run never stops below {LEAST_NEEDED} samples, and there are {counted.samples}"
            raise EvalError(Fault(what, "add samples, or leave --until-decided out", where=chosen.samples.where))
        if chosen.composite.needs_all_outputs:
            what = "standardise and debias: regress need all outputs, and --until-decided stops before"
            raise EvalError(Fault(what, "leave one of them out"))
        if counted.mixed:
            raise EvalError(Fault(counted.mixed, "leave --until-decided out", where=chosen.samples.where))
    return chosen, counted


async def plan_user_run_setup(eval: Eval, counted: SampleCounts, *, batch: bool = False) -> RunSetup:
    """How an eval is run; judges that cannot be asked, in a `batch` where that is wanted, are told of, and none is."""
    async with _open_run_connections_for_user(eval, None, None) as unpaid:
        setup = build_run_setup(eval, unpaid, counted.questions)
        if batch:
            refuse_run_without_batches(eval, setup.judges, unpaid)
            await refuse_missing_batch_endpoints_of_run(setup.judges)
        return setup


def resolve_user_eval(eval: EvalLike) -> Eval:
    """The eval, with the settings of the environment where it is read; an EvalError with all that is wrong."""
    if isinstance(eval, Eval):
        return eval
    if isinstance(eval, Mapping):
        return read_eval_mapping(eval, os.environ)
    if isinstance(eval, (str, Path)):
        return load_eval(eval, os.environ)
    hint = "as in Eval(samples=[…], variants={…}, rubric=…)"
    raise EvalError(Fault(f"an eval is an Eval, a file or a mapping, got {type(eval).__name__}", hint))


def narrow_user_eval(eval: Eval, options: RunOptions) -> Eval:
    """The eval over the selected samples, each asked as often as the options say, and as strict."""
    if options.strict:  # All outputs must pass, or as many as the eval says, and borderlines are no passes.
        eval = replace(eval, gates={PASS_RATE: Fraction(1), **eval.gates}, count_borderline=False)
    if options.repeats is not None:
        eval = replace(eval, repeats=options.repeats)
    if options.budget is not None or options.for_width is not None:
        eval = plan_cascade_share_of_run(eval, options.for_width, options.budget)
    if options.selection.to_json() is not None:
        eval = replace(eval, samples=select_samples(eval.samples, options.selection))
    return eval


@dataclass(frozen=True, slots=True)
class _RunWays:
    """Who looks on, with whom limits are shared, and on which cluster it is done."""

    watch: RunWatcher
    shared: SharedLimits | None
    fleet: RayFleet | None
    batch: bool


async def _execute_run_for_user(
    store: Store, row: Row, planned: RunSetup, counted: SampleCounts, ways: _RunWays, *, goes_on: bool
) -> RunResult:
    """Execute, and whatever happens, leave the run so that it can go on. What cannot be opened begins no run."""
    eval, secrets = planned.eval, collect_run_keys_to_hide(planned.eval, os.environ)
    course, ending = begin_run_progress_for_user(store, row, planned, counted, goes_on=goes_on)
    line = [row["id"]] if row["taken_from"] is None else list_run_record_chain(store, row)
    budget = None if eval.budget is None else load_remaining_budget_for_user(eval, eval.budget, store, line)
    fleet, alive = ways.fleet, ExitStack()
    with alive:
        async with (
            _open_run_connections_for_user(eval, budget, ways.shared) as connections,
            open_variant_output_makers(
                eval.variants, connections, os.environ, eval.limits.concurrency, stopping=lambda: course.stopping
            ) as makers,
        ):
            judges = open_run_judges(eval, connections) if planned.judges else ()  # Those that are paid for.
            setup = replace(planned, judges=judges)
            samples = RecheckedSamples(eval.samples, counted)
            # A new one is held from its beginning.
            hold = store.hold_run(row["id"], name_lock_process(), row["setup"]) if goes_on else store.begin_run(row)
            stop_from_thread = partial(asyncio.get_running_loop().call_soon_threadsafe, course.stop_run)
            alive.enter_context(store.beat_for_run(hold, stop_from_thread))
            with closing(StoreWriter(partial(store.write_rows, hold=hold), course.stop_run)) as writer:
                book = RunRecorder(store, writer, hold, read_clock_for_user, eval.keep)
                memory = ReplyCache(book, connections.price, course.fresh, lambda: course.stopping)
                in_batches, show = ways.batch or store.batches.count_live(), partial(setattr, course, "waiting")
                batches = open_run_batches(memory, setup.judges, connections, show, ways.batch) if in_batches else None
                course.on_stop = partial(stop_asking_for_run, connections, batches)
                load_draw = partial(load_cascade_draw_of_run, store, row["id"], setup, budget, goes_on=goes_on)
                draw = None if eval.how.cascade is None else load_draw(lambda: connections.spent, eval.how.cascade)
                worker = RunWorker(setup, book, memory, makers, os.environ, secrets, line, batches, course=course)
                execute = partial(execute_run, draw=draw) if fleet is None else fleet.execute_run
                async with ways.watch(course, fleet.read_spending if fleet else lambda: connections.spent):
                    try:
                        async with batches or nullcontext():
                            await execute(worker, samples, course, ending, goes_on=goes_on)
                    except asyncio.CancelledError:
                        if not course.stopping:
                            raise
                    finally:  # Also where a program cancels the run, or something fails.
                        if eval.keep != "raw":
                            await drop_replies_to_the_end(worker)
        why, needs_budget = explain_stopped_run(course, memory, samples)
        frame = None if goes_on or eval.keep != "raw" else planned.build_eval_record()
        ran = _end_user_run(store, {**row, "state": "stopped" if why else "finished"}, frame, secrets, hold)
    if await drop_texts_of_killed_runs(store, line, row["name"], read_clock_for_user) or eval.keep != "raw":
        await asyncio.to_thread(store.overwrite_removed)
    under_way = describe_run_batches(store, row["id"]) if batches is not None else ""
    return replace(ran, why_stopped=why, needs_budget=needs_budget, under_way=under_way)


def _end_user_run(
    store: Store, row: Row, frame: RunEvalRecord | None, secrets: ModelSecrets, hold: RunHold
) -> RunResult:
    """Sum up what a run has come to, and let it go."""
    from evenhand.report.report_data import mask_report_head

    ended = read_clock_for_user()
    head = secrets.remove_from_data(load_user_report_head(store, {**row, "ended": ended}, frame))
    assert isinstance(head, dict)
    store.release_run(row["id"], row["state"], ended, to_stored_json(head), hold=hold)
    return RunResult(id=row["id"], state=row["state"], head=mask_report_head(head), store=store.address)


def _open_fleet_for_user(where: str) -> AbstractAsyncContextManager[RayFleet]:
    from evenhand.workflows.fleet import open_run_fleet  # It needs what a run on one machine does not.

    return open_run_fleet(where)


def _begin_or_resume_user_run(
    store: Store, setup: RunSetup, counted: SampleCounts, options: RunOptions
) -> tuple[Row, bool]:
    """The run to go on with, or a new one; a changed eval is a new run that takes over what stayed the same."""
    eval, digest = setup.eval, setup.digest_with_samples(counted.digest)
    named = options.resume or options.id is not None
    last = find_run_to_resume(store, eval.name, digest, options.id) if named else None
    before = {BALANCED_ORDERS: True} if last is None else json.loads(last["setup"])
    # One whose samples were not shuffled cannot be stopped early any more.
    shuffled = before.get("until_decided") is not None
    if last is not None and last["digest"] == digest and (shuffled or not options.until_decided):
        return last, True
    began, secrets = datetime.now(UTC), collect_run_keys_to_hide(eval, os.environ)
    until = {"seed": eval.how.seed, "looks": planned_looks(counted.samples)} if options.until_decided else None
    circumstances = {  # Whatever a run was begun with holds when it is resumed.
        "evenhand": __version__,
        "python": platform.python_version(),
        "fresh": options.fresh,
        # What another run has asked is taken over by the text of its requests, so in its orders.
        BALANCED_ORDERS: eval.how.balance_orders and bool(before.get(BALANCED_ORDERS)),
        **({"batch": True} if options.batch else {}),
        "until_decided": until,
        "samples": counted.samples,
        "selection": options.selection.to_json(),
    }
    told, source = (
        secrets.remove_from_data({**setup.describe_setup(), **circumstances}),
        secrets.remove_keys(eval.source),
    )
    assert isinstance(told, dict)
    if eval.keep != "raw":
        told = mask_definition_kept_by_run(told)
        holds_samples = not are_samples_from_file(eval.samples)
        source = reduce_eval_source_kept_by_run(source, eval.keep, holds_samples=holds_samples)
    return {
        "id": options.id or make_run_record_id(began),
        "name": eval.name,
        "digest": digest,
        "state": "running",
        "started": began.isoformat(timespec="milliseconds"),
        "ended": None,
        "seed": eval.how.seed,
        "fingerprint": setup.fingerprint,
        "source": source,
        "setup": to_stored_json(told),
        "summary": None,
        "taken_from": last["id"] if last else None,
        "imported": None,
        "holder": name_lock_process(),
        "keep": eval.keep,
    }, False


def _open_run_connections_for_user(eval: Eval, budget: Budget | None, shared: SharedLimits | None) -> Connections:
    prices = Prices.load(eval.prices) if eval.prices else Prices.shipped()
    connections = Connections(os.environ, limits=eval.limits, budget=budget, prices=prices)
    return connections.hide_variables(eval.sent_variables).share_limits(shared)


def read_clock_for_user() -> str:
    """This moment in UTC, written so that it sorts."""
    seconds, milliseconds = divmod(time.time_ns() // 1_000_000, 1000)
    return f"{write_run_record_second(seconds)}.{milliseconds:03d}+00:00"
