"""Executing a run: as many samples at once as the judges take, streamed, until all is done, a rule is satisfied or
somebody stops it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any

from evenhand.evals.sample import EvalSample
from evenhand.evals.samples import RecheckedSamples
from evenhand.runs.run_record import RunWork
from evenhand.runs.setup import RunSetup
from evenhand.runs.worker import RunWorker, make_result_key
from evenhand.store.rows import Row, to_stored_json

SAMPLES_AHEAD = 2  # Pieces under way for each call that may be: while one is scored, the next is asked about.

FinishedResults = Mapping[tuple[int, str, int], str]  # Keys of results by position, variant and repeat.
# Samples with positions; a stage is done before the next begins.
SampleStages = Iterable[Iterable[tuple[int, EvalSample]]]
# Told a position, a repeat, the composites by variant and the cluster: why to stop, or "".
StopRuleFunction = Callable[[int, int, Mapping[str, float | None], str | None], str]
SAMPLES_IN_MEMORY = 10_000  # Samples that are kept in memory at once; of more the file is read again.


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
    worker: RunWorker, samples: RecheckedSamples, course: RunProgress, ending: StopOnceDecided | None
) -> None:
    """Work through every sample that is not finished, stage by stage, until all is done or `ending` gives a reason.

    `course.stop()` leaves early; nothing kept is lost.
    """
    setup, memory, book = worker.setup, worker.memory, worker.book
    finished = await drop_unneeded_replies(worker)  # What a sitting that was killed had no time to.
    pool = _TaskPool(asyncio.Semaphore(SAMPLES_AHEAD * setup.eval.limits.concurrency))
    stages: SampleStages = (enumerate(samples),) if ending is None else ending.plan_stages(samples)
    try:
        for stage in stages:
            for position, sample in stage:
                if course.stopping or memory.spent is not None:
                    break
                todo = []
                for repeat in range(setup.eval.repeats):
                    if finished and _is_sample_finished(setup, sample, position, repeat, finished):
                        course.skipped += 1
                        course.settled = course.settled or (ending.why_stop(position, repeat) if ending else "")
                    else:
                        todo.append(repeat)
                if todo:  # The sample is in the queue of the writer before its results are.
                    content = to_stored_json(sample.to_json())
                    book.writer.put(
                        "samples", {"run": book.run, "position": position, "id": sample.id, "content": content}
                    )
                for repeat in todo:
                    await pool.start(_score_and_count(worker, sample, position, repeat, course, ending))
            await pool.drain()
            if course.settled or course.stopping or memory.spent is not None:
                break
        await memory.turns.wait_until_idle()  # Calls that a cancelled piece left behind are paid for.
    finally:
        await pool.cancel()


async def drop_unneeded_replies(worker: RunWorker) -> FinishedResults:
    """Drop the replies that no result waits for, where they are not to be kept; return what is finished."""
    eval, finished = worker.setup.eval, worker.book.store.finished_keys(worker.book.run)

    def has_all_results(position: int, repeat: int) -> bool:
        """Whether no variant needs another try; an empty key says that one does."""
        return all(finished.get((position, name, repeat)) for name in eval.variants)

    if eval.keep != "raw" and finished:
        await worker.memory.drop_finished_replies(has_all_results, eval.keep)
    return finished


def _is_sample_finished(
    setup: RunSetup, sample: EvalSample, position: int, repeat: int, finished: FinishedResults
) -> bool:
    works = (RunWork(position, repeat, name) for name in setup.eval.variants)
    return all(finished.get((position, work.variant, repeat)) == make_result_key(setup, sample, work) for work in works)


async def _score_and_count(
    worker: RunWorker,
    sample: EvalSample,
    position: int,
    repeat: int,
    course: RunProgress,
    ending: StopOnceDecided | None,
) -> None:
    kept = await worker.score_sample(sample, position, repeat)
    course.failed += kept.count("unscored")
    if "abandoned" not in kept:
        course.done += 1
        course.settled = course.settled or (ending.why_stop(position, repeat) if ending else "")


@dataclass(slots=True)
class _TaskPool:
    """So many tasks at once as there are slots; the first error of one of them stops the rest."""

    slots: asyncio.Semaphore
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _error: BaseException | None = None

    async def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin a piece once there is room for it."""
        try:
            await self.slots.acquire()
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
        self.slots.release()
        if not task.cancelled() and task.exception() is not None and self._error is None:
            self._error = task.exception()


class StopOnceDecided:
    """Samples are asked about in a random order, from look to look, until the rule gives a reason to stop.

    No sample beyond a look is asked about before it: what comes after the end would be paid for and not counted.
    """

    def __init__(self, order: Sequence[int], looks: Sequence[int], rule: StopRuleFunction, kept: Iterable[Row]) -> None:
        """Begin with the results that earlier sittings have kept."""
        self._order = order
        self._looks = looks
        self._rule = rule
        self._scores: dict[tuple[int, int], dict[str, float | None]] = {}  # By position and repeat.
        self._clusters: dict[int, str | None] = {}
        self.until = f"stops once it is decided, after {looks[0]} of {looks[-1]:,} samples at the earliest"
        for row in kept:
            self.note_result(row)

    def plan_stages(self, samples: RecheckedSamples) -> SampleStages:
        """In the order of the run, up to each look."""
        placed = read_samples_in_run_order(samples, self._order)
        return (islice(placed, end - start) for start, end in pairwise((0, *self._looks)))

    def note_result(self, row: Row) -> None:
        """Remember what an output scored."""
        self._scores.setdefault((row["position"], row["repeat"]), {})[row["variant"]] = row["number"]
        self._clusters[row["position"]] = json.loads(row["content"])["cluster"]

    def why_stop(self, position: int, repeat: int) -> str:
        """What the rule says, now that all variants have their results for a sample and repeat."""
        return self._rule(position, repeat, self._scores.pop((position, repeat)), self._clusters[position])


def shuffle_run_order(samples: int, seed: int) -> list[int]:
    """The positions of so many samples, shuffled: by a hash, which is the same in every version on every machine."""
    return sorted(range(samples), key=lambda position: hashlib.sha256(f"{seed} {position}".encode()).digest())


def read_samples_in_run_order(
    samples: RecheckedSamples, order: Sequence[int], held: int = SAMPLES_IN_MEMORY
) -> Iterator[tuple[int, EvalSample]]:
    """The samples with their positions in the order given; none any more once they are not what they were."""
    for start in range(0, len(order), held):
        wanted = order[start : start + held]
        among = set(wanted)
        found = {position: sample for position, sample in enumerate(samples) if position in among}
        if samples.changed:
            return
        yield from ((position, found[position]) for position in wanted)
