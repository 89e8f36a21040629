"""evenhand contest run, dimensions and check: plays a contest, chooses its dimensions, advises an author."""

from __future__ import annotations

import asyncio
import json
import shlex
import signal
import sys
from contextlib import redirect_stdout, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.contest_live import LIVE_COMMANDS
from evenhand.cli.options import (
    add_prompt_options,
    add_record_options,
    add_request_limit_options,
    read_connection_command_options,
    read_judge_command_options,
)
from evenhand.cli.output import (
    discard_command_stdout,
    escape_printed_json,
    escape_terminal_text,
    open_output_option,
    print_json,
    print_message,
    print_until_reader_leaves,
    print_whole_output,
)
from evenhand.cli.screen import Screen
from evenhand.errors import Fault, InputError
from evenhand.runs.stop_signals import STOPPING_SIGNALS
from evenhand.wording import format_fraction, pluralize_count

if TYPE_CHECKING:
    from evenhand.model.rubric import Rubric
    from evenhand.workflows.contest import ContestNextStep
    from evenhand.workflows.contest_files import LockedDimensions, PlayedContest


JUDGE_HELP = "A judge; several make a panel. Without it: those of the task, else ORACLE_LLM_MODEL or ANTHROPIC_API_KEY."
GAP_HELP = "How far the clock may be from the last sign of the contest; a larger jump is refused."
LAYOUT_HELP = "Whether each folder or each file in SUBMISSIONS is an author's; kept once something was received."
UNTIL_HELP = "Play up to this moment, 'now' or a time; what comes later waits for --resume."


@click.group("contest")
def contest_command() -> None:
    """Play contests: accept, advise, pick a winner, and show why."""


for _command in LIVE_COMMANDS:
    contest_command.add_command(_command)


@contest_command.command("run")
@click.argument("task", metavar="TASK")
@click.argument("submissions", metavar="SUBMISSIONS")
@click.option("--model", "-m", "models", multiple=True, metavar="NAME", help=JUDGE_HELP)
@click.option("--index", metavar="FILE", help="Who handed in which file, and when; SUBMISSIONS.index.jsonl if there.")
@click.option("--layout", type=click.Choice(["folders", "files"]), help=LAYOUT_HELP)
@click.option("--challenges", metavar="FILE", help="Challenges of the ranking: a JSONL file of {by, at, reason}.")
@click.option("--until", metavar="now|TIME", help=UNTIL_HELP)
@click.option("--longest-gap", default="7 days", show_default=True, metavar="TIME", help=GAP_HELP)
@click.option("--resume", is_flag=True, help="Continue the last rehearsal; a contest always continues.")
@click.option("--again", metavar="NAME", help="Another contest of this task, by this name, with a payment of its own.")
@click.option("--json", "as_data", is_flag=True, help="Print the stable JSON.")
@add_record_options
@add_prompt_options()
@add_request_limit_options
def run_contest_command(**options: Any) -> int:
    """Play the contest of TASK with SUBMISSIONS, a folder or a JSONL file, in order of arrival.

    Everything is kept in .evenhand (or the database of EVENHAND_DATABASE_URL) as it comes.

    A task, known by its name, has one contest: it is begun, or gone on with.

    Exit code: 0 this call released the payment; 1 nothing is to be paid now: no winner, still open, stopped, or a
    rehearsal; 2 bad input; 3 a fault of Evenhand itself; 4 the payment was released before; 130 stopped by Ctrl-C.
    """
    from evenhand.cli.progress import show_contest_progress
    from evenhand.workflows.contest_files import ContestFiles, play_contest_files

    if not options["submissions"]:
        raise InputError(Fault("SUBMISSIONS is empty", "name a folder or a JSONL file; . is this folder"))
    files = ContestFiles(
        task=Path(options["task"]),
        submissions=Path(options["submissions"]),
        challenges=Path(options["challenges"]) if options["challenges"] else None,
        judges=options["models"],
        until=options["until"],
        index=Path(options["index"]) if options["index"] else None,
        layout=options["layout"],
        again=options["again"],
        longest_gap=options["longest_gap"],
    )
    how, connect = read_judge_command_options(options), read_connection_command_options(options)
    out, printed = sys.stdout, list[str]()

    def print_record(record: dict[str, Any]) -> None:
        with redirect_stdout(out):
            _print_played_contest(record, as_data=options["as_data"])
        printed.append(record["id"])

    def announce(record: dict[str, Any]) -> None:
        print_record(record)
        # The payment is released next: from here on this call ends with exit code 0, or says why it does not.
        for number in STOPPING_SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    try:
        with redirect_stdout(sys.stderr):  # What a judge of your own prints must not get between our lines.
            watch = partial(show_contest_progress, sys.stderr)
            playing = play_contest_files(
                files, how=how, connect=connect, resume=options["resume"], watch=watch, announce=announce
            )
            played = asyncio.run(playing)
    except KeyboardInterrupt:
        print_message(f"\nto continue: {_build_resume_command(options)}", err=True)
        raise
    if not printed:
        print_record(played.result.record)
    with suppress(OSError):  # The result has been told; a log that is full changes neither it nor the exit code.
        _print_contest_next_steps(played, options)
    return played.result.exit_code


