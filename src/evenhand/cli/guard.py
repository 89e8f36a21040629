"""evenhand guard: what the guards find in files, with the passages and the rules."""

from __future__ import annotations

from collections.abc import Sequence

import click

from evenhand.cli.output import open_command_stdin, print_json, print_until_reader_leaves
from evenhand.cli.screen import Screen, print_unbroken_table
from evenhand.guards.output_guards import GUARD_ACTIONS, GUARDS
from evenhand.guards.personal_data import build_personal_text_mask
from evenhand.workflows.guard import GuardedUserFile, guard_files, guarded_user_files_to_json


@click.command("guard")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--only", "guards", multiple=True, type=click.Choice(list(GUARDS)), help="Only this guard; repeatable.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def guard_command(files: tuple[str, ...], guards: tuple[str, ...], as_data: bool) -> int:
    """Look at each FILE (- for standard input) for injections, unsafe passages and personal data.

    Exit code: 0 nothing found; 1 something found; 2 bad input.
    """
    found = guard_files(files, guards, open_command_stdin())
    with print_until_reader_leaves():
        print_json(guarded_user_files_to_json(found)) if as_data else print_guard_findings(found)
    return 1 if any(file.findings for file in found) else 0


def print_guard_findings(files: Sequence[GuardedUserFile]) -> None:
    """Print a table of findings for each file, and a line for those without."""
    screen = Screen(build_personal_text_mask(file.text for file in files))
    for place, file in enumerate(files):
        if place:
            screen.line()
        count = len(file.findings)
        if not count:
            screen.line(f"{file.name}: nothing found")
            continue
        screen.line(f"{file.name}: {count} {'finding' if count == 1 else 'findings'}", bold=True)
        columns = {
            "line": [str(file.line_of(one)) for one in file.findings],
            "guard": [one.guard for one in file.findings],
            "rule": [one.rule for one in file.findings],
            "passage": [one.text for one in file.findings],
            "what it is": [one.says for one in file.findings],
            "done": [GUARD_ACTIONS[one.guard] for one in file.findings],
        }
        print_unbroken_table(screen, columns, right=("line",))
