"""The two calls most people need from Python: load a rubric, score answers with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from evenhand.loading import load_rubric, read_answers
from evenhand.model import Answers, Review, Rubric, Scores
from evenhand.scoring import score_outputs, score_reviews

__all__ = ["load_rubric", "score"]


def score(
    rubric: Rubric | str | Path | Mapping[str, object],
    answers: Mapping[str, object] | Sequence[Mapping[str, object]] | Sequence[Answers] | Sequence[Review],
) -> Scores:
    """Score answers, given as in an answers file or as values, under a rubric, its name, its file or its data."""
    known = rubric if isinstance(rubric, Rubric) else load_rubric(rubric)
    given = [entry for entry in answers if isinstance(entry, Answers)]
    reviews = [entry for entry in answers if isinstance(entry, Review)]
    if not given and not reviews:
        read = read_answers(list(answers) if isinstance(answers, (list, tuple)) else answers, known)
        given = [entry for entry in read if isinstance(entry, Answers)]
        reviews = [entry for entry in read if isinstance(entry, Review)]
    return score_reviews(known, reviews) if reviews else score_outputs(known, given)
