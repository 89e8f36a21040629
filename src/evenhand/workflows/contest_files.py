"""Contests from files: a task and submissions read, judges chosen, the contest played; or one submission checked."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evenhand.contest.play import ContestProgress
from evenhand.contest.read_submissions import load_challenges, load_submission, load_submissions
from evenhand.contest.read_task import load_task
from evenhand.contest.task import Submission, Task, parse_contest_moment
from evenhand.errors import Fault, InputError
from evenhand.judging.single_judge import JudgeOptions
from evenhand.model.rubric import Rubric
from evenhand.models.connections import Connections
from evenhand.models.model_names import choose_oracle_model_name, is_oracle_model_configured
from evenhand.workflows.connections import ConnectionOptions, open_connections
from evenhand.workflows.contest import Contest, ContestResult, check_submission, generate_dimensions, run_contest
from evenhand.workflows.contest_dimensions import LockedDimensions, save_dimensions_to_user_file
from evenhand.workflows.stores import StoreLike, open_user_store

Json = dict[str, Any]
ContestWatcher = Callable[[], AbstractAsyncContextManager[Callable[[ContestProgress], None]]]
PASSED_STATUSES = ("gate_passed", "scored", "won")  # How a submission stands that has met every acceptance criterion.


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestFiles:
    """Where a contest is read from, who judges it, and up to which moment it is played."""

    task: Path
    submissions: Path
    challenges: Path | None = None
    judges: tuple[str, ...] = ()
    until: str | None = None  # A time, or "now".


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedContest:
    """A contest as it is left, and whether its dimensions had to be generated."""

    result: ContestResult
    dimensions_generated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenDimensions:
    """The dimensions that a judge chose for a task, and whether they stand in its file now."""

    task: Task
    rubric: Rubric
    locked: LockedDimensions


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSubmission:
    """What the author of a submission would be told, and whether it would come too late."""

    task: Task
    submission: Submission
    feedback: Json
    late: str  # Empty where there is time.

    @property
    def passed(self) -> bool:
        """Whether it meets every acceptance criterion."""
        return self.feedback["status"] in PASSED_STATUSES


@asynccontextmanager
async def ignore_contest_progress() -> AsyncIterator[Callable[[ContestProgress], None]]:
    """Nobody looks on."""
    yield lambda _: None


async def play_contest_files(
    files: ContestFiles,
    *,
    how: JudgeOptions,
    connect: ConnectionOptions,
    resume: bool = False,
    store: StoreLike = None,
    watch: ContestWatcher = ignore_contest_progress,
) -> PlayedContest:
    """Play the contest of a task with submissions, begun anew or resumed. Everything is kept in the store."""
    task, source = load_task(files.task, os.environ)
    contest = Contest(
        task=task,
        submissions=load_submissions(files.submissions),
        challenges=load_challenges(files.challenges) if files.challenges else (),
        until=_parse_requested_until(files.until),
        source=source,
    )
    async with open_connections(connect) as connections, watch() as tell:
        judged = replace(contest, task=_load_requested_judges(task, files.judges, connections))
        with open_user_store(store, create=True) as opened:
            result = await run_contest(judged, connections=connections, store=opened, how=how, resume=resume, tell=tell)
    return PlayedContest(result=result, dimensions_generated=task.dimensions is None)


async def choose_task_dimensions(
    file: str, judge: str | None, *, how: JudgeOptions, connect: ConnectionOptions
) -> ChosenDimensions:
    """Have a judge choose the dimensions of a task, and write them into its file."""
    task, _ = load_task(Path(file), os.environ)
    if task.dimensions is not None:
        ids = ", ".join(one.id for one in task.dimensions.criteria)
        hint = "remove them from the file to have others chosen"
        raise InputError(Fault(f"it has its dimensions: {ids}", hint, where=file))
    async with open_connections(connect) as connections:
        chosen = judge or _load_requested_judges(task, (), connections).judges[0]
        rubric = await generate_dimensions(task, chosen, connections=connections, how=how)
    return ChosenDimensions(task=task, rubric=rubric, locked=save_dimensions_to_user_file(Path(file), task, rubric))


async def check_submission_file(
    task_file: Path, file: Path, judges: tuple[str, ...], *, how: JudgeOptions, connect: ConnectionOptions
) -> CheckedSubmission:
    """What the author of a submission would be told, were it handed in now; nothing is kept."""
    task, _ = load_task(task_file, os.environ)
    submission = load_submission(file)
    async with open_connections(connect) as connections:
        judged = _load_requested_judges(task, judges, connections)
        feedback = await check_submission(judged, submission, connections=connections, how=how)
    late = ""
    # Time is that of the files; who hands it in now goes by the clock.
    if task.deadline is not None and max(submission.at, datetime.now(UTC)) > task.deadline:
        what = "it" if submission.at > task.deadline else "handed in now, it"
        late = f"the deadline, {task.deadline.isoformat()}, is over: {what} would be refused as late"
    return CheckedSubmission(task=task, submission=submission, feedback=feedback, late=late)


def _parse_requested_until(given: str | None) -> datetime | None:
    if given is None or given == "now":
        return None if given is None else datetime.now(UTC)
    faults: list[Fault] = []
    moment = parse_contest_moment(given, "--until", faults)
    if moment is None:
        raise InputError(*(replace(one, path=(), hint=f"now, or a time {one.hint}".strip()) for one in faults))
    return moment


def _load_requested_judges(task: Task, named: tuple[str, ...], connections: Connections) -> Task:
    """The task with its judges: those named, its own, those of the record, or the one set up for submissions."""
    recorded = tuple(name for name in connections.recorded() if name not in task.challenge_judges)
    names = named or task.judges or recorded
    if not names and is_oracle_model_configured(os.environ):
        names = (choose_oracle_model_name(os.environ),)
    if not names:
        hint = "name one: --model openai/NAME, judges in the task, or ORACLE_LLM_MODEL; evenhand models lists them"
        raise InputError(Fault("nobody is named to judge", hint))
    return replace(task, judges=names, weights={name: task.weights[name] for name in names if name in task.weights})
