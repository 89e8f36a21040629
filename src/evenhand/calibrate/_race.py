"""Candidates against each other by cross-validation: fitted on some samples, measured on others, never on their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from evenhand.calibrate._candidates import KINDS, Candidate, candidates_of
from evenhand.calibrate._cells import Cells
from evenhand.calibrate._labelled import Floats, Integers

FOLDS = 5
ROUNDS = 5  # Ways of dividing the samples; one alone would hang on its luck.


@dataclass(frozen=True, slots=True, kw_only=True)
class Standings:
    """How the candidates did: squared error and how much more than the best, with the standard error of that."""

    error: Floats
    excess: Floats
    spread: Floats
    best: int
    chosen: int


@dataclass(slots=True)
class Race:
    """The cells with every candidate's squared error, as far as nothing has to be fitted for it."""

    cells: Cells
    cost: Mapping[str, float]  # Of asking a judge; empty where it is not known.
    candidates: tuple[Candidate, ...] = field(init=False)
    _fixed: dict[int, Floats] = field(init=False)
    _whole: Floats = field(init=False)  # The weight of each sample.

    def __post_init__(self) -> None:
        self.candidates = candidates_of(self.cells)
        self._fixed = {
            number: self._losses(one.said(self.cells, one.weights(self.cells)))
            for number, one in enumerate(self.candidates)
            if one.kind != "weights"
        }
        self._whole = sums_of(self.cells.weight, self.cells.unit)

    def standings(self, units: Integers, rng: np.random.Generator) -> Standings:
        """The candidates on some samples; what is fitted is fitted on folds of these."""
        losses = np.stack([self._on(number, units, rng) for number in range(len(self.candidates))], axis=1)
        whole = self._whole[units]
        total = whole.sum()
        best = int(losses.sum(axis=0).argmin())
        excess = losses - losses[:, [best]]
        more = excess.sum(axis=0) / total
        left = excess - more * whole[:, None]
        spread = np.sqrt(len(units) / (len(units) - 1) * (left**2).sum(axis=0)) / total
        error = losses.sum(axis=0) / total
        near = np.flatnonzero(more <= spread + 1e-15)
        chosen = min(near.tolist(), key=lambda number: (*self._simplicity(number, units), error[number], number))
        return Standings(error=error, excess=more, spread=spread, best=best, chosen=chosen)

    def honest(self, rng: np.random.Generator) -> Iterator[tuple[Floats, list[int]]]:
        """Round by round what the chosen panels say of samples that they were not chosen on, and which were chosen."""
        everyone = np.arange(self.cells.samples)
        for _ in range(ROUNDS):
            said, chosen = np.full(len(self.cells.people), np.nan), []
            for held in folds(everyone, rng):
                others = np.setdiff1d(everyone, held)
                number = self.standings(others, rng).chosen
                one, rows = self.candidates[number], np.isin(self.cells.unit, held)
                said[rows] = one.said(self.cells, one.weights(self.cells, ~rows))[rows]
                chosen.append(number)
            yield said, chosen

    def held_out(self, one: Candidate, units: Integers, rng: np.random.Generator) -> Floats:
        """What a candidate says of each of some samples when it is fitted on the others of them."""
        said = np.full(len(self.cells.people), np.nan)
        inside = np.isin(self.cells.unit, units)
        for held in folds(units, rng):
            rows = np.isin(self.cells.unit, held)
            said[rows] = one.said(self.cells, one.weights(self.cells, inside & ~rows))[rows]
        return said

    def error_of(self, said: Floats) -> Floats:
        """The squared error per sample, divided so that its mean is the error over all; silence costs a guess."""
        each: Floats = self._losses(said) / self._whole.mean()
        return each

    def _losses(self, said: Floats) -> Floats:
        cells = self.cells
        error = np.where(np.isfinite(said), said, cells.guess) - cells.people
        return sums_of(cells.weight * error**2, cells.unit)

    def _on(self, number: int, units: Integers, rng: np.random.Generator) -> Floats:
        if number in self._fixed:
            return self._fixed[number][units]
        return self._losses(self.held_out(self.candidates[number], units, rng))[units]

    def _simplicity(self, number: int, units: Integers) -> tuple[float, ...]:
        """Fewer judges before more, cheaper before dearer, then the simpler way of joining them."""
        one = self.candidates[number]
        asked: Sequence[int] = one.members
        if one.kind == "weights":
            asked = np.flatnonzero(one.weights(self.cells, np.isin(self.cells.unit, units))).tolist()
        paid = sum(self.cost.get(self.cells.judges[place], 0.0) for place in asked)
        return len(asked), paid, KINDS.index(one.kind)


def sums_of(values: Floats, unit: Integers) -> Floats:
    """The sum over each sample."""
    return np.asarray(np.bincount(unit, weights=values), dtype=np.float64)


def folds(units: Integers, rng: np.random.Generator) -> list[Integers]:
    """The samples divided by lot into parts of nearly equal size."""
    return np.array_split(rng.permutation(units), min(FOLDS, len(units)))
