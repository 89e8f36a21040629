"""Score answers under a rubric: files, plain data or values in, scorecards out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from evenhand.errors import Fault, InputError, suggest_close_word_in_error
from evenhand.files.answers import (
    STANDARD_INPUT,
    TOP_FIELDS,
    OutputAnswers,
    ReviewAnswers,
    decode_answers_json,
    parse_answers_json_text,
    read_answers_file_stream,
    read_answers_file_text,
)
from evenhand.files.methods import override_rubric_file_fields
from evenhand.files.rubrics import load_rubric
from evenhand.judging.reading.reply_text import scan_json_values_in_reply
from evenhand.model.rubric import Rubric
from evenhand.model.scorecard import Answers, Review, Scorecard, Scores
from evenhand.scoring.scores import compute_scorecards_and_ranks, score_reviews
from evenhand.scoring.scores_json import scores_to_json
from evenhand.wording import format_fraction

if TYPE_CHECKING:
    from evenhand.workflows.stores import StoreLike
    from evenhand.workflows.subjects import SubjectEvaluation

__all__ = ["ScoredFile", "UserScoreLimits", "load_rubric", "score", "score_file"]


def score(
    rubric: Rubric | str | Path | Mapping[str, object],
    answers: str | Path | Mapping[str, object] | Sequence[Mapping[str, object] | Answers | Review],
) -> Scores:
    """Score answers (a file, a text, plain data or values) under a rubric (a value, a name, a file or plain data).

    A string is a text where it has several lines or begins like JSON, and else the name of a file.
    """
    known = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    read: Sequence[object]
    if isinstance(answers, str) and ("\n" in answers or answers.lstrip()[:1] in ("{", "[")):
        read = _read_user_answers(answers, known, "answers")
    elif isinstance(answers, (str, Path)):
        read = _read_user_answers(read_answers_file_text(Path(answers)), known, str(answers))
    elif isinstance(answers, Sequence) and any(isinstance(entry, (Answers, Review)) for entry in answers):
        if not all(isinstance(entry, (Answers, Review)) for entry in answers):
            raise InputError("answers are either values or plain data, not both in one list")
        read = answers
    else:
        read = decode_answers_json(list(answers) if isinstance(answers, Sequence) else answers, known)
    return _score_user_answers(known, read)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredFile:
    """The scores of a file of answers, how they stand against what was asked for, and what was stored of them."""

    scores: Scores
    shortfalls: tuple[str, ...]
    exit_code: int
    evaluation: SubjectEvaluation | None = None
    ignored: tuple[str, ...] = ()  # Ids in the file that the rubric does not have: what they say does not count.

    def to_json(self) -> dict[str, object]:
        """The stable JSON; with a subject also its history."""
        return {**scores_to_json(self.scores), **(self.evaluation.history_to_json() if self.evaluation else {})}


def score_file(
    rubric: str,
    answers: str,
    *,
    limits: UserScoreLimits,
    stdin: BinaryIO | None = None,
    subject: str | None = None,
    store: StoreLike = None,
) -> ScoredFile:
    """Score the answers in a file, or on standard input ("-"). Settings in the environment override the rubric.

    With a subject they must be of one output: its evaluation is stored, and compared with those before it.
    """
    known = override_rubric_file_fields(load_rubric(rubric), os.environ)
    limits.refuse_unknown_grade(known)
    piped = answers == "-"
    text = read_answers_file_stream(stdin) if piped else read_answers_file_text(Path(answers))
    read = _read_user_answers(text, known, STANDARD_INPUT if piped else answers)
    scores = _score_user_answers(known, read)
    evaluation = None
    if subject is not None:
        from evenhand.workflows.subjects import store_subject_evaluation  # A store takes as long to load as all else.

        evaluation = store_subject_evaluation(store, subject, scores)
    # What such a flag would take off is not known: the score may be too high, so the output does not pass.
    unknown = [
        f"{one.id}: found the red flag {id!r}, which the rubric does not have"
        for one in _list_user_outputs(read)
        for id in one.unknown_red_flags
    ]
    return ScoredFile(
        scores=scores,
        shortfalls=(*limits.list_shortfalls(scores), *unknown),
        exit_code=1 if unknown else limits.exit_code(scores),
        evaluation=evaluation,
        ignored=tuple(f"{one.id}: {note}" for one in _list_user_outputs(read) for note in one.ignored),
    )


def _list_user_outputs(read: OutputAnswers | ReviewAnswers) -> list[Answers]:
    return [one for entry in read for one in (entry.outputs if isinstance(entry, Review) else (entry,))]


ANSWER_FIELDS = frozenset((*TOP_FIELDS, "scores", "holistic"))
LONGEST_REPLY = 1_000_000  # A longer text is no reply but a file of another kind, which is refused at once.


def _read_user_answers(text: str, rubric: Rubric, where: str) -> OutputAnswers | ReviewAnswers:
    """Answers as JSON or JSONL; in a reviewer's whole reply they are its last block of JSON that holds answers."""
    if len(text) <= LONGEST_REPLY and text.strip() and text.lstrip()[0] not in "{[":
        blocks = [
            one for one in scan_json_values_in_reply(text).values if one.complete and _holds_user_answers(one.data)
        ]
        end = blocks[-1].end if blocks else 0
        start = end
        for block in reversed(blocks):
            if text[block.end : start].strip():
                break
            start = block.start
        if end:
            text = "\n" * text.count("\n", 0, start) + text[start:end]  # Faults keep their lines.
    return parse_answers_json_text(text, rubric, where)


def _holds_user_answers(data: object) -> bool:
    first = data[0] if isinstance(data, list) and data else data
    return isinstance(first, Mapping) and not ANSWER_FIELDS.isdisjoint(first)


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
            known = f"from best to worst: {', '.join(grades)}" if grades else ""
            none = f"{rubric.method.name} gives no grades; use --min-score"
            hint = suggest_close_word_in_error(self.grade, grades) or known or none
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
