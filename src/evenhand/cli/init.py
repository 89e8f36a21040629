"""evenhand init and skill: a working eval to begin with, and the instructions for an assistant."""

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


@click.group("skill", invoke_without_command=True)
@click.pass_context
def skill_command(context: click.Context) -> None:
    """Print SKILL.md: how an assistant chooses a rubric, scores a piece of work, stores and reads the result."""
    from evenhand.workflows.skill import read_skill_text

    if context.invoked_subcommand is None:
        print_message(read_skill_text().removesuffix("\n"))


@skill_command.command("install")
@click.argument("folder", metavar="DIR")
@click.option("--force", is_flag=True, help="Write over a SKILL.md that says something else.")
def install_skill_command(folder: str, force: bool) -> None:
    """Write DIR/evenhand/SKILL.md, where DIR is the folder in which an assistant looks for skills."""
    from evenhand.workflows.skill import install_skill

    installed = install_skill(folder, force=force)
    print_message(f"{installed.done}: {escape_terminal_text(str(installed.path))}")
