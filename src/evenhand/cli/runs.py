"""evenhand runs, baseline and report: stored runs listed, shown, watched, moved, rescored, pinned and reported."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import asdict
from io import StringIO
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.history import format_cli_composite_lines
from evenhand.cli.output import (
    FiniteNumberOption,
    escape_terminal_text,
    open_command_stdin,
    open_output_option,
    print_import_marks,
    print_json,
    print_message,
    print_until_reader_leaves,
    refuse_output_option_folder,
)
from evenhand.errors import Fault, InputError
from evenhand.report import find_report_writer
from evenhand.wording import format_figure, pluralize_count

if TYPE_CHECKING:
    from evenhand.cli.screen import Screen
    from evenhand.workflows.run_following import WatchedRunView
    from evenhand.workflows.runs import RunOrder, UserRunListing

LISTED_FIELDS = {"baseline": "name", "run": "run", "eval": "eval"}
PAGE_ENDINGS = {".html": "html", ".htm": "html", ".md": "markdown"}
FORMAT_ENDINGS = {**PAGE_ENDINGS, ".xml": "junit", ".json": "json", ".csv": "csv", ".parquet": "parquet"}


@click.group("runs")
def runs_command() -> None:
    """List, show, watch, export, import, rescore and delete runs."""


@runs_command.command("list")
@click.option("--name", metavar="NAME", help="Only the runs of this eval.")
@click.option(
    "--sort",
    type=click.Choice(["newest", "composite"]),
    default="newest",
    help="The newest first, or the highest composite of a run's best variant, by groups of runs that can be compared.",
)
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def list_runs_command(name: str | None, sort: RunOrder, as_data: bool) -> None:
    """List the runs in the store, the newest first."""
    from evenhand.workflows.runs import list_runs

    runs = list_runs(None, name, sort=sort)
    with print_until_reader_leaves():
        if as_data:
            print_json([asdict(one) for one in runs])
        elif sort == "composite" and len({one.comparable_group for one in runs}) > 1:
            _print_run_groups(runs)
        else:
            _print_run_list(runs, name)
        if runs and sort == "composite" and not as_data:
            print_message("\nsorted by the best variant of each run")


@runs_command.command("show")
@click.argument("run", metavar="RUN")
@click.option("--json", "as_data", is_flag=True, help="Print the head of the report as JSON.")
@click.option("--full", is_flag=True, help="Print everything: criteria, tags, gates, judges, the audit.")
@click.option("--setup", is_flag=True, help="Print what the run was told: rubrics, prompts, judges, variants.")
def show_run_command(run: str, as_data: bool, full: bool, setup: bool) -> None:
    """Show RUN as it was when it ended: its id, the beginning of one, "latest" or "latest:NAME"."""
    from evenhand.cli.run_tables import print_run
    from evenhand.workflows.runs import describe_run_under_way, load_run_head, load_run_setup

    found = load_run_setup(None, run) if setup else load_run_head(None, run)
    waits = "" if setup or as_data else describe_run_under_way(None, run)
    with print_until_reader_leaves():
        print_json(found) if setup or as_data else print_run(found, full=full)
        if waits:
            print_message(f"\n{waits}")


@runs_command.command("watch")
@click.argument("run", metavar="RUN")
@click.option(
    "--every", type=FiniteNumberOption(0.1), default=10.0, show_default=True, metavar="S", help="Seconds between looks."
)
def watch_run_command(run: str, every: float) -> int:
    """Wait until RUN is over, or until all that it has in batches is answered.

    Exit code: 0 it is finished; 1 it has to be resumed, and how is said; 2 bad input; 130 stopped by Ctrl-C.
    """
    from evenhand.cli.progress import CLEAR_LINE
    from evenhand.workflows.run_following import watch_run

    async def print_run_until_over() -> WatchedRunView:
        line, terminal = "", sys.stderr is not None and sys.stderr.isatty()
        async for seen in watch_run(None, run, every=every):
            before, line = line, _format_printed_watched_run(seen)
            if terminal:
                click.echo(CLEAR_LINE + line[: shutil.get_terminal_size().columns - 1], nl=False, err=True)
            elif line != before:
                print_message(line, err=True)
        if terminal:
            click.echo(CLEAR_LINE, nl=False, err=True)
        return seen

    last = asyncio.run(print_run_until_over())
    _print_origin(last.id)
    if last.state == "finished":
        print_message(f"run {last.id} is finished: evenhand runs show {last.id}")
        return 0
    here = "all that its batches could answer is there" if last.counts.batches else f"it was {last.state}"
    print_message(f"run {last.id} is not finished: {here}")
    print_message(
        f"to continue: evenhand run EVAL --resume, with the file of the eval {escape_terminal_text(last.name)!r}"
    )
    return 1


def _format_printed_watched_run(seen: WatchedRunView) -> str:
    total = "" if seen.total is None else f" of {seen.total:,}"
    parts = [f"run {seen.id}: {seen.state}", f"{seen.done:,}{total} samples done", seen.under_way]
    return " · ".join(filter(None, parts))


@runs_command.command("export")
@click.argument("run", metavar="RUN")
@click.option("--output", "-o", metavar="FILE", help="Write it to this file; without it to standard output.")
def export_run_command(run: str, output: str | None) -> None:
    """Write RUN with all that belongs to it as one file that `evenhand runs import` reads elsewhere."""
    from evenhand.workflows.runs import export_run

    if output is None and sys.stdout.isatty():
        raise InputError(Fault("an exported run is binary", "name a file: -o run.evenhand"))
    id = export_run(None, run, output, sys.stdout.buffer)
    if output is not None:
        print_message(f"run {id} written: {escape_terminal_text(output)}", err=True)
        _print_origin(id, err=True)


@runs_command.command("import")
@click.argument("file", metavar="FILE")
@click.option("--trust-replies", is_flag=True, help="Let other runs use its replies as if they had been asked here.")
@click.option("--baseline", metavar="NAME", help="Pin it under this name.")
def import_run_command(file: str, trust_replies: bool, baseline: str | None) -> None:
    """Take in a run that `evenhand runs export` wrote, as a guest: marked, and never the latest."""
    from evenhand.workflows.runs import import_run

    stdin, show = open_command_stdin(), _print_run_to_nobody
    id = import_run(None, file, stdin, trust_replies=trust_replies, baseline=baseline, show=show)
    print_message(f"run {id} is here now: evenhand report {id}")
    if baseline is not None:
        print_message(f"baseline {baseline} is run {id} now")


def _print_run_to_nobody(head: dict[str, Any]) -> None:
    """Whether `runs show --full` can be built."""
    from evenhand.cli.run_tables import print_run

    with redirect_stdout(StringIO()):
        print_run(head, full=True)


@runs_command.command("rescore")
@click.argument("run", metavar="RUN")
@click.option("--rubric", "-r", required=True, metavar="NAME|FILE", help="The rubric to score by.")
@click.option(
    "--tag",
    default="",
    metavar="TAG",
    help="Replace the rubric for this tag, or of this name where samples bring it; else the one for all.",
)
@click.option("--full", is_flag=True, help="Print everything: criteria, tags, gates, judges, the audit.")
@click.option("--json", "as_data", is_flag=True, help="Print the head of the report as JSON.")
def rescore_run_command(run: str, rubric: str, tag: str, full: bool, as_data: bool) -> int:
    """Score the stored judgments of RUN by another rubric, as a new run; no judge is asked."""
    from evenhand.cli.run_tables import print_run
    from evenhand.workflows.rescore import rescore_run

    head = rescore_run(None, run, rubric, tag)
    with print_until_reader_leaves():
        print_json(head) if as_data else print_run(head, full=full)
    return int(head["decision"]["exit_code"])


@runs_command.command("delete")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option("--baseline", is_flag=True, help="Also a run that is a baseline; its name goes with it.")
def delete_runs_command(runs: tuple[str, ...], baseline: bool) -> None:
    """Remove runs with all that belongs to them."""
    from evenhand.workflows.runs import delete_runs

    for id in delete_runs(None, runs, pinned=baseline):
        print_message(f"run {id} is gone")


@runs_command.command("gc")
@click.option("--days", type=click.IntRange(0, 36_500), default=30, help="How long an unfinished run is left alone.")
def collect_unfinished_command(days: int) -> None:
    """Remove runs that were never finished and have not moved for so many days, and give back their room."""
    from evenhand.workflows.runs import collect_unfinished_runs

    collected = collect_unfinished_runs(None, days)
    runs = pluralize_count(len(collected.runs), "unfinished run")
    freed = "" if collected.freed is None else f", {collected.freed:,} bytes given back"  # Only a file can tell.
    print_message(f"{runs} removed{freed}")


def _print_run_list(runs: Sequence[UserRunListing], name: str | None) -> None:
    from evenhand.cli.screen import Screen

    screen = Screen()
    if not runs:
        screen.line(f"no run of {name!r} is here" if name else "no runs yet: evenhand run eval.yaml starts one")
        return
    _print_run_table(screen, runs)
    ways: dict[str, set[str]] = {}
    for one in runs:
        ways.setdefault(one.name, set()).update([one.computed] if one.computed else [])
    # An eval whose runs were all computed in one way stands for them.
    computed = {one.id if len(ways[one.name]) > 1 else one.name: one.computed for one in runs if one.computed}
    for line in format_cli_composite_lines(computed):
        screen.line(line, dim=True)


def _print_run_groups(runs: Sequence[UserRunListing]) -> None:
    """Runs that can be compared, each group below what its runs have in common."""
    from evenhand.cli.screen import Screen

    screen = Screen()
    for number, (_, own) in enumerate(groupby(runs, key=lambda one: one.comparable_group)):
        group = list(own)
        composite = f"composite: {group[0].computed or 'none'}"
        screen.line(f"{group[0].name} · fingerprint {group[0].fingerprint[:8]} · {composite}", dim=True, gap=number > 0)
        _print_run_table(screen, group, named=False)
    screen.line("only the composites of one group can be compared", dim=True, gap=True)


def _print_run_table(screen: Screen, runs: Sequence[UserRunListing], *, named: bool = True) -> None:
    from evenhand.cli.screen import print_unbroken_table
    from evenhand.report.phrases import format_reported_origin

    states = [one.state for one in runs]
    columns = {
        "run": [one.id for one in runs],
        "eval": [one.name for one in runs] if named else [],
        "state": [] if set(states) == {"finished"} else states,
        "batches": [f"{one.batches:,}" if one.batches else "" for one in runs],  # That are under way.
        "origin": [format_reported_origin(one.imported) for one in runs],
        "samples": [_format_listed_samples_for_terminal(one) for one in runs],
        "composite": [
            ", ".join(f"{name} {format_figure(one.composites[name])}" for name in one.variants) for one in runs
        ],
        "verdict": [one.verdict or "" for one in runs],
    }
    print_unbroken_table(screen, columns, right=("samples", "batches"))


def _format_listed_samples_for_terminal(one: UserRunListing) -> str:
    if one.samples is None:
        return ""
    return f"{one.samples:,} (part)" if one.selection else f"{one.samples:,}"


@click.group("baseline")
def baseline_command() -> None:
    """Pin runs under names: `evenhand compare --baseline NAME RUN` holds a run against one."""


@baseline_command.command("set")
@click.argument("run", metavar="RUN")
@click.option("--name", default="main", show_default=True, metavar="NAME", help="The name of the baseline.")
def set_baseline_command(run: str, name: str) -> None:
    """Pin RUN, a finished one, under a name; what had the name before stays, and is told."""
    from evenhand.workflows.baseline import set_baseline

    now, before = set_baseline(None, name, run)
    changed = "already" if before == now else f"now; it was {before}" if before else "now"
    print_message(f"baseline {name} is run {now} {changed}")
    for one in dict.fromkeys([now, before or now]):
        _print_origin(one)


def _print_origin(run: str, *, err: bool = False) -> None:
    """Say of a run that was imported that it was."""
    from evenhand.report.phrases import IMPORTED_RUN
    from evenhand.workflows.runs import is_run_imported

    if is_run_imported(None, run):
        print_message(f"run {run} {IMPORTED_RUN}", err=err)


@baseline_command.command("list")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def list_baselines_command(as_data: bool) -> None:
    """List the baselines with their runs."""
    from evenhand.cli.screen import Screen
    from evenhand.report.phrases import format_reported_origin
    from evenhand.workflows.baseline import list_baselines

    found = list_baselines(None)
    with print_until_reader_leaves():
        if as_data:
            print_json([asdict(one) for one in found])
        elif found:
            columns = {name: [getattr(one, field) for one in found] for name, field in LISTED_FIELDS.items()}
            columns |= {"set": [one.at[:16].replace("T", " ") for one in found]}
            columns |= {"origin": [format_reported_origin(one.imported) for one in found]}
            Screen().table({name: cells for name, cells in columns.items() if any(cells)})
        else:
            print_message("no baseline yet: evenhand baseline set RUN --name main")


@baseline_command.command("remove")
@click.argument("name", metavar="NAME")
def remove_baseline_command(name: str) -> None:
    """Take the name away; the run stays."""
    from evenhand.workflows.baseline import remove_baseline

    run = remove_baseline(None, name)
    print_message(f"baseline {name} is gone; run {run} stays")
    _print_origin(run)


@click.command("report")
@click.argument("run", metavar="RUN")
@click.option("--html", "format", flag_value="html", help="One self-contained page.")
@click.option("--markdown", "format", flag_value="markdown", help="For a pull request.")
@click.option("--junit", "format", flag_value="junit", help="JUnit XML, for CI.")
@click.option("--json", "format", flag_value="json", help="Everything, as data.")
@click.option("--csv", "format", flag_value="csv", help="One row for each result.")
@click.option("--parquet", "format", flag_value="parquet", help="One row for each result; needs the extra 'parquet'.")
@click.option("--full", is_flag=True, help="Without a format: print everything, not only what matters most.")
@click.option("--output", "-o", metavar="FILE", help="Write it to this file.")
def report_command(run: str, format: str | None, full: bool, output: str | None) -> int:
    """Report RUN: its id, the beginning of one, "latest" or "latest:NAME".

    Without a format it is shown here as `evenhand run` shows it.
    """
    from evenhand.workflows.report import open_report

    if format is None and output is not None:
        format = FORMAT_ENDINGS.get(Path(output).suffix.lower())
        if format is None:
            names = ", ".join(f"--{name}" for name in dict.fromkeys(FORMAT_ENDINGS.values()))
            raise InputError(Fault(f"which format is {output!r}?", f"name one: {names}"))
    if format == "html" and output is None and sys.stdout.isatty():
        raise InputError(Fault("a page is not for a terminal", "name a file: -o report.html"))
    with open_report(None, run) as (head, samples):
        if format is None:
            from evenhand.cli.run_tables import print_run

            with print_until_reader_leaves():
                print_run(head, full=full)
            return 0
        if format == "parquet":
            if output is None:
                raise InputError(Fault("Parquet is binary", "name a file: -o run.parquet"))
            refuse_output_option_folder(Path(output))
            find_report_writer("parquet")(head, samples, Path(output))
        else:
            with open_output_option(output) as stream:
                find_report_writer(format)(head, samples, stream)
    if output is not None:
        print_message(f"written: {escape_terminal_text(output)}", err=True)
        print_import_marks([head["run"]["id"]] if head["run"].get("imported") else [])
    return 0
