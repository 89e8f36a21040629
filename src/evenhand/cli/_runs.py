"""evenhand runs: what is in the store, moved, scored anew, removed."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO

import click

from evenhand.cli._text import clean, tell, tell_json, while_read
from evenhand.errors import Fault, InputError, StoreError


@click.group("runs")
def command() -> None:
    """List, show, export, import, rescore and delete runs."""


@command.command("list")
@click.option("--name", metavar="NAME", help="Only the runs of this eval.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def list_runs(name: str | None, as_data: bool) -> None:
    """List the runs in the store, the newest first."""
    from evenhand.cli._stored import stored  # noqa: PLC0415

    with stored() as store:
        rows = [_line(row, store.held(row)) for row in store.runs(name)]
    with while_read():
        if as_data:
            tell_json(rows)
        else:
            _show_list(rows, name)


@command.command("show")
@click.argument("run", metavar="RUN")
@click.option("--json", "as_data", is_flag=True, help="Print the head of the report as JSON.")
@click.option("--setup", is_flag=True, help="Print what the run was told: rubrics, prompts, judges, variants.")
def show(run: str, as_data: bool, setup: bool) -> None:
    """Show RUN as it was when it ended: its id, the beginning of one, "latest" or "latest:NAME"."""
    from evenhand.cli._run_view import show_run  # noqa: PLC0415
    from evenhand.cli._stored import stored  # noqa: PLC0415
    from evenhand.deciding import report_for  # noqa: PLC0415

    with stored() as store, while_read():
        if setup:
            row = store.run(run)
            tell_json({"source": row["source"], **json.loads(row["setup"])})
            return
        head, _ = report_for(store, run)
        tell_json(head) if as_data else show_run(head)


@command.command("export")
@click.argument("run", metavar="RUN")
@click.option("--output", "-o", metavar="FILE", help="Write it to this file; without it to standard output.")
def export(run: str, output: str | None) -> None:
    """Write RUN with all that belongs to it as one file that `evenhand runs import` reads elsewhere."""
    from evenhand.cli._stored import stored  # noqa: PLC0415

    if output is None and sys.stdout.isatty():
        raise InputError(Fault("an exported run is no text", "name a file: -o run.evenhand"))
    with stored() as store:
        id = store.run(run)["id"]
        try:
            with _target(output) as stream:
                store.export(id, stream)
        except OSError as problem:
            why = (problem.strerror or str(problem)).lower()
            raise InputError(Fault(f"cannot be written: {why}", where=output or "standard output")) from None
    if output is not None:
        tell(f"run {id} written: {clean(output)}", err=True)


@command.command("import")
@click.argument("file", metavar="FILE")
def import_run(file: str) -> None:
    """Take in a run that `evenhand runs export` wrote, unchanged."""
    from evenhand.cli._stored import new_store  # noqa: PLC0415

    try:
        with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as stream, new_store() as store:
            id = store.import_(stream)
    except OSError as problem:
        raise InputError(Fault(f"cannot be read: {(problem.strerror or str(problem)).lower()}", where=file)) from None
    except StoreError as error:
        name = "standard input" if file == "-" else file
        named = (replace(fault, where=name) if fault.where == "the file" else fault for fault in error.faults)
        raise StoreError(*named) from None
    tell(f"run {id} is here now: evenhand report {id}")


@command.command("rescore")
@click.argument("run", metavar="RUN")
@click.option("--rubric", "-r", required=True, metavar="NAME|FILE", help="The rubric to score by.")
@click.option("--tag", default="", metavar="TAG", help="Replace the rubric for this tag; else the one for all samples.")
@click.option("--json", "as_data", is_flag=True, help="Print the head of the report as JSON.")
def rescore(run: str, rubric: str, tag: str, as_data: bool) -> int:
    """Score the stored judgments of RUN by another rubric, as a new run; no judge is asked."""
    from evenhand.cli._run_view import show_run  # noqa: PLC0415
    from evenhand.cli._stored import stored  # noqa: PLC0415
    from evenhand.rescoring import rescored  # noqa: PLC0415

    with stored() as store:
        head = rescored(store, run, rubric, tag)
    with while_read():
        tell_json(head) if as_data else show_run(head)
    return int(head["decision"]["exit_code"])


@command.command("delete")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option("--baseline", is_flag=True, help="Also a run that is a baseline; its name goes with it.")
def delete(runs: tuple[str, ...], baseline: bool) -> None:
    """Remove runs with all that belongs to them."""
    from evenhand.cli._stored import stored  # noqa: PLC0415

    with stored() as store:
        for id in [store.run(run)["id"] for run in runs]:
            store.delete(id, pinned=baseline)
            tell(f"run {id} is gone")


@command.command("gc")
@click.option("--days", type=click.IntRange(0), default=30, help="How long an unfinished run is left alone.")
def gc(days: int) -> None:
    """Remove runs that were never finished and have not moved for so many days, and give back their room."""
    from evenhand.cli._stored import stored  # noqa: PLC0415

    with stored() as store:
        collected = store.gc(timedelta(days=days))
    count = len(collected.runs)
    runs = "1 unfinished run" if count == 1 else f"{count:,} unfinished runs"
    freed = "" if collected.freed is None else f", {collected.freed:,} bytes given back"  # Only a file can tell.
    tell(f"{runs} removed{freed}")


def _target(output: str | None) -> Any:
    stream: BinaryIO = sys.stdout.buffer
    return nullcontext(stream) if output is None else Path(output).open("wb")


def _line(row: dict[str, Any], held: bool) -> dict[str, Any]:
    summary = json.loads(row["summary"]) if row["summary"] else None
    state = row["state"] if row["state"] != "running" or held else "killed"
    return {
        "id": row["id"],
        "name": row["name"],
        "state": state,
        "started": row["started"],
        "samples": summary["run"]["samples"] if summary else None,
        "variants": [one["name"] for one in summary["variants"]] if summary else [],
        "verdict": summary["decision"]["verdict"] if summary and state in ("finished", "stopped") else None,
        "fingerprint": row["fingerprint"],
    }


def _show_list(rows: list[dict[str, Any]], name: str | None) -> None:
    from evenhand.cli._screen import Screen  # noqa: PLC0415

    screen = Screen()
    if not rows:
        screen.line(f"no run of {name!r} is here" if name else "no runs yet: evenhand run eval.yaml starts one")
        return
    columns = {
        "run": [row["id"] for row in rows],
        "eval": [row["name"] for row in rows],
        "state": [row["state"] for row in rows],
        "samples": ["" if row["samples"] is None else f"{row['samples']:,}" for row in rows],
        "variants": [", ".join(row["variants"]) for row in rows],
        "verdict": [row["verdict"] or "" for row in rows],
    }
    screen.table({name: cells for name, cells in columns.items() if any(cells)}, right=("samples",))
