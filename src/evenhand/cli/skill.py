"""evenhand skill: the instructions by which an assistant evaluates its own work, printed or installed."""

from __future__ import annotations

import click

from evenhand.cli.output import escape_terminal_text, print_message


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
