"""From a judge's score to the score that people would give: monotone, fitted on some samples, measured on others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.calibrate._figures import LEVEL
from evenhand.calibrate._labelled import Floats, Integers, Labelled
from evenhand.calibrate._pairs import Pairs, against_people
from evenhand.calibrate._questions import Question
from evenhand.calibrate._race import folds
from evenhand.calibrate._words import too_few
from evenhand.stats import MeanInterval, mean_interval

Knots = tuple[tuple[float, float], ...]
MapKind = Literal["linear", "isotonic"]

LEAST_SAMPLES = 10
LEAST_ISOTONIC = 50  # Samples; below, steps would follow single labels.
PRIOR = 10  # Samples that speak for the judge as it is.


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationMap:
    """What people say where a judge says x; `before` and `after` are root mean squared errors on held-out samples.

    `gain` is how much the map lowers the squared error there. Without knots, `why` says what is wanting.
    """

    who: str
    question: str
    kind: MapKind
    knots: Knots = ()
    before: float | None = None
    after: float | None = None
    gain: MeanInterval | None = None
    n: int
    samples: int
    why: str = ""

    @property
    def helps(self) -> bool:
        """Whether the error falls clearly."""
        return self.gain is not None and self.gain.low > 0

    def apply(self, scores: Floats) -> Floats:
        """The scores that people would give."""
        x, y = np.array(self.knots).T
        mapped: Floats = np.interp(scores, x, y)
        return mapped


def maps(labelled: Labelled, rng: np.random.Generator) -> Iterator[CalibrationMap]:
    """A map for every judge and question."""
    for question in labelled.questions:
        for who in labelled.answerers:
            yield _map(labelled, who, question, rng)


def _map(labelled: Labelled, who: str, question: Question, rng: np.random.Generator) -> CalibrationMap:
    pairs = _ordered(against_people(labelled, who, [question]), labelled)
    _, unit = np.unique(pairs.cluster, return_inverse=True)
    samples = int(unit.max()) + 1 if pairs.n else 0
    kind: MapKind = "isotonic" if samples >= LEAST_ISOTONIC else "linear"
    if samples < LEAST_SAMPLES:
        why = too_few(samples, "labelled sample", LEAST_SAMPLES)
        return CalibrationMap(who=who, question=question.id, kind=kind, n=pairs.n, samples=samples, why=why)
    held = _held_out(pairs, unit, kind, question, rng)
    before, after = (one - pairs.y for one in (pairs.x, held))
    knots = fitted(pairs.x, pairs.y, kind, question)
    return CalibrationMap(
        who=who,
        question=question.id,
        kind=kind,
        knots=knots,
        before=float(np.sqrt((before**2).mean())),
        after=float(np.sqrt((after**2).mean())),
        gain=mean_interval(before**2 - after**2, level=LEVEL, clusters=unit.tolist()),
        n=pairs.n,
        samples=samples,
    )


def _ordered(pairs: Pairs, labelled: Labelled) -> Pairs:
    """By id, so that the folds do not depend on the order of samples; clusters numbered the same way."""
    ids = [labelled.ids[place] for place in pairs.place]
    order = sorted(range(pairs.n), key=lambda row: (ids[row], int(labelled.variant[pairs.place[row]])))
    first: dict[int, int] = {}
    cluster = [first.setdefault(int(pairs.cluster[row]), len(first)) for row in order]
    return Pairs(
        x=pairs.x[order], y=pairs.y[order], place=pairs.place[order], cluster=np.array(cluster, dtype=np.int64)
    )


def _held_out(pairs: Pairs, unit: Integers, kind: MapKind, question: Question, rng: np.random.Generator) -> Floats:
    """Each score through a map that was fitted without its sample."""
    mapped = np.empty_like(pairs.x)
    for held in folds(np.unique(unit), rng):
        rows = np.isin(unit, held)
        x, y = np.array(fitted(pairs.x[~rows], pairs.y[~rows], kind, question)).T
        mapped[rows] = np.interp(pairs.x[rows], x, y)
    return mapped


def fitted(x: Floats, y: Floats, kind: MapKind, question: Question) -> Knots:
    """The knots of a map; between them it is straight, beyond them level."""
    return _isotonic(x, y) if kind == "isotonic" else _linear(x, y, question)


def _linear(x: Floats, y: Floats, question: Question) -> Knots:
    """A line, drawn towards the judge as it is by as many samples as PRIOR says; it never falls."""
    trust = len(x) / (len(x) + PRIOR)
    centred = x - x.mean()
    squares = float(centred @ centred)
    slope = float(centred @ (y - x)) / squares if squares > 0 else 0.0
    slope = max(0.0, 1 + trust * slope)
    middle = x.mean() + trust * float((y - x).mean())
    ends = [middle + slope * (end - x.mean()) for end in (question.low, question.high)]
    if slope == 0:
        return tuple((end, _on(question, middle)) for end in (question.low, question.high))
    crossed = [x.mean() + (end - middle) / slope for end in (question.low, question.high)]
    inner = [end for end in crossed if question.low < end < question.high]
    knots = [(question.low, ends[0]), *((end, middle + slope * (end - x.mean())) for end in inner)]
    return tuple((float(at), _on(question, to)) for at, to in (*knots, (question.high, ends[1])))


def _on(question: Question, score: float) -> float:
    return min(question.high, max(question.low, float(score)))


def _isotonic(x: Floats, y: Floats) -> Knots:
    """Means of people at each score of the judge, neighbours joined until none falls (pool adjacent violators)."""
    at, place = np.unique(x, return_inverse=True)
    weight = np.bincount(place).astype(np.float64)
    pools: list[tuple[float, float, int]] = []  # Mean, weight, how many scores.
    for mean, many in zip(np.bincount(place, weights=y) / weight, weight, strict=True):
        pools.append((float(mean), float(many), 1))
        while len(pools) > 1 and pools[-2][0] >= pools[-1][0]:
            (low, light, few), (high, heavy, more) = pools[-2:]
            pools[-2:] = [((low * light + high * heavy) / (light + heavy), light + heavy, few + more)]
    return tuple(_ends(at, pools))


def _ends(at: Floats, pools: list[tuple[float, float, int]]) -> Iterator[tuple[float, float]]:
    """The first and the last score of each pool: between them the map is level."""
    start = 0
    for mean, _, many in pools:
        yield from ((float(at[place]), mean) for place in dict.fromkeys((start, start + many - 1)))
        start += many
