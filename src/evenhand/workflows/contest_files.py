"""Contests from files: task and submissions read, judges chosen, the contest played; one submission checked; and the
dimensions of a task locked by writing them into its file.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from evenhand.contest.events import contest_task_json
from evenhand.contest.intake import SubmissionIntake, SubmissionReceipt, load_submission_intake
from evenhand.contest.play import ContestProgress
from evenhand.contest.read_submissions import load_submission, read_ranking_challenges
from evenhand.contest.read_task import load_task
from evenhand.contest.task import Submission, Task, parse_contest_duration, parse_contest_moment
from evenhand.errors import ContestError, Fault, InputError, make_unwritable_file_error
from evenhand.judging.single_judge import JudgeOptions
from evenhand.model.rubric import Rubric
from evenhand.models.connections import Connections
from evenhand.models.model_names import is_oracle_model_configured, parse_oracle_model_name
from evenhand.store.store import Store
from evenhand.workflows.contest import Contest, ContestResult, check_submission, generate_dimensions, run_contest
from evenhand.workflows.contests import build_user_contest_key
from evenhand.workflows.live_contest import create_live_contest
from evenhand.workflows.models import ConnectionOptions, open_user_connections
from evenhand.workflows.sent_inputs import build_task_for_service
from evenhand.workflows.stores import StoreLike, is_user_store_there, open_user_store
from evenhand.workflows.webhooks import ContestHooks, WebhookTargets, refuse_unsigned_webhooks

Json = dict[str, Any]
ContestWatcher = Callable[[], AbstractAsyncContextManager[Callable[[ContestProgress], None]]]
DEFAULT_CONNECTION = ConnectionOptions()
PASSED_STATUSES = ("gate_passed", "scored", "won")  # How a submission stands that has met every acceptance criterion.


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestFiles:
    """Where a contest is read from, who judges it, and up to which moment it is played."""

    task: Path
    submissions: Path
    challenges: Path | None = None
    judges: tuple[str, ...] = ()
    until: str | None = None  # A time, or "now".
    index: Path | None = None  # Who handed in which file of the folder, and when.
    layout: str | None = None  # Without an index: whether a folder or a file is an author's.
    longest_gap: str = "7 days"  # That the clock may be away from the last sign of the contest.
    again: str | None = None  # The name of a deliberate repetition.


@dataclass(frozen=True, slots=True, kw_only=True)
class NewContestFile:
    """A contest to begin from a task file: whom to tell of it, and the name of a deliberate repetition."""

    task: Path
    payment_hook: str | None = None
    operator_hook: str | None = None
    allow_private_hooks: bool = False
    again: str | None = None


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
class CheckedUserSubmission:
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
async def ignore_user_contest_progress() -> AsyncIterator[Callable[[ContestProgress], None]]:
    """Nobody looks on."""
    yield lambda _: None


async def play_contest_files(
    files: ContestFiles,
    *,
    how: JudgeOptions,
    connect: ConnectionOptions,
    resume: bool = False,
    store: StoreLike = None,
    watch: ContestWatcher = ignore_user_contest_progress,
    announce: Callable[[Json], None] = lambda _: None,
) -> PlayedContest:
    """Play the contest of a task with submissions, begun anew or resumed. Everything is kept in the store.

    `announce` is given the record of a contest whose payment is released next; if it raises, nothing is released.
    """
    task, source = load_task(files.task, os.environ)
    until, faults = None, list[Fault]()
    if files.until is not None:
        until = datetime.now(UTC) if files.until == "now" else parse_contest_moment(files.until, "--until", faults)
    longest_gap = parse_clock_gap_setting(files.longest_gap)
    if faults:
        raise InputError(*(replace(one, path=(), hint=f"now, or a time {one.hint}".strip()) for one in faults))
    # Before a store is made: what cannot be read at all is told first. One that is there may know what was received.
    where, index, layout = files.submissions, files.index, files.layout
    load_submission_intake(where, index=index, layout=layout, may_be_empty=is_user_store_there(store))
    challenges = read_ranking_challenges(files.challenges) if files.challenges else ()
    terms = Contest(task=task, submissions=(), challenges=challenges, until=until, source=source)
    contest = replace(terms, again=files.again, longest_gap=longest_gap)
    async with open_user_connections(connect) as connections, watch() as tell:
        judged = replace(contest, task=_load_requested_judges(task, files.judges, connections))
        with open_user_store(store, create=True) as opened:
            judged = _receive_submissions_from_user(judged, files, opened)
            result = await run_contest(
                judged, connections=connections, store=opened, how=how, resume=resume, tell=tell, announce=announce
            )
    return PlayedContest(result=result, dimensions_generated=task.dimensions is None)


async def create_contest_from_file(
    new: NewContestFile, *, connect: ConnectionOptions = DEFAULT_CONNECTION, store: StoreLike = None
) -> str:
    """Begin a contest that takes submissions at any time; its id. Whoever serves the store plays it."""
    task, source = load_task(new.task, os.environ)
    targets = WebhookTargets(allow_private=new.allow_private_hooks)
    hooks = ContestHooks(payment=targets.check(new.payment_hook), operator=targets.check(new.operator_hook))
    refuse_unsigned_webhooks(hooks.payment, hooks.operator)  # Before a store is made.
    async with open_user_connections(connect) as connections:
        judged = _load_requested_judges(task, (), connections)
        with open_user_store(store, create=True) as opened:
            return await create_live_contest(
                opened, judged, connections=connections, hooks=hooks, source=source, again=new.again
            )


def load_user_task_to_send(file: Path) -> Json:
    """The fields of a task file as a service takes them; faults are told with its lines, before anything is sent."""
    return build_task_for_service(load_task(file, {})[0])


def parse_clock_gap_setting(text: str) -> timedelta:
    """How far the clock may be from the last sign of a contest, as an option says it."""
    gap = parse_contest_duration(text, "--longest-gap", faults := list[Fault]())
    if gap is None:
        raise InputError(*(replace(one, path=()) for one in faults))
    return gap


def _receive_submissions_from_user(contest: Contest, files: ContestFiles, store: Store) -> Contest:
    """The contest with what has come, and receipts of what is seen for the first time."""
    key = build_user_contest_key(contest.task, contest.again)
    known = {
        row["file"]: SubmissionReceipt(file=row["file"], digest=row["digest"], at=datetime.fromisoformat(row["at"]))
        for row in store.contests.list_receipts(key)
    }
    begun = store.contests.find_contest_by_key(key) is not None
    intake: SubmissionIntake = load_submission_intake(
        files.submissions,
        index=files.index,
        known=known,
        now=datetime.now(UTC),
        layout=files.layout,
        may_be_empty=begun,
    )
    return replace(contest, submissions=intake.submissions, set_aside=intake.set_aside, receipts=intake.receipts)


async def choose_task_dimensions(
    file: str, judge: str | None, *, how: JudgeOptions, connect: ConnectionOptions
) -> ChosenDimensions:
    """Have a judge choose the dimensions of a task, and write them into its file."""
    task, _ = load_task(Path(file), os.environ)
    if task.dimensions is not None:
        ids = ", ".join(one.id for one in task.dimensions.criteria)
        hint = "remove them from the file to have others chosen"
        raise InputError(Fault(f"it has its dimensions: {ids}", hint, where=file))
    async with open_user_connections(connect) as connections:
        chosen = judge or _load_requested_judges(task, (), connections).judges[0]
        rubric = await generate_dimensions(task, chosen, connections=connections, how=how)
    return ChosenDimensions(task=task, rubric=rubric, locked=save_dimensions_to_user_file(Path(file), task, rubric))


async def check_submission_file(
    task_file: Path, file: Path, judges: tuple[str, ...], *, how: JudgeOptions, connect: ConnectionOptions
) -> CheckedUserSubmission:
    """What the author of a submission would be told, were it handed in now; nothing is kept."""
    task, _ = load_task(task_file, os.environ)
    submission = load_submission(file)
    async with open_user_connections(connect) as connections:
        judged = _load_requested_judges(task, judges, connections)
        feedback = await check_submission(judged, submission, connections=connections, how=how)
    late = ""
    # Time is that of the files; who hands it in now goes by the clock.
    if task.deadline is not None and max(submission.at, datetime.now(UTC)) > task.deadline:
        what = "it" if submission.at > task.deadline else "handed in now, it"
        late = f"the deadline, {task.deadline.isoformat()}, is over: {what} would be refused as late"
    return CheckedUserSubmission(task=task, submission=submission, feedback=feedback, late=late)


def _load_requested_judges(task: Task, named: tuple[str, ...], connections: Connections) -> Task:
    """The task with its judges: those named, its own, those of the record, or the one set up for submissions."""
    recorded = tuple(name for name in connections.recorded() if name not in task.challenge_judges)
    names = named or task.judges or recorded
    if not names and is_oracle_model_configured(os.environ):
        names = (parse_oracle_model_name(os.environ),)
    if not names:
        hint = "name one: --model openai/NAME, judges in the task, or ORACLE_LLM_MODEL; or set ANTHROPIC_API_KEY for "
        hint += "its default; evenhand models lists them"
        raise InputError(Fault("no judge is named", hint))
    return replace(task, judges=names, weights={name: task.weights[name] for name in names if name in task.weights})


# An id that no reader of YAML takes for anything but text.
_PLAIN_YAML_ID = re.compile(r"(?!true$|false$|null$)[a-z]{4,}(?:-[a-z]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedDimensions:
    """The dimensions to paste, and whether they stand in the file already."""

    to_paste: str
    written: bool


def save_dimensions_to_user_file(path: Path, task: Task, rubric: Rubric) -> LockedDimensions:
    """Append the dimensions to a task file, if it then reads as the same task with these dimensions."""
    # The same in flow style, which is at home in JSON and in every YAML.
    entries = []
    for one in rubric.criteria:
        fixed = ', "fixed": true' if one.fixed else ""
        weight = _format_weight_for_user_file(one.weight)
        entries.append(f'  {{"id": {json.dumps(one.id)}, "asks": {json.dumps(one.asks)}, "weight": {weight}{fixed}}}')
    to_paste = '"dimensions": [\n' + ",\n".join(entries) + "\n  ]\n"
    # Who puts them into the task stands for their words.
    own = tuple(replace(one, shown_as="") for one in rubric.criteria)
    wanted = replace(task, dimensions=replace(rubric, criteria=own))
    real = path.resolve()  # A link stays a link.
    content = real.read_bytes()
    part = real.with_name(f".{real.stem}.part{real.suffix}")
    try:
        block = dimensions_to_user_yaml(rubric) if content.endswith(b"\n") else f"\n{dimensions_to_user_yaml(rubric)}"
        block = block.replace("\n", "\r\n") if b"\r\n" in content else block  # With the line ends of the file.
        part.write_bytes(content + block.encode())
        # JSON, flow style, an end mark or a block of text at the end may make it mean something else.
        found, _ = load_task(part, os.environ)
        if contest_task_json(replace(found, name=task.name)) != contest_task_json(wanted):
            return LockedDimensions(to_paste=to_paste, written=False)
        shutil.copymode(real, part)
        part.replace(real)
    except ContestError:
        return LockedDimensions(to_paste=to_paste, written=False)
    except OSError as problem:
        raise make_unwritable_file_error(str(path), problem) from None
    finally:
        part.unlink(missing_ok=True)
    return LockedDimensions(to_paste=to_paste, written=True)


def dimensions_to_user_yaml(rubric: Rubric) -> str:
    """The dimensions as a task file has them."""
    lines = ["dimensions:"]
    for one in rubric.criteria:
        id = one.id if _PLAIN_YAML_ID.fullmatch(one.id) else _quote_text_for_user_file(one.id)
        lines += [
            f"  - id: {id}",
            f"    asks: {_quote_text_for_user_file(one.asks)}",
            f"    weight: {_format_weight_for_user_file(one.weight)}",
        ]
        lines += ["    fixed: true"] if one.fixed else []
    return "\n".join(lines) + "\n"


def _quote_text_for_user_file(text: str) -> str:
    """JSON's strings are YAML's, once what nobody sees is an escape: YAML has no pairs of surrogates."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in quoted)


def _format_weight_for_user_file(weight: Fraction) -> str:
    decimal = Decimal(weight.numerator) / Decimal(weight.denominator)
    return str(decimal) if Fraction(decimal) == weight else str(weight)
