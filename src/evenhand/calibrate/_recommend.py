"""Which judges to ask, and what each should count for; or how many labels are wanting to say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from evenhand.calibrate._candidates import Kind
from evenhand.calibrate._cells import Cells
from evenhand.calibrate._figures import Figure, alpha
from evenhand.calibrate._labelled import Floats
from evenhand.calibrate._pairs import Pairs
from evenhand.calibrate._race import FOLDS, ROUNDS, Race, Standings
from evenhand.calibrate._words import too_few
from evenhand.stats import MeanInterval, mean_interval

LEAST_SAMPLES = 20
MOST_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One candidate: its cross-validated error as a share of the scale, and how far it is from the best."""

    name: str
    kind: Kind
    weights: Mapping[str, float]  # By judge, in the order of the eval.
    error: float
    excess: float  # Of the squared error, over that of the best.
    spread: float  # The standard error of the excess.
    answered: float  # The share of labelled answers to which it has one.


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommended:
    """A panel; `error` and `alpha` are those of panels chosen the same way without the samples they are measured on."""

    chosen: Standing
    best: Standing
    candidates: tuple[Standing, ...]  # The best first, as many as are worth showing.
    tried: int
    error: float
    error_now: float  # Of the panel as it ran.
    gain: MeanInterval  # How much lower the squared error is than that of the panel as it ran.
    alpha: Figure
    same: int  # How often the same panel was chosen without a fifth of the samples.
    choices: int
    samples: int
    predicted: Floats = field(repr=False)  # What was said of each cell in the first round.


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRecommended:
    """No panel, and why; `more` samples would have to be labelled."""

    why: str
    more: int = 0


def recommend(cells: Cells, *, rng: np.random.Generator, cost: Mapping[str, float]) -> Recommended | NotRecommended:
    """The simplest panel within one standard error of the best."""
    if len(cells.judges) < 2:
        return NotRecommended(why="one judge: there is nothing to choose between")
    if cells.samples < LEAST_SAMPLES:
        more = LEAST_SAMPLES - cells.samples
        return NotRecommended(why=too_few(cells.samples, "labelled sample", LEAST_SAMPLES), more=more)
    if np.ptp(cells.people) == 0:
        return NotRecommended(why="people gave the same score throughout: any panel fits that")
    race = Race(cells=cells, cost=cost)
    final = race.standings(np.arange(cells.samples), rng)
    rounds = list(race.honest(rng))
    each = np.mean([race.error_of(said) for said, _ in rounds], axis=0)
    now = race.error_of(cells.panel)
    gain = mean_interval(now - each)
    if gain.high < 0:
        why = "on samples that they were not chosen by, chosen panels err more than the one that ran: keep that one"
        return NotRecommended(why=why)
    choices = [number for _, chosen in rounds for number in chosen]
    standings = [_standing(race, final, number) for number in _shown(race, final)]
    by_number = dict(zip(_shown(race, final), standings, strict=True))
    return Recommended(
        chosen=by_number[final.chosen],
        best=by_number[final.best],
        candidates=tuple(sorted(standings, key=lambda one: (one.error, one.name))),
        tried=len(race.candidates),
        error=float(np.sqrt(each.mean())),
        error_now=float(np.sqrt(now.mean())),
        gain=gain,
        alpha=alpha(_outputs(cells, rounds[0][0])),
        same=choices.count(final.chosen),
        choices=FOLDS * ROUNDS,
        samples=cells.samples,
        predicted=rounds[0][0],
    )


def _shown(race: Race, final: Standings) -> list[int]:
    """The chosen one, the best one, every judge alone, all together, and the best of the others."""
    order = np.argsort(final.error, kind="stable").tolist()
    alone = [number for number in order if race.candidates[number].kind == "alone"][:MOST_SHOWN]
    everyone = [number for number in order if len(race.candidates[number].members) == len(race.cells.judges)]
    first = dict.fromkeys([final.chosen, final.best, *alone, *everyone])
    return list(dict.fromkeys([*first, *order[: max(0, MOST_SHOWN - len(first))]]))


def _standing(race: Race, final: Standings, number: int) -> Standing:
    one, cells = race.candidates[number], race.cells
    weights = one.weights(cells)
    return Standing(
        name=one.called(cells.judges),
        kind=one.kind,
        weights={judge: float(w) for judge, w in zip(cells.judges, weights, strict=True) if w > 0},
        error=float(np.sqrt(final.error[number])),
        excess=float(final.excess[number]),
        spread=float(final.spread[number]),
        answered=float(np.isfinite(one.said(cells, weights)).mean()),
    )


def _outputs(cells: Cells, said: Floats) -> Pairs:
    """What was said of whole outputs: the mean over their questions, by weight, where something was said."""
    there = np.isfinite(said)
    place, weight = cells.place[there], cells.weight[there]
    outputs, at = np.unique(place, return_inverse=True)
    total = np.bincount(at, weights=weight)
    x, y = (np.bincount(at, weights=weight * side[there]) / total for side in (said, cells.people))
    unit = np.zeros(len(outputs), dtype=np.int64)
    unit[at] = cells.unit[there]
    return Pairs(x=x, y=y, place=outputs, cluster=unit)
