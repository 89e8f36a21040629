"""What is fitted to people's labels: a map from each judge's score to their scale, means of variants, weights of
criteria.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from evenhand.calibrate.human_agreement import INTERVAL_LEVEL
from evenhand.calibrate.jackknife import Floats
from evenhand.calibrate.labelled_outputs import (
    PANEL_ANSWERER,
    HumanAnswerPairs,
    HumanLabelledOutputColumns,
    Integers,
    LabelledOutputs,
    answers_by_calibrated_judge,
    pair_judge_with_people_mean,
)
from evenhand.calibrate.labels import SCORE_QUESTION, HumanLabelQuestion, list_human_label_questions
from evenhand.calibrate.panel_recommendation import (
    SELECTION_ROUNDS,
    fit_judge_weights_to_people,
    split_labelled_samples_into_folds,
    sum_label_errors_by_sample,
)
from evenhand.errors import InputError
from evenhand.files.json_shape import json_key
from evenhand.runs.columns import RunTable
from evenhand.stats.means import MeanInterval, Powered, mean_interval, powered_mean
from evenhand.wording import format_too_few

MapKnots = tuple[tuple[float, float], ...]
MapKind = Literal["linear", "isotonic"]

LEAST_MAP_SAMPLES = 10
LEAST_ISOTONIC_SAMPLES = 50  # Samples; below, steps would follow single labels.
MAP_PRIOR_SAMPLES = 10  # Samples that speak for the judge as it is.


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationMap:
    """What people say where a judge says x; `before` and `after` are root mean squared errors on held-out samples.

    `gain` is how much the map lowers the squared error there. Without knots, `why` says what is wanting.
    """

    who: str = field(metadata=json_key("judge"))
    question: str
    kind: MapKind
    knots: MapKnots = ()
    before: float | None = field(default=None, metadata=json_key("error_before"))
    after: float | None = field(default=None, metadata=json_key("error_after"))
    gain: MeanInterval | None = None
    n: int
    samples: int
    why: str = ""

    @property
    def helps(self) -> bool:
        """Whether the error falls clearly."""
        return self.gain is not None and self.gain.low > 0

    def map_to_human_scale(self, scores: Floats) -> Floats:
        """The scores that people would give."""
        x, y = np.array(self.knots).T
        mapped: Floats = np.interp(scores, x, y)
        return mapped


def fit_calibration_maps(labelled: LabelledOutputs, rng: np.random.Generator) -> Iterator[CalibrationMap]:
    """A map for every judge and question."""
    for question in labelled.questions:
        for who in labelled.answerers:
            pairs = _order_human_label_pairs(pair_judge_with_people_mean(labelled, who, [question]), labelled)
            _, unit = np.unique(pairs.cluster, return_inverse=True)
            samples = int(unit.max()) + 1 if pairs.n else 0
            kind: MapKind = "isotonic" if samples >= LEAST_ISOTONIC_SAMPLES else "linear"
            if samples < LEAST_MAP_SAMPLES:
                why = format_too_few(samples, "labelled sample", LEAST_MAP_SAMPLES)
                yield CalibrationMap(who=who, question=question.id, kind=kind, n=pairs.n, samples=samples, why=why)
                continue
            mapped = np.empty_like(pairs.x)  # Each score through a map that was fitted without its sample.
            for held in split_labelled_samples_into_folds(np.unique(unit), rng):
                rows = np.isin(unit, held)
                x, y = np.array(fit_calibration_knots(pairs.x[~rows], pairs.y[~rows], kind, question)).T
                mapped[rows] = np.interp(pairs.x[rows], x, y)
            before, after = (one - pairs.y for one in (pairs.x, mapped))
            yield CalibrationMap(
                who=who,
                question=question.id,
                kind=kind,
                knots=fit_calibration_knots(pairs.x, pairs.y, kind, question),
                before=float(np.sqrt((before**2).mean())),
                after=float(np.sqrt((after**2).mean())),
                gain=mean_interval(before**2 - after**2, level=INTERVAL_LEVEL, clusters=unit.tolist()),
                n=pairs.n,
                samples=samples,
            )


def _order_human_label_pairs(pairs: HumanAnswerPairs, labelled: LabelledOutputs) -> HumanAnswerPairs:
    """By id, so that the folds do not depend on the order of samples; clusters numbered the same way."""
    ids = [labelled.ids[place] for place in pairs.place]
    order = sorted(range(pairs.n), key=lambda row: (ids[row], int(labelled.variant[pairs.place[row]])))
    first: dict[int, int] = {}
    cluster = [first.setdefault(int(pairs.cluster[row]), len(first)) for row in order]
    numbered = np.array(cluster, dtype=np.int64)
    return HumanAnswerPairs(x=pairs.x[order], y=pairs.y[order], place=pairs.place[order], cluster=numbered)


def fit_calibration_knots(x: Floats, y: Floats, kind: MapKind, question: HumanLabelQuestion) -> MapKnots:
    """The knots of a map; between them it is straight, beyond them level."""
    return _fit_isotonic_map_to_people(x, y) if kind == "isotonic" else _fit_linear_map_to_people(x, y, question)


def _fit_linear_map_to_people(x: Floats, y: Floats, question: HumanLabelQuestion) -> MapKnots:
    """A line, drawn towards the judge as it is by as many samples as PRIOR says; it never falls."""
    trust = len(x) / (len(x) + MAP_PRIOR_SAMPLES)
    centred = x - x.mean()
    squares = float(centred @ centred)
    slope = float(centred @ (y - x)) / squares if squares > 0 else 0.0
    slope = max(0.0, 1 + trust * slope)
    middle = x.mean() + trust * float((y - x).mean())
    ends = [middle + slope * (end - x.mean()) for end in (question.low, question.high)]
    if slope == 0:
        return tuple((end, _clamp_to_human_label_scale(question, middle)) for end in (question.low, question.high))
    crossed = [x.mean() + (end - middle) / slope for end in (question.low, question.high)]
    inner = [end for end in crossed if question.low < end < question.high]
    knots = [(question.low, ends[0]), *((end, middle + slope * (end - x.mean())) for end in inner)]
    return tuple(
        (float(at), _clamp_to_human_label_scale(question, to)) for at, to in (*knots, (question.high, ends[1]))
    )


def _clamp_to_human_label_scale(question: HumanLabelQuestion, score: float) -> float:
    return min(question.high, max(question.low, float(score)))


def _fit_isotonic_map_to_people(x: Floats, y: Floats) -> MapKnots:
    """Means of people at each score of the judge, neighbours joined until none falls (pool adjacent violators)."""
    at, place = np.unique(x, return_inverse=True)
    weight = np.bincount(place).astype(np.float64)
    pools: list[tuple[float, float, int]] = []  # Mean, weight, how many scores.
    for mean, many in zip(np.bincount(place, weights=y) / weight, weight, strict=True):
        pools.append((float(mean), float(many), 1))
        while len(pools) > 1 and pools[-2][0] >= pools[-1][0]:
            (low, light, few), (high, heavy, more) = pools[-2:]
            pools[-2:] = [((low * light + high * heavy) / (light + heavy), light + heavy, few + more)]
    knots, start = [], 0
    for mean, _, many in pools:  # The first and the last score of each pool: between them the map is level.
        knots += [(float(at[place]), mean) for place in dict.fromkeys((start, start + many - 1))]
        start += many
    return tuple(knots)


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanMean:
    """What people's mean over all outputs of a variant would be; `judged` is what the judges say it is.

    `silent` counts outputs without a judge's answer, which are left out. Without `powered`, why there is none.
    """

    variant: str
    question: str
    judged: float | None
    powered: Powered | None
    labelled: int
    silent: int
    why: str = ""


def estimate_human_means(table: RunTable, labelled: LabelledOutputs) -> Iterator[HumanMean]:
    """Every variant on every question, by the panel or the only judge."""
    for question in labelled.questions:
        yield from (_estimate_human_mean(table, labelled, question, number) for number in range(len(table.variants)))


def _estimate_human_mean(
    table: RunTable, labelled: LabelledOutputs, question: HumanLabelQuestion, variant: int
) -> HumanMean:
    own = np.unique(table.sample[table.variant == variant])
    outputs = HumanLabelledOutputColumns(table, own * len(table.variants) + variant)
    columns = answers_by_calibrated_judge(table, labelled.judges, question.id)
    judged = outputs.mean(columns[PANEL_ANSWERER] if PANEL_ANSWERER in columns else columns[labelled.judges[0]])
    means = labelled.mean(question)
    rows = np.flatnonzero((labelled.variant == variant) & np.isfinite(means))
    people = {labelled.ids[row]: float(means[row]) for row in rows}
    weight = {} if labelled.weight is None else {labelled.ids[row]: float(labelled.weight[row]) for row in rows}
    spoke = np.flatnonzero(np.isfinite(judged))
    known = [people.get(table.samples[place]) for place in own[spoke]]
    weights = [weight.get(table.samples[place], 1.0) for place in own[spoke]] if weight else None
    plain = HumanMean(
        variant=table.variants[variant],
        question=question.id,
        judged=float(judged[spoke].mean()) if len(spoke) else None,
        powered=None,
        labelled=sum(one is not None for one in known),
        silent=len(own) - len(spoke),
    )
    clusters, scale = outputs.clusters()[spoke].tolist(), (question.low, question.high)
    try:
        powered = powered_mean(judged[spoke], known, clusters=clusters, scale=scale, weights=weights)
        return replace(plain, powered=powered)
    except InputError as error:
        return replace(plain, why=error.faults[0].what)


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
    asked = list_human_label_questions(table)  # Not what a rubric lacks that the run was rescored by.
    weighed = [one for one in rubrics if len(one) > 1 and all(id in table.criteria and id in asked for id in one)]
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
