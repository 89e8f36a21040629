"""evenhand init: writes a working eval with data, to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from evenhand.cli.output import escape_terminal_text, print_message
from evenhand.errors import Fault, InputError
from evenhand.files.methods import LIBRARY

STARTER_FOLDER = LIBRARY / "starter"


@click.command("init")
@click.argument("folder", metavar="[FOLDER]", default=".")
def init_command(folder: str) -> None:
    """Write eval.yaml and samples.jsonl into FOLDER, or here: two versions of a prompt, 24 samples, no key needed."""
    target = Path(folder)
    files = sorted(STARTER_FOLDER.iterdir())
    there = [target / file.name for file in files if (target / file.name).exists()]
    if there:
        raise InputError(Fault("it exists already", "name another folder: evenhand init FOLDER", where=str(there[0])))
    try:
        target.mkdir(parents=True, exist_ok=True)
        for file in files:
            (target / file.name).write_bytes(file.read_bytes())
    except OSError as problem:
        why = (problem.strerror or str(problem)).lower()
        raise InputError(Fault(f"cannot be written: {why}", where=folder)) from None
    inside = "" if target == Path() else f"cd {escape_terminal_text(folder)} && "
    print_message(
        f"written: {', '.join(escape_terminal_text(str(target / file.name)) for file in files)}\nnext: "
        f"{inside}evenhand run eval.yaml"
    )
