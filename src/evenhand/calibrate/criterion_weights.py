"""Weights of criteria fitted to what people say of whole outputs: a suggestion with its cross-validated gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from evenhand.calibrate.jackknife import Floats
from evenhand.calibrate.labelled_outputs import HumanLabelledOutputColumns, Integers, LabelledOutputs
from evenhand.calibrate.labels import SCORE_QUESTION, list_human_label_questions
from evenhand.calibrate.panel_candidates import fit_judge_weights_to_people
from evenhand.calibrate.panel_recommendation import (
    SELECTION_ROUNDS,
    split_labelled_samples_into_folds,
    sum_label_errors_by_sample,
)
from evenhand.files.json_shape import json_key
from evenhand.runs.columns import RunTable
from evenhand.stats.means import MeanInterval, mean_interval
from evenhand.wording import format_too_few

LEAST_SAMPLES, LEAST_SAMPLES_PER_CRITERION = 20, 5
WEIGHT_PRIOR_SAMPLES = 20  # Fitted weights are drawn towards the present ones by as many samples.
_FIT_SHRINKAGE = 0.1
_LEAST_WEIGHT = 0.01  # A rubric refuses a weight of 0.

CriterionWeights = Mapping[str, float]  # By criterion, as tables name it.


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanFittedWeights:
    """The weights of a rubric as they are and as people's scores suggest, each as a share of the whole.

    Errors are those on samples that the weights were not fitted on, as a share of the scale, with the level of people
    and judges made equal; `gain` is how much lower the squared error is.
    """

    now: CriterionWeights
    suggested: CriterionWeights
    error_now: float
    error: float
    gain: MeanInterval
    samples: int

    @property
    def helps(self) -> bool:
        """Whether the interval of the gain leaves out 0."""
        return self.gain.low > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NoHumanFittedWeights:
    """No weights, and why; `more` samples would have to be labelled."""

    why: str
    more: int = field(default=0, metadata=json_key("more_samples"))


def suggest_weights_from_human_labels(
    table: RunTable, labelled: LabelledOutputs, rubrics: Sequence[CriterionWeights], rng: np.random.Generator
) -> HumanFittedWeights | NoHumanFittedWeights:
    """Weights for that of the rubrics which most labelled outputs were judged by."""
    weighed = [one for one in rubrics if len(one) > 1 and all(id in table.criteria for id in one)]
    if not weighed:
        return NoHumanFittedWeights(why="no rubric has two criteria or more in one list: there are no weights to fit")
    if SCORE_QUESTION not in labelled.people:
        needed = _count_labelled_samples_to_fit(weighed[0])
        why = f"nobody labelled whole outputs: add labels with the criterion {SCORE_QUESTION!r} on {needed} samples"
        return NoHumanFittedWeights(why=why)
    cells = max((_collect_labelled_cells(table, labelled, one) for one in weighed), key=lambda one: len(one.people))
    needed = _count_labelled_samples_to_fit(cells.weights)
    if cells.samples < needed:
        why = format_too_few(cells.samples, "sample", needed, more="with a labelled score")
        return NoHumanFittedWeights(why=why, more=needed - cells.samples)
    if np.ptp(cells.people) == 0:
        return NoHumanFittedWeights(why="people gave the same score throughout: any weights fit that")
    now = np.array(list(cells.weights.values()))
    errors = np.zeros((2, len(cells.people)))
    for _ in range(SELECTION_ROUNDS):
        for held in split_labelled_samples_into_folds(np.arange(cells.samples), rng):
            rows = np.isin(cells.unit, held)
            errors += [cells.squared_errors(weights, rows) for weights in (now, _fit_weights_to_people(cells, ~rows))]
    outputs = SELECTION_ROUNDS * len(cells.people) / cells.samples
    before, after = (sum_label_errors_by_sample(one, cells.unit) / outputs for one in errors)
    suggested = _round_weights_fitted_to_people(_fit_weights_to_people(cells, np.ones(len(cells.people), dtype=bool)))
    return HumanFittedWeights(
        now=dict(cells.weights),
        suggested=dict(zip(cells.weights, suggested.tolist(), strict=True)),
        error_now=float(np.sqrt(before.mean())),
        error=float(np.sqrt(after.mean())),
        gain=mean_interval(before - after),
        samples=cells.samples,
    )


def _count_labelled_samples_to_fit(weights: CriterionWeights) -> int:
    return max(LEAST_SAMPLES, LEAST_SAMPLES_PER_CRITERION * len(weights))


@dataclass(frozen=True, slots=True, kw_only=True)
class _HumanLabelledCells:
    """One row per output that has an answer on every criterion and a score by people, all from 0 to 1."""

    weights: CriterionWeights
    said: Floats  # Outputs by criteria.
    people: Floats
    unit: Integers

    @property
    def samples(self) -> int:
        return int(self.unit.max()) + 1 if len(self.unit) else 0

    def squared_errors(self, weights: Floats, held: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Floats:
        """Of held-out rows, 0 for the others: the level of people and judges is taken from those others."""
        level = self.people[~held].mean() - (self.said[~held] @ weights).mean()
        errors: Floats = np.where(held, (self.said @ weights + level - self.people) ** 2, 0.0)
        return errors


def _collect_labelled_cells(
    table: RunTable, labelled: LabelledOutputs, weights: CriterionWeights
) -> _HumanLabelledCells:
    questions = list_human_label_questions(table)
    places = {id: place for place, id in enumerate(table.samples)}
    keys = np.array([places[id] for id in labelled.ids], dtype=np.int64) * len(table.variants) + labelled.variant
    outputs = HumanLabelledOutputColumns(table, keys)
    columns = [(outputs.mean(table.criteria[id]) - questions[id].low) / questions[id].span for id in weights]
    score = questions[SCORE_QUESTION]
    people = (labelled.mean(score) - score.low) / score.span
    whole = np.flatnonzero(np.isfinite(people) & np.all(np.isfinite(columns), axis=0))
    # By id, so that the folds do not depend on the order of samples.
    rows = sorted(whole.tolist(), key=lambda row: (labelled.ids[row], int(labelled.variant[row])))
    first: dict[int, int] = {}
    unit = [first.setdefault(int(labelled.cluster[row]), len(first)) for row in rows]
    total = sum(weights.values())
    return _HumanLabelledCells(
        weights={id: weight / total for id, weight in weights.items()},
        said=np.stack(columns, axis=1)[rows],
        people=people[rows],
        unit=np.array(unit, dtype=np.int64),
    )


def _fit_weights_to_people(cells: _HumanLabelledCells, rows: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Floats:
    """The weights that err least on some rows once levels are equal, drawn towards the present ones."""
    said, people = cells.said[rows], cells.people[rows]
    best = fit_judge_weights_to_people(
        said - said.mean(axis=0), people - people.mean(), np.ones(len(people)), _FIT_SHRINKAGE
    )
    samples = len(np.unique(cells.unit[rows]))
    trust = samples / (samples + WEIGHT_PRIOR_SAMPLES)
    drawn: Floats = trust * best + (1 - trust) * np.array(list(cells.weights.values()))
    return drawn


def _round_weights_fitted_to_people(weights: Floats) -> Floats:
    """In hundredths that sum to 1, none of them 0: what a file can say."""
    hundredths = np.maximum(np.floor(weights * 100), 100 * _LEAST_WEIGHT)
    left = round(100 - hundredths.sum())
    order = np.argsort(hundredths - weights * 100, kind="stable")[:: 1 if left > 0 else -1]
    for place in order[: abs(left)]:
        hundredths[place] += np.sign(left)
    rounded: Floats = hundredths / 100
    return rounded
