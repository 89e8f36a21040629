"""Answers beside what people said, ready to be measured: on one question, or over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.calibrate._labelled import Floats, Integers, Labelled, mean_of
from evenhand.calibrate._questions import Question

Questions = Sequence[Question]
Side = Mapping[str, Floats]  # By question.


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Two numbers for each output that has both; those of one cluster are not independent."""

    x: Floats
    y: Floats
    place: Integers  # Of the output among the labelled ones.
    cluster: Integers

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.x)

    def rounded(self) -> Pairs:
        """Both on whole levels, halves upwards."""
        x, y = (np.floor(one + 0.5) for one in (self.x, self.y))
        return Pairs(x=x, y=y, place=self.place, cluster=self.cluster)


def against_people(labelled: Labelled, who: str, questions: Questions) -> Pairs:
    """A judge beside the mean of people."""
    return _joined(labelled, questions, [(_said(labelled, who, questions), _people(labelled, questions))])


def against_middle(labelled: Labelled, who: str, question: Question) -> Pairs:
    """A judge beside the middle answer of people, on one question."""
    middle = {question.id: _median(labelled.people[question.id])}
    return _joined(labelled, [question], [(_said(labelled, who, [question]), middle)])


def against_each(labelled: Labelled, who: str, questions: Questions) -> Pairs:
    """A judge beside every single person."""
    said = _said(labelled, who, questions)
    persons = range(len(labelled.raters))
    return _joined(labelled, questions, [(said, _person(labelled, row, questions)) for row in persons])


def one_against_others(labelled: Labelled, questions: Questions) -> Pairs:
    """Every person beside the mean of the others: the most that a judge can be asked for."""
    persons = range(len(labelled.raters))
    return _joined(
        labelled,
        questions,
        [(_person(labelled, row, questions), _people(labelled, questions, but=row)) for row in persons],
    )


def _said(labelled: Labelled, who: str, questions: Questions) -> Side:
    return {one.id: labelled.answers[who, one.id] for one in questions}


def _person(labelled: Labelled, row: int, questions: Questions) -> Side:
    return {one.id: labelled.people[one.id][row] for one in questions}


def _people(labelled: Labelled, questions: Questions, but: int | None = None) -> Side:
    rows = [row for row in range(len(labelled.raters)) if row != but]
    return {one.id: mean_of(labelled.people[one.id][rows]) for one in questions}


def _median(rows: Floats) -> Floats:
    found = np.full(rows.shape[1], np.nan)
    there = np.isfinite(rows).any(axis=0)
    if there.any():
        found[there] = np.nanmedian(rows[:, there], axis=0)
    return found


def _joined(labelled: Labelled, questions: Questions, sides: Sequence[tuple[Side, Side]]) -> Pairs:
    columns = [_both(questions, *side) for side in sides]
    x, y = (np.concatenate([one[side] for one in columns]) for side in (0, 1))
    place = np.tile(np.arange(len(labelled.ids)), len(columns))
    kept = np.isfinite(x) & np.isfinite(y)
    place = place[kept]
    return Pairs(x=x[kept], y=y[kept], place=place, cluster=labelled.cluster[place])


def _both(questions: Questions, first: Side, second: Side) -> tuple[Floats, Floats]:
    """One question on its own scale; several as shares of their scales, by weight, over what both answered."""
    if len(questions) == 1:
        return first[questions[0].id], second[questions[0].id]
    sums = np.zeros((2, len(first[questions[0].id])))
    whole = np.zeros_like(sums[0])
    for one in questions:
        sides = (np.stack([first[one.id], second[one.id]]) - one.low) / one.span
        there = np.isfinite(sides).all(axis=0)
        whole += one.weight * there
        sums += np.where(there, one.weight * sides, 0.0)
    means = np.where(whole > 0, sums / np.where(whole > 0, whole, 1.0), np.nan)
    return means[0], means[1]
