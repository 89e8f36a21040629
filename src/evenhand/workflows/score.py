"""Score answers under a rubric: files, plain data or values in, scorecards out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from evenhand.errors import InputError
from evenhand.files.answers import load_answers, read_answers
from evenhand.files.rubrics import load_rubric
from evenhand.model.rubric import Rubric
from evenhand.model.scorecard import Answers, Review, Scores
from evenhand.scoring.scores import score_outputs, score_reviews

__all__ = ["load_rubric", "score"]


def score(
    rubric: Rubric | str | Path | Mapping[str, object],
    answers: str | Path | Mapping[str, object] | Sequence[Mapping[str, object] | Answers | Review],
) -> Scores:
    """Score answers (a file, plain data or values) under a rubric (a value, a name, a file or plain data)."""
    known = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    read: Sequence[object]
    if isinstance(answers, (str, Path)):
        read = load_answers(Path(answers), known)
    elif isinstance(answers, Sequence) and any(isinstance(entry, (Answers, Review)) for entry in answers):
        if not all(isinstance(entry, (Answers, Review)) for entry in answers):
            raise InputError("answers are either values or plain data, not both in one list")
        read = answers
    else:
        read = read_answers(list(answers) if isinstance(answers, Sequence) else answers, known)
    reviews = [entry for entry in read if isinstance(entry, Review)]
    outputs = [entry for entry in read if isinstance(entry, Answers)]
    return score_reviews(known, reviews) if reviews else score_outputs(known, outputs)