def _print_played_contest(record: dict[str, Any], *, as_data: bool) -> None:
    """Print a contest, all of it; a payment is released only once that is done."""
    from evenhand.cli.contest_tables import mask_contest_to_print, print_contest

    newly = record["payment"] is not None and record["payment"]["newly_released"]
    try:
        with print_whole_output() if newly else print_until_reader_leaves():
            print_json(mask_contest_to_print(record)) if as_data else print_contest(record)
    except OSError as problem:
        discard_command_stdout()
        hint = "nothing was released: the next call that can be read does it" if newly else ""
        why = (problem.strerror or str(problem)).lower()
        raise InputError(Fault(f"the output cannot be written: {why}", hint)) from None


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
    from evenhand.contest.record import encode_contest_dimensions
    from evenhand.workflows.contest_files import choose_task_dimensions

    how, connect = read_judge_command_options(options), read_connection_command_options(options)
    with redirect_stdout(sys.stderr):
        chosen = asyncio.run(choose_task_dimensions(options["task"], options["model"], how=how, connect=connect))
    with print_until_reader_leaves():
        if options["as_data"]:
            dimensions = encode_contest_dimensions(chosen.rubric)
            print_json({"task": chosen.task.name, "dimensions": dimensions, "written": chosen.locked.written})
        else:
            print_dimensions_table(chosen.rubric, chosen.locked, options["task"])
    return 0 if chosen.locked.written else 1


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
    from evenhand.cli.contest_tables import mask_printed_data, print_submission_check
    from evenhand.workflows.contest_files import check_submission_file

    paths, judges = (Path(options["task"]), Path(options["submission"])), options["models"]
    how, connect = read_judge_command_options(options), read_connection_command_options(options)
    with redirect_stdout(sys.stderr):
        checked = asyncio.run(check_submission_file(*paths, judges, how=how, connect=connect))
    task, submission = checked.task, checked.submission
    names = (submission.id, submission.author)
    masked = mask_printed_data(checked.feedback, texts=[submission.text, task.description], names=names)
    with print_until_reader_leaves():
        print_json(masked) if options["as_data"] else print_submission_check(task, masked)
    for note in filter(None, (checked.late, task.challenge_note)):
        print_message(f"\n{note}", err=True)
    return 0 if checked.passed else 1


FORMAT_ENDINGS = {".html": "html", ".htm": "html", ".json": "json"}


