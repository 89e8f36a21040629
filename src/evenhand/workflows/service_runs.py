"""Runs that a service is asked for: kept before they are begun, carried out by any worker, and resumed after a crash.

The request stays in the store, without known keys, until its run is finished, or stopped where texts are not kept. A
worker that stops leaves it due, and so does one that dies: the run that it held goes stale, and the next look finds
both.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from evenhand.errors import EvenhandError, Fault, InputError, StoreError
from evenhand.evals.eval_definition import Eval, SampleCounts
from evenhand.evals.variants.makers import open_variant_output_makers
from evenhand.guards.personal_data import mask_data, mask_personal_data
from evenhand.models.budget import Spending
from evenhand.models.connections import Connections
from evenhand.models.hidden_keys import collect_api_keys_to_hide
from evenhand.models.prices import Prices
from evenhand.models.shared_limits import SharedLimits
from evenhand.runs.execute import RunProgress
from evenhand.runs.run_record import make_run_record_id
from evenhand.runs.setup import open_run_judges
from evenhand.store.row_types import parse_stored_object
from evenhand.store.rows import Row, to_stored_json
from evenhand.store.store import Store
from evenhand.workflows.run import RunOptions, RunResult, check_user_run, plan_user_run_setup, run
from evenhand.workflows.sent_inputs import confine_service_to_shipped_files, parse_eval_for_service
from evenhand.workflows.stores import StoreLike, open_user_store

LOG = logging.getLogger("evenhand.service")
Json = dict[str, Any]
PROGRESS_SECONDS = 0.5  # Between two notes on how far a run is.
STOP_PATIENCE = 30.0  # Seconds for calls under way, when a run is stopped.
STOP_WAIT = 5.0  # Seconds that whoever stops a run waits for its end.
STOP_LOOK = 0.1  # Seconds between two looks whether it has come.
NOT_RESUMABLE = "cannot be resumed: its texts were not kept"
OVER = ("finished", "stopped", "failed", "killed")  # States in which nothing happens by itself.


@dataclass(slots=True)
class RunWorkflowControl:
    """Stops a run that is carried out in another thread, so that it can go on later."""

    closing: bool = False
    spent: Spending = field(default_factory=Spending)  # By this worker.
    _stop: Callable[[], object] | None = None

    def close_run(self) -> None:
        """The worker ends: the run stops where it is, and stays due."""
        self.closing = True
        self.stop_run()

    def stop_run(self) -> None:
        """Start nothing more; what is under way has a little time to end."""
        if self._stop is not None:
            with suppress(RuntimeError):  # It has ended meanwhile.
                self._stop()

    def attach_run(self, course: RunProgress) -> None:
        """From now on there is something to stop."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        patience: asyncio.TimerHandle | None = None

        def stop() -> None:
            nonlocal patience
            course.stop_run()
            if task is not None and patience is None:
                patience = loop.call_later(STOP_PATIENCE, task.cancel)

        self._stop = partial(loop.call_soon_threadsafe, stop)
        if self.closing:
            stop()


