"""evenhand contest: a task and submissions to a winner, advice before the deadline, and what is kept of it."""

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

from evenhand.cli._asking_options import connections_of, how_of, how_options, limit_options, record_options
from evenhand.cli._contest_kept import delete, list_contests, report, show
from evenhand.cli._text import clean, tell, tell_json, while_read
from evenhand.errors import Fault, InputError
from evenhand.judging.models import Connections, default_name, set_up_for_oracle
from evenhand.model import number_for_json

if TYPE_CHECKING:
    from evenhand.contest import Submission, Task
    from evenhand.contesting import Contest, Played
    from evenhand.model import Rubric

JUDGE_HELP = "A judge; several make a panel. Without it: those of the task."
UNTIL_HELP = "Play up to this moment, 'now' or a time: what lies behind it waits for --resume."
PASSED = ("gate_passed", "scored", "won")  # How a submission stands that has met every acceptance criterion.


@click.group("contest")
def command() -> None:
    """Play contests: accept, advise, pick a winner, and show why."""


@command.command("run")
@click.argument("task", metavar="TASK")
@click.argument("submissions", metavar="SUBMISSIONS")
@click.option("--model", "-m", "models", multiple=True, metavar="NAME", help=JUDGE_HELP)
@click.option("--challenges", metavar="FILE", help="Challenges of the ranking: a JSONL file of {by, at, reason}.")
@click.option("--until", metavar="now|TIME", help=UNTIL_HELP)
@click.option("--resume", is_flag=True, help="Go on with the last contest of this task; ask only what is new.")
@click.option("--json", "as_data", is_flag=True, help="Print the stable JSON.")
@record_options
@how_options()
@limit_options
def run(**options: Any) -> int:
    """Play the contest of TASK with SUBMISSIONS, a folder or a JSONL file, in order of arrival.

    Everything is kept in .evenhand (or the database of EVENHAND_DATABASE_URL) as it comes.

    Exit code: 0 there is a winner; 1 closed without one, still open, or stopped; 2 bad input;
    3 a fault of Evenhand itself; 130 stopped by Ctrl-C.
    """
    from evenhand.contest import load_challenges, load_submissions  # noqa: PLC0415
    from evenhand.contesting import Contest  # noqa: PLC0415

    task, source = _task(options)
    contest = Contest(
        task=task,
        submissions=load_submissions(Path(options["submissions"])),
        challenges=load_challenges(Path(options["challenges"])) if options["challenges"] else (),
        until=_until(options["until"]),
        source=source,
    )
    try:
        with redirect_stdout(sys.stderr):  # What a judge of your own prints must not get between our lines.
            played = asyncio.run(_play(contest, options))
    except KeyboardInterrupt:
        tell(f"\nto go on: {_again(options)}", err=True)
        raise
    with while_read():
        _show(played, options["as_data"])
        _say_next(played, options, generated=task.dimensions is None)
    return played.exit_code


@command.command("dimensions")
@click.argument("task", metavar="TASK")
@click.option("--model", "-m", metavar="NAME", help="Who chooses. Without it: the first judge of the task.")
@click.option("--json", "as_data", is_flag=True, help="Print them as JSON.")
@record_options
@how_options()
@limit_options
def dimensions(**options: Any) -> int:
    """Have a judge choose the dimensions of TASK, and write them into it, to be read and edited before the start.

    Exit code: 0 written; 1 to be pasted by hand; 2 bad input, or a judge that gave none.
    """
    from evenhand.cli._contest_dimensions import lock  # noqa: PLC0415
    from evenhand.cli._contest_dimensions_view import show_dimensions  # noqa: PLC0415

    task, _ = _task(options)
    if task.dimensions is not None:
        ids = ", ".join(one.id for one in task.dimensions.criteria)
        hint = "remove them from the file to have others chosen"
        raise InputError(Fault(f"it has its dimensions: {ids}", hint, where=options["task"]))
    with redirect_stdout(sys.stderr):
        rubric = asyncio.run(_generate(task, options))
    locked = lock(Path(options["task"]), task, rubric)
    with while_read():
        if options["as_data"]:
            tell_json({"task": task.name, "dimensions": _dimensions(rubric), "written": locked.written})
        else:
            show_dimensions(rubric, locked, options["task"])
    return 0 if locked.written else 1


@command.command("check")
@click.argument("task", metavar="TASK")
@click.argument("submission", metavar="SUBMISSION")
@click.option("--model", "-m", "models", multiple=True, metavar="NAME", help=JUDGE_HELP)
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
@record_options
@how_options()
@limit_options
def check(**options: Any) -> int:
    """Check SUBMISSION, a text file, against the acceptance criteria of TASK, and say what would make it better.

    It is what its author would be told, were it handed in; nothing is kept.

    Exit code: 0 the gate is passed; 1 it is not; 2 bad input.
    """
    from evenhand.cli._contest_check_view import show_check  # noqa: PLC0415
    from evenhand.cli._contest_shown import shown  # noqa: PLC0415
    from evenhand.contest import load_submission  # noqa: PLC0415

    task, _ = _task(options)
    submission = load_submission(Path(options["submission"]))
    with redirect_stdout(sys.stderr):
        checked = asyncio.run(_check(task, submission, options))
    names = (submission.id, submission.author)
    told = shown(checked, texts=[submission.text, task.description], names=names)
    with while_read():
        tell_json(told) if options["as_data"] else show_check(task, told)
    _say_late(task, submission)
    return 0 if checked["status"] in PASSED else 1


