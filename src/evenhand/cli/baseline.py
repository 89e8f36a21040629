"""evenhand baseline: runs pinned under a name, for others to be compared with."""

from __future__ import annotations

from dataclasses import asdict

import click

from evenhand.cli.output import print_json, print_message, print_until_reader_leaves

LISTED_FIELDS = {"baseline": "name", "run": "run", "eval": "eval"}


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