@contest_command.command("verify")
@click.argument("contest", metavar="ID")
@click.option("--head", metavar="HASH", help="A hash that was noted elsewhere: the log must still have it.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def verify_contest_command(contest: str, head: str | None, as_data: bool) -> None:
    """Verify the log of a contest: every event and reply is what was written, and the winner follows from them.

    Exit code: 0 it is; 2 it was changed, or there is no such contest.
    """
    from evenhand.workflows.contests import verify_contest

    found = verify_contest(None, contest, head)
    with print_until_reader_leaves():
        if as_data:
            print_json(asdict(found))
            return
        screen = Screen()
        unchanged = f"the {found.events} events are unchanged since they were written; replayed, they give:"
        screen.line(f"contest {found.id}: {unchanged}", fg="green")
        screen.line(f"{pluralize_count(found.replayed, 'answer')} read again from the replies behind them", indent=2)
        if found.not_replayed:
            numbers = ", ".join(map(str, found.not_replayed))
            screen.line(f"not read again, as another version asked: event {numbers}", indent=2, fg="yellow")
        screen.line(f"state {found.state}, winner {found.winner or '–'}, payment {found.payment or '–'}", indent=2)
        screen.line(f"head {found.head}", indent=2)


@contest_command.command("report")
@click.argument("contest", metavar="ID")
@click.option("--html", "as_page", is_flag=True, help="One self-contained page.")
@click.option("--json", "as_data", is_flag=True, help="Everything, as data.")
@click.option("--output", "-o", metavar="FILE", help="Write it to this file.")
def report_contest_command(contest: str, as_page: bool, as_data: bool, output: str | None) -> None:
    """Report a contest: its id, the beginning of one, "latest" or "latest:NAME".

    Without a format it is shown here as `evenhand contest run` shows it.
    """
    from evenhand.cli.contest_tables import mask_contest_to_print, print_contest
    from evenhand.workflows.contests import load_contest

    if as_page and as_data:
        raise InputError(Fault("a report has one format", "leave out --html or --json"))
    format = "html" if as_page else "json" if as_data else None
    if format is None and output is not None:
        format = FORMAT_ENDINGS.get(Path(output).suffix.lower())
        if format is None:
            raise InputError(Fault(f"which format is {output!r}?", "name one: --html, --json"))
    if format == "html" and output is None and sys.stdout.isatty():
        raise InputError(Fault("a page is not for a terminal", "name a file: -o report.html"))
    record = load_contest(None, contest)
    if format is None:
        with print_until_reader_leaves():
            print_contest(record)
        return
    with open_output_option(output) as stream:
        if format == "html":
            from evenhand.report.contest.contest_page import write_contest_report_page

            write_contest_report_page(record, stream)
        else:
            masked = json.dumps(mask_contest_to_print(record), ensure_ascii=False, indent=2)
            stream.write(f"{escape_printed_json(masked)}\n")
    if output is not None:
        print_message(f"written: {escape_terminal_text(output)}", err=True)


@contest_command.command("delete")
@click.argument("contests", metavar="ID...", nargs=-1, required=True)
def delete_contests_command(contests: tuple[str, ...]) -> None:
    """Remove contests with all that belongs to them."""
    from evenhand.workflows.contests import delete_contests

    for id in delete_contests(None, contests):
        print_message(f"contest {id} is gone")


def print_dimensions_table(rubric: Rubric, locked: LockedDimensions, file: str) -> None:
    """Print them as a table, and as text to paste where they could not be written."""
    screen = Screen()
    columns = {
        "dimension": [one.id for one in rubric.criteria],
        "weight": [format_fraction(one.weight) for one in rubric.criteria],
        "kind": ["fixed" if one.fixed else "of this task" for one in rubric.criteria],
        "asks": [one.asks for one in rubric.criteria],
    }
    screen.table(columns, right=("weight",))
    screen.line()
    if locked.written:
        screen.line(f"written: {file}; edit them there before the contest starts (weights sum to 1)")
        return
    screen.line(f"not written: {file} is not in YAML's block style; paste this into it:")
    screen.line()
    click.echo(escape_terminal_text(locked.to_paste), nl=False)


def _print_contest_next_steps(contest: PlayedContest, options: dict[str, Any]) -> None:
    played = contest.result
    if contest.dimensions_generated:
        ids = escape_terminal_text(", ".join(f"{one['id']} {one['weight']:g}" for one in played.record["dimensions"]))
        how = "evenhand contest dimensions locks them in the task before the start"
        print_message(f"\ndimensions generated: {ids}; {how}", err=True)
    task = played.record["events"][0]["task"]
    if played.record["state"] != "closed" and task["challenge_period"] and not task["challenge_judges"]:
        doubt = "a challenge would be refused: the task names no challenge_judges; a new contest could name some"
        print_message(f"\n{doubt}", err=True)
    if played.why_stopped:
        said = escape_terminal_text(played.why_stopped)
        why = f"not finished: {said}\n" if options["as_data"] else ""  # The view has said it.
        print_message(f"\n{why}{_advise_contest_next_command(played.next_step, options)}", err=True)
    print_message(f"\nreport: evenhand contest report {played.id} --html -o report.html", err=True)


def _advise_contest_next_command(step: ContestNextStep, options: dict[str, Any]) -> str:
    """What brings an unfinished contest further; the same command again would end where this one did."""
    if step == "begin with other judges":
        others = {**options, "models": ["NAME"], "again": "NAME"}
        return f"to begin a new one: {_build_resume_command(others, resume=False)}"
    if step == "resume later" and options["until"] != "now":
        past = datetime.fromisoformat(options["until"]) < datetime.now(UTC)
        return f"to continue: {_build_resume_command({**options, 'until': 'now' if past else 'LATER'})}"
    return f"to continue: {_build_resume_command(options)}"


REPEATED_OPTIONS = ("language", "seed", "temperature", "max_tokens", "index", "layout", "challenges", "until", "again",
    "record", "replay",
)  # fmt: skip


def _build_resume_command(options: dict[str, Any], *, resume: bool = True) -> str:
    """The command that goes on with a contest: one that asks others, or otherwise, would not be let."""
    judges = [part for name in options["models"] for part in ("-m", name)]
    given = {name: options[name] for name in REPEATED_OPTIONS}
    defaults = {one.name: one.default for one in run_contest_command.params}
    changed = {name: value for name, value in given.items() if value is not None and value != defaults[name]}
    others = [part for name, value in changed.items() for part in (f"--{name.replace('_', '-')}", str(value))]
    words = ["evenhand", "contest", "run", options["task"], options["submissions"], *judges, *others]
    return escape_terminal_text(shlex.join(words + ["--resume"] * resume))