for kept in (show, report, list_contests, delete):
    command.add_command(kept)


async def _play(contest: Contest, options: Any) -> Played:
    from evenhand.cli._contest_progress import told  # noqa: PLC0415
    from evenhand.cli._stored import new_store  # noqa: PLC0415
    from evenhand.contesting import run_contest  # noqa: PLC0415

    async with connections_of(options) as connections, told(sys.stderr) as tell_progress:
        judged = replace(contest, task=_judged(contest.task, options["models"], connections))
        with new_store() as store:
            return await run_contest(
                judged,
                connections=connections,
                store=store,
                how=how_of(options),
                resume=options["resume"],
                tell=tell_progress,
            )


async def _generate(task: Task, options: Any) -> Rubric:
    from evenhand.contesting import generate_dimensions  # noqa: PLC0415

    async with connections_of(options) as connections:
        judge = options["model"] or _judged(task, (), connections).judges[0]
        return await generate_dimensions(task, judge, connections=connections, how=how_of(options))


async def _check(task: Task, submission: Submission, options: Any) -> dict[str, Any]:
    from evenhand.contesting import check_submission  # noqa: PLC0415

    async with connections_of(options) as connections:
        judged = _judged(task, options["models"], connections)
        return await check_submission(judged, submission, connections=connections, how=how_of(options))


def _until(given: str | None) -> datetime | None:
    from evenhand.contest._times import moment_in  # noqa: PLC0415

    if given is None or given == "now":
        return None if given is None else datetime.now(UTC)
    faults: list[Fault] = []
    moment = moment_in(given, "--until", faults)
    if moment is None:
        raise InputError(*(replace(one, path=(), hint=f"now, or a time {one.hint}".strip()) for one in faults))
    return moment


def _task(options: dict[str, Any]) -> tuple[Task, str]:
    from evenhand.contest import load_task  # noqa: PLC0415

    return load_task(Path(options["task"]), os.environ)


def _judged(task: Task, models: tuple[str, ...], connections: Connections) -> Task:
    """The task with its judges: those named, its own, those of the record, or the one set up for submissions."""
    recorded = tuple(name for name in connections.recorded() if name not in task.challenge_judges)
    names = models or task.judges or recorded
    if not names and set_up_for_oracle(os.environ):
        names = (default_name(os.environ),)
    if not names:
        hint = "name one: --model openai/NAME, judges in the task, or ORACLE_LLM_MODEL; evenhand models lists them"
        raise InputError(Fault("nobody is named to judge", hint))
    return replace(task, judges=names, weights={name: task.weights[name] for name in names if name in task.weights})


def _show(played: Played, as_data: bool) -> None:
    from evenhand.cli._contest_shown import shown_contest  # noqa: PLC0415
    from evenhand.cli._contest_view import show_contest  # noqa: PLC0415

    tell_json(shown_contest(played.record)) if as_data else show_contest(played.record)


def _say_next(played: Played, options: dict[str, Any], *, generated: bool) -> None:
    if generated:
        ids = clean(", ".join(one["id"] for one in played.record["dimensions"]))
        how = "evenhand contest dimensions locks them in the task before the start"
        tell(f"\ndimensions generated: {ids}; {how}", err=True)
    if played.why_stopped:
        why = f"not finished: {clean(played.why_stopped)}\n" if options["as_data"] else ""  # The view has said it.
        tell(f"\n{why}to go on: {_again(options)}", err=True)
    tell(f"\nreport: evenhand contest report {played.id} --html -o report.html", err=True)


def _say_late(task: Task, submission: Submission) -> None:
    """Time is that of the files; who hands it in now goes by the clock."""
    if task.deadline is None or max(submission.at, datetime.now(UTC)) <= task.deadline:
        return
    what = "it" if submission.at > task.deadline else "handed in now, it"
    tell(f"\nthe deadline, {task.deadline.isoformat()}, is over: {what} would be refused as late", err=True)


def _dimensions(rubric: Rubric) -> list[dict[str, Any]]:
    """As the record of a contest has them."""
    return [
        {"id": one.id, "asks": one.asks, "weight": number_for_json(one.weight), "fixed": one.fixed}
        for one in rubric.criteria
    ]


def _again(options: dict[str, Any]) -> str:
    """The command that goes on with a contest: one that asks others, or otherwise, would not be let."""
    judges = [part for name in options["models"] for part in ("-m", name)]
    given = {name: options[name] for name in ("language", "seed", "temperature", "max_tokens", "challenges", "until")}
    defaults = {one.name: one.default for one in run.params}
    changed = {name: value for name, value in given.items() if value is not None and value != defaults[name]}
    others = [part for name, value in changed.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    words = ("evenhand", "contest", "run", options["task"], options["submissions"], *judges, *others, "--resume")
    return clean(shlex.join(words))
