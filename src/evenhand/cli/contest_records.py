"""evenhand contest show, report, list and delete: contests as the store has them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.output import (
    escape_json_controls,
    escape_terminal_text,
    open_output_file,
    print_json,
    print_message,
    until_reader_leaves,
)
from evenhand.errors import Fault, InputError

if TYPE_CHECKING:
    from evenhand.workflows.contests import ContestListing


ContestRecordJson = dict[str, Any]
LISTED_COLUMNS = ("contest", "task", "state", "winner", "started")
RIGHT_COLUMNS = LISTED_COLUMNS[-1:]
FORMAT_ENDINGS = {".html": "html", ".htm": "html", ".json": "json"}


@click.command("show")
@click.argument("contest", metavar="ID")
@click.option("--json", "as_data", is_flag=True, help="Print the stable JSON.")
def show_contest_command(contest: str, as_data: bool) -> None:
    """Show a contest as `evenhand contest run` did: its id, the beginning of one, "latest" or "latest:NAME"."""
    from evenhand.cli.contest_tables import mask_contest_record, print_contest
    from evenhand.workflows.contests import load_contest

    record = load_contest(None, contest)
    with until_reader_leaves():
        print_json(mask_contest_record(record)) if as_data else print_contest(record)


@click.command("report")
@click.argument("contest", metavar="ID")
@click.option("--html", "as_page", is_flag=True, help="One self-contained page.")
@click.option("--json", "as_data", is_flag=True, help="Everything, as data.")
@click.option("--output", "-o", metavar="FILE", help="Write it to this file.")
def report_contest_command(contest: str, as_page: bool, as_data: bool, output: str | None) -> None:
    """Report a contest: its id, the beginning of one, "latest" or "latest:NAME".

    Without a format it is shown here as `evenhand contest run` shows it.
    """
    from evenhand.cli.contest_tables import mask_contest_record, print_contest
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
        with until_reader_leaves():
            print_contest(record)
        return
    with open_output_file(output) as stream:
        if format == "html":
            from evenhand.report.contest.contest_page import write_contest_html

            write_contest_html(record, stream)
        else:
            masked = json.dumps(mask_contest_record(record), ensure_ascii=False, indent=2)
            stream.write(f"{escape_json_controls(masked)}\n")
    if output is not None:
        print_message(f"written: {escape_terminal_text(output)}", err=True)


@click.command("list")
@click.option("--name", metavar="NAME", help="Only the contests of this task.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def list_contests_command(name: str | None, as_data: bool) -> None:
    """List the contests in the store, the newest first."""
    from evenhand.workflows.contests import list_contests

    found = list_contests(None, name)
    with until_reader_leaves():
        print_json([asdict(one) for one in found]) if as_data else _print_contest_list(found, name)


@click.command("delete")
@click.argument("contests", metavar="ID...", nargs=-1, required=True)
def delete_contests_command(contests: tuple[str, ...]) -> None:
    """Remove contests with all that belongs to them."""
    from evenhand.workflows.contests import delete_contests

    for id in delete_contests(None, contests):
        print_message(f"contest {id} is gone")


def _print_contest_list(contests: Sequence[ContestListing], name: str | None) -> None:
    from evenhand.cli.screen import Screen, measure_least_table_width, narrow_table_rows, print_table_or_sentences
    from evenhand.workflows.contests import NO_CONTESTS

    screen = Screen()
    if not contests:
        screen.line(f"no contest of {name!r} is here" if name else NO_CONTESTS)
        return
    # To the minute: the seconds are in the id.
    table = [[one.id, one.task, one.state, one.winner or "–", one.started[:16].replace("T", " ")] for one in contests]
    narrow = narrow_table_rows(
        LISTED_COLUMNS, table, giving_way=("task", "winner"), right=RIGHT_COLUMNS, width=screen.width
    )
    fits = measure_least_table_width(LISTED_COLUMNS, narrow, RIGHT_COLUMNS) <= screen.width
    print_table_or_sentences(screen, LISTED_COLUMNS, narrow if fits else table, heads=1, right=RIGHT_COLUMNS)
