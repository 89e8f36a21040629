"""The functions that wait, for programs that do not: each runs to its end, also where a loop is running already."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from evenhand.judging.results import JudgedSample, Preferences
from evenhand.judging.single_judge import JudgeOptions
from evenhand.models.requests import EMBEDDED
from evenhand.workflows.judge import DEFAULT_JUDGE_OPTIONS, JudgesLike, RubricLike, SampleLike, judge, prefer
from evenhand.workflows.run import DEFAULT_OPTIONS, EvalLike, RunOptions, RunResult, run

Waited = TypeVar("Waited")


def run_sync(eval: EvalLike, *, options: RunOptions = DEFAULT_OPTIONS) -> RunResult:
    """Run an eval as `await run(…)` does: an Eval, its file, or a mapping with the fields of one."""
    return _run_user_coroutine_sync(run(eval, options=options))


def judge_sync(
    rubric: RubricLike,
    sample: SampleLike,
    *,
    judges: JudgesLike = EMBEDDED,
    how: JudgeOptions = DEFAULT_JUDGE_OPTIONS,
) -> JudgedSample:
    """Ask judges about the outputs of a sample as `await judge(…)` does."""
    return _run_user_coroutine_sync(judge(rubric, sample, judges=judges, how=how))


def prefer_sync(
    rubric: RubricLike, sample: SampleLike, *, judges: JudgesLike, how: JudgeOptions = DEFAULT_JUDGE_OPTIONS
) -> Preferences:
    """Ask judges which outputs they prefer as `await prefer(…)` does."""
    return _run_user_coroutine_sync(prefer(rubric, sample, judges=judges, how=how))


def _run_user_coroutine_sync(coroutine: Coroutine[Any, Any, Waited]) -> Waited:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    return _run_user_sync_in_thread(coroutine)


def _run_user_sync_in_thread(coroutine: Coroutine[Any, Any, Waited]) -> Waited:
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
        if task is not None:
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
