"""The two calls most people need from Python: load a rubric, score answers with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from evenhand.errors import InputError
from evenhand.loading import load_answers, load_rubric, read_answers
from evenhand.model import Answers, Review, Rubric, Scores
from evenhand.scoring import score_outputs, score_reviews

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
