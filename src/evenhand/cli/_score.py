"""evenhand score: answers and a rubric to scores, decisions, a ranking, and why."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from evenhand.cli._limits import Limits
from evenhand.cli._text import one_line, tell_json, while_read
from evenhand.loading import Outputs, Reviews, load_answers, load_rubric, stdin_answers, with_environment
from evenhand.model import Answers, Review, Rubric, Scores
from evenhand.scoring import as_json, score_outputs, score_reviews


@click.command("score")
@click.argument("answers", metavar="FILE")
@click.option("--rubric", "-r", required=True, metavar="NAME|FILE", help="A shipped rubric, or a YAML or JSON file.")
@click.option("--explain", is_flag=True, help="Say each step in a sentence.")
@click.option("--json", "as_data", is_flag=True, help="Print the stable JSON.")
@click.option("--min-score", metavar="NUMBER", help="Fail (exit 1) when a score is below this.")
@click.option("--min-grade", metavar="GRADE", help="Fail (exit 1) when a grade is below this.")
@click.option("--strict", is_flag=True, help="Count a borderline verdict as a failure.")
def command(
    answers: str, rubric: str, explain: bool, as_data: bool, min_score: str | None, min_grade: str | None, strict: bool
) -> int:
    """Score the answers in FILE (JSON or JSONL; - for standard input).

    Exit code: 0 all well; 1 a verdict 'fail', a failed gate, an incomplete scorecard or a limit not reached;
    2 bad input; 3 a fault of Evenhand itself.
    """
    chosen = with_environment(load_rubric(rubric), os.environ)
    limits = Limits(chosen, min_score, min_grade, strict)
    scores = _score(chosen, _read(answers, chosen))
    with while_read():
        _show(scores, explain, as_data)
        shortfalls = limits.shortfalls(scores)
        if shortfalls:
            click.echo("\n" + "\n".join(map(one_line, shortfalls)), err=as_data)
    return limits.exit_code(scores)


def _show(scores: Scores, explain: bool, as_data: bool) -> None:
    if as_data:
        tell_json(as_json(scores))
        return
    from evenhand.cli._scores_view import show_scores  # noqa: PLC0415

    show_scores(scores, explain=explain)


def _read(answers: str, rubric: Rubric) -> Outputs | Reviews:
    if answers != "-":
        return load_answers(Path(answers), rubric)
    return stdin_answers(sys.stdin.buffer if sys.stdin else None, rubric)


def _score(rubric: Rubric, answers: Outputs | Reviews) -> Scores:
    reviews = [entry for entry in answers if isinstance(entry, Review)]
    outputs = [entry for entry in answers if isinstance(entry, Answers)]
    return score_reviews(rubric, reviews) if reviews else score_outputs(rubric, outputs)
