"""Running an eval: samples checked, work carried out and kept, numbers summed up, a decision made."""

from __future__ import annotations

import asyncio
import json
import os
import platform
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from evenhand._version import __version__
from evenhand.asking import costs
from evenhand.compare import Stopping
from evenhand.deciding import head_for
from evenhand.errors import EvalError, Fault
from evenhand.judging.models import Budget, Connections, Prices, Spent
from evenhand.runs import (
    AtTheEnd,
    Book,
    Counted,
    Course,
    Eval,
    Memory,
    OnceDecided,
    Outputs,
    SecondPass,
    Setup,
    Turns,
    Worker,
    checked_samples,
    execute,
    forget,
    line_of,
    load_eval,
    prepare,
    run_id,
    run_to_resume,
    shuffled_order,
)
from evenhand.runs.store import Row, Store, Writer, compact, this_process
from evenhand.runs.variants import ModelPrompt, open_makers
from evenhand.stats import LEAST_NEEDED, planned_looks

Json = dict[str, Any]
CHANGED = "the samples changed while the run was going on: run it again"
BY_HAND = "stopped by hand"
Watch = Callable[[Course, Callable[[], Spent]], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A run as it stands when it is left: finished, or stopped and why."""

    id: str
    state: str
    head: Json
    why_stopped: str = ""
    needs_budget: bool = False  # It goes on only with a larger one.

    @property
    def exit_code(self) -> int:
        """0 where all that was asked for has been reached."""
        return 1 if self.why_stopped else int(self.head["decision"]["exit_code"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a run is begun: on the last one of its eval, with nothing taken from the store, and how it ends."""

    resume: bool = False
    fresh: bool = False
    until_decided: bool = False  # Ask in a random order, and no more once every treatment is settled.
    place: str | Path | None = None  # Of the store.


@asynccontextmanager
async def unwatched(_course: Course, _spent: Callable[[], Spent]) -> AsyncIterator[None]:
    """Nobody looks on."""
    yield


async def run(eval: Eval | str | Path, *, options: Options = Options(), watch: Watch = unwatched) -> Ran:  # noqa: B008
    """Run an eval, given or in a file. What was paid for is kept as it comes; the run can be resumed at any point."""
    chosen = eval if isinstance(eval, Eval) else load_eval(Path(eval), os.environ)
    counted = checked_samples(chosen)
    if options.until_decided:
        _refuse_undecidable(chosen, counted)
    with Store.open(options.place, os.environ) as store:
        async with _connections(chosen, None) as unpaid:
            setup = prepare(chosen, unpaid, counted.questions)
        row, goes_on = _run_row(store, setup, counted, options)
        if goes_on and row["state"] == "finished" and _complete(row):
            return Ran(id=row["id"], state="finished", head=json.loads(row["summary"]))
        return await _carried_out(store, row, setup, counted, watch, goes_on=goes_on)


async def _carried_out(store: Store, row: Row, planned: Setup, counted: Counted, watch: Watch, *, goes_on: bool) -> Ran:
    """Execute, and whatever happens, leave the run so that it can go on. What cannot be opened begins no run."""
    eval = planned.eval
    total = counted.samples * eval.repeats
    judges = tuple(judge.name for judge in planned.judges)
    ending = _ending(store, row, eval)
    course = Course(
        total=total, outputs=total * len(eval.variants), judges=judges, note=counted.mixed, until=ending.until
    )
    line = line_of(store, row)
    async with (
        _connections(eval, _budget(eval, store, line)) as connections,
        open_makers(
            eval.variants, connections, os.environ, eval.limits.concurrency, stopping=lambda: course.stopping
        ) as makers,
    ):
        course.on_stop = connections.shut
        setup = prepare(eval, connections, counted.questions)
        samples = SecondPass(eval.samples, counted)
        if not goes_on:
            store.begin(row)
        store.take(row["id"], this_process())
        with closing(Writer(store)) as writer:
            book = Book(store, writer, row["id"], now)
            fresh = bool(json.loads(row["setup"]).get("fresh"))
            turns = Turns()
            memory = Memory(book, costs(connections), turns, fresh=fresh)
            async with watch(course, lambda: connections.spent):
                outputs = Outputs(eval.variants, makers, book, turns, line)
                worker = Worker(setup, book, memory, outputs, os.environ, tell=ending.tell)
                try:
                    await execute(setup, worker, memory, book, ending.stages(samples), course, ending.stop_when)
                except asyncio.CancelledError:
                    if not course.stopping:
                        raise
                await forget(setup, memory, book)
    return _left(store, row, *_why(course, samples, memory))


def _ending(store: Store, row: Row, eval: Eval) -> AtTheEnd | OnceDecided:
    """How a run ends is part of it: it does not change when it is resumed."""
    until = json.loads(row["setup"]).get("until_decided")
    if until is None:
        return AtTheEnd()
    order, looks = shuffled_order(until["looks"][-1], until["seed"]), tuple(until["looks"])
    rule = Stopping(
        order=order,
        looks=looks,
        variants=tuple(eval.variants),
        control=eval.control,
        repeats=eval.repeats,
        seed=eval.how.seed,
    )
    return OnceDecided(order, looks, rule.take, store.results(row["id"]))


def _refuse_undecidable(eval: Eval, counted: Counted) -> None:
    """What could never be stopped early is said before anything is paid for."""
    if len(eval.variants) < 2:
        what = "there is one variant, and nothing to decide"
        raise EvalError(Fault(what, "add a second variant, or leave --until-decided out"))
    if counted.samples < LEAST_NEEDED:
        what = f"a run never stops below {LEAST_NEEDED} samples, and there are {counted.samples}"
        raise EvalError(Fault(what, "add samples, or leave --until-decided out", where=eval.samples.where))
    if counted.mixed:
        raise EvalError(Fault(counted.mixed, "leave --until-decided out", where=eval.samples.where))


def _why(course: Course, samples: SecondPass, memory: Memory) -> tuple[str, bool]:
    """Why a run is not finished, if it is not; and whether it is for want of money."""
    if samples.changed:
        return CHANGED, False
    if course.settled:
        return "", False
    if course.stopping and not course.complete:
        return BY_HAND, False
    return str(memory.spent or ""), memory.spent is not None


def _left(store: Store, row: Row, why: str, needs_budget: bool) -> Ran:
    """Sum up and let go."""
    state, ended = ("stopped" if why else "finished"), now()
    head = head_for(store, {**row, "state": state, "ended": ended})
    store.release(row["id"], state, ended, compact(head))
    return Ran(id=row["id"], state=state, head=head, why_stopped=why, needs_budget=needs_budget)


def _run_row(store: Store, setup: Setup, counted: Counted, options: Options) -> tuple[Row, bool]:
    """The run to go on with, or a new one; a changed eval is a new run that takes over what stayed the same."""
    eval, digest = setup.eval, setup.whole_digest(counted.digest)
    last = run_to_resume(store, eval.name, digest) if options.resume else None
    if last is not None and last["digest"] == digest and _ends_so(last, options):
        return last, True
    began = datetime.now(UTC)
    return {
        "id": run_id(began),
        "name": eval.name,
        "digest": digest,
        "state": "running",
        "started": began.isoformat(timespec="milliseconds"),
        "ended": None,
        "seed": eval.how.seed,
        "fingerprint": setup.fingerprint,
        "source": eval.source,
        "setup": compact({**setup.described(), **_circumstances(eval, counted, options), "samples": counted.samples}),
        "summary": None,
        "taken_from": last["id"] if last else None,
        "holder": this_process(),
        "keep": eval.keep,
    }, False


def _ends_so(row: Row, options: Options) -> bool:
    """Whether a run may be gone on with: one whose samples were not shuffled cannot be stopped early any more."""
    return not options.until_decided or json.loads(row["setup"]).get("until_decided") is not None


def _circumstances(eval: Eval, counted: Counted, options: Options) -> Json:
    """What else a run keeps; whatever it was begun with holds when it is resumed."""
    until = {"seed": eval.how.seed, "looks": planned_looks(counted.samples)} if options.until_decided else None
    circumstances = {"evenhand": __version__, "python": platform.python_version(), "fresh": options.fresh}
    return {**circumstances, "until_decided": until}


def _complete(row: Row) -> bool:
    """Whether another try could give nothing more."""
    return row["summary"] is not None and not json.loads(row["summary"])["unfinished"]


def _budget(eval: Eval, store: Store, line: Sequence[str]) -> Budget | None:
    """The budget, with what earlier sittings of the same run, the first of its line, have spent of it."""
    if eval.budget is None:
        return None
    paid, used = _paid_for_outputs(eval, store, line), 0
    for call in store.call_facts(line[0]):
        if call["cached_from"] is None:
            paid += Decimal(call["cost"] or 0)
            used += (call["input_tokens"] or 0) + (call["output_tokens"] or 0)
    return replace(eval.budget, paid=paid, used=used)


def _paid_for_outputs(eval: Eval, store: Store, line: Sequence[str]) -> Decimal:
    """What models were paid for the outputs of a run; those that it took over were paid for before."""
    asked = [name for name, variant in eval.variants.items() if isinstance(variant, ModelPrompt)]
    if not asked:
        return Decimal(0)
    prices = {
        row["key"]: json.loads(row["content"])["cost"] for row in store.made_in(line[0]) if row["variant"] in asked
    }
    taken = store.made(list(prices), line[1:])
    return sum((Decimal(cost or 0) for key, cost in prices.items() if key not in taken), Decimal(0))


def _connections(eval: Eval, budget: Budget | None) -> Connections:
    prices = Prices.load(eval.prices) if eval.prices else Prices.shipped()
    return Connections(os.environ, limits=eval.limits, budget=budget, prices=prices)


def now() -> str:
    """This moment in UTC, written so that it sorts."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
