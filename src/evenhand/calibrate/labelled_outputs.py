"""The labelled outputs of a run with the answers of people and judges, paired so that they can be measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.calibrate.jackknife import Floats
from evenhand.calibrate.labels import (
    SCORE_QUESTION,
    HumanLabelQuestion,
    Label,
    bind_labels_to_outputs,
    list_human_label_questions,
)
from evenhand.errors import Fault, InputError
from evenhand.runs.columns import RunTable
from evenhand.stats.cascades import weigh_drawn_samples

Integers = NDArray[np.int64]

PANEL_ANSWERER = "the panel"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledOutputs:
    """One place per labelled output in every array; NaN is what nobody said. `ids` are those of their samples.

    `people` holds a row for each rater, by question; `answers` what each judge said, and the panel where there are
    several. Repeats of an output are one: a person saw it once, so the mean over repeats is held against the label.
    """

    questions: tuple[HumanLabelQuestion, ...]
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
    void: tuple[Label, ...] = ()  # Left out: their output has changed since.
    unbound: int = 0  # Labels that do not say which text they are about.
    weight: Floats | None = None  # How many outputs of its variant each stands for; None where chances were equal.

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
        return (*self.judges, PANEL_ANSWERER) if len(self.judges) > 1 else self.judges

    @property
    def decider(self) -> str:
        """Whose answer decides: the panel's, or that of the only judge."""
        return PANEL_ANSWERER if len(self.judges) > 1 else self.judges[0]

    @property
    def overall(self) -> tuple[HumanLabelQuestion, ...]:
        """The questions that make up the overall figure: the criteria, or the score where only that was labelled."""
        criteria = tuple(one for one in self.questions if one.id != SCORE_QUESTION)
        return criteria or self.questions

    def mean(self, question: HumanLabelQuestion) -> Floats:
        """The mean over people of each output."""
        return mean_over_human_raters(self.people[question.id])

    def spread_over_samples(self, column: Floats, variant: str, samples: Sequence[str]) -> Floats:
        """A column of labelled outputs of one variant as one of samples; NaN where its output has no label."""
        places = {id: place for place, id in enumerate(samples)}
        found = np.full(len(samples), np.nan)
        for row in np.flatnonzero(self.variant == self.variants.index(variant)):
            found[places[self.ids[row]]] = column[row]
        return found


