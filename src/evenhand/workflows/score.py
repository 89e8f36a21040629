"""Score answers under a rubric: files, plain data or values in, scorecards out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO

from evenhand.errors import Fault, InputError, suggest_known_word_in_error
from evenhand.files.answers import decode_answers_json, load_answers_json_file, read_answers_json_stream
from evenhand.files.methods import override_rubric_file_fields
from evenhand.files.rubrics import load_rubric
from evenhand.model.rubric import Rubric
from evenhand.model.scorecard import Answers, Review, Scorecard, Scores
from evenhand.scoring.scores import compute_scorecards_and_ranks, score_reviews
from evenhand.wording import format_fraction

__all__ = ["ScoredFile", "UserScoreLimits", "load_rubric", "score", "score_file"]


def score(
    rubric: Rubric | str | Path | Mapping[str, object],
    answers: str | Path | Mapping[str, object] | Sequence[Mapping[str, object] | Answers | Review],
) -> Scores:
    """Score answers (a file, plain data or values) under a rubric (a value, a name, a file or plain data)."""
    known = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    read: Sequence[object]
    if isinstance(answers, (str, Path)):
        read = load_answers_json_file(Path(answers), known)
    elif isinstance(answers, Sequence) and any(isinstance(entry, (Answers, Review)) for entry in answers):
        if not all(isinstance(entry, (Answers, Review)) for entry in answers):
            raise InputError("answers are either values or plain data, not both in one list")
        read = answers
    else:
        read = decode_answers_json(list(answers) if isinstance(answers, Sequence) else answers, known)
    return _score_user_answers(known, read)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredFile:
    """The scores of a file of answers, and how they stand against what was asked for."""

    scores: Scores
    shortfalls: tuple[str, ...]
    exit_code: int


def score_file(rubric: str, answers: str, *, limits: UserScoreLimits, stdin: BinaryIO | None = None) -> ScoredFile:
    """Score the answers in a file, or on standard input ("-"). Settings in the environment override the rubric."""
    known = override_rubric_file_fields(load_rubric(rubric), os.environ)
    limits.refuse_unknown_grade(known)
    read = read_answers_json_stream(stdin, known) if answers == "-" else load_answers_json_file(Path(answers), known)
    scores = _score_user_answers(known, read)
    return ScoredFile(scores=scores, shortfalls=limits.list_shortfalls(scores), exit_code=limits.exit_code(scores))


def _score_user_answers(rubric: Rubric, entries: Sequence[object]) -> Scores:
    reviews = [entry for entry in entries if isinstance(entry, Review)]
    outputs = [entry for entry in entries if isinstance(entry, Answers)]
    return score_reviews(rubric, reviews) if reviews else compute_scorecards_and_ranks(rubric, outputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserScoreLimits:
    """What scores must reach for exit code 0, beyond gates and verdicts."""

    least: Fraction | None = None
    grade: str | None = None
    strict: bool = False  # A borderline verdict is a failure.

    def refuse_unknown_grade(self, rubric: Rubric) -> None:
        """A grade that the rubric never gives cannot be reached."""
        grades = _list_user_rubric_grades(rubric)
        if self.grade is not None and self.grade not in grades:
            hint = (
                suggest_known_word_in_error(self.grade, grades)
                or f"{rubric.method.name} gives no grades; use --min-score"
            )
            raise InputError(Fault(f"{self.grade!r} is not a grade", hint, where="--min-grade"))

    def list_shortfalls(self, scores: Scores) -> tuple[str, ...]:
        """A sentence for each scorecard below a limit that was asked for."""
        grades = _list_user_rubric_grades(scores.rubric)
        return tuple(why for card in scores.scorecards if (why := self._describe_shortfall(card, grades)))

    def exit_code(self, scores: Scores) -> int:
        """1 where anything failed or is incomplete."""
        bad = {"fail", "incomplete"} | ({"borderline"} if self.strict else set())
        failed = any(card.verdict in bad or card.gates_failed for card in scores.scorecards)
        return 1 if failed or not scores.scorecards or self.list_shortfalls(scores) else 0

    def _describe_shortfall(self, card: Scorecard, grades: Sequence[str]) -> str | None:
        if card.exact is None:
            return None
        if self.least is not None and card.exact < self.least:
            shown = format_fraction(card.exact, card.decimals)
            exact = format_fraction(card.exact, beside=[self.least])
            shown = f"{shown} ({exact})" if Fraction(shown) >= self.least else shown
            return f"{card.id}: {shown} is below --min-score {format_fraction(self.least)}"
        if self.grade is not None and (card.grade is None or grades.index(card.grade) > grades.index(self.grade)):
            return f"{card.id}: {card.grade or 'no grade'} is below --min-grade {self.grade}"
        return None


def _list_user_rubric_grades(rubric: Rubric) -> list[str]:
    return [grade.grade for grade in rubric.method.grades]
