"""evenhand init: writes a working eval with data, to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from evenhand.cli.output import escape_terminal_text, print_message


@click.command("init")
@click.argument("folder", metavar="[FOLDER]", default=".")
def init_command(folder: str) -> None:
    """Write eval.yaml and samples.jsonl into FOLDER, or here: two versions of a prompt, 24 samples, no key needed."""
    from evenhand.workflows.starter import write_starter_eval

    written = write_starter_eval(folder)
    inside = "" if Path(folder) == Path() else f"cd {escape_terminal_text(folder)} && "
    names = ", ".join(escape_terminal_text(str(path)) for path in written)
    print_message(f"written: {names}\nnext: {inside}evenhand run eval.yaml")
