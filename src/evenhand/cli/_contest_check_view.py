"""One submission on a terminal, as its author would see it: the gate, the scores where they may be seen, advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.cli._contest_view import quoted, show_spent, unmet
from evenhand.cli._run_view import show_section
from evenhand.cli._screen import Screen

if TYPE_CHECKING:
    from evenhand.contest import Task

Data = Mapping[str, Any]


def show_check(task: Task, checked: Data) -> None:
    """Print whether the gate is passed, each criterion that is not met with its hint, and what to mend."""
    screen = Screen()
    screen.line(f"{task.name} · {task.mode} · {checked['id']} by {checked['author']}", dim=True)
    screen.gap()
    colour, verdict = _verdict(task, checked)
    screen.line(verdict, fg=colour, bold=True)
    _show_criteria(screen, checked["criteria_checks"])
    for feedback in checked["feedback"]:
        for found in feedback.get("policy_violations", ()):
            screen.line(f"it {found['says']}: {quoted(found['text'])}", indent=2, fg="red")
        if feedback["type"] != "gate_check":
            _show_scores(screen, feedback)
            _show_advice(screen, feedback["revision_suggestions"])
    show_spent(screen, checked["spent"])


def _verdict(task: Task, checked: Data) -> tuple[str, str]:
    status, count = checked["status"], len(task.acceptance)
    if status == "policy_violation":
        return "red", "It breaks the rules: it would be shown to no judge."
    if status == "gate_failed":
        return "red", "The gate is not passed."
    if status == "unjudged":
        return "yellow", f"It could not be judged: {checked['why']}."
    met = "The acceptance criterion is met" if count == 1 else f"All {count} acceptance criteria are met"
    if checked["score"] is None:
        return "green", f"{met}. Scores are hidden until the ranking is done."
    if status == "won":
        return "green", f"{met}, and {checked['score']:.2f} would win."
    from evenhand.contest._cards import PASSES  # noqa: PLC0415

    return "yellow", f"{met}, but {checked['score']:.2f} is below the {PASSES} that win."


def _show_criteria(screen: Screen, checks: Sequence[Data]) -> None:
    for check in checks:
        if check["passed"]:
            screen.line(f"met: {check['criterion']}{_evidence(check)}", indent=2)
    for line in unmet(checks):
        screen.line(line, indent=2, fg="red")


def _evidence(one: Data) -> str:
    return f" {quoted(one['evidence'])}" if one["evidence"] else ""


def _show_scores(screen: Screen, feedback: Data) -> None:
    scores = feedback.get("dimension_scores")
    if not scores:
        return
    screen.gap()
    columns = {
        "dimension": list(scores),
        "score": [_score(one) for one in scores.values()],
        "what would raise it": [one["feedback"] or "" for one in scores.values()],
        "evidence": [_evidence(one).strip() for one in scores.values()],
    }
    screen.table(columns, right=("score",))
    for dimension in feedback["risk_flags"]:
        screen.line(f"{dimension} is below what is expected: it pulls the whole score down", fg="yellow")


def _score(one: Data) -> str:
    return "–" if one["score"] is None else f"{one['band']} {one['score']:g}"


def _show_advice(screen: Screen, suggestions: Sequence[Data]) -> None:
    lines = [(f"{one['severity']}: {one['problem']} → {one['suggestion']}", None) for one in suggestions]
    show_section(screen, "Suggestions for a revision", lines)