async def create_service_run(store: Store, fields: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """Keep a run to be carried out soon; its id. What could not be run is refused now, and nothing is asked."""
    hidden = await asyncio.to_thread(collect_api_keys_to_hide(os.environ).remove_from_data, dict(fields))
    assert isinstance(hidden, dict)
    eval = await asyncio.to_thread(_check_service_run, hidden, options)  # Long evals hold nobody else up.
    now = store.now()
    id = make_run_record_id(now)
    content = to_stored_json({"eval": hidden, "options": dict(options)})
    made = now.isoformat(timespec="milliseconds")
    store.requests.add_run({"id": id, "name": eval.name, "made": made, "content": content})
    return id


def _check_service_run(fields: Json, options: Mapping[str, Any]) -> Eval:
    """The eval of a run that is asked for; an InputError with what could not be run."""
    with confine_service_to_shipped_files():
        eval, counted = check_user_run(parse_eval_for_service(fields), _read_run_options(options))
        asyncio.run(_plan_service_run(eval, counted))
    return eval


async def _plan_service_run(eval: Eval, counted: SampleCounts) -> None:
    """Open all that the run will ask, judges and models under test, within its budget, and ask nothing."""
    setup = await plan_user_run_setup(eval, counted)
    connections = Connections(os.environ, limits=eval.limits, budget=eval.budget, prices=Prices.shipped())
    async with connections, open_variant_output_makers(eval.variants, connections, os.environ, 1):
        if setup.judges:
            open_run_judges(eval, connections)


def list_due_runs(store: Store) -> list[str]:
    """The runs that are to be carried out and that no worker is at work on."""
    return [id for id in store.requests.list_due_runs() if not _is_begun_run_held(store, id)]


def carry_out_run(store: Store, id: str, control: RunWorkflowControl, limits: SharedLimits | None = None) -> None:
    """Carry out a run, or go on with it, until it is finished, stopped, or this worker is to end."""
    request = store.requests.find_run(id)
    if request is None or request["state"] not in ("due", "stopping"):
        return
    if request["state"] == "stopping":
        _leave_service_run(store, id, "stopped", "stopped before it began")
        return
    try:
        content = json.loads(request["content"])
        options = _read_run_options(content["options"], place=store.address, id=id)
        watch = partial(_watch_service_run, store, id, control)
        with confine_service_to_shipped_files():
            eval = parse_eval_for_service(content["eval"])
            result = asyncio.run(run(eval, options=options, watch=watch, shared=limits))
    except StoreError:
        raise  # Another worker has it, or the store cannot be written now: it stays due.
    except EvenhandError as error:
        _leave_service_run(store, id, "failed", str(error))
    except Exception as error:
        LOG.exception("run %s failed", id)
        _leave_service_run(store, id, "failed", f"a fault of Evenhand: {type(error).__name__}")
    else:
        _settle_service_run(store, result, control)


def stop_service_run(store: Store, id: str) -> Json:
    """Have a run stop: what was paid for is kept, and it can be resumed if its eval keeps texts."""
    view = view_service_run(store, id)
    if store.requests.change_run(view["id"], among=("due",), state="stopping"):
        return view_service_run(store, view["id"])
    if view["state"] in OVER or view["state"] == "stopping":
        return view
    raise StoreError(Fault(f"run {view['id']} was not started by a service", "stop it where it was started"))


async def wait_for_stopped_run(store: Store, id: str) -> Json:
    """A run that is stopped, once nobody works on it any more: all that was paid for is kept. As it is, if that takes
    long.
    """
    give_up = time.monotonic() + STOP_WAIT
    while True:
        view = await asyncio.to_thread(view_service_run, store, id)
        if view["state"] in OVER or time.monotonic() > give_up:
            return view
        await asyncio.sleep(STOP_LOOK)


def resume_service_run(store: Store, id: str) -> Json:
    """Have a run that was stopped, or could not be begun, go on."""
    view = view_service_run(store, id)
    if store.requests.change_run(view["id"], among=("stopped", "failed", "stopping"), state="due"):
        return view_service_run(store, view["id"])
    if view["state"] in ("queued", "running"):
        return view
    if view["state"] in ("stopped", "failed"):
        raise StoreError(Fault(f"run {view['id']} {NOT_RESUMABLE}", "start a new one; keep: raw keeps them"))
    raise StoreError(Fault(f"run {view['id']} is {view['state']}: nothing of it is left to do", "start a new one"))


def list_service_runs(store: StoreLike, *, before: str | None = None, most: int = 50) -> list[Json]:
    """Runs, those that have not begun too, the newest first."""
    with open_user_store(store) as opened:
        return [view_service_run(opened, id) for id in opened.requests.list_run_ids(before, most)]


def view_service_run(store: Store, id: str) -> Json:
    """A run as it stands: how far it is, what it cost, what failed, and what was decided."""
    request = store.requests.find_run(id)
    row = _find_begun_run(store, id) if request is not None else store.find_run(id)
    summary = json.loads(row["summary"]) if row is not None and row["summary"] else None
    over = summary is not None and row is not None and row["state"] != "running"
    failures: dict[str, int] = {}
    for one in summary["failures"] if over and summary else ():
        failures[one["kind"]] = failures.get(one["kind"], 0) + one["count"]
    return {
        "id": (request or row or {})["id"],
        "name": (request or row or {})["name"],
        "state": _name_run_state(store, request, row),
        "imported": row is not None and row["imported"] is not None,
        "started": row["started"] if row is not None else None,
        "ended": row["ended"] if row is not None else None,
        "why": request["why"] if request is not None else None,
        "progress": json.loads(request["progress"]) if request is not None and request["progress"] else None,
        "failures": failures if over else None,
        "cost": summary["cost"]["total"] if over and summary else None,
        "verdict": summary["decision"]["verdict"] if over and summary else None,
    }


def _name_run_state(store: Store, request: Row | None, row: Row | None) -> str:
    if row is not None and row["state"] == "finished":
        return "finished"
    if request is not None and request["state"] != "due":
        return str(request["state"])
    if row is not None and row["state"] == "running" and store.is_run_held(row):
        return "running"
    if request is not None:
        return "queued"
    return str(row["state"]) if row is not None and row["state"] != "running" else "killed"


def _read_run_options(given: Mapping[str, Any], **more: Any) -> RunOptions:
    lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
    return RunOptions(**{**given, **lists}, **more)


def _find_begun_run(store: Store, id: str) -> Row | None:
    try:
        return store.find_run(id)
    except StoreError:
        return None


def _is_begun_run_held(store: Store, id: str) -> bool:
    row = _find_begun_run(store, id)
    return row is not None and store.is_run_held(row)


def _settle_service_run(store: Store, result: RunResult, control: RunWorkflowControl) -> None:
    """What becomes of the request once its run was left."""
    if not result.why_stopped:
        store.requests.remove_run(result.id)
        store.overwrite_removed()
        return
    request = store.requests.find_run(result.id)
    if control.closing and request is not None and request["state"] == "due":
        return
    _leave_service_run(store, result.id, "stopped", result.why_stopped)


def _leave_service_run(store: Store, id: str, state: str, why: str) -> None:
    """Nobody works on a run any more; unless its eval keeps texts, what was sent goes, and it cannot be resumed."""
    request = store.requests.find_run(id)
    asked = None if request is None else (parse_stored_object(request["content"]) or {}).get("eval")
    drop = request is not None and (not isinstance(asked, dict) or asked.get("keep") not in (None, "raw"))
    told = f"{mask_data(why, mask_personal_data)}; {NOT_RESUMABLE}" if drop else why
    store.requests.change_run(id, among=("due", "stopping"), state=state, why=told, drop=drop)
    if drop:
        store.overwrite_removed()


@asynccontextmanager
async def _watch_service_run(
    store: Store, id: str, control: RunWorkflowControl, course: RunProgress, spent: Callable[[], Spending]
) -> AsyncIterator[None]:
    """Note how far the run is, and stop it when it is not wanted any more."""
    control.attach_run(course)
    request = await asyncio.to_thread(store.requests.find_run, id)
    earlier: Json = json.loads(request["progress"]) if request is not None and request["progress"] else {}

    async def note() -> None:
        control.spent = spent()
        progress = to_stored_json(_describe_service_run_progress(course, control.spent, earlier))
        if await asyncio.to_thread(store.requests.note_progress, id, progress) != "due" and not course.stopping:
            control.stop_run()

    async def keep_noting() -> None:
        while True:
            with suppress(StoreError):
                await note()
            await asyncio.sleep(PROGRESS_SECONDS)

    noting = asyncio.create_task(keep_noting())
    try:
        yield
    finally:
        noting.cancel()
        with suppress(asyncio.CancelledError):
            await noting
        with suppress(StoreError):
            await note()


def _describe_service_run_progress(course: RunProgress, spent: Spending, earlier: Json) -> Json:
    """How far a run is, and what it used; what it had used before it was resumed is in `earlier`."""
    counts = {name: getattr(course, name) for name in ("total", "failed", "made", "to_make")}
    costs = [earlier.get("cost", 0.0), None if spent.cost is None else float(spent.cost)]
    cost = None if None in costs else sum(costs)
    tokens = earlier.get("tokens", 0) + spent.input + spent.output
    return {"done": course.done + course.skipped, **counts, "cost": cost, "tokens": tokens}


def refuse_run_without_budget(fields: Mapping[str, Any]) -> None:
    """Where what a service may cost is bounded, each run says what it may cost."""
    if fields.get("budget") is None:
        raise InputError(Fault("this service has a budget, and a run names its own", "as in budget: 5", ("budget",)))
