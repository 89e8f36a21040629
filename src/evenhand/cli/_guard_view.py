"""What guards found, on a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from evenhand.cli._screen import Screen
from evenhand.guards import DONE, hider
from evenhand.model import Finding


def show_guards(texts: Mapping[str, str], found: Mapping[str, tuple[Finding, ...]]) -> None:
    """Print a table of findings for each file, and a line for those without."""
    screen = Screen(hider(texts.values()))
    for place, (name, findings) in enumerate(found.items()):
        if place:
            screen.gap()
        if not findings:
            screen.line(f"{name}: nothing found")
            continue
        screen.line(f"{name}: {len(findings)} {'finding' if len(findings) == 1 else 'findings'}", bold=True)
        show_findings(screen, findings, texts[name])


def show_findings(screen: Screen, findings: tuple[Finding, ...], text: str) -> None:
    """Print where each finding stands, which rule it broke, and what is done with it."""
    screen.table(
        {
            "line": [str(text.count("\n", 0, one.start) + 1) for one in findings],
            "guard": [one.guard for one in findings],
            "rule": [one.rule for one in findings],
            "passage": [one.text for one in findings],
            "what it is": [one.says for one in findings],
            "done": [DONE[one.guard] for one in findings],
        },
        right=("line",),
    )
