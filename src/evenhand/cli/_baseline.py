"""evenhand baseline: runs pinned under a name, for others to be compared with."""

from __future__ import annotations

import click

from evenhand.cli._text import tell, tell_json, while_read


@click.group("baseline")
def command() -> None:
    """Pin runs under names: `evenhand compare --baseline NAME RUN` holds a run against one."""


@command.command("set")
@click.argument("run", metavar="RUN")
@click.option("--name", default="main", show_default=True, metavar="NAME", help="The name of the baseline.")
def set_baseline(run: str, name: str) -> None:
    """Pin RUN, a finished one, under a name; what had the name before stays, and is told."""
    from evenhand.cli._stored import stored  # noqa: PLC0415

    with stored() as store:
        before = store.set_baseline(name, run)
        now = store.baseline(name)["run"]
    if before == now:
        tell(f"baseline {name} is run {now} already")
    else:
        tell(f"baseline {name} is run {now} now" + (f"; it was {before}" if before else ""))


@command.command("list")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def list_baselines(as_data: bool) -> None:
    """List the baselines with their runs."""
    from evenhand.cli._screen import Screen  # noqa: PLC0415
    from evenhand.cli._stored import stored  # noqa: PLC0415

    with stored() as store:
        rows = [{**row, "eval": store.run(row["run"])["name"]} for row in store.baselines()]
    with while_read():
        if as_data:
            tell_json([{name: row[name] for name in ("name", "run", "eval", "at")} for row in rows])
        elif rows:
            columns = {"baseline": "name", "run": "run", "eval": "eval"}
            cells = {title: [str(row[name]) for row in rows] for title, name in columns.items()}
            Screen().table({**cells, "set": [row["at"][:16].replace("T", " ") for row in rows]})
        else:
            tell("no baseline yet: evenhand baseline set RUN --name main")


@command.command("remove")
@click.argument("name", metavar="NAME")
def remove(name: str) -> None:
    """Take the name away; the run stays."""
    from evenhand.cli._stored import stored  # noqa: PLC0415

    with stored() as store:
        run = store.remove_baseline(name)
    tell(f"baseline {name} is gone; run {run} stays")
