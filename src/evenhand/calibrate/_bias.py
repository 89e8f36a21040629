"""In which direction a judge errs against people: harsh or generous, by length, by place, towards its own kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.calibrate._agreed import chapters
from evenhand.calibrate._figures import LEVEL
from evenhand.calibrate._labelled import PANEL, Floats, Integers, Labelled
from evenhand.calibrate._pairs import Pairs, against_people
from evenhand.calibrate._words import too_few
from evenhand.calibrate.audits._bias import maker
from evenhand.errors import InputError
from evenhand.stats import length_bias, mean_interval

Kind = Literal["harshness", "length", "position", "self-preference"]
LEAST = 5  # Samples below which nothing is said.


@dataclass(frozen=True, slots=True, kw_only=True)
class Bias:
    """The judge's error, judge minus people, and what it goes with; without an estimate, why it is not known.

    `harshness` is the mean error; `length` how it grows with 100 characters; `position` how much higher it is in the
    first seat; `self-preference` how much higher it is for outputs of the judge's own model.
    """

    kind: Kind
    who: str
    question: str
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = LEVEL
    n: int = 0
    method: str = ""
    why: str = ""

    @property
    def clear(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


def biases(labelled: Labelled, models: Mapping[str, str]) -> Iterator[Bias]:
    """All that is known of every judge, question by question; `models` names who made a variant's outputs."""
    for name, questions in chapters(labelled):
        for who in labelled.answerers:
            pairs = against_people(labelled, who, questions)
            yield _harshness(pairs, who, name)
            yield _by_length(labelled, pairs, who, name)
            if who != PANEL:
                yield _by_seat(labelled, pairs, who, name)
                yield _for_its_own(labelled, pairs, who, name, models)


def _harshness(pairs: Pairs, who: str, name: str) -> Bias:
    return _mean(pairs.x - pairs.y, pairs.cluster, Bias(kind="harshness", who=who, question=name))


def _by_length(labelled: Labelled, pairs: Pairs, who: str, name: str) -> Bias:
    """No need to stay within samples: what people said of an output is taken off already."""
    plain = Bias(kind="length", who=who, question=name)
    length = labelled.length[pairs.place]
    there = np.isfinite(length)
    try:
        found = length_bias((pairs.x - pairs.y)[there], length[there], clusters=pairs.cluster[there].tolist())
    except InputError as error:
        return replace(plain, n=int(there.sum()), why=error.faults[0].what)
    return replace(plain, estimate=found.slope, low=found.low, high=found.high, n=found.outputs, method=found.method)


def _by_seat(labelled: Labelled, pairs: Pairs, who: str, name: str) -> Bias:
    plain = Bias(kind="position", who=who, question=name)
    if who not in labelled.seats:
        return replace(plain, n=pairs.n, why="the judge was shown one output at a time")
    seats = labelled.seats[who][pairs.place]
    seen = np.isfinite(seats)
    gap = _contrast((pairs.x - pairs.y)[seen], pairs.cluster[seen], seats[seen] == 1)
    return _mean(gap, None, plain, "with a label in the first seat and in another")


def _for_its_own(labelled: Labelled, pairs: Pairs, who: str, name: str, models: Mapping[str, str]) -> Bias:
    plain = Bias(kind="self-preference", who=who, question=name)
    if not models:
        return replace(plain, n=pairs.n, why="the run does not tell which models made the outputs")
    own = [variant for variant, model in models.items() if _kin(who, model)]
    if not own:
        return replace(plain, n=pairs.n, why="no variant is by this judge's model or its maker")
    known = np.array([name in models for name in labelled.variants])[labelled.variant[pairs.place]]
    ours = np.array([name in own for name in labelled.variants])[labelled.variant[pairs.place]]
    gap = _contrast((pairs.x - pairs.y)[known], pairs.cluster[known], ours[known])
    return _mean(gap, None, plain, "with labels on both its own and another's output")


def _kin(judge: str, model: str) -> bool:
    """Whether a judge and a model are one, or of one maker."""
    return judge == model or (maker(judge) is not None and maker(judge) == maker(model))


def _contrast(error: Floats, cluster: Integers, first: NDArray[np.bool_]) -> Floats:
    """For each cluster that has both kinds: the mean error of the first kind less that of the other."""
    _, unit = np.unique(cluster, return_inverse=True)
    size = int(unit.max()) + 1 if len(unit) else 0
    counts = [np.bincount(unit[kind], minlength=size) for kind in (first, ~first)]
    sums = [np.bincount(unit[kind], weights=error[kind], minlength=size) for kind in (first, ~first)]
    both = (counts[0] > 0) & (counts[1] > 0)
    gap: Floats = sums[0][both] / counts[0][both] - sums[1][both] / counts[1][both]
    return gap


def _mean(errors: Floats, cluster: Integers | None, plain: Bias, of: str = "that both answered") -> Bias:
    units = len(errors) if cluster is None else len(np.unique(cluster))
    if units < LEAST:
        return replace(plain, n=len(errors), why=too_few(units, "sample", LEAST, more=of))
    found = mean_interval(errors, level=LEVEL, clusters=None if cluster is None else cluster.tolist())
    return replace(
        plain, estimate=found.estimate, low=found.low, high=found.high, n=len(errors), method="mean over samples, t"
    )
