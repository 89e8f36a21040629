"""Scores on people's scale: a monotone map from each judge's score, and prediction-powered means of variants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from evenhand.calibrate.human_agreement import INTERVAL_LEVEL
from evenhand.calibrate.jackknife import Floats
from evenhand.calibrate.labelled_outputs import (
    PANEL_ANSWERER,
    HumanAnswerPairs,
    HumanLabelledOutputColumns,
    LabelledOutputs,
    answers_by_calibrated_judge,
    pair_judge_with_people_mean,
)
from evenhand.calibrate.labels import HumanLabelQuestion
from evenhand.calibrate.panel_recommendation import split_labelled_samples_into_folds
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
