"""evenhand history: the scores of an eval over its runs, and what strayed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click

from evenhand.cli.output import print_json, print_until_reader_leaves
from evenhand.cli.screen import Screen
from evenhand.report.phrases import describe_reported_selection, format_reported_origin
from evenhand.wording import format_figure, format_fraction

if TYPE_CHECKING:
    from evenhand.workflows.history import HistoryEntry, HistoryOrder


@click.command("history")
@click.argument("subject", metavar="SUBJECT")
@click.option(
    "--sort",
    type=click.Choice(["oldest", "composite"]),
    default="oldest",
    help="The oldest first, or the highest composite.",
)
@click.option("--criteria", is_flag=True, help="Also each criterion of the latest run beside its earlier mean.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def history_command(subject: str, sort: HistoryOrder, criteria: bool, as_data: bool) -> None:
    """Show the finished runs of SUBJECT, oldest first: the name of an eval, or NAME/VARIANT."""
    from evenhand.workflows.history import load_subject_history

    found = load_subject_history(None, subject, sort=sort)
    with print_until_reader_leaves():
        if as_data:
            print_json([line.to_json() for line in found])
        else:
            screen = Screen()
            for variant, own in groupby(found, key=lambda line: line.variant):
                screen.line(variant, bold=True)
                _print_variant_history(screen, list(own), criteria=criteria)
                screen.line()


def _print_variant_history(screen: Screen, lines: Sequence[HistoryEntry], *, criteria: bool) -> None:
    """A row for each run; what strayed, and where the numbers stopped being comparable, below it."""
    columns: dict[str, list[str]] = {
        "run": [line.evaluation.run for line in lines],
        "origin": [format_reported_origin(line.evaluation.imported) for line in lines],
        "score": _format_history_scores_for_terminal([line.evaluation.score for line in lines]),
        "composite": _format_history_scores_for_terminal([line.evaluation.composite for line in lines]),
        "trend": ["" if line.trend is None else format_figure(line.trend, signed=True) for line in lines],
        "fingerprint": [f"{line.evaluation.fingerprint[:8]}{' (changed)' if line.changed else ''}" for line in lines],
        "samples": [describe_reported_selection(line.evaluation.selection) for line in lines],
        "asked": [_format_cli_asking_cell(line) for line in lines],
    }
    screen.table({name: cells for name, cells in columns.items() if any(cells)}, right=("score", "composite", "trend"))
    for told in format_cli_composite_lines({line.evaluation.run: line.evaluation.computed for line in lines}):
        screen.line(told, indent=2)
    newest = max(lines, key=lambda line: (not line.evaluation.imported, line.evaluation.ended, line.evaluation.run))
    last = newest.evaluation.consistency
    screen.line(f"latest: {last}", indent=2)
    for line in (line for line in lines if line is not newest):
        for strayed in line.evaluation.consistency.strayed:
            screen.line(f"{line.evaluation.run}: {strayed}", indent=2)
    if criteria and last.measured:
        columns = {
            "criterion": [one.criterion for one in last.measured],
            "latest": [format_fraction(one.score, 2) for one in last.measured],
            "earlier mean": [format_fraction(one.mean, 2) for one in last.measured],
            "sd": [format_fraction(one.sd, 2) for one in last.measured],
            "runs": [str(one.n) for one in last.measured],
            "": ["for review" if one in last.strayed else "" for one in last.measured],
        }
        screen.line()
        screen.table(columns, right=("latest", "earlier mean", "sd", "runs"))


def _format_cli_asking_cell(line: HistoryEntry) -> str:
    """Why a run is no evaluation of its own; empty where it is one."""
    if not line.evaluation.asked:
        return "nothing"
    return "same replies" if line.evaluation.same_as else ""


def _format_history_scores_for_terminal(values: Sequence[float | None]) -> list[str]:
    return ["–" if value is None else f"{value:.2f}" for value in values] if any(v is not None for v in values) else []


MOST_COMPOSITE_RUNS_NAMED = 3


def format_cli_composite_lines(computed_by_run: Mapping[str, str]) -> list[str]:
    """How the composites were computed; where that differs, for which runs: these cannot be compared."""
    runs_by_way: dict[str, list[str]] = {}
    for run, computed in computed_by_run.items():
        if computed:
            runs_by_way.setdefault(computed, []).append(run)
    if len(runs_by_way) < 2:
        return [f"composite: {computed}" for computed in runs_by_way]
    told = []
    for computed, runs in runs_by_way.items():
        more = len(runs) - MOST_COMPOSITE_RUNS_NAMED
        named = ", ".join(runs[:MOST_COMPOSITE_RUNS_NAMED]) + (f" and {more:,} more" if more > 0 else "")
        told.append(f"composite of {named}: {computed}")
    return [*told, "composites that were computed differently cannot be compared"]
