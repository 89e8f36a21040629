"""The labelled outputs of a run, each with what people said of it and what judges did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.calibrate._labels import Label
from evenhand.calibrate._questions import SCORE, Question, questions_of
from evenhand.errors import Fault, InputError
from evenhand.runs import Table

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

PANEL = "the panel"


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """One place per labelled output in every array; NaN is what nobody said. `ids` are those of their samples.

    `people` holds a row for each rater, by question; `answers` what each judge said, and the panel where there are
    several. Repeats of an output are one: a person saw it once, so the mean over repeats is held against the label.
    """

    questions: tuple[Question, ...]
    judges: tuple[str, ...]
    raters: tuple[str, ...]
    variants: tuple[str, ...]
    ids: tuple[str, ...]
    variant: Integers
    cluster: Integers
    length: Floats
    people: Mapping[str, Floats]
    answers: Mapping[tuple[str, str], Floats]
    seats: Mapping[str, Floats]

    @property
    def samples(self) -> int:
        """How many independent samples have a label."""
        return len(np.unique(self.cluster))

    @property
    def labels(self) -> int:
        """How many labels there are."""
        return sum(int(np.isfinite(one).sum()) for one in self.people.values())

    @property
    def answerers(self) -> tuple[str, ...]:
        """Who is measured against people: every judge, and the panel where there are several."""
        return (*self.judges, PANEL) if len(self.judges) > 1 else self.judges

    @property
    def overall(self) -> tuple[Question, ...]:
        """The questions that make up the overall figure: the criteria, or the score where only that was labelled."""
        criteria = tuple(one for one in self.questions if one.id != SCORE)
        return criteria or self.questions

    def mean(self, question: Question) -> Floats:
        """The mean over people of each output."""
        return mean_of(self.people[question.id])


def labelled(table: Table, labels: Sequence[Label]) -> Labelled:
    """The outputs that have a label, in the order of samples and variants."""
    if not labels:
        raise InputError(Fault("no labels", "evenhand calibrate labels.jsonl RUN takes them in"))
    places = {id: place for place, id in enumerate(table.samples)}
    width = len(table.variants)
    at = [places[one.sample] * width + table.variants.index(one.variant) for one in labels]
    keys = np.unique(np.array(at, dtype=np.int64))
    outputs = Outputs(table, keys)
    asked = questions_of(table)
    named = {one.criterion for one in labels}
    questions = tuple(one for id, one in asked.items() if id in named)
    raters = tuple(sorted({one.rater for one in labels}))
    judges = judges_of(table)
    return Labelled(
        questions=questions,
        judges=judges,
        raters=raters,
        variants=table.variants,
        ids=tuple(table.samples[place] for place in keys // width),
        variant=keys % width,
        cluster=outputs.clusters(),
        length=outputs.mean(table.length),
        people=_people(labels, np.searchsorted(keys, at), len(keys), raters),
        answers={
            (who, one.id): outputs.mean(column)
            for one in questions
            for who, column in answers_in(table, judges, one.id).items()
        },
        seats={judge: outputs.mean(column) for judge, column in table.seats.items()},
    )


def answers_in(table: Table, judges: Sequence[str], question: str) -> dict[str, Floats]:
    """The column of each judge, and of the panel where there are several, on one question."""
    nobody = np.full(len(table.sample), np.nan)
    if question == SCORE:
        whole = table.score
        each = {judge: table.reviews.get(judge, whole if len(judges) == 1 else nobody) for judge in judges}
    else:
        whole = table.criteria[question]
        each = {judge: table.judgments.get((judge, question), nobody) for judge in judges}
    return {**each, PANEL: whole} if len(judges) > 1 else each


def mean_of(rows: Floats) -> Floats:
    """The mean of each column over those rows that have a number; NaN where none has."""
    there = np.isfinite(rows)
    counts = there.sum(axis=0)
    means: Floats = np.where(counts > 0, np.where(there, rows, 0.0).sum(axis=0) / np.maximum(counts, 1), np.nan)
    return means


def judges_of(table: Table) -> tuple[str, ...]:
    """Those that answered anything, in the order of the eval."""
    spoke = {judge for (judge, _), column in table.judgments.items() if np.isfinite(column).any()}
    named = [name for name in table.frame.judges if name in spoke]
    return (*named, *sorted(spoke.difference(named)))


class Outputs:
    """Columns of results turned into columns of outputs, repeats into their mean; `keys` rise, sample by variant."""

    def __init__(self, table: Table, keys: Integers) -> None:
        self._count = len(keys)
        own = table.sample * len(table.variants) + table.variant
        place = np.minimum(np.searchsorted(keys, own), self._count - 1)
        self._rows = np.flatnonzero(keys[place] == own)
        self._place = place[self._rows]
        self._cluster = table.cluster[self._rows]
        self._sample = keys // len(table.variants)

    def mean(self, column: Floats) -> Floats:
        """The mean over repeats."""
        values = column[self._rows]
        there = np.isfinite(values)
        place = self._place[there]
        counts = np.bincount(place, minlength=self._count)
        sums = np.bincount(place, weights=values[there], minlength=self._count)
        means: Floats = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
        return means

    def clusters(self) -> Integers:
        """The cluster of each output; an output that never came is one of its own sample's."""
        found = self._sample.copy()
        found[self._place] = self._cluster
        return found


def _people(labels: Sequence[Label], at: Integers, outputs: int, raters: tuple[str, ...]) -> dict[str, Floats]:
    row = {rater: place for place, rater in enumerate(raters)}
    people: dict[str, Floats] = {}
    for label, place in zip(labels, at, strict=True):
        rows = people.setdefault(label.criterion, np.full((len(raters), outputs), np.nan))
        rows[row[label.rater], place] = float(label.score)
    return people
