"""evenhand guard: what the guards find in files, with the passages and the rule."""

from __future__ import annotations

from collections.abc import Mapping

import click

from evenhand.cli._files import read_outputs
from evenhand.cli._text import tell_json, while_read
from evenhand.guards import DONE, GUARDS, hidden, hider, look
from evenhand.model import Finding


@click.command("guard")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--only", "guards", multiple=True, type=click.Choice(list(GUARDS)), help="Only this guard; repeatable.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def command(files: tuple[str, ...], guards: tuple[str, ...], as_data: bool) -> int:
    """Look at each FILE (- for standard input) for injections, unsafe passages and personal data.

    Exit code: 0 nothing found; 1 something found; 2 bad input.
    """
    texts = read_outputs(files)
    found = {name: look(text, guards or tuple(GUARDS)) for name, text in texts.items()}
    with while_read():
        if as_data:
            tell_json(hidden(guards_json(texts, found), hider(texts.values())))
        else:
            from evenhand.cli._guard_view import show_guards  # noqa: PLC0415

            show_guards(texts, found)
    return 1 if any(found.values()) else 0


def guards_json(texts: Mapping[str, str], found: Mapping[str, tuple[Finding, ...]]) -> dict[str, object]:
    """What `evenhand guard --json` prints."""
    return {
        "files": [
            {"file": name, "findings": [finding_json(one, texts[name]) for one in findings]}
            for name, findings in found.items()
        ]
    }


def finding_json(one: Finding, text: str) -> dict[str, object]:
    """A finding as plain data, with the line it begins in."""
    return {
        "guard": one.guard,
        "rule": one.rule,
        "says": one.says,
        "done": DONE[one.guard],
        "text": one.text,
        "start": one.start,
        "end": one.end,
        "line": text.count("\n", 0, one.start) + 1,
    }
