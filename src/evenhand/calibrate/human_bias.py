"""In which direction a judge errs against people: in general, by length, by position, towards its own model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.calibrate.audits.judge_bias import identify_audited_judge_maker
from evenhand.calibrate.human_agreement import INTERVAL_LEVEL, group_human_label_questions
from evenhand.calibrate.jackknife import Floats
from evenhand.calibrate.labelled_outputs import (
    PANEL_ANSWERER,
    HumanAnswerPairs,
    Integers,
    LabelledOutputs,
    pair_judge_with_people_mean,
)
from evenhand.errors import InputError
from evenhand.files.json_shape import json_key
from evenhand.stats.means import mean_interval
from evenhand.stats.regression import length_bias
from evenhand.wording import format_too_few

BiasKind = Literal["harshness", "length", "position", "self-preference"]
LEAST_BIAS_SAMPLES = 5  # Samples below which nothing is said.


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeBiasAgainstPeople:
    """The judge's error, judge minus people, and what it goes with; without an estimate, why it is not known.

    `harshness` is the mean error; `length` how it grows with 100 characters; `position` how much higher it is in the
    first seat; `self-preference` how much higher it is for outputs of the judge's own model.
    """

    who: str = field(metadata=json_key("judge"))
    kind: BiasKind
    question: str
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = INTERVAL_LEVEL
    n: int = 0
    method: str = ""
    why: str = ""

    @property
    def clear(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


def measure_human_biases(labelled: LabelledOutputs, models: Mapping[str, str]) -> Iterator[JudgeBiasAgainstPeople]:
    """All that is known of every judge, question by question; `models` names who made a variant's outputs."""
    for name, questions in group_human_label_questions(labelled):
        for who in labelled.answerers:
            pairs = pair_judge_with_people_mean(labelled, who, questions)
            harshness = JudgeBiasAgainstPeople(kind="harshness", who=who, question=name)
            yield _estimate_judge_error_against_people(pairs.x - pairs.y, pairs.cluster, harshness)
            yield _measure_human_length_bias(labelled, pairs, who, name)
            if who != PANEL_ANSWERER:
                yield _measure_human_position_bias(labelled, pairs, who, name)
                yield _measure_human_self_preference(labelled, pairs, who, name, models)


def _measure_human_length_bias(
    labelled: LabelledOutputs, pairs: HumanAnswerPairs, who: str, name: str
) -> JudgeBiasAgainstPeople:
    """No need to stay within samples: what people said of an output is taken off already."""
    plain = JudgeBiasAgainstPeople(kind="length", who=who, question=name)
    length = labelled.length[pairs.place]
    there = np.isfinite(length)
    try:
        found = length_bias((pairs.x - pairs.y)[there], length[there], clusters=pairs.cluster[there].tolist())
    except InputError as error:
        return replace(plain, n=int(there.sum()), why=error.faults[0].what)
    return replace(plain, estimate=found.slope, low=found.low, high=found.high, n=found.outputs, method=found.method)


def _measure_human_position_bias(
    labelled: LabelledOutputs, pairs: HumanAnswerPairs, who: str, name: str
) -> JudgeBiasAgainstPeople:
    plain = JudgeBiasAgainstPeople(kind="position", who=who, question=name)
    if who not in labelled.seats:
        return replace(plain, n=pairs.n, why="the judge was shown one output at a time")
    seats = labelled.seats[who][pairs.place]
    seen = np.isfinite(seats)
    gap = _contrast_errors_from_people((pairs.x - pairs.y)[seen], pairs.cluster[seen], seats[seen] == 1)
    return _estimate_judge_error_against_people(gap, None, plain, "with a label in the first seat and in another")


def _measure_human_self_preference(
    labelled: LabelledOutputs, pairs: HumanAnswerPairs, who: str, name: str, models: Mapping[str, str]
) -> JudgeBiasAgainstPeople:
    plain = JudgeBiasAgainstPeople(kind="self-preference", who=who, question=name)
    if not models:
        return replace(plain, n=pairs.n, why="the run does not tell which models made the outputs")
    maker = identify_audited_judge_maker(who)
    own = [
        variant
        for variant, model in models.items()
        if who == model or (maker is not None and maker == identify_audited_judge_maker(model))
    ]
    if not own:
        return replace(plain, n=pairs.n, why="no variant is by this judge's model or its maker")
    known = np.array([name in models for name in labelled.variants])[labelled.variant[pairs.place]]
    ours = np.array([name in own for name in labelled.variants])[labelled.variant[pairs.place]]
    gap = _contrast_errors_from_people((pairs.x - pairs.y)[known], pairs.cluster[known], ours[known])
    return _estimate_judge_error_against_people(gap, None, plain, "with labels on both its own and another's output")


def _contrast_errors_from_people(error: Floats, cluster: Integers, first: NDArray[np.bool_]) -> Floats:
    """For each cluster that has both kinds: the mean error of the first kind less that of the other."""
    _, unit = np.unique(cluster, return_inverse=True)
    size = int(unit.max()) + 1 if len(unit) else 0
    counts = [np.bincount(unit[kind], minlength=size) for kind in (first, ~first)]
    sums = [np.bincount(unit[kind], weights=error[kind], minlength=size) for kind in (first, ~first)]
    both = (counts[0] > 0) & (counts[1] > 0)
    return sums[0][both] / counts[0][both] - sums[1][both] / counts[1][both]


def _estimate_judge_error_against_people(
    errors: Floats, cluster: Integers | None, plain: JudgeBiasAgainstPeople, of: str = "that both answered"
) -> JudgeBiasAgainstPeople:
    units = len(errors) if cluster is None else len(np.unique(cluster))
    if units < LEAST_BIAS_SAMPLES:
        return replace(plain, n=len(errors), why=format_too_few(units, "sample", LEAST_BIAS_SAMPLES, more=of))
    found = mean_interval(errors, level=INTERVAL_LEVEL, clusters=None if cluster is None else cluster.tolist())
    return replace(
        plain, estimate=found.estimate, low=found.low, high=found.high, n=len(errors), method="mean over samples, t"
    )
