"""The panels that could be recommended: judges alone, means, the median, fitted weights, over labelled cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.calibrate.jackknife import Floats
from evenhand.calibrate.labelled_outputs import Integers, LabelledOutputs
from evenhand.calibrate.labels import HumanLabelQuestion

CandidateKind = Literal["alone", "mean", "median", "weights"]
CANDIDATE_KINDS: tuple[CandidateKind, ...] = ("alone", "mean", "median", "weights")  # The simplest first.
MOST_JUDGE_SUBSETS = 512  # All of up to 9 judges; of more, as many sizes as fit.
WEIGHT_SHRINKAGES = (0.1, 0.5)
PANEL_QUORUM = 0.5  # More than this share of a panel must answer, as where a run joins its judges.


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedPanelCandidate:
    """Some of the judges, and how their answers become one."""

    kind: CandidateKind
    members: tuple[int, ...]
    shrink: float = 0.0

    def weights(self, cells: LabelledCells, rows: NDArray[np.bool_] | None = None) -> Floats:
        """One weight per judge, 0 for who is left out; fitted on those rows where the candidate is fitted."""
        if self.kind == "weights":
            own = slice(None) if rows is None else rows
            return fit_judge_weights_to_people(cells.said[own], cells.people[own], cells.weight[own], self.shrink)
        weights = np.zeros(len(cells.judges))
        weights[list(self.members)] = 1 / len(self.members)
        return weights

    def combine_answers(self, cells: LabelledCells, weights: Floats) -> Floats:
        """What the panel says in every cell; NaN where too few of it answer."""
        members = np.flatnonzero(weights)
        said = cells.said[:, members]
        there = np.isfinite(said)
        enough = there.sum(axis=1) > PANEL_QUORUM * len(members)
        joined = np.full(len(said), np.nan)
        if self.kind == "median":
            joined[enough] = np.nanmedian(said[enough], axis=1)
        else:
            own = there[enough] * weights[members]
            joined[enough] = (np.where(there[enough], said[enough], 0.0) * own).sum(axis=1) / own.sum(axis=1)
        return joined

    def display_name(self, judges: Sequence[str]) -> str:
        """Its name for a table."""
        names = [judges[place] for place in self.members]
        whose = f"all {len(judges)}" if len(names) == len(judges) > 2 else ", ".join(names)
        words = {"alone": whose, "mean": f"mean of {whose}", "median": f"median of {whose}"}
        return words.get(self.kind, f"weights, shrunk by {self.shrink:.0%}".replace("%", " %"))


def list_calibrated_panel_candidates(cells: LabelledCells) -> tuple[CalibratedPanelCandidate, ...]:
    """All that are tried, the simplest first."""
    judges = len(cells.judges)
    everyone = tuple(range(judges))
    found, count = [], 0
    for size in range(1, judges):
        subsets = list(combinations(everyone, size))
        count += len(subsets)
        if count <= MOST_JUDGE_SUBSETS:
            found += [CalibratedPanelCandidate(kind="alone" if size == 1 else "mean", members=one) for one in subsets]
    found.append(CalibratedPanelCandidate(kind="mean" if judges > 1 else "alone", members=everyone))
    if judges > 2:
        found.append(CalibratedPanelCandidate(kind="median", members=everyone))
    if judges > 1:
        found += [
            CalibratedPanelCandidate(kind="weights", members=everyone, shrink=shrink) for shrink in WEIGHT_SHRINKAGES
        ]
    return tuple(found)


LEAST_JUDGE_WEIGHT = 0.05  # A judge that counts for less is not worth asking.
_MOST_SOLVER_ROUNDS = 200


def fit_judge_weights_to_people(said: Floats, people: Floats, weight: Floats, shrink: float) -> Floats:
    """The weights under which the mean of the judges errs least.

    With weights w that sum to 1 the squared error is w'Cw, where C holds the mean product of every two judges' errors:
    each over the cells that both answered, so that a judge which is often silent is used for what it said. `shrink`
    blends C with equal, unrelated errors, under which equal weights are best.
    """
    error = np.where(np.isfinite(said), said - people[:, None], 0.0)
    there = np.isfinite(said) * weight[:, None]
    together = there.T @ np.isfinite(said)
    products = (error * weight[:, None]).T @ error
    known = together > 0
    blended = np.where(known, products / np.where(known, together, 1.0), products.sum() / max(together.sum(), 1e-300))
    typical = float(np.diag(blended).mean()) or 1.0
    matrix = (1 - shrink) * blended + shrink * typical * np.eye(len(blended))
    # Means over different cells need not fit together: what is below 0 is lifted to a trifle.
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    weights = _minimize_judge_error_against_people((vectors * np.maximum(values, 1e-6 * typical)) @ vectors.T)
    # Two decimals, and nobody who hardly counts: what is fitted is what a file can say.
    kept = np.where(weights >= LEAST_JUDGE_WEIGHT, weights, 0.0)
    rounded: Floats = np.round(kept / kept.sum(), 2)
    whole: Floats = rounded / rounded.sum()
    return whole


def _minimize_judge_error_against_people(matrix: Floats) -> Floats:
    """Where w'Mw is least over weights that are not negative and sum to 1.

    The same as v'Mv/2 − Σv over v ≥ 0, then scaled (Lawson and Hanson's active set, by the normal equations).
    """
    size = len(matrix)
    active = np.zeros(size, dtype=bool)
    found = np.zeros(size)
    for _ in range(_MOST_SOLVER_ROUNDS):
        gain = np.where(active, -np.inf, 1 - matrix @ found)
        if gain.max() <= 1e-10:
            break
        active[int(gain.argmax())] = True
        found = _solve_judges_against_people(matrix, found, active)
    weights: Floats = found / found.sum()
    return weights


def _solve_judges_against_people(matrix: Floats, found: Floats, active: NDArray[np.bool_]) -> Floats:
    """The best point of the active judges; who would turn negative on the way there is dropped."""
    while True:
        aim = np.zeros_like(found)
        aim[active] = np.linalg.solve(matrix[np.ix_(active, active)], np.ones(int(active.sum())))
        below = active & (aim <= 0)
        if not below.any():
            return aim
        step = float((found[below] / (found[below] - aim[below])).min())
        found = found + step * (aim - found)
        active &= found > 1e-12


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
