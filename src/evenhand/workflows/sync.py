"""The functions that wait, for programs that do not: each runs to its end, also where a loop is running already."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import ExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any, TypeVar

from evenhand.judging.results import JudgedSample, Preferences
from evenhand.judging.single_judge import JudgeOptions
from evenhand.models.requests import EMBEDDED
from evenhand.runs.execute import RunProgress
from evenhand.runs.stop_signals import STOPPING_SIGNALS, StopSignals, is_signal_left_to_default
from evenhand.workflows.judge import DEFAULT_JUDGE_OPTIONS, JudgesLike, RubricLike, SampleLike, judge, prefer
from evenhand.workflows.run import DEFAULT_OPTIONS, EvalLike, RunOptions, RunResult, run

Waited = TypeVar("Waited")
# Ctrl-C in a program stops it at once: nothing there says for what it would wait.
PROGRAM_PATIENCE = {**STOPPING_SIGNALS, signal.SIGINT: 0.0}


def run_sync(eval: EvalLike, *, options: RunOptions = DEFAULT_OPTIONS) -> RunResult:
    """Run an eval as `await run(…)` does: an Eval, its file, or a mapping with the fields of one.

    In the main thread, Ctrl-C, SIGTERM and SIGHUP stop the run, leave the store as `keep` says, and then have their
    usual effect; but for those that the program handles itself.
    """
    with ExitStack() as at_end, StopSignals(is_signal_left_to_default, PROGRAM_PATIENCE) as signals:
        at_end.callback(signals.repeat_heard)  # Once they are given back, whatever the run came to.
        watch = partial(_watch_for_stop_signals, signals)
        return wait_for_coroutine(run(eval, options=options, watch=watch), signals.stop_run)


@asynccontextmanager
async def _watch_for_stop_signals(signals: StopSignals, course: RunProgress, _spent: object) -> AsyncIterator[None]:
    with signals.stop_run_when_heard(course):
        yield


def judge_sync(
    rubric: RubricLike,
    sample: SampleLike,
    *,
    judges: JudgesLike = EMBEDDED,
    how: JudgeOptions = DEFAULT_JUDGE_OPTIONS,
) -> JudgedSample:
    """Ask judges about the outputs of a sample as `await judge(…)` does."""
    return wait_for_coroutine(judge(rubric, sample, judges=judges, how=how))


def prefer_sync(
    rubric: RubricLike, sample: SampleLike, *, judges: JudgesLike, how: JudgeOptions = DEFAULT_JUDGE_OPTIONS
) -> Preferences:
    """Ask judges which outputs they prefer as `await prefer(…)` does."""
    return wait_for_coroutine(prefer(rubric, sample, judges=judges, how=how))


def wait_for_coroutine(coroutine: Coroutine[Any, Any, Waited], stop: Callable[[], None] = lambda: None) -> Waited:
    """What a coroutine gives, also where a loop is running already; `stop` is called before it is cancelled there."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    return _run_user_sync_in_thread(coroutine, stop)


def _run_user_sync_in_thread(coroutine: Coroutine[Any, Any, Waited], stop: Callable[[], None]) -> Waited:
    """In a loop of its own, as a loop that is running, such as a notebook's, cannot run another; that one waits."""
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = Future()
    outcome: Future[Waited] = Future()

    async def begin() -> Waited:
        started.set_result((asyncio.get_running_loop(), asyncio.current_task()))
        return await coroutine

    def work() -> None:
        try:
            outcome.set_result(asyncio.run(begin()))
        except BaseException as problem:
            outcome.set_exception(problem)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        return outcome.result()
    except KeyboardInterrupt:  # Stop the work too: what it has paid for is stored.
        loop, task = started.result()
        stop()
        if task is not None:
            loop.call_soon_threadsafe(task.cancel)
        while not outcome.done():
            with suppress(KeyboardInterrupt):  # However often it is said: texts that are not kept are dropped then.
                wait([outcome])
        raise
