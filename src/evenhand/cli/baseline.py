"""evenhand baseline: runs pinned under a name, for others to be compared with."""

from __future__ import annotations

import click

from evenhand.cli.output import print_json, print_message, until_reader_leaves


@click.group("baseline")
def baseline_command() -> None:
    """Pin runs under names: `evenhand compare --baseline NAME RUN` holds a run against one."""


@baseline_command.command("set")
@click.argument("run", metavar="RUN")
@click.option("--name", default="main", show_default=True, metavar="NAME", help="The name of the baseline.")
def set_baseline_command(run: str, name: str) -> None:
    """Pin RUN, a finished one, under a name; what had the name before stays, and is told."""
    from evenhand.cli.open_store import open_existing_store

    with open_existing_store() as store:
        before = store.set_baseline(name, run)
        now = store.find_baseline(name)["run"]
    if before == now:
        print_message(f"baseline {name} is run {now} already")
    else:
        print_message(f"baseline {name} is run {now} now" + (f"; it was {before}" if before else ""))


@baseline_command.command("list")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def list_baselines_command(as_data: bool) -> None:
    """List the baselines with their runs."""
    from evenhand.cli.open_store import open_existing_store
    from evenhand.cli.screen import Screen

    with open_existing_store() as store:
        rows = [{**row, "eval": store.find_run(row["run"])["name"]} for row in store.list_baselines()]
    with until_reader_leaves():
        if as_data:
            print_json([{name: row[name] for name in ("name", "run", "eval", "at")} for row in rows])
        elif rows:
            columns = {"baseline": "name", "run": "run", "eval": "eval"}
            cells = {title: [str(row[name]) for row in rows] for title, name in columns.items()}
            Screen().table({**cells, "set": [row["at"][:16].replace("T", " ") for row in rows]})
        else:
            print_message("no baseline yet: evenhand baseline set RUN --name main")


@baseline_command.command("remove")
@click.argument("name", metavar="NAME")
def remove_baseline_command(name: str) -> None:
    """Take the name away; the run stays."""
    from evenhand.cli.open_store import open_existing_store

    with open_existing_store() as store:
        run = store.remove_baseline(name)
    print_message(f"baseline {name} is gone; run {run} stays")
