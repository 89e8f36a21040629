"""evenhand guard: what the guards find in files, with the passages and the rules."""

from __future__ import annotations

from collections.abc import Mapping

import click

from evenhand.cli.inputs import read_named_outputs
from evenhand.cli.output import print_json, until_reader_leaves
from evenhand.cli.screen import Screen
from evenhand.guards.output_guards import GUARD_ACTIONS, GUARDS, guard_text
from evenhand.guards.personal_data import build_text_mask, mask_data
from evenhand.model.sample import GuardFinding


@click.command("guard")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--only", "guards", multiple=True, type=click.Choice(list(GUARDS)), help="Only this guard; repeatable.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def guard_command(files: tuple[str, ...], guards: tuple[str, ...], as_data: bool) -> int:
    """Look at each FILE (- for standard input) for injections, unsafe passages and personal data.

    Exit code: 0 nothing found; 1 something found; 2 bad input.
    """
    texts = read_named_outputs(files)
    found = {name: guard_text(text, guards or tuple(GUARDS)) for name, text in texts.items()}
    with until_reader_leaves():
        if as_data:
            print_json(mask_data(guard_findings_to_json(texts, found), build_text_mask(texts.values())))
        else:
            print_guard_findings(texts, found)
    return 1 if any(found.values()) else 0


def guard_findings_to_json(
    texts: Mapping[str, str], found: Mapping[str, tuple[GuardFinding, ...]]
) -> dict[str, object]:
    """What `evenhand guard --json` prints."""
    return {
        "files": [
            {"file": name, "findings": [file_finding_to_json(one, texts[name]) for one in findings]}
            for name, findings in found.items()
        ]
    }


def file_finding_to_json(one: GuardFinding, text: str) -> dict[str, object]:
    """A finding as plain data, with the line it begins in."""
    return {
        "guard": one.guard,
        "rule": one.rule,
        "says": one.says,
        "done": GUARD_ACTIONS[one.guard],
        "text": one.text,
        "start": one.start,
        "end": one.end,
        "line": text.count("\n", 0, one.start) + 1,
    }


def print_guard_findings(texts: Mapping[str, str], found: Mapping[str, tuple[GuardFinding, ...]]) -> None:
    """Print a table of findings for each file, and a line for those without."""
    screen = Screen(build_text_mask(texts.values()))
    for place, (name, findings) in enumerate(found.items()):
        if place:
            screen.gap()
        if not findings:
            screen.line(f"{name}: nothing found")
            continue
        screen.line(f"{name}: {len(findings)} {'finding' if len(findings) == 1 else 'findings'}", bold=True)
        print_findings_table(screen, findings, texts[name])


def print_findings_table(screen: Screen, findings: tuple[GuardFinding, ...], text: str) -> None:
    """Print where each finding stands, which rule it broke, and what is done with it."""
    screen.table(
        {
            "line": [str(text.count("\n", 0, one.start) + 1) for one in findings],
            "guard": [one.guard for one in findings],
            "rule": [one.rule for one in findings],
            "passage": [one.text for one in findings],
            "what it is": [one.says for one in findings],
            "done": [GUARD_ACTIONS[one.guard] for one in findings],
        },
        right=("line",),
    )
