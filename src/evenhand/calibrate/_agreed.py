"""How far each judge, and the panel, agree with people; how far people agree among themselves, beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evenhand.calibrate._figures import Figure, alpha, kappa, pearson, spearman
from evenhand.calibrate._labelled import Labelled
from evenhand.calibrate._pairs import Questions, against_each, against_middle, against_people, one_against_others
from evenhand.calibrate._questions import OVERALL, Question

MOST_LEVELS = 11
BANDS = 5  # Of a scale with more levels than can be shown.


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """One judge against people on one question, or over all; `kappa` where the scale is of whole levels."""

    who: str
    question: str
    alpha: Figure
    each: Figure  # Against single persons instead of their mean.
    kappa: Figure | None
    pearson: Figure
    spearman: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """People against people on one question: each against the mean of the others."""

    question: str
    alpha: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """How often a judge gave one level (row) where people's middle answer was another (column)."""

    who: str
    question: str
    levels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


def agreements(labelled: Labelled) -> Iterator[Agreed]:
    """Every judge on every question, the overall figure first where there are several questions."""
    for name, questions in chapters(labelled):
        yield from (_agreed(labelled, who, name, questions) for who in labelled.answerers)


def ceilings(labelled: Labelled) -> Iterator[Ceiling]:
    """People among themselves, question by question."""
    for name, questions in chapters(labelled):
        yield Ceiling(question=name, alpha=alpha(one_against_others(labelled, questions)))


def confusions(labelled: Labelled) -> Iterator[Confusion]:
    """A table of levels for every judge and question."""
    for question in labelled.questions:
        yield from (_confusion(labelled, who, question) for who in labelled.answerers)


def chapters(labelled: Labelled) -> Iterator[tuple[str, Questions]]:
    """All questions together where there are several, then each alone."""
    if len(labelled.overall) > 1:
        yield OVERALL, labelled.overall
    yield from ((one.id, (one,)) for one in labelled.questions)


def _agreed(labelled: Labelled, who: str, name: str, questions: Questions) -> Agreed:
    pairs = against_people(labelled, who, questions)
    whole = len(questions) == 1 and questions[0].whole
    return Agreed(
        who=who,
        question=name,
        alpha=alpha(pairs),
        each=alpha(against_each(labelled, who, questions)),
        kappa=kappa(against_middle(labelled, who, questions[0]).rounded()) if whole else None,
        pearson=pearson(pairs),
        spearman=spearman(pairs),
    )


def _confusion(labelled: Labelled, who: str, question: Question) -> Confusion:
    pairs = against_middle(labelled, who, question)
    levels, edges = _levels(question)
    rows, columns = (np.searchsorted(edges, values, side="right") for values in (pairs.x, pairs.y))
    counts = np.zeros((len(levels), len(levels)), dtype=np.int64)
    np.add.at(counts, (rows, columns), 1)
    return Confusion(who=who, question=question.id, levels=levels, counts=tuple(map(tuple, counts.tolist())))


def _levels(question: Question) -> tuple[tuple[str, ...], list[float]]:
    """The levels of a scale with the edges between them; a scale of many levels in bands."""
    whole = question.low.is_integer() and question.high.is_integer()
    if whole and question.whole | (question.span > 1) and question.span < MOST_LEVELS:
        levels = range(int(question.low), int(question.high) + 1)
        return tuple(map(str, levels)), [level + 0.5 for level in levels[:-1]]
    edges = [question.low + question.span * band / BANDS for band in range(BANDS + 1)]
    return tuple(f"{low:g}–{high:g}" for low, high in pairwise(edges)), edges[1:-1]
