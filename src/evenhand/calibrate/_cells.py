"""Every labelled answer as one cell: what each judge said there and what people did, as shares of the scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.calibrate._labelled import Floats, Integers, Labelled
from evenhand.calibrate._questions import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
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


def cells_of(labelled: Labelled) -> Cells:
    """The cells of all questions that make up the overall figure."""
    unit = _units(labelled)
    parts = [_part(labelled, question, unit) for question in labelled.overall]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return Cells(judges=labelled.judges, **columns)


def _part(labelled: Labelled, question: Question, unit: Integers) -> dict[str, Any]:
    people = labelled.mean(question)
    rows = np.flatnonzero(np.isfinite(people))
    said = np.stack([labelled.answers[judge, question.id][rows] for judge in labelled.judges], axis=1)
    panel = labelled.answers[labelled.answerers[-1], question.id][rows]
    said, people, panel = ((one - question.low) / question.span for one in (said, people[rows], panel))
    return {
        "said": said,
        "people": people,
        "guess": _guess(people, unit[rows]),
        "weight": np.full(len(rows), question.weight),
        "unit": unit[rows],
        "place": rows,
        "panel": panel,
    }


def _guess(people: Floats, unit: Integers) -> Floats:
    """The mean of all but the sample's own labels, so that a silent judge gains nothing from them."""
    sums, counts = np.bincount(unit, weights=people), np.bincount(unit)
    others = len(people) - counts[unit]
    guess: Floats = np.where(others > 0, (people.sum() - sums[unit]) / np.maximum(others, 1), 0.5)
    return guess


def _units(labelled: Labelled) -> Integers:
    """Clusters numbered by the first of their samples' ids: the order of samples in a run must not matter."""
    first: dict[int, str] = {}
    for cluster, id in zip(labelled.cluster.tolist(), labelled.ids, strict=True):
        first[cluster] = min(id, first.get(cluster, id))
    number = {cluster: place for place, cluster in enumerate(sorted(first, key=lambda one: first[one]))}
    return np.array([number[cluster] for cluster in labelled.cluster.tolist()], dtype=np.int64)
