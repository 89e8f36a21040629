"""evenhand contest run, dimensions and check: plays a contest, chooses its dimensions, advises an author."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.contest_records import (
    delete_contests_command,
    list_contests_command,
    report_contest_command,
    show_contest_command,
)
from evenhand.cli.options import (
    add_prompt_options,
    add_record_options,
    add_request_limit_options,
    build_judge_options,
    build_model_connections,
)
from evenhand.cli.output import escape_terminal_text, print_json, print_message, until_reader_leaves
from evenhand.errors import Fault, InputError
from evenhand.models.connections import Connections
from evenhand.models.model_names import choose_oracle_judge, is_oracle_judge_configured
from evenhand.wording import number_for_json

if TYPE_CHECKING:
    from evenhand.contest.task import Submission, Task
    from evenhand.model.rubric import Rubric
    from evenhand.workflows.contest import Contest, ContestResult


JUDGE_HELP = "A judge; several make a panel. Without it: those of the task."
UNTIL_HELP = "Play up to this moment, 'now' or a time: what lies behind it waits for --resume."
PASSED_STATUSES = ("gate_passed", "scored", "won")  # How a submission stands that has met every acceptance criterion.


@click.group("contest")
def contest_command() -> None:
    """Play contests: accept, advise, pick a winner, and show why."""


@contest_command.command("run")
@click.argument("task", metavar="TASK")
@click.argument("submissions", metavar="SUBMISSIONS")
@click.option("--model", "-m", "models", multiple=True, metavar="NAME", help=JUDGE_HELP)
@click.option("--challenges", metavar="FILE", help="Challenges of the ranking: a JSONL file of {by, at, reason}.")
@click.option("--until", metavar="now|TIME", help=UNTIL_HELP)
@click.option("--resume", is_flag=True, help="Go on with the last contest of this task; ask only what is new.")
@click.option("--json", "as_data", is_flag=True, help="Print the stable JSON.")
@add_record_options
@add_prompt_options()
@add_request_limit_options
def run_contest_command(**options: Any) -> int:
    """Play the contest of TASK with SUBMISSIONS, a folder or a JSONL file, in order of arrival.

    Everything is kept in .evenhand (or the database of EVENHAND_DATABASE_URL) as it comes.

    Exit code: 0 there is a winner; 1 closed without one, still open, or stopped; 2 bad input;
    3 a fault of Evenhand itself; 130 stopped by Ctrl-C.
    """
    from evenhand.contest.read_submissions import load_challenges, load_submissions
    from evenhand.workflows.contest import Contest

    task, source = _load_contest_task(options)
    contest = Contest(
        task=task,
        submissions=load_submissions(Path(options["submissions"])),
        challenges=load_challenges(Path(options["challenges"])) if options["challenges"] else (),
        until=_parse_until_option(options["until"]),
        source=source,
    )
    try:
        with redirect_stdout(sys.stderr):  # What a judge of your own prints must not get between our lines.
            played = asyncio.run(_play_contest(contest, options))
    except KeyboardInterrupt:
        print_message(f"\nto go on: {_build_resume_command(options)}", err=True)
        raise
    with until_reader_leaves():
        _print_contest_result(played, options["as_data"])
        _print_contest_next_steps(played, options, generated=task.dimensions is None)
    return played.exit_code


@contest_command.command("dimensions")
@click.argument("task", metavar="TASK")
@click.option("--model", "-m", metavar="NAME", help="Who chooses. Without it: the first judge of the task.")
@click.option("--json", "as_data", is_flag=True, help="Print them as JSON.")
@add_record_options
@add_prompt_options()
@add_request_limit_options
def contest_dimensions_command(**options: Any) -> int:
    """Have a judge choose the dimensions of TASK, and write them into it, to be read and edited before the start.

    Exit code: 0 written; 1 to be pasted by hand; 2 bad input, or a judge that gave none.
    """
    from evenhand.cli.contest_dimensions import lock_task_dimensions, print_dimensions_table

    task, _ = _load_contest_task(options)
    if task.dimensions is not None:
        ids = ", ".join(one.id for one in task.dimensions.criteria)
        hint = "remove them from the file to have others chosen"
        raise InputError(Fault(f"it has its dimensions: {ids}", hint, where=options["task"]))
    with redirect_stdout(sys.stderr):
        rubric = asyncio.run(_generate_task_dimensions(task, options))
    locked = lock_task_dimensions(Path(options["task"]), task, rubric)
    with until_reader_leaves():
        if options["as_data"]:
            print_json({"task": task.name, "dimensions": _dimensions_to_json(rubric), "written": locked.written})
        else:
            print_dimensions_table(rubric, locked, options["task"])
    return 0 if locked.written else 1


@contest_command.command("check")
@click.argument("task", metavar="TASK")
@click.argument("submission", metavar="SUBMISSION")
@click.option("--model", "-m", "models", multiple=True, metavar="NAME", help=JUDGE_HELP)
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
@add_record_options
@add_prompt_options()
@add_request_limit_options
def check_submission_command(**options: Any) -> int:
    """Check SUBMISSION, a text file, against the acceptance criteria of TASK, and say what would make it better.

    It is what its author would be told, were it handed in; nothing is kept.

    Exit code: 0 the gate is passed; 1 it is not; 2 bad input.
    """
    from evenhand.cli.contest_tables import mask_contest_data, print_submission_check
    from evenhand.contest.read_submissions import load_submission

    task, _ = _load_contest_task(options)
    submission = load_submission(Path(options["submission"]))
    with redirect_stdout(sys.stderr):
        checked = asyncio.run(_check_one_submission(task, submission, options))
    names = (submission.id, submission.author)
    told = mask_contest_data(checked, texts=[submission.text, task.description], names=names)
    with until_reader_leaves():
        print_json(told) if options["as_data"] else print_submission_check(task, told)
    _warn_late_submission(task, submission)
    return 0 if checked["status"] in PASSED_STATUSES else 1


for kept in (show_contest_command, report_contest_command, list_contests_command, delete_contests_command):
    contest_command.add_command(kept)


async def _play_contest(contest: Contest, options: Any) -> ContestResult:
    from evenhand.cli.open_store import open_or_create_store
    from evenhand.cli.progress import show_contest_progress
    from evenhand.workflows.contest import run_contest

    async with build_model_connections(options) as connections, show_contest_progress(sys.stderr) as tell_progress:
        judged = replace(contest, task=_assign_contest_judges(contest.task, options["models"], connections))
        with open_or_create_store() as store:
            return await run_contest(
                judged,
                connections=connections,
                store=store,
                how=build_judge_options(options),
                resume=options["resume"],
                tell=tell_progress,
            )


async def _generate_task_dimensions(task: Task, options: Any) -> Rubric:
    from evenhand.workflows.contest import generate_dimensions

    async with build_model_connections(options) as connections:
        judge = options["model"] or _assign_contest_judges(task, (), connections).judges[0]
        return await generate_dimensions(task, judge, connections=connections, how=build_judge_options(options))


async def _check_one_submission(task: Task, submission: Submission, options: Any) -> dict[str, Any]:
    from evenhand.workflows.contest import check_submission

    async with build_model_connections(options) as connections:
        judged = _assign_contest_judges(task, options["models"], connections)
        return await check_submission(judged, submission, connections=connections, how=build_judge_options(options))


def _parse_until_option(given: str | None) -> datetime | None:
    from evenhand.contest.task import parse_contest_moment

    if given is None or given == "now":
        return None if given is None else datetime.now(UTC)
    faults: list[Fault] = []
    moment = parse_contest_moment(given, "--until", faults)
    if moment is None:
        raise InputError(*(replace(one, path=(), hint=f"now, or a time {one.hint}".strip()) for one in faults))
    return moment


def _load_contest_task(options: dict[str, Any]) -> tuple[Task, str]:
    from evenhand.contest.read_task import load_task

    return load_task(Path(options["task"]), os.environ)


def _assign_contest_judges(task: Task, models: tuple[str, ...], connections: Connections) -> Task:
    """The task with its judges: those named, its own, those of the record, or the one set up for submissions."""
    recorded = tuple(name for name in connections.recorded() if name not in task.challenge_judges)
    names = models or task.judges or recorded
    if not names and is_oracle_judge_configured(os.environ):
        names = (choose_oracle_judge(os.environ),)
    if not names:
        hint = "name one: --model openai/NAME, judges in the task, or ORACLE_LLM_MODEL; evenhand models lists them"
        raise InputError(Fault("nobody is named to judge", hint))
    return replace(task, judges=names, weights={name: task.weights[name] for name in names if name in task.weights})


def _print_contest_result(played: ContestResult, as_data: bool) -> None:
    from evenhand.cli.contest_tables import mask_contest_record, print_contest

    print_json(mask_contest_record(played.record)) if as_data else print_contest(played.record)


def _print_contest_next_steps(played: ContestResult, options: dict[str, Any], *, generated: bool) -> None:
    if generated:
        ids = escape_terminal_text(", ".join(one["id"] for one in played.record["dimensions"]))
        how = "evenhand contest dimensions locks them in the task before the start"
        print_message(f"\ndimensions generated: {ids}; {how}", err=True)
    if played.why_stopped:
        why = (
            f"not finished: {escape_terminal_text(played.why_stopped)}\n" if options["as_data"] else ""
        )  # The view has said it.
        print_message(f"\n{why}to go on: {_build_resume_command(options)}", err=True)
    print_message(f"\nreport: evenhand contest report {played.id} --html -o report.html", err=True)


def _warn_late_submission(task: Task, submission: Submission) -> None:
    """Time is that of the files; who hands it in now goes by the clock."""
    if task.deadline is None or max(submission.at, datetime.now(UTC)) <= task.deadline:
        return
    what = "it" if submission.at > task.deadline else "handed in now, it"
    print_message(f"\nthe deadline, {task.deadline.isoformat()}, is over: {what} would be refused as late", err=True)


def _dimensions_to_json(rubric: Rubric) -> list[dict[str, Any]]:
    """As the record of a contest has them."""
    return [
        {"id": one.id, "asks": one.asks, "weight": number_for_json(one.weight), "fixed": one.fixed}
        for one in rubric.criteria
    ]


def _build_resume_command(options: dict[str, Any]) -> str:
    """The command that goes on with a contest: one that asks others, or otherwise, would not be let."""
    judges = [part for name in options["models"] for part in ("-m", name)]
    given = {name: options[name] for name in ("language", "seed", "temperature", "max_tokens", "challenges", "until")}
    defaults = {one.name: one.default for one in run_contest_command.params}
    changed = {name: value for name, value in given.items() if value is not None and value != defaults[name]}
    others = [part for name, value in changed.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    words = ("evenhand", "contest", "run", options["task"], options["submissions"], *judges, *others, "--resume")
    return escape_terminal_text(shlex.join(words))
