"""evenhand runs: lists, shows, exports, imports, rescores and deletes stored runs."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO

import click

from evenhand.cli.output import escape_terminal_text, print_json, print_message, until_reader_leaves
from evenhand.errors import Fault, InputError, StoreError


@click.group("runs")
def runs_command() -> None:
    """List, show, export, import, rescore and delete runs."""


@runs_command.command("list")
@click.option("--name", metavar="NAME", help="Only the runs of this eval.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def list_runs_command(name: str | None, as_data: bool) -> None:
    """List the runs in the store, the newest first."""
    from evenhand.cli.open_store import open_existing_store

    with open_existing_store() as store:
        rows = [_build_run_list_row(row, store.is_run_held(row)) for row in store.list_runs(name)]
    with until_reader_leaves():
        if as_data:
            print_json(rows)
        else:
            _print_run_list(rows, name)


@runs_command.command("show")
@click.argument("run", metavar="RUN")
@click.option("--json", "as_data", is_flag=True, help="Print the head of the report as JSON.")
@click.option("--setup", is_flag=True, help="Print what the run was told: rubrics, prompts, judges, variants.")
def show_run_command(run: str, as_data: bool, setup: bool) -> None:
    """Show RUN as it was when it ended: its id, the beginning of one, "latest" or "latest:NAME"."""
    from evenhand.cli.open_store import open_existing_store
    from evenhand.cli.run_tables import print_run
    from evenhand.workflows.report import load_run_report

    with open_existing_store() as store, until_reader_leaves():
        if setup:
            row = store.find_run(run)
            print_json({"source": row["source"], **json.loads(row["setup"])})
            return
        head, _ = load_run_report(store, run)
        print_json(head) if as_data else print_run(head)


@runs_command.command("export")
@click.argument("run", metavar="RUN")
@click.option("--output", "-o", metavar="FILE", help="Write it to this file; without it to standard output.")
def export_run_command(run: str, output: str | None) -> None:
    """Write RUN with all that belongs to it as one file that `evenhand runs import` reads elsewhere."""
    from evenhand.cli.open_store import open_existing_store

    if output is None and sys.stdout.isatty():
        raise InputError(Fault("an exported run is no text", "name a file: -o run.evenhand"))
    with open_existing_store() as store:
        id = store.find_run(run)["id"]
        try:
            with _open_export_target(output) as stream:
                store.export_run(id, stream)
        except OSError as problem:
            why = (problem.strerror or str(problem)).lower()
            raise InputError(Fault(f"cannot be written: {why}", where=output or "standard output")) from None
    if output is not None:
        print_message(f"run {id} written: {escape_terminal_text(output)}", err=True)


@runs_command.command("import")
@click.argument("file", metavar="FILE")
def import_run_command(file: str) -> None:
    """Take in a run that `evenhand runs export` wrote, unchanged."""
    from evenhand.cli.open_store import open_or_create_store

    try:
        with (
            nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as stream,
            open_or_create_store() as store,
        ):
            id = store.import_run(stream)
    except OSError as problem:
        raise InputError(Fault(f"cannot be read: {(problem.strerror or str(problem)).lower()}", where=file)) from None
    except StoreError as error:
        name = "standard input" if file == "-" else file
        named = (replace(fault, where=name) if fault.where == "the file" else fault for fault in error.faults)
        raise StoreError(*named) from None
    print_message(f"run {id} is here now: evenhand report {id}")


@runs_command.command("rescore")
@click.argument("run", metavar="RUN")
@click.option("--rubric", "-r", required=True, metavar="NAME|FILE", help="The rubric to score by.")
@click.option("--tag", default="", metavar="TAG", help="Replace the rubric for this tag; else the one for all samples.")
@click.option("--json", "as_data", is_flag=True, help="Print the head of the report as JSON.")
def rescore_run_command(run: str, rubric: str, tag: str, as_data: bool) -> int:
    """Score the stored judgments of RUN by another rubric, as a new run; no judge is asked."""
    from evenhand.cli.open_store import open_existing_store
    from evenhand.cli.run_tables import print_run
    from evenhand.workflows.rescore import rescore_run

    with open_existing_store() as store:
        head = rescore_run(store, run, rubric, tag)
    with until_reader_leaves():
        print_json(head) if as_data else print_run(head)
    return int(head["decision"]["exit_code"])


@runs_command.command("delete")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option("--baseline", is_flag=True, help="Also a run that is a baseline; its name goes with it.")
def delete_runs_command(runs: tuple[str, ...], baseline: bool) -> None:
    """Remove runs with all that belongs to them."""
    from evenhand.cli.open_store import open_existing_store

    with open_existing_store() as store:
        for id in [store.find_run(run)["id"] for run in runs]:
            store.delete_run(id, pinned=baseline)
            print_message(f"run {id} is gone")


@runs_command.command("gc")
@click.option("--days", type=click.IntRange(0), default=30, help="How long an unfinished run is left alone.")
def collect_unfinished_command(days: int) -> None:
    """Remove runs that were never finished and have not moved for so many days, and give back their room."""
    from evenhand.cli.open_store import open_existing_store

    with open_existing_store() as store:
        collected = store.collect_garbage(timedelta(days=days))
    count = len(collected.runs)
    runs = "1 unfinished run" if count == 1 else f"{count:,} unfinished runs"
    freed = "" if collected.freed is None else f", {collected.freed:,} bytes given back"  # Only a file can tell.
    print_message(f"{runs} removed{freed}")


def _open_export_target(output: str | None) -> Any:
    stream: BinaryIO = sys.stdout.buffer
    return nullcontext(stream) if output is None else Path(output).open("wb")


def _build_run_list_row(row: dict[str, Any], held: bool) -> dict[str, Any]:
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


def _print_run_list(rows: list[dict[str, Any]], name: str | None) -> None:
    from evenhand.cli.screen import Screen

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
