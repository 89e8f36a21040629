"""Which judges to ask and with what weights: the panels that could be, and the choice by cross-validation on labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.calibrate.human_agreement import AgreementFigure, measure_human_alpha
from evenhand.calibrate.jackknife import Floats
from evenhand.calibrate.labelled_outputs import HumanAnswerPairs, Integers, LabelledCells
from evenhand.files.json_shape import json_key
from evenhand.stats.means import MeanInterval, mean_interval
from evenhand.wording import format_too_few

LEAST_RECOMMENDATION_SAMPLES = 20
MOST_CANDIDATES_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedPanelStanding:
    """One candidate: its cross-validated error as a share of the scale, and how far it is from the best."""

    name: str
    kind: CandidateKind
    weights: Mapping[str, float]  # By judge, in the order of the eval.
    error: float
    excess: float  # Of the squared error, over that of the best.
    spread: float  # The standard error of the excess.
    answered: float  # The share of labelled answers to which it has one.


@dataclass(frozen=True, slots=True, kw_only=True)
class RecommendedPanel:
    """A panel; `error` and `alpha` are those of panels chosen the same way without the samples they are measured on."""

    chosen: CalibratedPanelStanding
    best: CalibratedPanelStanding
    error: float
    error_now: float  # Of the panel as it ran.
    gain: MeanInterval  # How much lower the squared error is than that of the panel as it ran.
    alpha: AgreementFigure
    same: int  # How often the same panel was chosen without a fifth of the samples.
    choices: int
    samples: int
    tried: int
    candidates: tuple[CalibratedPanelStanding, ...]  # The best first, as many as are worth showing.
    predicted: Floats = field(repr=False)  # What was said of each cell in the first round.


@dataclass(frozen=True, slots=True, kw_only=True)
class NoRecommendedPanel:
    """No panel, and why; `more` samples would have to be labelled."""

    why: str
    more: int = field(default=0, metadata=json_key("more_samples"))


def recommend_panel_from_labels(
    cells: LabelledCells, *, rng: np.random.Generator, cost: Mapping[str, float]
) -> RecommendedPanel | NoRecommendedPanel:
    """The simplest panel within one standard error of the best."""
    if len(cells.judges) < 2:
        return NoRecommendedPanel(why="one judge: there is nothing to choose between")
    if cells.samples < LEAST_RECOMMENDATION_SAMPLES:
        more = LEAST_RECOMMENDATION_SAMPLES - cells.samples
        return NoRecommendedPanel(
            why=format_too_few(cells.samples, "labelled sample", LEAST_RECOMMENDATION_SAMPLES), more=more
        )
    if np.ptp(cells.people) == 0:
        return NoRecommendedPanel(why="people gave the same score throughout: any panel fits that")
    race = CalibratedPanelSelection(cells=cells, cost=cost)
    final = race.compare_candidates(np.arange(cells.samples), rng)
    rounds = list(race.predict_by_nested_selection(rng))
    each = np.mean([race.squared_error_by_sample(said) for said, _ in rounds], axis=0)
    now = race.squared_error_by_sample(cells.panel)
    gain = mean_interval(now - each)
    if gain.high < 0:
        why = "on samples that they were not chosen by, chosen panels err more than the one that ran: keep that one"
        return NoRecommendedPanel(why=why)
    choices = [number for _, chosen in rounds for number in chosen]
    standings = [
        _build_calibrated_panel_standing(race, final, number) for number in _select_calibrated_panels(race, final)
    ]
    by_number = dict(zip(_select_calibrated_panels(race, final), standings, strict=True))
    return RecommendedPanel(
        chosen=by_number[final.chosen],
        best=by_number[final.best],
        candidates=tuple(sorted(standings, key=lambda one: (one.error, one.name))),
        tried=len(race.candidates),
        error=float(np.sqrt(each.mean())),
        error_now=float(np.sqrt(now.mean())),
        gain=gain,
        alpha=measure_human_alpha(_pair_predictions_with_people(cells, rounds[0][0])),
        same=choices.count(final.chosen),
        choices=SELECTION_FOLDS * SELECTION_ROUNDS,
        samples=cells.samples,
        predicted=rounds[0][0],
    )


def _select_calibrated_panels(race: CalibratedPanelSelection, final: CalibratedPanelErrors) -> list[int]:
    """The chosen one, the best one, every judge alone, all together, and the best of the others."""
    order = np.argsort(final.error, kind="stable").tolist()
    alone = [number for number in order if race.candidates[number].kind == "alone"][:MOST_CANDIDATES_SHOWN]
    everyone = [number for number in order if len(race.candidates[number].members) == len(race.cells.judges)]
    first = dict.fromkeys([final.chosen, final.best, *alone, *everyone])
    return list(dict.fromkeys([*first, *order[: max(0, MOST_CANDIDATES_SHOWN - len(first))]]))


def _build_calibrated_panel_standing(
    race: CalibratedPanelSelection, final: CalibratedPanelErrors, number: int
) -> CalibratedPanelStanding:
    one, cells = race.candidates[number], race.cells
    weights = one.weights(cells)
    return CalibratedPanelStanding(
        name=one.display_name(cells.judges),
        kind=one.kind,
        weights={judge: float(w) for judge, w in zip(cells.judges, weights, strict=True) if w > 0},
        error=float(np.sqrt(final.error[number])),
        excess=float(final.excess[number]),
        spread=float(final.spread[number]),
        answered=float(np.isfinite(one.combine_answers(cells, weights)).mean()),
    )


def _pair_predictions_with_people(cells: LabelledCells, said: Floats) -> HumanAnswerPairs:
    """What was said of whole outputs: the mean over their questions, by weight, where something was said."""
    there = np.isfinite(said)
    place, weight = cells.place[there], cells.weight[there]
    outputs, at = np.unique(place, return_inverse=True)
    total = np.bincount(at, weights=weight)
    x, y = (np.bincount(at, weights=weight * side[there]) / total for side in (said, cells.people))
    unit = np.zeros(len(outputs), dtype=np.int64)
    unit[at] = cells.unit[there]
    return HumanAnswerPairs(x=x, y=y, place=outputs, cluster=unit)


SELECTION_FOLDS = 5
SELECTION_ROUNDS = 5  # Ways of dividing the samples; one alone would hang on its luck.


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedPanelErrors:
    """How the candidates did: squared error and how much more than the best, with the standard error of that."""

    error: Floats
    excess: Floats
    spread: Floats
    best: int
    chosen: int


@dataclass(slots=True)
class CalibratedPanelSelection:
    """The cells with every candidate's squared error, as far as nothing has to be fitted for it."""

    cells: LabelledCells
    cost: Mapping[str, float]  # Of asking a judge; empty where it is not known.
    candidates: tuple[CalibratedPanelCandidate, ...] = field(init=False)
    _unfitted_losses: dict[int, Floats] = field(init=False)
    _sample_weights: Floats = field(init=False)  # The weight of each sample.

    def __post_init__(self) -> None:
        self.candidates = list_calibrated_panel_candidates(self.cells)
        self._unfitted_losses = {
            number: self._sum_losses(one.combine_answers(self.cells, one.weights(self.cells)))
            for number, one in enumerate(self.candidates)
            if one.kind != "weights"
        }
        self._sample_weights = sum_label_errors_by_sample(self.cells.weight, self.cells.unit)

    def compare_candidates(self, units: Integers, rng: np.random.Generator) -> CalibratedPanelErrors:
        """The candidates on some samples; what is fitted is fitted on folds of these."""
        by_candidate = []
        for number, one in enumerate(self.candidates):
            known = self._unfitted_losses.get(number)
            losses = self._sum_losses(self.predict_held_out(one, units, rng)) if known is None else known
            by_candidate.append(losses[units])
        losses = np.stack(by_candidate, axis=1)
        whole = self._sample_weights[units]
        total = whole.sum()
        best = int(losses.sum(axis=0).argmin())
        excess = losses - losses[:, [best]]
        more = excess.sum(axis=0) / total
        left = excess - more * whole[:, None]
        spread = np.sqrt(len(units) / (len(units) - 1) * (left**2).sum(axis=0)) / total
        error = losses.sum(axis=0) / total
        near = np.flatnonzero(more <= spread + 1e-15)
        chosen = min(near.tolist(), key=lambda number: (*self._simplicity(number, units), error[number], number))
        return CalibratedPanelErrors(error=error, excess=more, spread=spread, best=best, chosen=chosen)

    def predict_by_nested_selection(self, rng: np.random.Generator) -> Iterator[tuple[Floats, list[int]]]:
        """Round by round what the chosen panels say of samples that they were not chosen on, and which were chosen."""
        everyone = np.arange(self.cells.samples)
        for _ in range(SELECTION_ROUNDS):
            said, chosen = np.full(len(self.cells.people), np.nan), []
            for held in split_labelled_samples_into_folds(everyone, rng):
                others = np.setdiff1d(everyone, held)
                number = self.compare_candidates(others, rng).chosen
                one, rows = self.candidates[number], np.isin(self.cells.unit, held)
                said[rows] = one.combine_answers(self.cells, one.weights(self.cells, ~rows))[rows]
                chosen.append(number)
            yield said, chosen

    def predict_held_out(self, one: CalibratedPanelCandidate, units: Integers, rng: np.random.Generator) -> Floats:
        """What a candidate says of each of some samples when it is fitted on the others of them."""
        said = np.full(len(self.cells.people), np.nan)
        inside = np.isin(self.cells.unit, units)
        for held in split_labelled_samples_into_folds(units, rng):
            rows = np.isin(self.cells.unit, held)
            said[rows] = one.combine_answers(self.cells, one.weights(self.cells, inside & ~rows))[rows]
        return said

    def squared_error_by_sample(self, said: Floats) -> Floats:
        """The squared error per sample, divided so that its mean is the error over all; silence costs a guess."""
        each: Floats = self._sum_losses(said) / self._sample_weights.mean()
        return each

    def _sum_losses(self, said: Floats) -> Floats:
        cells = self.cells
        error = np.where(np.isfinite(said), said, cells.guess) - cells.people
        return sum_label_errors_by_sample(cells.weight * error**2, cells.unit)

    def _simplicity(self, number: int, units: Integers) -> tuple[float, ...]:
        """Fewer judges before more, cheaper before dearer, then the simpler way of joining them."""
        one = self.candidates[number]
        asked: Sequence[int] = one.members
        if one.kind == "weights":
            asked = np.flatnonzero(one.weights(self.cells, np.isin(self.cells.unit, units))).tolist()
        paid = sum(self.cost.get(self.cells.judges[place], 0.0) for place in asked)
        return len(asked), paid, CANDIDATE_KINDS.index(one.kind)


def sum_label_errors_by_sample(values: Floats, unit: Integers) -> Floats:
    """The sum over each sample."""
    return np.asarray(np.bincount(unit, weights=values), dtype=np.float64)


def split_labelled_samples_into_folds(units: Integers, rng: np.random.Generator) -> list[Integers]:
    """The samples divided by lot into parts of nearly equal size."""
    return np.array_split(rng.permutation(units), min(SELECTION_FOLDS, len(units)))


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
