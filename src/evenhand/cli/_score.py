"""evenhand score: answers and a rubric to scores, decisions, a ranking, and why."""

from __future__ import annotations

import json
import os
import sys
from fractions import Fraction
from pathlib import Path

import click

from evenhand.cli._text import clean_json, one_line, while_read
from evenhand.errors import Fault, InputError, nearest
from evenhand.loading import Outputs, Reviews, load_answers, load_rubric, number_from, stdin_answers, with_environment
from evenhand.model import Answers, Review, Rubric, Scorecard, Scores, written
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
        plain = "utf" not in (getattr(sys.stdout, "encoding", None) or "utf").lower()
        click.echo(clean_json(json.dumps(as_json(scores), ensure_ascii=plain, indent=2)))
        return
    from evenhand.cli._scores_view import show_scores  # noqa: PLC0415

    show_scores(scores, explain=explain)


class Limits:
    """What must be reached for exit code 0, beyond gates and verdicts."""

    def __init__(self, rubric: Rubric, min_score: str | None, min_grade: str | None, strict: bool) -> None:
        self.strict = strict
        self.least: Fraction | None = None
        self.grades = [grade.grade for grade in rubric.method.grades]
        self.grade = min_grade
        if min_score is not None:
            self.least = _number(min_score)
        if min_grade is not None and min_grade not in self.grades:
            hint = nearest(min_grade, self.grades) or f"{rubric.method.name} gives no grades; use --min-score"
            raise InputError(Fault(f"{min_grade!r} is not a grade", hint, where="--min-grade"))

    def shortfalls(self, scores: Scores) -> list[str]:
        """A sentence for each scorecard below a limit that was asked for."""
        return [why for card in scores.scorecards if (why := self._shortfall(card))]

    def exit_code(self, scores: Scores) -> int:
        """1 where anything failed or is incomplete."""
        bad = {"fail", "incomplete"} | ({"borderline"} if self.strict else set())
        failed = any(card.verdict in bad or card.gates_failed for card in scores.scorecards)
        return 1 if failed or not scores.scorecards or self.shortfalls(scores) else 0

    def _shortfall(self, card: Scorecard) -> str | None:
        if card.exact is None:
            return None
        if self.least is not None and card.exact < self.least:
            shown = written(card.exact, card.decimals)
            shown = f"{shown} ({written(card.exact)})" if Fraction(shown) >= self.least else shown
            return f"{card.id}: {shown} is below --min-score {written(self.least)}"
        if self.grade is not None and (
            card.grade is None or self.grades.index(card.grade) > self.grades.index(self.grade)
        ):
            return f"{card.id}: {card.grade or 'no grade'} is below --min-grade {self.grade}"
        return None


def _number(text: str) -> Fraction:
    value = number_from(text)
    if isinstance(value, str):
        raise InputError(Fault(value, "as in 7.5 or 2/3", where="--min-score"))
    return value


def _read(answers: str, rubric: Rubric) -> Outputs | Reviews:
    if answers != "-":
        return load_answers(Path(answers), rubric)
    return stdin_answers(sys.stdin.buffer if sys.stdin else None, rubric)


def _score(rubric: Rubric, answers: Outputs | Reviews) -> Scores:
    reviews = [entry for entry in answers if isinstance(entry, Review)]
    outputs = [entry for entry in answers if isinstance(entry, Answers)]
    return score_reviews(rubric, reviews) if reviews else score_outputs(rubric, outputs)