def collect_labelled_outputs(table: RunTable, labels: Sequence[Label]) -> LabelledOutputs:
    """The outputs that have a label, in the order of samples and variants; labels that are void are left out."""
    if not labels:
        raise InputError(Fault("no labels", "evenhand calibrate labels.jsonl RUN takes them in"))
    bound = bind_labels_to_outputs(table, labels)
    labels = bound.labels
    if not labels:
        what = f"every label is void: the outputs of run {table.run} are other ones than were labelled"
        raise InputError(Fault(what, "label its outputs: evenhand labels next RUN"))
    places = {id: place for place, id in enumerate(table.samples)}
    width = len(table.variants)
    at = [places[one.sample] * width + table.variants.index(one.variant) for one in labels]
    keys = np.unique(np.array(at, dtype=np.int64))
    outputs = HumanLabelledOutputColumns(table, keys)
    asked = list_human_label_questions(table)
    named = {one.criterion for one in labels}
    questions = tuple(one for id, one in asked.items() if id in named)
    raters = tuple(sorted({one.rater for one in labels}))
    answered = {judge for (judge, _), column in table.judgments.items() if np.isfinite(column).any()}
    listed = [name for name in table.frame.judges if name in answered]
    judges = (*listed, *sorted(answered.difference(listed)))  # In the order of the eval.
    people: dict[str, Floats] = {}
    row = {rater: place for place, rater in enumerate(raters)}
    for label, place in zip(labels, np.searchsorted(keys, at), strict=True):
        rows = people.setdefault(label.criterion, np.full((len(raters), len(keys)), np.nan))
        rows[row[label.rater], place] = float(label.score)
    return LabelledOutputs(
        questions=questions,
        judges=judges,
        raters=raters,
        variants=table.variants,
        ids=tuple(table.samples[place] for place in keys // width),
        variant=keys % width,
        cluster=outputs.clusters(),
        length=outputs.mean(table.length),
        people=people,
        answers={
            (who, one.id): outputs.mean(column)
            for one in questions
            for who, column in answers_by_calibrated_judge(table, judges, one.id).items()
        },
        seats={judge: outputs.mean(column) for judge, column in table.seats.items()},
        void=bound.void,
        unbound=bound.unbound,
        weight=_weigh_labelled_outputs(table, labels, keys, np.searchsorted(keys, at)),
    )


def _weigh_labelled_outputs(
    table: RunTable, labels: Sequence[Label], keys: Integers, places: Integers
) -> Floats | None:
    """Weights by the draws that chose the outputs; an output that no draw chose counts as drawn at random before."""
    if all(one.batch is None for one in labels):
        return None
    batch, chance = np.full(len(keys), np.iinfo(np.int64).max), np.ones(len(keys))
    for label, place in zip(labels, places, strict=True):
        if (label.batch or 0) < batch[place]:
            batch[place], chance[place] = label.batch or 0, float(label.chance or 1)
    weight = np.empty(len(keys))
    own = keys % len(table.variants)
    for variant in np.unique(own):
        rows = own == variant
        population = len(np.unique(table.sample[table.variant == variant]))
        weight[rows] = weigh_drawn_samples(batch[rows], chance[rows], max(population, int(rows.sum())))
    return weight


def answers_by_calibrated_judge(table: RunTable, judges: Sequence[str], question: str) -> dict[str, Floats]:
    """The column of each judge, and of the panel where there are several, on one question."""
    nobody = np.full(len(table.sample), np.nan)
    if question == SCORE_QUESTION:
        whole = table.score
        each = {judge: table.reviews.get(judge, whole if len(judges) == 1 else nobody) for judge in judges}
    else:
        whole = table.criteria[question]
        each = {judge: table.judgments.get((judge, question), nobody) for judge in judges}
    return {**each, PANEL_ANSWERER: whole} if len(judges) > 1 else each


def mean_over_human_raters(rows: Floats) -> Floats:
    """The mean of each column over those rows that have a number; NaN where none has."""
    there = np.isfinite(rows)
    counts = there.sum(axis=0)
    return np.where(counts > 0, np.where(there, rows, 0.0).sum(axis=0) / np.maximum(counts, 1), np.nan)


class HumanLabelledOutputColumns:
    """Columns of results turned into columns of outputs, repeats into their mean; `keys` rise, sample by variant."""

    def __init__(self, table: RunTable, keys: Integers) -> None:
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
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)

    def clusters(self) -> Integers:
        """The cluster of each output; an output that never came is one of its own sample's."""
        found = self._sample.copy()
        found[self._place] = self._cluster
        return found


def average_people_by_sample(table: RunTable, variant: int, column: Floats) -> Floats:
    """A column of results as one of samples, for one variant: the mean over repeats."""
    keys = np.arange(len(table.samples)) * len(table.variants) + variant
    return HumanLabelledOutputColumns(table, keys).mean(column)


HumanLabelQuestions = Sequence[HumanLabelQuestion]
AnswersByQuestion = Mapping[str, Floats]  # By question.


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanAnswerPairs:
    """Two numbers for each output that has both; those of one cluster are not independent."""

    x: Floats
    y: Floats
    place: Integers  # Of the output among the labelled ones.
    cluster: Integers

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.x)

    def round_to_levels(self) -> HumanAnswerPairs:
        """Both on whole levels, halves upwards."""
        x, y = (np.floor(one + 0.5) for one in (self.x, self.y))
        return HumanAnswerPairs(x=x, y=y, place=self.place, cluster=self.cluster)


def pair_judge_with_people_mean(
    labelled: LabelledOutputs, who: str, questions: HumanLabelQuestions
) -> HumanAnswerPairs:
    """A judge beside the mean of people."""
    sides = ({one.id: labelled.answers[who, one.id] for one in questions}, _mean_rater_answers(labelled, questions))
    return _join_human_answer_pairs(labelled, questions, [sides])


def pair_judge_with_people_median(
    labelled: LabelledOutputs, who: str, question: HumanLabelQuestion
) -> HumanAnswerPairs:
    """A judge beside the middle answer of people, on one question."""
    rows = labelled.people[question.id]
    middle = np.full(rows.shape[1], np.nan)
    there = np.isfinite(rows).any(axis=0)
    if there.any():
        middle[there] = np.nanmedian(rows[:, there], axis=0)
    sides = ({question.id: labelled.answers[who, question.id]}, {question.id: middle})
    return _join_human_answer_pairs(labelled, [question], [sides])


