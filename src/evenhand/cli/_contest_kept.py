"""evenhand contest show, report, list and delete: contests as the store has them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli._text import clean, clean_json, tell, tell_json, while_read
from evenhand.errors import Fault, InputError

if TYPE_CHECKING:
    from evenhand.runs.store import Store

Json = dict[str, Any]
LISTED = ("contest", "task", "state", "winner", "started")
LAST = LISTED[-1:]
ENDINGS = {".html": "html", ".htm": "html", ".json": "json"}


@click.command("show")
@click.argument("contest", metavar="ID")
@click.option("--json", "as_data", is_flag=True, help="Print the stable JSON.")
def show(contest: str, as_data: bool) -> None:
    """Show a contest as `evenhand contest run` did: its id, the beginning of one, "latest" or "latest:NAME"."""
    from evenhand.cli._contest_view import show_contest  # noqa: PLC0415

    record = _record(contest)
    with while_read():
        tell_json(_shown(record)) if as_data else show_contest(record)


@click.command("report")
@click.argument("contest", metavar="ID")
@click.option("--html", "as_page", is_flag=True, help="One self-contained page.")
@click.option("--json", "as_data", is_flag=True, help="Everything, as data.")
@click.option("--output", "-o", metavar="FILE", help="Write it to this file.")
def report(contest: str, as_page: bool, as_data: bool, output: str | None) -> None:
    """Report a contest: its id, the beginning of one, "latest" or "latest:NAME".

    Without a format it is shown here as `evenhand contest run` shows it.
    """
    from evenhand.cli._contest_view import show_contest  # noqa: PLC0415

    if as_page and as_data:
        raise InputError(Fault("a report has one format", "leave out --html or --json"))
    format = "html" if as_page else "json" if as_data else None
    if format is None and output is not None:
        format = _format_of(output)
    if format == "html" and output is None and sys.stdout.isatty():
        raise InputError(Fault("a page is not for a terminal", "name a file: -o report.html"))
    record = _record(contest)
    if format is None:
        with while_read():
            show_contest(record)
        return
    _write(record, format, output)
    if output is not None:
        tell(f"written: {clean(output)}", err=True)


@click.command("list")
@click.option("--name", metavar="NAME", help="Only the contests of this task.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def list_contests(name: str | None, as_data: bool) -> None:
    """List the contests in the store, the newest first."""
    with _stored() as store:
        rows = [_line(row, store.contests.held(row)) for row in store.contests.all(name)]
    with while_read():
        if as_data:
            tell_json(rows)
        else:
            _show_list(rows, name)


@click.command("delete")
@click.argument("contests", metavar="ID...", nargs=-1, required=True)
def delete(contests: tuple[str, ...]) -> None:
    """Remove contests with all that belongs to them."""
    with _stored() as store:
        for id in [store.contests.one(contest)["id"] for contest in contests]:
            store.contests.delete(id)
            tell(f"contest {id} is gone")


def _stored() -> Store:
    """What is there; an error that says how to begin where nothing is."""
    from evenhand.runs.store import NO_CONTESTS, Store  # noqa: PLC0415

    return Store.open(None, os.environ, create=False, empty=NO_CONTESTS)


def _record(contest: str) -> Json:
    from evenhand.contesting import contest_record  # noqa: PLC0415

    with _stored() as store:
        return contest_record(store, contest)


def _shown(record: Json) -> object:
    from evenhand.cli._contest_shown import shown_contest  # noqa: PLC0415

    return shown_contest(record)


def _format_of(output: str) -> str:
    found = ENDINGS.get(Path(output).suffix.lower())
    if found is None:
        raise InputError(Fault(f"which format is {output!r}?", "name one: --html, --json"))
    return found


def _write(record: Json, format: str, output: str | None) -> None:
    from evenhand.cli._written import opened  # noqa: PLC0415

    with opened(output) as stream:
        if format == "html":
            from evenhand.report import write_contest_html  # noqa: PLC0415

            write_contest_html(record, stream)
        else:
            stream.write(clean_json(json.dumps(_shown(record), ensure_ascii=False, indent=2)) + "\n")


def _line(row: Json, held: bool) -> Json:
    """A row that says running and that no process works on was killed."""
    state = row["state"] if row["state"] != "running" or held else "killed"
    winner = json.loads(row["summary"])["winner"] if row["summary"] and row["state"] != "running" else None
    names = ("started", "ended")
    return {"id": row["id"], "task": row["name"], "state": state, "winner": winner, **{one: row[one] for one in names}}


def _show_list(rows: list[Json], name: str | None) -> None:
    from evenhand.cli._contest_widths import least_width, narrowed  # noqa: PLC0415
    from evenhand.cli._rows import show_rows  # noqa: PLC0415
    from evenhand.cli._screen import Screen  # noqa: PLC0415
    from evenhand.runs.store import NO_CONTESTS  # noqa: PLC0415

    screen = Screen()
    if not rows:
        screen.line(f"no contest of {name!r} is here" if name else NO_CONTESTS)
        return
    table = [[row["id"], row["task"], row["state"], row["winner"] or "–", _moment(row["started"])] for row in rows]
    narrow = narrowed(LISTED, table, giving_way=("task", "winner"), right=LAST, width=screen.width)
    fits = least_width(LISTED, narrow, LAST) <= screen.width
    show_rows(screen, LISTED, narrow if fits else table, heads=1, right=LAST)


def _moment(at: str) -> str:
    """To the minute: the seconds are in the id."""
    return at[:16].replace("T", " ")
