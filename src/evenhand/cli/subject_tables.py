"""The evaluations of a subject on a terminal: the new one beside its history, or all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.cli.screen import Screen, print_unbroken_table
from evenhand.scoring.scores import Consistency, CriterionScoreDeviation
from evenhand.wording import format_figure, format_fraction, join_names, word_gate

if TYPE_CHECKING:
    from evenhand.workflows.subjects import SubjectEvaluation


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
