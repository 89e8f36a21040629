"""Executing a run: as many samples at once as the judges take, streamed, until all is done or somebody stops it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evenhand.evals.sample import EvalSample
from evenhand.runs.reply_cache import ReplyCache
from evenhand.runs.run_record import RunRecorder, RunWork
from evenhand.runs.setup import RunSetup
from evenhand.runs.worker import RunWorker, make_result_key
from evenhand.store.rows import Row, to_stored_json

SAMPLES_AHEAD = 2  # Pieces under way for each call that may be: while one is scored, the next is asked about.

FinishedResults = Mapping[tuple[int, str, int], str]  # Keys of results by position, variant and repeat.
SampleStages = Iterable[
    Iterable[tuple[int, EvalSample]]
]  # Samples with positions; a stage is done before the next begins.
StopCheck = Callable[[int, int], str]  # Told a position and a repeat whose results are kept: why to stop, or "".


def _ignore_stop() -> None:
    """Nobody has to be told."""


@dataclass(slots=True)
class RunProgress:
    """How far a run has come, in pieces: one sample, one repeat, all variants."""

    total: int
    outputs: int = 0  # Over all variants.
    judges: tuple[str, ...] = ()
    note: str = ""  # What should be known before anything is paid for.
    until: str = ""  # What ends it before all is done, where something may.
    done: int = 0
    skipped: int = 0  # That an earlier sitting had finished.
    failed: int = 0  # Results without a score.
    settled: str = ""  # Why nothing more needs to be asked.
    stopping: bool = False
    on_stop: Callable[[], None] = _ignore_stop

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do."""
        return self.done + self.skipped >= self.total

    def stop(self) -> None:
        """Start nothing more; what is under way may end."""
        self.stopping = True
        self.on_stop()


async def execute_run(
    setup: RunSetup,
    worker: RunWorker,
    memory: ReplyCache,
    book: RunRecorder,
    stages: SampleStages,
    course: RunProgress,
    stop_when: StopCheck,
) -> None:
    """Work through every sample that is not finished, stage by stage, until all is done or `stop_when` gives a reason.

    `course.stop()` leaves early; nothing kept is lost.
    """
    finished = await drop_unneeded_replies(setup, memory, book)  # What a sitting that was killed had no time to.
    pool = _TaskPool(SAMPLES_AHEAD * setup.eval.limits.concurrency)
    try:
        for samples in stages:
            for position, sample in samples:
                if course.stopping or memory.spent is not None:
                    break
                done = {
                    one
                    for one in range(setup.eval.repeats)
                    if _is_sample_finished(setup, sample, position, one, finished)
                }
                course.skipped += len(done)
                for repeat in done:
                    course.settled = course.settled or stop_when(position, repeat)
                if len(done) < setup.eval.repeats:
                    book.record_row(
                        "samples", _stored_sample_row(book, sample, position)
                    )  # In the queue before its results are.
                for repeat in range(setup.eval.repeats):
                    if repeat not in done:
                        await pool.start(_score_and_count(worker, sample, position, repeat, course, stop_when))
            await pool.drain()
            if course.settled or course.stopping or memory.spent is not None:
                break
        await memory.wait_for_calls()
    finally:
        await pool.cancel()


async def drop_unneeded_replies(setup: RunSetup, memory: ReplyCache, book: RunRecorder) -> FinishedResults:
    """Let go of the replies that no result waits for, where they are not to be kept; and say what is finished."""
    finished = book.store.finished_keys(book.run)
    if setup.eval.keep != "raw" and finished:
        await memory.drop_finished_replies(lambda *piece: _has_all_results(setup, piece, finished), setup.eval.keep)
    return finished


def _is_sample_finished(
    setup: RunSetup, sample: EvalSample, position: int, repeat: int, finished: FinishedResults
) -> bool:
    if not finished:
        return False
    works = (RunWork(position, repeat, name) for name in setup.eval.variants)
    return all(finished.get((position, work.variant, repeat)) == make_result_key(setup, sample, work) for work in works)


def _has_all_results(setup: RunSetup, piece: tuple[int, int], finished: FinishedResults) -> bool:
    """Whether no variant needs another try; an empty key says that one does."""
    position, repeat = piece
    return all(finished.get((position, name, repeat)) for name in setup.eval.variants)


def _stored_sample_row(book: RunRecorder, sample: EvalSample, position: int) -> Row:
    return {"run": book.run, "position": position, "id": sample.id, "content": to_stored_json(sample.to_json())}


async def _score_and_count(
    worker: RunWorker, sample: EvalSample, position: int, repeat: int, course: RunProgress, stop_when: StopCheck
) -> None:
    kept = await worker.score_sample(sample, position, repeat)
    course.failed += kept.count("unscored")
    if "abandoned" not in kept:
        course.done += 1
        course.settled = course.settled or stop_when(position, repeat)


class _TaskPool:
    """So many tasks at once; the first error of one of them stops the rest."""

    def __init__(self, most: int) -> None:
        self._slots = asyncio.Semaphore(most)
        self._tasks: set[asyncio.Task[None]] = set()
        self._error: BaseException | None = None

    async def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin a piece once there is room for it."""
        try:
            await self._slots.acquire()
        except BaseException:
            work.close()
            raise
        if self._error is not None:
            work.close()
            raise self._error
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finish_task)

    async def drain(self) -> None:
        """Wait for what is under way."""
        while self._tasks and self._error is None:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_EXCEPTION)
        if self._error is not None:
            raise self._error

    async def cancel(self) -> None:
        """End what is still under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _finish_task(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._slots.release()
        if not task.cancelled() and task.exception() is not None and self._error is None:
            self._error = task.exception()
