"""evenhand history: the scores of an eval over its runs, and what strayed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click

from evenhand.cli.output import print_json, until_reader_leaves

if TYPE_CHECKING:
    from evenhand.cli.screen import Screen
    from evenhand.workflows.history import HistoryEntry


@click.command("history")
@click.argument("subject", metavar="SUBJECT")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def history_command(subject: str, as_data: bool) -> None:
    """Show the finished runs of SUBJECT, oldest first: the name of an eval, or NAME/VARIANT."""
    from evenhand.workflows.history import load_subject_history

    found = load_subject_history(None, subject)
    with until_reader_leaves():
        if as_data:
            print_json([line.to_json() for line in found])
        else:
            from evenhand.cli.screen import Screen

            screen = Screen()
            for variant, own in groupby(found, key=lambda line: line.variant):
                screen.line(variant, bold=True)
                _print_variant_history(screen, list(own))
                screen.gap()


def _print_variant_history(screen: Screen, lines: Sequence[HistoryEntry]) -> None:
    """A row for each run; what strayed, and where the numbers stopped being comparable, below it."""
    columns: dict[str, list[str]] = {
        "run": [line.evaluation.run for line in lines],
        "score": _format_history_scores([line.evaluation.score for line in lines]),
        "composite": _format_history_scores([line.evaluation.composite for line in lines]),
        "fingerprint": [f"{line.evaluation.fingerprint[:8]}{' (changed)' if line.changed else ''}" for line in lines],
        "asked": [_describe_asking(line) for line in lines],
    }
    screen.table({name: cells for name, cells in columns.items() if any(cells)}, right=("score", "composite"))
    last = lines[-1].evaluation.consistency
    screen.line(f"latest: {last}" if last else "", indent=2)
    for line in lines[:-1]:
        for strayed in line.evaluation.consistency.strayed if line.evaluation.consistency else ():
            screen.line(f"{line.evaluation.run}: {strayed}", indent=2)


def _describe_asking(line: HistoryEntry) -> str:
    """Why a run is no evaluation of its own; empty where it is one."""
    if not line.evaluation.asked:
        return "nothing"
    return "same replies" if line.evaluation.same_as else ""


def _format_history_scores(values: Sequence[float | None]) -> list[str]:
    return ["–" if value is None else f"{value:.2f}" for value in values] if any(v is not None for v in values) else []