def pair_judge_with_each_rater(labelled: LabelledOutputs, who: str, questions: HumanLabelQuestions) -> HumanAnswerPairs:
    """A judge beside every single person."""
    said = {one.id: labelled.answers[who, one.id] for one in questions}
    sides = [(said, {one.id: labelled.people[one.id][row] for one in questions}) for row in range(len(labelled.raters))]
    return _join_human_answer_pairs(labelled, questions, sides)


def pair_raters_with_each_other(labelled: LabelledOutputs, questions: HumanLabelQuestions) -> HumanAnswerPairs:
    """Every person beside the mean of the others: the most that a judge can be asked for."""
    sides = [
        ({one.id: labelled.people[one.id][row] for one in questions}, _mean_rater_answers(labelled, questions, but=row))
        for row in range(len(labelled.raters))
    ]
    return _join_human_answer_pairs(labelled, questions, sides)


def _mean_rater_answers(
    labelled: LabelledOutputs, questions: HumanLabelQuestions, but: int | None = None
) -> AnswersByQuestion:
    rows = [row for row in range(len(labelled.raters)) if row != but]
    return {one.id: mean_over_human_raters(labelled.people[one.id][rows]) for one in questions}


def _join_human_answer_pairs(
    labelled: LabelledOutputs,
    questions: HumanLabelQuestions,
    sides: Sequence[tuple[AnswersByQuestion, AnswersByQuestion]],
) -> HumanAnswerPairs:
    columns = [_average_human_label_pairs(questions, *side) for side in sides]
    x, y = (np.concatenate([one[side] for one in columns]) for side in (0, 1))
    place = np.tile(np.arange(len(labelled.ids)), len(columns))
    kept = np.isfinite(x) & np.isfinite(y)
    place = place[kept]
    return HumanAnswerPairs(x=x[kept], y=y[kept], place=place, cluster=labelled.cluster[place])


def _average_human_label_pairs(
    questions: HumanLabelQuestions, first: AnswersByQuestion, second: AnswersByQuestion
) -> tuple[Floats, Floats]:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledCells:
    """One row per output and question; `unit` numbers the independent samples in the order of their ids.

    `guess` is what one would say without a judge: people's mean on that question over all other samples.
    """

    judges: tuple[str, ...]
    said: Floats  # Cells by judges, NaN where a judge is silent.
    people: Floats
    guess: Floats
    weight: Floats
    unit: Integers
    place: Integers  # Of the output among the labelled ones.
    panel: Floats  # What the run's own panel came to.

    @property
    def samples(self) -> int:
        """How many independent samples there are."""
        return int(self.unit.max()) + 1 if len(self.unit) else 0


def collect_labelled_cells(labelled: LabelledOutputs) -> LabelledCells:
    """The cells of all questions that make up the overall figure."""
    # Clusters are numbered by the first of their samples' ids: the order of samples in a run must not matter.
    first: dict[int, str] = {}
    for cluster, id in zip(labelled.cluster.tolist(), labelled.ids, strict=True):
        first[cluster] = min(id, first.get(cluster, id))
    number = {cluster: place for place, cluster in enumerate(sorted(first, key=lambda one: first[one]))}
    unit = np.array([number[cluster] for cluster in labelled.cluster.tolist()], dtype=np.int64)
    parts = [_collect_human_labelled_cells(labelled, question, unit) for question in labelled.overall]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return LabelledCells(judges=labelled.judges, **columns)


def _collect_human_labelled_cells(
    labelled: LabelledOutputs, question: HumanLabelQuestion, unit: Integers
) -> dict[str, Any]:
    people = labelled.mean(question)
    rows = np.flatnonzero(np.isfinite(people))
    said = np.stack([labelled.answers[judge, question.id][rows] for judge in labelled.judges], axis=1)
    panel = labelled.answers[labelled.answerers[-1], question.id][rows]
    said, people, panel = ((one - question.low) / question.span for one in (said, people[rows], panel))
    # The mean of all but the sample's own labels, so that a silent judge gains nothing from them.
    own = unit[rows]
    sums, others = np.bincount(own, weights=people), len(people) - np.bincount(own)[own]
    guess = np.where(others > 0, (people.sum() - sums[own]) / np.maximum(others, 1), 0.5)
    return {
        "said": said,
        "people": people,
        "guess": guess,
        "weight": np.full(len(rows), question.weight),
        "unit": own,
        "place": rows,
        "panel": panel,
    }
