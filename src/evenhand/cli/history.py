"""evenhand history: the scores of an eval or a subject over time, what strayed, and what has a history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click

from evenhand.cli.output import print_json, print_message, print_until_reader_leaves
from evenhand.cli.screen import Screen, print_unbroken_table
from evenhand.errors import Fault, InputError
from evenhand.report.phrases import describe_reported_selection, format_reported_origin
from evenhand.scoring.scores import Consistency, CriterionScoreDeviation
from evenhand.wording import format_figure, format_fraction, join_names, word_gate

if TYPE_CHECKING:
    from evenhand.workflows.history import HistoryEntry, HistoryOrder
    from evenhand.workflows.subjects import SubjectEvaluation


@click.command("history")
@click.argument("name", metavar="[NAME]", required=False)
@click.option(
    "--sort",
    type=click.Choice(["oldest", "composite"]),
    default="oldest",
    help="The oldest first, or the highest composite; of a subject, the highest score.",
)
@click.option("--criteria", is_flag=True, help="Also each criterion of the latest beside its earlier mean.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
@click.option("--delete", metavar="all|latest|ID", help="Remove evaluations of the subject NAME instead.")
def history_command(name: str | None, sort: HistoryOrder, criteria: bool, as_data: bool, delete: str | None) -> None:
    """Show the history of NAME, oldest first; without NAME list what has one.

    NAME is an eval or NAME/VARIANT, whose finished runs are shown, or a subject that was evaluated with
    `evenhand score --subject` or `evenhand judge --subject`. eval:NAME or subject:NAME where both are called so.
    """
    from evenhand.workflows.history import load_history

    if delete is not None:
        _print_deleted_evaluations(name, delete)
    elif name is None:
        _print_history_list(as_data=as_data)
    else:
        found = load_history(None, name, sort=sort)
        with print_until_reader_leaves():
            if as_data:
                print_json(found.to_json())
                return
            screen = Screen()
            for variant, own in groupby(found.runs, key=lambda line: line.variant):
                screen.line(variant, bold=True)
                _print_variant_history(screen, list(own), criteria=criteria)
                screen.line()
            if found.evaluations:
                print_subject_history(screen, found.evaluations, criteria=criteria)


def _print_deleted_evaluations(name: str | None, which: str) -> None:
    from evenhand.workflows.subjects import delete_subject_evaluations

    if name is None:
        raise InputError(Fault("--delete needs the name of a subject", "as in evenhand history NAME --delete latest"))
    for id in delete_subject_evaluations(None, name, which):
        print_message(f"evaluation {id} is gone")


def _print_history_list(*, as_data: bool) -> None:
    from evenhand.workflows.history import list_histories

    listed = list_histories(None)
    with print_until_reader_leaves():
        if as_data:
            print_json([one.to_json() for one in listed])
            return
        screen = Screen()
        if not listed:
            screen.line("no eval has a finished run, and no subject an evaluation")
            return
        columns: dict[str, list[str]] = {
            "name": [one.name for one in listed],
            "is": [one.kind for one in listed],
            "evaluations": [str(one.evaluations) for one in listed],
            "imported": [str(one.imported) if one.imported else "" for one in listed],
            "latest": [one.latest[:16].replace("T", " ") for one in listed],
            "score": ["" if one.score is None else format_figure(one.score) for one in listed],
            "grade": [one.grade or "" for one in listed],
            "verdict": [one.verdict or "" for one in listed],
        }
        print_unbroken_table(screen, columns, right=("evaluations", "imported", "score"))


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
        "replies": [_format_cli_asking_cell(line) for line in lines],
    }
    print_unbroken_table(screen, columns, right=("score", "composite", "trend"))
    for told in format_cli_composite_lines({line.evaluation.run: line.evaluation.computed for line in lines}):
        screen.line(told, indent=2)
    newest = max(lines, key=lambda line: (not line.evaluation.imported, line.evaluation.ended, line.evaluation.run))
    earlier = {line.evaluation.run: line.evaluation.consistency for line in lines if line is not newest}
    if newest.evaluation.consistency.n == 0 and newest.evaluation.same_as:
        screen.line("latest: nothing to compare with: all runs have the same replies and count as one", indent=2)
        return
    print_consistency(screen, newest.evaluation.consistency, earlier, criteria=criteria)


def _format_cli_asking_cell(line: HistoryEntry) -> str:
    """Why a run is no evaluation of its own; empty where it is one."""
    if not line.evaluation.asked:
        return "all cached"
    return "unchanged" if line.evaluation.same_as else ""


def _format_history_scores_for_terminal(values: Sequence[float | None]) -> list[str]:
    return list(map(format_figure, values)) if any(value is not None for value in values) else []


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


def print_subject_evaluation(evaluation: SubjectEvaluation | None) -> None:
    """Print what the history of the subject says of an evaluation that was just stored; nothing where none was."""
    if evaluation is None:
        return
    screen, consistency = Screen(), evaluation.consistency
    screen.line(f"History of {evaluation.subject}", gap=True, bold=True)
    strayed = [("latest", one) for one in consistency.strayed]
    if len(strayed) == 1:
        screen.line(f"for review: {consistency.strayed[0]}", indent=2)
    if not strayed:
        screen.line(str(consistency), indent=2)
    if evaluation.changed:
        screen.line("the fingerprint changed: earlier scores cannot be compared with this one", indent=2)
    if evaluation.same_as:
        screen.line(f"same output and answers as {evaluation.same_as}: the two count as one evaluation", indent=2)
    screen.line(f"stored as evaluation {evaluation.id}", indent=2)
    if len(strayed) > 1:
        _print_strayed_table(screen, strayed)


def print_subject_history(screen: Screen, evaluations: Sequence[SubjectEvaluation], *, criteria: bool) -> None:
    """A row for each evaluation; what strayed, and where numbers stopped being comparable, below."""
    screen.line(evaluations[0].subject, bold=True)
    cards = [one.scorecard for one in evaluations]
    columns = {
        "evaluation": [one.id for one in evaluations],
        "output": [str(card["id"]) for card in cards],
        "score": [format_figure(card["score"]) for card in cards],
        "grade": [card["grade"] or "" for card in cards],
        "verdict": [card["verdict"] or "" for card in cards],
        "trend": ["" if one.trend is None else format_figure(one.trend, signed=True) for one in evaluations],
        "fingerprint": [f"{one.fingerprint[:8]}{' (changed)' if one.changed else ''}" for one in evaluations],
        "repeats": [(one.same_as or "").rpartition("-")[2] for one in evaluations],
    }
    print_unbroken_table(screen, columns, right=("score", "trend"))
    newest = max(evaluations, key=lambda one: (one.at, one.id))
    told = {one.id: one.consistency for one in evaluations if one is not newest}
    print_consistency(screen, newest.consistency, told, criteria=criteria)


def print_consistency(screen: Screen, latest: Consistency, earlier: dict[str, Consistency], *, criteria: bool) -> None:
    """What strayed, in the latest and in those before it; with `criteria` also each criterion."""
    strayed = [(id, one) for id, consistency in (*earlier.items(), ("latest", latest)) for one in consistency.strayed]
    names = [word_gate(one.criterion) for one in latest.strayed]
    if len(strayed) < 2 or not names:
        screen.line(f"latest: {latest}", indent=2)
    else:
        screen.line(f"latest: for review: {join_names(names)}", indent=2)
    if len(strayed) > 1:
        _print_strayed_table(screen, strayed)
    else:
        for id, one in (entry for entry in strayed if entry[0] != "latest"):
            screen.line(f"{id}: {one}", indent=2)
    if criteria and latest.measured:
        columns = {
            "criterion": [word_gate(one.criterion) for one in latest.measured],
            "latest": [format_fraction(one.score, 2) for one in latest.measured],
            "earlier mean": [format_fraction(one.mean, 2) for one in latest.measured],
            "sd": [format_fraction(one.sd, 2) for one in latest.measured],
            "n": [str(one.n) for one in latest.measured],
            "": ["for review" if one in latest.strayed else "" for one in latest.measured],
        }
        screen.line()
        print_unbroken_table(screen, columns, right=("latest", "earlier mean", "sd", "n"))


def _print_strayed_table(screen: Screen, strayed: Sequence[tuple[str, CriterionScoreDeviation]]) -> None:
    """All that strayed, each beside the mean of what came before it."""
    numbers = [one.spell_numbers() for _, one in strayed]
    screen.line("For review: more than 2 standard deviations from the earlier mean", gap=True)
    columns = {
        "in": [id for id, _ in strayed],
        "criterion": [word_gate(one.criterion) for _, one in strayed],
        "score": [score for score, _, _ in numbers],
        "earlier mean": [mean for _, mean, _ in numbers],
        "sd": [sd for _, _, sd in numbers],
        "n": [str(one.n) for _, one in strayed],
    }
    print_unbroken_table(screen, columns, right=("score", "earlier mean", "sd", "n"))
